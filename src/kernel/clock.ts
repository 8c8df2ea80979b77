/** Where the time comes from; business time, where it is a store's. An argument, so that it can be moved. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

/**
 * The machine's time, in milliseconds since the epoch: for leases, limits, timeouts, caches, metrics, the
 * record of who did what, and for what the world outside goes by, such as signatures. Whatever a merchant or
 * a shopper is promised goes by a store's `Clock` instead.
 */
export const machineNow = (): number => Date.now()

export const systemClock: Clock = { now: machineNow }

/** A clock that is ahead of another by so many milliseconds, or behind it. */
export const moveClock = (clock: Clock, byMs: number): Clock =>
  byMs === 0 ? clock : { now: () => clock.now() + byMs }

/** The time of a clock, as the API writes it. */
export const isoNow = (clock: Clock): string => new Date(clock.now()).toISOString()
