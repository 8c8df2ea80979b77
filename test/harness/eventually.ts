import { setTimeout as sleep } from 'node:timers/promises'

/** Tries until it works, for four seconds: for what comes about by itself. */
export async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 4_000
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await sleep(20)
    }
  }
}
