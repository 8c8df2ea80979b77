import type { Clock } from '../../src/kernel/clock.ts'

/**
 * For what must hear from another every few seconds, or else trusts nothing any more: a busy machine
 * hears too late, and then shows what is right and not what the test is about.
 */
export const SLOW_CLOCK: Clock = { now: () => performance.now() / 20 }
