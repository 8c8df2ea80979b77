import { createServer } from 'node:http'
import pg from 'pg'
import { report } from './load.ts'

/**
 * The floor of the key check: bare `node:http` and `pg`, the key lookup and the read as two
 * autocommit statements, nothing checked.
 */
const [url = '', tenant = '', id = '', publicId = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 10 })

const server = createServer(async (_request, response) => {
  await pool.query({
    name: 'key',
    text: `select tenant_ref, id, scopes, secret_hash, revoked_at is null as active
             from credentials where public_id = $1`,
    values: [publicId],
  })
  const { rows } = await pool.query({
    name: 'read',
    text: `select id, feature_key, status, note, requested_by, created_at, decided_at, decision_note
             from entitlement_requests where tenant_ref = $1 and id = $2`,
    values: [tenant, id],
  })
  const body = JSON.stringify({ request: rows[0] })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  report(`http://127.0.0.1:${address.port}`)
})
