import type { Tx } from '../db/database.ts'

/**
 * Announces new work of a store to a loop that does it later. Returns for how many seconds from the start of the
 * transaction that loop is sure to rest; after that it looks for all work there is. Returns 0 or less where the loop
 * may be at work.
 */
export type Announce = (tx: Tx) => Promise<number>

export interface Announcements {
  /** Call it in the transaction that makes new work. */
  onNew(tx: Tx): Promise<void>
  /** Call it when that transaction has committed, with the time of the stopwatch before it began. */
  onCommitted(tenant: string, beganMs: number): void
}

/** How many stores are remembered before those whose loops no longer rest are removed. */
const STORES_MAX = 10_000

/**
 * Announces new work only once until the first of its loops begins again: a store that sells all the time has new
 * work every second, while a loop looks at it twice a minute. An announcement counts only once its transaction has
 * committed (decision 0066).
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
