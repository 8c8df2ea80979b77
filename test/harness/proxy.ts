import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { freePort } from './ports.ts'

export interface TestProxy {
  port: number
  /** From now on nothing passes in either direction, and nobody is told. */
  silence(): void
  /** Connections made in silence stay silent, as they would behind a firewall that forgot them. */
  speak(): void
  /** Cuts every connection and takes no new one, as a server that is down. */
  cut(): Promise<void>
  /** Takes connections again, on the same port. */
  mend(): Promise<void>
}

/** Stands before a server, on a port of 127.0.0.1, to try what a dead network does. */
export async function openProxy(t: TestContext, target: number): Promise<TestProxy> {
  const sockets = new Set<Socket>()
  let silent = false

  function keep(socket: Socket) {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  }

  const server = createServer((caller) => {
    keep(caller)
    if (silent) return
    const callee = connect(target, '127.0.0.1')
    keep(callee)
    caller.pipe(callee).pipe(caller)
    caller.on('close', () => callee.destroy())
    callee.on('close', () => caller.destroy())
  })
  const port = await freePort()
  async function mend() {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await mend()
  async function cut() {
    if (!server.listening) return
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  t.after(cut)
  return {
    port,
    silence() {
      silent = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    speak() {
      silent = false
    },
    cut,
    mend,
  }
}
