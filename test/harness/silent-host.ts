import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'

/** Listens and then blocks its thread, so that it accepts no connection. */
const LISTENER = `
  const [host, port] = process.argv.slice(1)
  require('node:net').createServer().listen({ host, port, backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'listening')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

/**
 * More connections than the kernel queues for a backlog of one. Further ones are dropped silently.
 */
const CONNECTIONS = 4

/** A loopback address on which a connection is neither accepted nor refused. */
export async function openSilentHost(t: TestContext, host: string, port: number): Promise<void> {
  const child = spawn(process.execPath, ['-e', LISTENER, host, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const sockets = Array.from({ length: CONNECTIONS }, () =>
    connect({ host, port }).on('error', () => {}),
  )
  t.after(() => {
    child.kill('SIGKILL')
    for (const socket of sockets) socket.destroy()
  })
  await Promise.race(sockets.map((socket) => once(socket, 'connect')))
}
