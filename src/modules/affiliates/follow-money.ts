import type { Tx } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import { sum } from '../../kernel/money.ts'
import * as ledger from '../ledger/money.ts'
import type { PostedEntry } from '../ledger/schema.ts'
import { listEntriesOfOrder } from '../ledger/service.ts'
import { type Change, changeOf } from './commission.ts'
import * as queries from './commission-queries.ts'
import type { AttributionRow, CountingCommission } from './commission-schema.ts'
import { commissionJournal } from './earn-money.ts'
import { commissionClawedBack } from './events.ts'

/** Adjusts a commission to its order, in the transaction of the refund, the edit or the lost dispute. */

/** An order that has just changed, under its lock and with its journal posted. */
export interface ChangedOrder {
  id: string
  /** Null where no affiliate sent the order: nothing more is read then. */
  referral_code: string | null
  is_test: boolean
}

export interface Cause {
  reason: 'refund' | 'edit' | 'exchange' | 'test_order'
  ref: string
}

/**
 * Books the commission that a changed order gains or loses. The goods that are left are read from the ledger, so that
 * the result does not depend on the kind of change, and following a change twice changes nothing the second time
 * (decision 0052).
 */
export async function followOrder(tx: Tx, order: ChangedOrder, cause: Cause): Promise<void> {
  if (order.referral_code === null) return
  const attribution = await queries.lockAttribution(tx, order.id)
  if (attribution === null || attribution.refusal !== null) return
  const left = order.is_test ? 0 : leftOf(await listEntriesOfOrder(tx, order.id))
  const change = changeOf(attribution, left)
  if (change.amount_cents !== 0) await book(tx, attribution, change, cause)
  else if (change.left_cents !== attribution.left_cents) await write(tx, attribution, change)
}

const GOODS: readonly string[] = ['sales', 'discount', 'refund']

/** Adds up what is left of the goods. Sales are credits, and so negative; discounts and refunds are debits. */
const leftOf = (entries: readonly PostedEntry[]): number =>
  0 -
  sum(
    entries
      .filter(({ account }) => GOODS.includes(account))
      .map(({ amount_cents }) => amount_cents),
  )

const write = (tx: Tx, { order_id }: AttributionRow, { left_cents, booked_cents }: Change) =>
  queries.writeLeft(tx, { order_id, left_cents, booked_cents })

async function book(
  tx: Tx,
  attribution: AttributionRow,
  change: Change,
  { reason, ref }: Cause,
): Promise<void> {
  const { order_id, affiliate_id, currency, left_cents: before } = attribution
  const counting = await queries.lockCounting(tx, order_id)
  const id = newId()
  const { amount_cents } = change
  const row: queries.NewCommission = {
    id,
    amount_cents,
    reason,
    cause_ref: ref,
    base_cents: change.left_cents - before,
    ...(amount_cents < 0 ? clawbackOf(counting) : await earningOf(tx, order_id)),
  }
  await queries.insertCommission(tx, attribution, row)
  await Promise.all([
    write(tx, attribution, change),
    ledger.post(tx, commissionJournal({ id, affiliate_id, currency }, amount_cents)),
    amount_cents < 0 && emitClawback(tx, { affiliate_id, order_id, currency, ...row, reason }),
  ])
  const isUntouched = counting.every(({ payout_id }) => payout_id === null)
  if (change.booked_cents === 0 && isUntouched) await queries.reverseAll(tx, order_id)
}

/**
 * Chooses the status of a clawback. While all commissions of the order are pending, the clawback is pending, too.
 * Otherwise it counts at once, and reduces the next payout if the commission was paid already.
 */
function clawbackOf(counting: readonly CountingCommission[]) {
  const isPending = counting.length > 0 && counting.every(({ status }) => status === 'pending')
  return {
    type: 'clawback' as const,
    status: isPending ? ('pending' as const) : ('approved' as const),
  }
}

/** Makes a new commission for goods that an edit adds, or that come back to the order. */
async function earningOf(tx: Tx, order_id: string) {
  const { source } = await queries.findSource(tx, order_id)
  return {
    type: source === 'subscription' ? ('renewal' as const) : ('sale' as const),
    status: 'pending' as const,
  }
}

const emitClawback = (
  tx: Tx,
  {
    id,
    affiliate_id,
    order_id,
    currency,
    amount_cents,
    base_cents,
    reason,
  }: Pick<queries.NewCommission, 'id' | 'base_cents' | 'amount_cents'> &
    Pick<AttributionRow, 'affiliate_id' | 'order_id' | 'currency'> &
    Pick<Cause, 'reason'>,
) =>
  commissionClawedBack.emit(
    tx,
    { commission: { id, affiliate_id, order_id, currency, base_cents, amount_cents, reason } },
    { order_id },
  )
