import { SMTPServer } from 'smtp-server'

/** A mail server that accepts every message and keeps none. */
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  logger: false,
  maxClients: 1_000,
  onData(stream, _session, done) {
    stream.resume()
    stream.on('end', done)
  },
})
server.on('error', () => {})
server.listen(0, '127.0.0.1', () => {
  const address = server.server.address()
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port })
})
