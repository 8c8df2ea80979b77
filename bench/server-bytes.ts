import { createServer } from 'node:http'
import { report } from './load.ts'

/**
 * The floor of the public reads: bare `node:http` that hands out the bytes and headers of one answer
 * to whoever asks for anything.
 */
const [copied = '', ifNoneMatch] = process.argv.slice(2)
const answer = await fetch(copied, {
  headers: ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch },
})
const body = Buffer.from(await answer.arrayBuffer())
const own = ['date', 'connection', 'keep-alive', 'content-encoding', 'content-length']
const headers = [...answer.headers].filter(([name]) => !own.includes(name))
if (answer.status === 200) headers.push(['content-length', String(body.length)])

const server = createServer((_request, response) => {
  response.writeHead(answer.status, headers.flat())
  response.end(body.length === 0 ? undefined : body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  report(`http://127.0.0.1:${address.port}`)
})
