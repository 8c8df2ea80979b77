import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Long enough for a slow and busy machine. It only delays the failure of a test. */
const PATIENCE_MS = 120_000

/** Repeats `work` until it succeeds, for effects that follow by themselves. */
export async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(20)
    }
  }
}

/** Waits for a condition, and fails when it is not met in time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `${what}: not within ${withinMs} ms`)
    await sleep(5)
  }
}
