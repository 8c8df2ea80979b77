import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that a system assigns by itself: otherwise another process could get the port of
 * a test that closes it for a moment.
 */
const FIRST = 20_000
const COUNT = 12_000
/** Test processes run side by side, and each begins at another port. */
const EACH = 16

let next = process.pid * EACH

/** A port of 127.0.0.1 that no other process gets, even after it was closed. */
export async function holdPort(): Promise<{ port: number; free(): Promise<void> }> {
  for (let tries = 0; tries < COUNT; tries += 1) {
    const port = FIRST + (next++ % COUNT)
    const server = createServer().listen(port, '127.0.0.1')
    const isOurs = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isOurs) continue
    const free = async () => {
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    }
    return { port, free }
  }
  throw new Error('no port is free')
}

export async function freePort(): Promise<number> {
  const { port, free } = await holdPort()
  await free()
  return port
}
