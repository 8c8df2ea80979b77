import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** A busy machine takes its time. What never comes about is told no sooner, and that is all it costs. */
const PATIENCE_MS = 20_000

/** Tries until it works: for what comes about by itself. */
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

/** Waits for a condition, and fails when it does not come about in time. */
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
