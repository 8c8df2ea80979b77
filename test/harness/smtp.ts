import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  /** The message as received: headers, an empty line, the encoded text. */
  raw: string
}

export interface TestSmtp {
  url: string
  received: ReceivedMail[]
}

/** A mail server on loopback that accepts every message, unless the options say otherwise. */
export async function startSmtp(
  t: TestContext,
  options: SMTPServerOptions = {},
): Promise<TestSmtp> {
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      text(stream).then((raw) => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false ? '' : mailFrom.address
        received.push({ from, to: rcptTo.map(({ address }) => address), raw })
        done()
      }, done)
    },
    ...options,
  })
  // Some tests end the connection of the client, which is an error here.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { url: urlOf(server.server.address()), received }
}

/** A faulty mail server: `speak` handles each connection. */
export async function startBadSmtp(
  t: TestContext,
  speak: (socket: Socket) => void,
): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    speak(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return urlOf(server.address())
}

function urlOf(address: ReturnType<SMTPServer['server']['address']>): string {
  assert.ok(address !== null && typeof address === 'object')
  return `smtp://127.0.0.1:${address.port}`
}
