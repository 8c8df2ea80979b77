import type { Clock } from '../../src/kernel/clock.ts'

/**
 * A slow clock for code that stops trusting its cache unless a message comes every few seconds. On
 * a busy machine the message is late, and the code would then bypass the cache that the test is
 * about.
 */
export const SLOW_CLOCK: Clock = { now: () => performance.now() / 20 }
