import assert from 'node:assert/strict'
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

/** Waits for a condition, and fails when it does not come about in time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 5_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `${what}: not within ${withinMs} ms`)
    await sleep(5)
  }
}
