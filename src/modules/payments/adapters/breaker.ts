import { type Clock, systemClock } from '../../../kernel/clock.ts'

export interface BreakerOptions {
  /** Failures in a row after which nothing more is sent. */
  failuresMax?: number
  /** How long nothing is sent. Then one call is sent, and the others are stopped until it reports its result. */
  coolMs?: number
  clock?: Clock
}

/** Circuit breakers, one for each account: they stop calls to a gateway that does not answer. */
export interface Breakers {
  /** Whether a call may be sent. The caller then reports how it ended. */
  allows(account: string): boolean
  succeeded(account: string): void
  failed(account: string): void
}

interface FailingAccount {
  failures: number
  /** The time from which the next call may be sent. */
  retryAt: number
}

/** Creates the breakers. Without one, a gateway that is down costs every shopper the whole deadline of a call. */
export function createBreakers(options: BreakerOptions = {}): Breakers {
  const { failuresMax = 5, coolMs = 10_000, clock = systemClock } = options
  // Only accounts whose last call failed have an entry.
  const failing = new Map<string, FailingAccount>()
  return {
    allows(account) {
      const state = failing.get(account)
      if (state === undefined || state.failures < failuresMax) return true
      if (clock.now() < state.retryAt) return false
      // This caller may send. If it never reports, the next caller may send after the same wait.
      state.retryAt = clock.now() + coolMs
      return true
    },
    succeeded(account) {
      failing.delete(account)
    },
    failed(account) {
      const failures = (failing.get(account)?.failures ?? 0) + 1
      failing.set(account, { failures, retryAt: clock.now() + coolMs })
    },
  }
}
