/**
 * A source of time: business time, where it is a store's. Passed as an argument, so that tests and
 * stores can move it (decision 0011).
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

/**
 * Machine time in milliseconds since the epoch: for leases, limits, timeouts, caches, metrics, the
 * audit log, and for what the outside world checks, such as signatures. Promises to a merchant or a
 * shopper go by a store's `Clock` instead.
 */
export const machineNow = (): number => Date.now()

export const systemClock: Clock = { now: machineNow }

/** A clock that differs from another by that many milliseconds. */
export const moveClock = (clock: Clock, byMs: number): Clock =>
  byMs === 0 ? clock : { now: () => clock.now() + byMs }

/** The time of a clock in the format of the API. */
export const isoNow = (clock: Clock): string => new Date(clock.now()).toISOString()
