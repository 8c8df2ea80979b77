import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

/** Waits for a condition, and fails when it does not come about in time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 5_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `${what}: not within ${withinMs} ms`)
    await pause(5)
  }
}
