import type { Database } from '../db/database.ts'
import { LEASE_SECONDS, type Lease, LeaseLostError, type Queue } from './leases.ts'

/** How many rows a worker works on at the same time. */
const SLOTS = 40

/** After how many finished rows new ones are claimed: a claim for each would cost as much as the work. */
const REFILL_AFTER = 10

export interface SlotWorkerOptions<Row> {
  /** As fd_worker. */
  database: Database
  queue: Pick<Queue<Row>, 'claimFairly' | 'release'>
  /** Works on a row and writes its result. An error of it is thrown by the next step. */
  work: (row: Row & Lease) => Promise<void>
  slots?: number
  /** The most rows of one store at a time; by default half of the slots. */
  perStore?: number
  /** Stores whose rows are not claimed for now. */
  resting?: () => Iterable<string>
  /** Called when there is room for new rows. */
  onFree?: (() => void) | undefined
  leaseSeconds?: number
}

export interface SlotWorker {
  /**
   * Runs one step of the loop: begins to work on due rows, and does not wait for those under way. Returns how many it
   * began.
   */
  step(signal: AbortSignal): Promise<number>
  /** Waits for the rows under way. */
  drain(): Promise<void>
}

/**
 * Works on the due rows of a queue, many at a time. One store has at most a part of the slots, so that other stores
 * do not wait for its slow rows.
 */
export function createSlotWorker<Row>(options: SlotWorkerOptions<Row>): SlotWorker {
  const { database, queue, work, slots = SLOTS, leaseSeconds = LEASE_SECONDS } = options
  const { perStore = Math.ceil(slots / 2), resting = () => [], onFree = () => {} } = options
  const underWay = new Set<Promise<void>>()
  const busy = new Map<string, number>()
  let finished = 0
  let fault: { error: unknown } | null = null

  function begin(row: Row & Lease): void {
    const { tenant_ref } = row
    busy.set(tenant_ref, (busy.get(tenant_ref) ?? 0) + 1)
    const running = work(row)
      .catch((error: unknown) => {
        // The worker that has claimed the row now writes its result.
        if (!(error instanceof LeaseLostError)) fault = { error }
      })
      .finally(() => {
        underWay.delete(running)
        const left = (busy.get(tenant_ref) ?? 0) - 1
        if (left > 0) busy.set(tenant_ref, left)
        else busy.delete(tenant_ref)
        if (++finished >= REFILL_AFTER || underWay.size === 0) onFree()
      })
    underWay.add(running)
  }

  function throwFault(): void {
    if (fault === null) return
    const { error } = fault
    fault = null
    throw error
  }

  /** Returns the slots that each store uses. A resting store counts as full. */
  const occupied = () =>
    new Map([...busy, ...[...resting()].map((store) => [store, perStore] as const)])

  return {
    async step(signal) {
      throwFault()
      finished = 0
      const free = slots - underWay.size
      if (free <= 0 || signal.aborted) return 0
      const take = { slots: free, perTenant: perStore, busy: occupied(), leaseSeconds }
      const rows = await queue.claimFairly(database, take)
      if (signal.aborted) {
        await Promise.all(rows.map((row) => queue.release(database.tenant(row.tenant_ref), row)))
        return 0
      }
      for (const row of rows) begin(row)
      return rows.length
    },
    async drain() {
      await Promise.all(underWay)
      throwFault()
    },
  }
}
