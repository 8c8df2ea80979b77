import { createServer } from 'node:http'

/**
 * A merchant's endpoint that accepts every request. It tells its parent when each request began.
 */
const server = createServer((request, response) => {
  const at = Date.now()
  request.resume()
  request.on('end', () => response.end())
  const id = request.headers['x-webhook-event-id']
  if (process.argv[2] === 'tell' && id !== undefined) process.send?.({ id, at })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port })
})
