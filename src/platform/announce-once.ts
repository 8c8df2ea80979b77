import type { Tx } from '../db/database.ts'

/**
 * Announces new work of a store to what works on it later. Answers for how many seconds from the start of its
 * transaction that surely rests and then looks for all work there is; 0 or less where it may be at work.
 */
export type Announce = (tx: Tx) => Promise<number>

export interface Announcements {
  /** To be called with the transaction that makes new work. */
  onNew(tx: Tx): Promise<void>
  /** To be called when it has committed, with the time of the stopwatch before it began. */
  onCommitted(tenant: string, beganMs: number): void
}

/** Stores whose times are kept until those that are over are cleared away. */
const STORES_MAX = 10_000

/**
 * Announces new work once until the first of those that work on it has begun: a store that sells all the time has new work every
 * second, which is looked at twice a minute. What a transaction announced is only believed once it has
 * committed.
 */
export function announceOnce(
  announces: readonly Announce[],
  stopwatch: () => number = () => performance.now(),
): Announcements {
  const restsUntil = new Map<string, number>()
  const announced = new Map<string, number>()
  const forgetOver = () => {
    for (const [tenant, until] of restsUntil) if (until <= stopwatch()) restsUntil.delete(tenant)
  }
  return {
    async onNew(tx) {
      announced.delete(tx.tenant)
      if ((restsUntil.get(tx.tenant) ?? 0) > stopwatch()) return
      const rests = await Promise.all(announces.map((announce) => announce(tx)))
      announced.set(tx.tenant, Math.min(...rests))
    },
    onCommitted(tenant, beganMs) {
      const seconds = announced.get(tenant) ?? 0
      announced.delete(tenant)
      if (seconds <= 0) return
      if (restsUntil.size >= STORES_MAX) forgetOver()
      restsUntil.set(tenant, beganMs + seconds * 1_000)
    },
  }
}
