import fastify from 'fastify'
import pg from 'pg'
import { report } from './load.ts'

/** The floor of inbound events: bare Fastify inserts the bytes that it receives, and checks nothing. */
const [url = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 10 })
await pool.query('create table bare_events (id bigint generated always as identity, body bytea)')

const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser(
  '*',
  { parseAs: 'buffer' },
  async (_request: unknown, bytes: Buffer) => bytes,
)
app.post('/v1/gateway/:provider/:account_ref', async (request) => {
  const text = 'insert into bare_events (body) values ($1)'
  await pool.query({ name: 'insert', text, values: [request.body] })
  return { received: true, deduped: false }
})
report(await app.listen({ host: '127.0.0.1', port: 0 }))
