import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { freePort } from './ports.ts'

export interface TestProxy {
  port: number
  /** From now on nothing passes in either direction, without an error. */
  silence(): void
  /**
   * New connections work again. Those made meanwhile stay dead, as behind a firewall that dropped
   * them.
   */
  speak(): void
  /** Ends every connection and accepts no new one, like a server that is down. */
  cut(): Promise<void>
  /** Accepts connections again, on the same port. */
  mend(): Promise<void>
}

/** A proxy in front of a server, on a port of 127.0.0.1, to test a broken network. */
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
