import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'

/** Listens and then never looks up again: it accepts nobody. */
const LISTENER = `
  const [host, port] = process.argv.slice(1)
  require('node:net').createServer().listen({ host, port, backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'listening')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

/** More than the kernel keeps waiting for a backlog of one; from then on it drops whoever knocks. */
const KNOCKS = 4

/** A loopback address on which a connection is neither taken nor refused. */
export async function openSilentHost(t: TestContext, host: string, port: number): Promise<void> {
  const child = spawn(process.execPath, ['-e', LISTENER, host, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const knocks = Array.from({ length: KNOCKS }, () => connect({ host, port }).on('error', () => {}))
  t.after(() => {
    child.kill('SIGKILL')
    for (const knock of knocks) knock.destroy()
  })
  await Promise.race(knocks.map((knock) => once(knock, 'connect')))
}
