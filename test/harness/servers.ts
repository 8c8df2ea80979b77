import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type Server, type Socket } from 'node:net'

const pem = (name: string) => readFileSync(new URL(`./tls/${name}.pem`, import.meta.url), 'utf8')

/** The authority of the certificate of `https` below: `hook.test`, `localhost` and `127.0.0.1`. */
export const TEST_CA = pem('ca')

/** Endpoints of merchants, working and faulty, each on a port of 127.0.0.1 that is returned. */
export interface Servers {
  http(listener: RequestListener): Promise<number>
  https(listener: RequestListener): Promise<number>
  /** Handles the raw socket, once the first bytes of a request have come. */
  raw(speak: (socket: Socket) => void): Promise<number>
  /** Closes all servers, and ends every connection. */
  close(): Promise<void>
}

export function openServers(): Servers {
  const servers: Server[] = []
  const sockets = new Set<Socket>()

  async function listen(server: Server): Promise<number> {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
    const address = server.address()
    assert.ok(address !== null && typeof address === 'object')
    return address.port
  }

  return {
    http: (listener) => listen(createHttpServer(listener)),
    https: (listener) =>
      listen(createTlsServer({ cert: pem('hook'), key: pem('hook.key') }, listener)),
    raw: (speak) => listen(createServer((socket) => void socket.once('data', () => speak(socket)))),
    async close() {
      for (const socket of sockets) socket.destroy()
      for (const server of servers) server.close()
      await Promise.all(servers.map((server) => once(server, 'close')))
    },
  }
}
