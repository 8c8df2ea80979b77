import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Long enough for a slow and busy machine. It only delays the failure of a test. */
const PATIENCE_MS = 120_000

/** The pauses between two checks, at first and after a second. */
const PAUSE_MS = { min: 5, max: 50 }

/**
 * A pause between two checks. It grows with the waiting time: a check is often a request or a query, and a
 * test that waits for seconds would keep a core busy with them.
 */
function pauseSince(began: number): Promise<void> {
  const share = (performance.now() - began) / 20
  return sleep(Math.min(Math.max(share, PAUSE_MS.min), PAUSE_MS.max))
}

/** Repeats `work` until it succeeds, for effects that follow by themselves. */
export async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() - began > PATIENCE_MS) throw error
      await pauseSince(began)
    }
  }
}

/** Waits for a condition, and fails when it is not met in time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    assert.ok(performance.now() - began < withinMs, `${what}: not within ${withinMs} ms`)
    await pauseSince(began)
  }
}
