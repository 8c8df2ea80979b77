import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Relay {
  /** Returns the same URL through the relay. */
  through(url: string): string
  /** Passes nothing on, without an error, like a cut cable. */
  freeze(): void
  /** New connections work again; the frozen ones stay dead. */
  thaw(): void
}

/** A relay in front of a server, for faults of the network. */
export async function openRelay(t: TestContext, url: string): Promise<Relay> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let frozen = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => to.destroy())
      if (!frozen) from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    through(given) {
      const changed = new URL(given)
      changed.host = `127.0.0.1:${address.port}`
      return changed.href
    },
    freeze() {
      frozen = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    thaw() {
      frozen = false
    },
  }
}
