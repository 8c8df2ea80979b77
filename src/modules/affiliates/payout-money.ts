import type { Static } from 'typebox'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as entitlements from '../entitlements/service.ts'
import * as ledger from '../ledger/money.ts'
import * as stores from '../stores/service.ts'
import {
  type NewPayouts,
  PAYOUTS_MAX,
  type Payout,
  type PayoutsMade,
  type SKIPS,
} from './commission-schema.ts'
import { refuse } from './errors.ts'
import { affiliatePaid } from './events.ts'
import * as queries from './payout-queries.ts'
import { FEATURE } from './service.ts'

/** Pays affiliates: a payout claims all approved commissions, a bank pays it, and then it is marked as paid. */

interface Caller {
  actor: audit.Actor
  claim: idempotency.WonClaim
}

type Skipped = Static<typeof PayoutsMade>['skipped'][number]

/**
 * Makes payouts for all affiliates who are due, or for the named ones. An affiliate who is owed too little is
 * skipped.
 */
export function makePayouts(
  db: TenantDb,
  { actor, claim }: Caller,
  { affiliate_ids, currency }: NewPayouts,
): Promise<idempotency.StoredAnswer> {
  return db.transaction('affiliates: make payouts', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const ids = affiliate_ids?.map((id) => id.toLowerCase()) ?? null
    if (ids !== null) await requireKnown(tx, ids)
    const filters = { affiliate_ids: ids, currency: currency ?? null, limit: LIMIT }
    const due = await queries.listDue(tx, filters)
    const payouts: Payout[] = []
    const skipped: Skipped[] = []
    for (const each of due.slice(0, PAYOUTS_MAX)) {
      const { affiliate_id, approved_cents, payout_minimum_cents: minimum_cents } = each
      const of = { id: newId(), affiliate_id, currency: each.currency, created_by: actor.name }
      const made = await queries.makePayout(tx, { ...of, minimum_cents })
      if (made !== null) payouts.push(made)
      else skipped.push({ ...pick(each), approved_cents, reason: reasonOf(approved_cents) })
    }
    if (ids !== null) skipped.push(...(await withoutAny(tx, ids, due)))
    if (payouts.length === 0) throw new ApiError('nothing_to_pay', { body: { skipped } })
    await audit.recordAll(tx, actor, payouts.map(createdEntry))
    const has_more = due.length > PAYOUTS_MAX
    const body = JSON.stringify({ payouts, skipped, has_more })
    return idempotency.finish(tx, claim, 201, body)
  })
}

/** One payout more than one call makes, to know whether there are more. */
const LIMIT = PAYOUTS_MAX + 1

async function requireKnown(tx: Tx, ids: readonly string[]): Promise<void> {
  const { count } = await queries.countKnown(tx, ids)
  if (count < new Set(ids).size) throw refuse('affiliate_not_found')
}

const pick = ({ affiliate_id, currency }: Pick<Skipped, 'affiliate_id' | 'currency'>) => ({
  affiliate_id,
  currency,
})

function reasonOf(cents: number): (typeof SKIPS)[number] {
  if (cents < 0) return 'negative_balance'
  return cents === 0 ? 'nothing_due' : 'below_minimum'
}

/** Lists the named affiliates that have no approved commission at all. */
async function withoutAny(
  tx: Tx,
  ids: readonly string[],
  due: readonly { affiliate_id: string }[],
): Promise<Skipped[]> {
  const known = new Set(due.map(({ affiliate_id }) => affiliate_id))
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length === 0) return []
  const { currency } = await stores.get(tx)
  return missing.map((affiliate_id) => ({
    affiliate_id,
    currency,
    approved_cents: 0,
    reason: 'nothing_due' as const,
  }))
}

const createdEntry = ({ id, affiliate_id, amount_cents, currency }: Payout) => ({
  action: 'affiliate_payout.created',
  entity: `affiliate_payout:${id}`,
  after: { affiliate_id, amount_cents, currency },
})

interface Settling {
  actor: audit.Actor
  /** Called with a payout that is paid, in the same transaction. */
  onPaid: (tx: Tx, payout: Payout) => Promise<unknown>
}

/** Marks a payout as paid by the bank. A payout that is marked twice is paid once. */
export const markPaid = (db: TenantDb, { actor, onPaid }: Settling, id: string): Promise<Payout> =>
  settle(db, actor, { id, to: 'paid' }, async (tx, payout) => {
    await queries.markPaid(tx, payout.id)
    const { affiliate_id, currency, amount_cents } = payout
    await ledger.post(tx, {
      kind: 'affiliate.paid',
      currency,
      ref: payout.id,
      entries: [
        { account: 'affiliate_payable', ref: affiliate_id, amount_cents },
        { account: 'affiliate_payout', amount_cents: -amount_cents },
      ],
    })
    const { reference } = payout
    const paid = { id: payout.id, affiliate_id, currency, amount_cents, reference }
    await affiliatePaid.emit(tx, { payout: paid })
    await onPaid(tx, payout)
  })

/** Cancels a payout that the bank has not paid: all its commissions are due again. */
export const cancelPayout = (db: TenantDb, actor: audit.Actor, id: string): Promise<Payout> =>
  settle(db, actor, { id, to: 'cancelled' }, (tx, payout) => queries.cancelPayout(tx, payout.id))

function settle(
  db: TenantDb,
  actor: audit.Actor,
  { id, to }: { id: string; to: 'paid' | 'cancelled' },
  work: (tx: Tx, payout: Payout) => Promise<unknown>,
): Promise<Payout> {
  return db.transaction(`affiliates: payout ${to}`, async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    const before = isUuid(id) ? await queries.lockPayout(tx, id) : null
    if (before === null) throw refuse('payout_not_found')
    if (before.status === to) return before
    if (before.status !== 'pending')
      throw new ApiError('invalid_transition', {
        body: { current_status: before.status, allowed: [] },
      })
    await work(tx, before)
    const after = await queries.findPayout(tx, before.id)
    if (after === null) throw new Error('a payout vanished under its lock')
    await audit.record(tx, actor, {
      action: `affiliate_payout.${to}`,
      entity: `affiliate_payout:${after.id}`,
      before: { status: before.status },
      after: { status: after.status, amount_cents: after.amount_cents },
    })
    return after
  })
}
