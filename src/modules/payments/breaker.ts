import { type Clock, systemClock } from '../../kernel/clock.ts'

export interface BreakerOptions {
  /** Failures in a row after which nothing more is sent. */
  failuresMax?: number
  /** How long nothing is sent. Then one call tries, and the others wait for what it finds. */
  coolMs?: number
  clock?: Clock
}

/** Stops sending to those who do not answer, each account on its own. */
export interface Breakers {
  /** Whether a call may be sent. Whoever is told yes reports how it went. */
  allows(account: string): boolean
  succeeded(account: string): void
  failed(account: string): void
}

interface Trouble {
  failures: number
  /** When the next call may try. */
  retryAt: number
}

/** A gateway that is down costs every shopper the whole deadline; after a few it is known to be. */
export function createBreakers(options: BreakerOptions = {}): Breakers {
  const { failuresMax = 5, coolMs = 10_000, clock = systemClock } = options
  // Only accounts in trouble are remembered, so the map is as small as the trouble.
  const troubles = new Map<string, Trouble>()
  return {
    allows(account) {
      const trouble = troubles.get(account)
      if (trouble === undefined || trouble.failures < failuresMax) return true
      if (clock.now() < trouble.retryAt) return false
      // This caller tries. Should it never report, the next one tries after the same wait.
      trouble.retryAt = clock.now() + coolMs
      return true
    },
    succeeded(account) {
      troubles.delete(account)
    },
    failed(account) {
      const failures = (troubles.get(account)?.failures ?? 0) + 1
      troubles.set(account, { failures, retryAt: clock.now() + coolMs })
    },
  }
}
