import { createServer } from 'node:http'
import pg from 'pg'
import { Db } from '../src/db/database.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { readSearch } from '../src/modules/catalog/search.ts'
import { search } from '../src/modules/catalog/search-queries.ts'
import { report } from './load.ts'

/**
 * The floor of search: bare `node:http` and `pg` with the very same statement, on connections whose
 * store is set once. Nothing is checked or rendered.
 */
const [url = '', tenant = ''] = process.argv.slice(2)
const options = `-c app.tenant=${tenant}`
const pool = new pg.Pool({ connectionString: url, max: 10, options })
const db = new Db({ tenant, clock: systemClock, source: pool }, async (query) => {
  const { command, rows, rowCount } = await pool.query(query)
  return { command, rows, rowCount: rowCount ?? 0 }
})

const server = createServer(async (request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost')
  const found = await search(db, readSearch(Object.fromEntries(searchParams)))
  const body = Buffer.from(JSON.stringify(found))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  report(`http://127.0.0.1:${address.port}`)
})
