import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'

/**
 * Listeners at addresses that no request of ours may reach. They count the connections they get.
 */
export interface Canary {
  port: number
  /** The addresses it listens on. On a machine without IPv6 those are missing. */
  hosts: readonly string[]
  /** The connections since the last reset, with those that are being made during the call. */
  connections(): Promise<number>
  bytes(): number
  reset(): void
  close(): Promise<void>
}

/** Listens on both loopbacks, on another loopback address and on the machine's own addresses. */
export async function openCanary(): Promise<Canary> {
  const servers: Server[] = []
  const hosts: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let bytes = 0
  let port = 0

  function count(socket: Socket) {
    connections += 1
    sockets.add(socket)
    socket.on('data', (chunk) => {
      bytes += chunk.length
    })
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }

  /** Connections are accepted in order: once our own is, so are all that came before it. */
  async function knock(server: Server) {
    const address = server.address()
    assert.ok(address !== null && typeof address === 'object')
    const socket = connect(address.port, address.address)
    await once(socket, 'connect')
    const isOurs = (other: Socket) => other.remotePort === socket.localPort
    while (![...sockets].some(isOurs)) await once(server, 'connection')
    connections -= 1
    socket.destroy()
  }

  for (const host of ['127.0.0.1', '127.0.0.2', '::1', ...machineAddresses()]) {
    const server = createServer(count)
    if (!(await listens(server, host, port))) continue
    const address = server.address()
    if (address !== null && typeof address === 'object') port = address.port
    servers.push(server)
    hosts.push(host)
  }

  return {
    port,
    hosts,
    async connections() {
      for (const server of servers) await knock(server)
      return connections
    },
    bytes: () => bytes,
    reset() {
      connections = 0
      bytes = 0
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      for (const server of servers) server.close()
      await Promise.all(servers.map((server) => once(server, 'close')))
    },
  }
}

/** Link-local addresses are left out: they cannot be bound without naming an interface. */
function machineAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter((entry) => !entry.internal && !entry.address.startsWith('fe80'))
    .map((entry) => entry.address)
}

/** False where the machine lacks the address, as macOS lacks 127.0.0.2 and many lack IPv6. */
async function listens(server: Server, host: string, port: number): Promise<boolean> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  }
}
