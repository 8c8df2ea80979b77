import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { AMOUNT_CENTS_MAX } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { readExpiry } from '../../platform/expiry.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as customers from '../customers/service.ts'
import * as entitlements from '../entitlements/service.ts'
import * as ledger from '../ledger/money.ts'
import type { Hold } from '../ledger/schema.ts'
import * as stores from '../stores/service.ts'
import { spendLots, sumOf, unexpiredFirst } from './lots.ts'
import * as queries from './queries.ts'
import type { NewCredit, NewDebit, Share, StoreCreditAccount } from './schema.ts'
import { checkCustomerRef, FEATURE, get, listExpired } from './service.ts'

/** The actor of holds and captures, which an order causes. */
const ORDER = 'order'

/** The caller of an operation, with its claim on the idempotency key. */
export interface Caller {
  actor: audit.Actor
  claim: idempotency.WonClaim
  /** Throws if the store has no such order. It is passed in, since orders are on a higher tier. */
  requireOrder(tx: Tx, order_id: string): Promise<unknown>
}

/** Credits a customer for a merchant. */
export function creditByMerchant(
  db: TenantDb,
  caller: Caller,
  customerRef: string,
  request: NewCredit,
) {
  checkCustomerRef(customerRef)
  stores.checkCurrency(request.currency)
  const expires_at = readExpiry(db.clock, request.expires_at)
  return db.transaction('store credit: credit', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    if (request.order_id) await caller.requireOrder(tx, request.order_id)
    const { account, transaction } = await credit(tx, {
      ...request,
      expires_at,
      customer_ref: customerRef,
      event: 'adjustment',
      actor: caller.actor,
      post: true,
    })
    if (account.balance_cents > AMOUNT_CENTS_MAX) throw new ApiError('balance_limit_exceeded')
    await auditChange(tx, caller.actor, 'store_credit.credited', {
      id: account.id,
      currency: account.currency,
      amount_cents: request.amount_cents,
    })
    return idempotency.finish(tx, caller.claim, 201, JSON.stringify({ account, transaction }))
  })
}

/** Debits a customer for a merchant. Amounts that are held for orders cannot be debited. */
export function debit(db: TenantDb, caller: Caller, customerRef: string, request: NewDebit) {
  const { amount_cents, currency, reason, order_id } = request
  return db.transaction('store credit: debit', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    await get(tx, customerRef)
    if (order_id) await caller.requireOrder(tx, order_id)
    const found = await expireLots(tx, await queries.lockAccountOf(tx, customerRef, currency))
    const available = found === null ? 0 : found.balance_cents - found.held_cents
    if (found === null || available < amount_cents) {
      throw new ApiError('insufficient_balance', { body: { available_cents: available } })
    }
    const lots = unexpiredFirst(await queries.listOpenLots(tx, found.id))
    const [account, transaction] = await Promise.all([
      queries.addBalance(tx, found.id, -amount_cents),
      queries.logTransaction(tx, found.id, {
        type: 'debit',
        event: 'adjustment',
        amount_cents,
        order_id: order_id ?? null,
        reason,
        actor: caller.actor.name,
      }),
      queries.reduceLots(tx, spendLots(lots, amount_cents)),
      postChange(
        tx,
        { kind: 'store_credit.debited', order_id: order_id ?? null },
        found,
        -amount_cents,
      ),
      auditChange(tx, caller.actor, 'store_credit.debited', {
        id: found.id,
        currency,
        amount_cents,
      }),
    ])
    return idempotency.finish(tx, caller.claim, 201, JSON.stringify({ account, transaction }))
  })
}

const auditChange = (
  tx: Tx,
  actor: audit.Actor,
  action: string,
  { id, currency, amount_cents }: { id: string; currency: string; amount_cents: number },
) =>
  audit.record(tx, actor, {
    action,
    entity: `store_credit:${id}`,
    after: { amount_cents, currency },
  })

/** Posts the journal of a changed balance: how much more or less the store owes to the customer. */
const postChange = (
  tx: Tx,
  journal: { kind: string; order_id: string | null },
  { id, currency }: StoreCreditAccount,
  by: number,
) =>
  ledger.post(tx, {
    ...journal,
    currency,
    ref: id,
    entries: [
      { account: 'store_credit', ref: id, amount_cents: -by },
      { account: 'suspense', amount_cents: by },
    ],
  })

interface Credit {
  customer_ref: string
  currency: string
  amount_cents: number
  event: 'refund' | 'return' | 'adjustment'
  order_id?: string | null
  reason?: string | null
  expires_at?: string | null
  actor: Pick<audit.Actor, 'name'>
  /** The order whose payment is returned: the lots that it was paid from come back with their dates. */
  returnedFrom?: string
  /** False where the caller's journal books the credit, as the journal of a refund does. */
  post: boolean
}

/**
 * Credits a customer, and creates the account if there is none. What an order gives back to an erased customer can
 * never be spent: it is credited and expires at once, so that the store has it and owes it no longer.
 */
export async function credit(tx: Tx, request: Credit) {
  const { customer_ref, currency, amount_cents, order_id = null, reason = null } = request
  const isLost = customers.isPseudonym(customer_ref) && request.event !== 'adjustment'
  await queries.ensureAccount(tx, customer_ref, currency)
  const found = await queries.lockAccountOf(tx, customer_ref, currency)
  if (found === null) throw new Error('the account vanished while it was being credited')
  const [account, transaction] = await Promise.all([
    queries.addBalance(tx, found.id, amount_cents),
    queries.logTransaction(tx, found.id, {
      type: 'credit',
      event: request.event,
      amount_cents,
      order_id,
      reason,
      actor: request.actor.name,
    }),
    !isLost && insertLots(tx, found.id, request),
    request.post &&
      postChange(tx, { kind: 'store_credit.credited', order_id }, found, amount_cents),
  ])
  if (!isLost) return { account_id: account.id, account, transaction }
  const left = await bookBreakage(tx, found, amount_cents)
  return { account_id: left.id, account: left, transaction }
}

/**
 * Adds the lots of a credit. The lots that an order was paid from come back with their dates, the longest valid
 * first; a lot whose date has passed expires at once.
 */
async function insertLots(
  tx: Tx,
  accountId: string,
  { amount_cents, expires_at = null, returnedFrom }: Credit,
): Promise<void> {
  let left = amount_cents
  const spent = returnedFrom === undefined ? [] : await queries.listSpent(tx, returnedFrom)
  for (const { id, spent_cents, expires_at: date } of spent) {
    const cents = Math.min(left, spent_cents)
    if (cents === 0) break
    left -= cents
    await queries.returnSpent(tx, returnedFrom ?? '', id, cents)
    await queries.insertLot(tx, accountId, cents, date)
  }
  if (left > 0) await queries.insertLot(tx, accountId, left, expires_at)
}

interface HoldRequest {
  customer_ref: string
  currency: string
  most_cents: number
  order_id: string
}

/** Holds as much credit for an order as is available, up to `most_cents`. */
export async function holdUpTo(
  tx: Tx,
  { customer_ref, currency, most_cents, order_id }: HoldRequest,
) {
  // A caller that uses the pseudonym of an erased customer must not get their credit.
  const account = customers.isPseudonym(customer_ref)
    ? null
    : await expireLots(tx, await queries.lockAccountOf(tx, customer_ref, currency))
  if (account === null) return { account_id: null, amount_cents: 0 }
  const { id } = account
  const available = account.balance_cents - account.held_cents
  const amount_cents = Math.max(0, Math.min(available, most_cents))
  if (amount_cents > 0) {
    await Promise.all([
      queries.addHeld(tx, id, amount_cents),
      ledger.hold(tx, { account: 'store_credit', ref: id, currency, amount_cents, order_id }),
      logOrder(tx, { ref: id, amount_cents, order_id }, 'hold'),
    ])
  }
  return { account_id: id, amount_cents }
}

const logOrder = (
  tx: Tx,
  { ref, amount_cents, order_id }: Pick<Hold, 'ref' | 'amount_cents' | 'order_id'>,
  type: 'hold' | 'capture' | 'void',
) => queries.logTransaction(tx, ref, { type, event: 'order', amount_cents, order_id, actor: ORDER })

/** The amount that was captured from, or released to, an account. */
export interface ClosedHold {
  account_id: string
  amount_cents: number
}

/** Captures the hold of an order; the order's journal books it. It may be repeated. */
export async function captureHold(
  tx: Tx,
  { order_id }: { order_id: string },
): Promise<ClosedHold[]> {
  const holds = await ledger.closeHolds(tx, { order_id, to: 'posted', account: 'store_credit' })
  for (const each of holds) {
    await queries.lockAccount(tx, each.ref)
    const lots = unexpiredFirst(await queries.listOpenLots(tx, each.ref, each.created_at))
    const spent = spendLots(lots, each.amount_cents)
    const expires = lots.some((lot) => lot.expires_at !== null && isIn(spent, lot.id))
    await Promise.all([
      queries.captureHeld(tx, each.ref, each.amount_cents),
      queries.reduceLots(tx, spent),
      expires && queries.insertSpent(tx, order_id, spent),
      logOrder(tx, each, 'capture'),
    ])
  }
  return holds.map(closed)
}

const isIn = (shares: readonly Share[], lotId: string) => shares.some(({ id }) => id === lotId)

/** Releases the hold of an order. It may be repeated, and does nothing after a capture. */
export async function releaseHold(
  tx: Tx,
  { order_id }: { order_id: string },
): Promise<ClosedHold[]> {
  const holds = await ledger.closeHolds(tx, { order_id, to: 'voided', account: 'store_credit' })
  for (const each of holds) {
    await Promise.all([
      queries.releaseHeld(tx, each.ref, each.amount_cents),
      queries.resumeExpiry(tx, each.ref),
      logOrder(tx, each, 'void'),
    ])
  }
  return holds.map(closed)
}

const closed = ({ ref, amount_cents }: Hold): ClosedHold => ({ account_id: ref, amount_cents })

/** Books the expired lots of a locked account as breakage. Returns the account without them. */
export async function expireLots(
  tx: Tx,
  account: StoreCreditAccount | null,
): Promise<StoreCreditAccount | null> {
  if (account === null) return null
  const expired = await listExpired(tx, account, await queries.listOpenLots(tx, account.id))
  const cents = sumOf(expired)
  if (cents === 0) return account
  const [after] = await Promise.all([
    bookBreakage(tx, account, cents),
    queries.reduceLots(tx, expired),
  ])
  return after
}

/** Takes an amount that can no longer be spent from an account. Returns the account without it. */
async function bookBreakage(
  tx: Tx,
  { id, currency }: StoreCreditAccount,
  amount_cents: number,
): Promise<StoreCreditAccount> {
  const [after] = await Promise.all([
    queries.addBalance(tx, id, -amount_cents),
    queries.logTransaction(tx, id, {
      type: 'expire',
      event: 'expiration',
      amount_cents,
      actor: audit.SYSTEM.name,
    }),
    ledger.post(tx, {
      kind: 'store_credit.expired',
      currency,
      ref: id,
      entries: [
        { account: 'store_credit', ref: id, amount_cents },
        { account: 'breakage', amount_cents: -amount_cents },
      ],
    }),
  ])
  return after
}
