import { createServer } from 'node:http'
import { request } from 'undici'
import { report } from './load.ts'

/** The floor of the storefront: bare `node:http` that sends the same page, with the same headers. */
const [copied = '', host = '', cookie = ''] = process.argv.slice(2)
const answer = await request(copied, { headers: { host, ...(cookie === '' ? {} : { cookie }) } })
const body = Buffer.from(await answer.body.arrayBuffer())
const own = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']
const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
  own.includes(name) ? [] : [name, String(value)],
)
headers.push('content-length', String(body.length))

const server = createServer((_request, response) => {
  response.writeHead(answer.statusCode, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  report(`http://127.0.0.1:${address.port}`)
})
