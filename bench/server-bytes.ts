import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import { report } from './load.ts'

/**
 * The floor of the public reads: bare `node:http` that sends the bytes and headers of one response
 * to every request. With a number of stores, each has bytes of its own, found by its address:
 * memory outside of the processor's caches costs the floor what it costs us.
 */
const [copied = '', ifNoneMatch = '', stores = '0', encoding = 'identity'] = process.argv.slice(2)
const answer = await fetch(copied, {
  headers: ifNoneMatch === '' ? {} : { 'if-none-match': ifNoneMatch },
})
const plain = Buffer.from(await answer.arrayBuffer())
const body = encoding === 'gzip' ? gzipSync(plain) : plain
const own = ['date', 'connection', 'keep-alive', 'content-encoding', 'content-length']
const headers = [...answer.headers].filter(([name]) => !own.includes(name))
if (body !== plain) headers.push(['content-encoding', encoding])
if (answer.status === 200) headers.push(['content-length', String(body.length)])

const bodies = new Map<string, Buffer>()
for (let n = 1; n <= Number(stores); n++) {
  bodies.set(`/v1/tenants/store-${n}/site`, Buffer.from(body))
}

const server = createServer((request, response) => {
  response.writeHead(answer.status, headers.flat())
  const found = bodies.get(request.url ?? '') ?? body
  response.end(found.length === 0 ? undefined : found)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  report(`http://127.0.0.1:${address.port}`)
})
