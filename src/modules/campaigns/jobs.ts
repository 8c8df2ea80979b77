import type { Database, TenantDb } from '../../db/database.ts'
import { HOUR_SECONDS } from '../../kernel/time.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { type DueWork, runEach } from '../../platform/due-work.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { createSlotWorker, type SlotWorker } from '../../platform/slot-worker.ts'
import { askMerchant } from './ask-merchant.ts'
import { runTurn } from './mailing.ts'
import * as mailings from './mailing-queries.ts'
import * as queries from './queries.ts'
import { type Campaign, EMAIL } from './schema.ts'
import type { SendingDeps } from './send-waves.ts'
import { auditCampaign, LATE_MS, start } from './service.ts'

/** Stores in one step. The next step continues with the following stores. */
const STORES_MAX = 50

/** Campaigns of one store in one step. */
const BATCH = 20

/** Takes one step, as fd_worker: starts and ends campaigns at their times. Returns how many. */
export async function moveDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.dueTurns.next(database.due, STORES_MAX)
  return forEachStore(stores, (tenant) => moveSome(database.tenant(tenant), signal), { signal })
}

const moveSome = async (db: TenantDb, signal?: AbortSignal): Promise<number> =>
  forEachDue(
    await queries.listDue(db, BATCH),
    async ({ id }) => ((await moveOne(db, id)) === null ? 0 : 1),
    { signal },
  )

const moveOne = (db: TenantDb, id: string): Promise<Campaign | null> =>
  db.transaction('campaigns: due', async (tx) => {
    const before = await queries.lockDue(tx, id)
    if (before === null) return null
    const { starts_at, ends_at, status } = before
    if (status === 'scheduled') {
      const lateMs = tx.clock.now() - Date.parse(starts_at ?? '')
      if (before.channel === EMAIL && lateMs > LATE_MS) return askMerchant(tx, before, 'late')
      const after = await start(tx, before, before)
      await auditCampaign(tx, SYSTEM, 'started', { before, after })
      return after
    }
    await mailings.stopMailing(tx, id)
    const after = await queries.setStatus(tx, id, { status: 'ended', starts_at, ends_at })
    await auditCampaign(tx, SYSTEM, 'ended', { before, after })
    return after
  })

export const dueCampaigns: DueWork = {
  kind: 'campaign',
  nextDue: queries.nextDue,
  runDue: async (db, signal) =>
    runEach(
      await queries.listDue(db, BATCH),
      async ({ id }) => {
        const moved = await moveOne(db, id)
        return moved === null ? null : { id, outcome: moved.status }
      },
      signal,
    ),
}

/** Mailings that a worker sends at the same time. They share the connections to the mail server. */
const SLOTS = 4

export interface MailingWorkerOptions extends SendingDeps {
  /** The database, as fd_worker. */
  database: Database
  onFree?: () => void
  leaseSeconds?: number
}

/**
 * Sends the mails of campaigns that are active. Stores take turns, and one store sends one campaign at a
 * time; mails to shoppers about their orders have loops and connections of their own.
 */
export function createMailingWorker(options: MailingWorkerOptions): SlotWorker {
  const { database, onFree, leaseSeconds } = options
  let signal: AbortSignal = AbortSignal.abort()
  const worker = createSlotWorker({
    database,
    queue: mailings.queue,
    slots: SLOTS,
    perStore: 1,
    onFree,
    ...(leaseSeconds !== undefined && { leaseSeconds }),
    async work(lease) {
      const db = database.tenant(lease.tenant_ref)
      await mailings.queue.runWithLease(db, lease, () => runTurn(options, db, lease, signal))
    },
  })
  return {
    step(stopping) {
      signal = stopping
      return worker.step(stopping)
    },
    drain: worker.drain,
  }
}

/** How long mails that are held back wait by a moved clock: an hour of its time, since it passes a minute at once. */
const HELD_BACK_SECONDS = HOUR_SECONDS

/** The mails of one store as work that is due, for a store whose clock is being moved. */
export const dueMailings = (options: SendingDeps): DueWork => ({
  kind: 'campaign_mail',
  mayLag: true,
  nextDue: mailings.nextMailing,
  async runDue(db, signal) {
    const [lease] = await mailings.queue.claim(db, 1)
    if (lease === undefined) return { count: 0, ran: [] }
    const tried = await mailings.queue.runWithLease(db, lease, () =>
      runTurn({ ...options, heldBackSeconds: HELD_BACK_SECONDS }, db, lease, signal),
    )
    return { count: 1, ran: [{ id: lease.id, outcome: `${tried} mails` }] }
  },
})
