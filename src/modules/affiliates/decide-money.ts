import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { sum } from '../../kernel/money.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import * as entitlements from '../entitlements/service.ts'
import * as ledger from '../ledger/money.ts'
import * as queries from './commission-queries.ts'
import type { AttributionRow, Commission, Declined } from './commission-schema.ts'
import { commissionJournal } from './earn-money.ts'
import { refuse } from './errors.ts'
import { FEATURE } from './service.ts'

/** The decisions of a merchant about a commission: to approve it before its time, or to decline it. */

/** Approves all pending commissions of the commission's order: an earning and its clawbacks are approved together. */
export const approve = (db: TenantDb, actor: audit.Actor, id: string): Promise<Commission> =>
  decide(db, actor, { id, verb: 'approve' }, async (tx, { order_id }, before) => {
    if (before.status !== 'pending') throw invalidTransition(before)
    await queries.approveOf(tx, order_id)
  })

/** The reason of a commission that the merchant declines without a reason. */
const BY_MERCHANT = 'declined_by_merchant'

/**
 * Declines a commission that is in no payout; its order earns nothing more. If no commission of the order is in a
 * payout, all of them are declined, the clawbacks too.
 */
export const decline = (
  db: TenantDb,
  actor: audit.Actor,
  id: string,
  { reason }: Declined,
): Promise<Commission> =>
  decide(db, actor, { id, verb: 'decline' }, async (tx, attribution, before) => {
    const counting = await queries.lockCounting(tx, attribution.order_id)
    const isPaid = counting.some(({ payout_id }) => payout_id !== null)
    const declined = isPaid ? counting.filter((each) => each.id === before.id) : counting
    const cents = sum(declined.map(({ amount_cents }) => amount_cents))
    const isOpen = counting.some((each) => each.id === before.id && each.payout_id === null)
    // An amount that was clawed back already cannot be declined as well.
    if (!isOpen || before.type === 'clawback' || cents > attribution.booked_cents)
      throw invalidTransition(before)
    const ids = declined.map((each) => each.id)
    await queries.declineAll(tx, ids, reason ?? BY_MERCHANT)
    await queries.markDeclined(tx, attribution.order_id, attribution.booked_cents - cents)
    const { affiliate_id, currency } = attribution
    await ledger.post(tx, commissionJournal({ id: before.id, affiliate_id, currency }, -cents))
  })

/** Runs a decision under the lock of the order's attribution, which refunds lock as well. */
function decide(
  db: TenantDb,
  actor: audit.Actor,
  { id, verb }: { id: string; verb: 'approve' | 'decline' },
  work: (tx: Tx, attribution: AttributionRow, before: Commission) => Promise<void>,
): Promise<Commission> {
  return db.transaction(`affiliates: ${verb} a commission`, async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const found = isUuid(id) ? await queries.findCommission(tx, id) : null
    const attribution = found && (await queries.lockAttribution(tx, found.order_id))
    // Read again: a refund may have changed it while this transaction waited for the lock.
    const before = attribution && (await queries.findCommission(tx, id))
    if (attribution === null || before === null) throw refuse('commission_not_found')
    await work(tx, attribution, before)
    const after = await queries.findCommission(tx, id)
    if (after === null) throw new Error('a commission vanished under its lock')
    await audit.record(tx, actor, {
      action: `commission.${verb}`,
      entity: `commission:${after.id}`,
      before: { status: before.status },
      after: { status: after.status, amount_cents: after.amount_cents },
    })
    return after
  })
}

/** The verbs that each status of a commission allows. */
const ALLOWED: Partial<Record<Commission['status'], readonly string[]>> = {
  pending: ['approve', 'decline'],
  approved: ['decline'],
}

const invalidTransition = ({ status, payout_id, type }: Commission) =>
  new ApiError('invalid_transition', {
    body: {
      current_status: status,
      allowed:
        payout_id !== null || type === 'clawback'
          ? (ALLOWED[status] ?? []).filter((verb) => verb === 'approve')
          : (ALLOWED[status] ?? []),
    },
  })
