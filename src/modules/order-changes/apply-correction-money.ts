import type { Tx } from '../../db/database.ts'
import { followOrder } from '../affiliates/follow-money.ts'
import * as ledger from '../ledger/money.ts'
import type { NewJournal } from '../ledger/schema.ts'
import { type Acting, auditOrder } from '../orders/actor.ts'
import type { FactChange, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { Correction } from './correction.ts'
import { editJournal } from './edit-journal.ts'
import { orderCorrected } from './events.ts'
import { writeContact, writeLines, writeTotals } from './queries.ts'

/** Writes a correction once its money has moved, by a refund or by the shopper's payment. */

interface Settled {
  /** The reference of the journal, and of the changes of the lines. */
  id: string
  /** The entries of a refund. */
  refunded?: NewJournal['entries']
  /** The charge that paid for it. */
  charge?: { amount_cents: number } | null
  /** Facts that change together with the correction. */
  also?: FactChange
}

/**
 * Writes a correction under the order's lock, with the order as it was read under the lock. Returns the order as it is
 * now.
 */
export async function applyCorrection(
  tx: Tx,
  before: OrderRow,
  { contact, priced, changed, delta_cents }: Correction,
  { id, refunded = [], charge = null, also = {}, acting }: Settled & { acting: Acting },
): Promise<OrderRow> {
  if (contact !== null) await writeContact(tx, before.id, contact)
  if (priced !== null) {
    await writeLines(tx, { order_id: before.id, change_id: id }, priced.lines)
    await writeTotals(tx, before.id, priced.totals)
  }
  const order = await orders.change(tx, await orders.lock(tx, before.id), {
    ...also,
    ...(delta_cents !== 0 && { captured_cents: before.captured_cents + delta_cents }),
  })
  if (priced !== null) {
    await ledger.post(tx, editJournal(before, { id, totals: priced.totals, charge }, refunded))
    await followOrder(tx, order, { reason: 'edit', ref: id })
  }
  await record(tx, { before, order, changed, acting })
  return order
}

interface Recorded {
  before: OrderRow
  order: OrderRow
  changed: Correction['changed']
  acting: Acting
}

/**
 * Records which members were corrected, and never the data of the person: the timeline and the audit log are not
 * erased.
 */
async function record(tx: Tx, { before, order, changed, acting }: Recorded): Promise<void> {
  const total_before_cents = before.total_cents
  const { total_cents } = order
  const data = { changed, delta_cents: total_cents - total_before_cents }
  const more = { total_before_cents, total_cents }
  await Promise.all([
    orders.addToTimeline(tx, order.id, { type: 'corrected', actor: acting.actor, data }),
    orderCorrected.emit(tx, order, { ...data, ...more }),
    auditOrder(tx, acting, order.id, {
      action: 'order.corrected',
      before: { total_cents: total_before_cents },
      after: { changed, total_cents },
    }),
  ])
}
