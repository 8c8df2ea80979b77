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
import { goodFirst, sumOf, takeInOrder } from './lots.ts'
import * as queries from './queries.ts'
import type { NewCredit, NewDebit, StoreCreditAccount } from './schema.ts'
import { checkCustomerRef, FEATURE, get, listExpired } from './service.ts'

/** Who acts where no merchant does. */
const ORDER = 'order'

/** Who asks for it, under which key. */
export interface Asked {
  actor: audit.Actor
  claim: idempotency.WonClaim
  /** Throws where the store has no such order: orders stand on a higher tier. */
  requireOrder(tx: Tx, order_id: string): Promise<unknown>
}

/** Gives a customer credit, on the merchant's word. */
export function creditByMerchant(
  db: TenantDb,
  asked: Asked,
  customerRef: string,
  wanted: NewCredit,
) {
  checkCustomerRef(customerRef)
  stores.checkCurrency(wanted.currency)
  const expires_at = readExpiry(db.clock, wanted.expires_at)
  return db.transaction('store credit: credit', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    if (wanted.order_id) await asked.requireOrder(tx, wanted.order_id)
    const { account, transaction } = await credit(tx, {
      ...wanted,
      expires_at,
      customer_ref: customerRef,
      event: 'adjustment',
      actor: asked.actor,
      post: true,
    })
    if (account.balance_cents > AMOUNT_CENTS_MAX) throw new ApiError('balance_limit_exceeded')
    await record(tx, asked.actor, 'store_credit.credited', account, wanted.amount_cents)
    return idempotency.finish(tx, asked.claim, 201, JSON.stringify({ account, transaction }))
  })
}

/** Takes credit from a customer, on the merchant's word. What orders hold stays. */
export function debit(db: TenantDb, asked: Asked, customerRef: string, wanted: NewDebit) {
  const { amount_cents, currency, reason, order_id } = wanted
  return db.transaction('store credit: debit', async (tx) => {
    await entitlements.requireFeature(tx, FEATURE)
    await get(tx, customerRef)
    if (order_id) await asked.requireOrder(tx, order_id)
    const found = await enter(tx, await queries.lockAccountOf(tx, customerRef, currency))
    const available = found === null ? 0 : found.balance_cents - found.held_cents
    if (found === null || available < amount_cents) {
      throw new ApiError('insufficient_balance', { body: { available_cents: available } })
    }
    const lots = goodFirst(await queries.listOpenLots(tx, found.id))
    const [account, transaction] = await Promise.all([
      queries.addBalance(tx, found.id, -amount_cents),
      queries.logTransaction(tx, found.id, {
        type: 'debit',
        event: 'adjustment',
        amount_cents,
        order_id: order_id ?? null,
        reason,
        actor: asked.actor.name,
      }),
      queries.reduceLots(tx, takeInOrder(lots, amount_cents)),
      move(tx, { kind: 'store_credit.debited', order_id: order_id ?? null }, found, -amount_cents),
      record(tx, asked.actor, 'store_credit.debited', found, amount_cents),
    ])
    return idempotency.finish(tx, asked.claim, 201, JSON.stringify({ account, transaction }))
  })
}

const record = (
  tx: Tx,
  actor: audit.Actor,
  action: string,
  { id, currency }: StoreCreditAccount,
  amount_cents: number,
) =>
  audit.record(tx, actor, {
    action,
    entity: `store_credit:${id}`,
    after: { amount_cents, currency },
  })

/** Books what the store owes to the customer more (or less) than before. */
const move = (
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
  /** False where the caller's own journal books it, as that of a refund does. */
  post: boolean
}

/** Adds to a customer's credit. The account is made where there is none. */
export async function credit(tx: Tx, wanted: Credit) {
  const { customer_ref, currency, amount_cents, order_id = null, reason = null } = wanted
  await queries.ensureAccount(tx, customer_ref, currency)
  const found = await queries.lockAccountOf(tx, customer_ref, currency)
  if (found === null) throw new Error('the account vanished while it was being credited')
  const [account, transaction] = await Promise.all([
    queries.addBalance(tx, found.id, amount_cents),
    queries.logTransaction(tx, found.id, {
      type: 'credit',
      event: wanted.event,
      amount_cents,
      order_id,
      reason,
      actor: wanted.actor.name,
    }),
    queries.insertLot(tx, found.id, amount_cents, wanted.expires_at ?? null),
    wanted.post && move(tx, { kind: 'store_credit.credited', order_id }, found, amount_cents),
  ])
  return { account_id: account.id, account, transaction }
}

interface WantedHold {
  customer_ref: string
  currency: string
  wanted_cents: number
  order_id: string
}

/** Sets as much credit aside for an order as there is, up to what is wanted; 0 when there is none. */
export async function holdUpTo(
  tx: Tx,
  { customer_ref, currency, wanted_cents, order_id }: WantedHold,
) {
  // What is owed to somebody who was erased is not for whoever comes by the pseudonym.
  const account = customers.isPseudonym(customer_ref)
    ? null
    : await enter(tx, await queries.lockAccountOf(tx, customer_ref, currency))
  if (account === null) return { account_id: null, amount_cents: 0 }
  const { id } = account
  const available = account.balance_cents - account.held_cents
  const amount_cents = Math.max(0, Math.min(available, wanted_cents))
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

/** What was taken from, or given back to, which account. */
export interface ClosedHold {
  account_id: string
  amount_cents: number
}

/** Takes what was set aside for an order. The order's own journal books it. Harmless when repeated. */
export async function settleHold(
  tx: Tx,
  { order_id }: { order_id: string },
): Promise<ClosedHold[]> {
  const holds = await ledger.closeHolds(tx, { order_id, to: 'posted', account: 'store_credit' })
  for (const each of holds) {
    await queries.lockAccount(tx, each.ref)
    const lots = goodFirst(await queries.listOpenLots(tx, each.ref, each.created_at))
    await Promise.all([
      queries.captureHeld(tx, each.ref, each.amount_cents),
      queries.reduceLots(tx, takeInOrder(lots, each.amount_cents)),
      logOrder(tx, each, 'capture'),
    ])
  }
  return holds.map(closed)
}

/** Gives back what was set aside for an order. Harmless when repeated, or when it was taken. */
export async function voidHold(tx: Tx, { order_id }: { order_id: string }): Promise<ClosedHold[]> {
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

/** The locked account without what has expired, which is booked as the store's own. */
export async function enter(
  tx: Tx,
  account: StoreCreditAccount | null,
): Promise<StoreCreditAccount | null> {
  if (account === null) return null
  const expired = await listExpired(tx, account, await queries.listOpenLots(tx, account.id))
  const cents = sumOf(expired)
  if (cents === 0) return account
  const [after] = await Promise.all([
    queries.addBalance(tx, account.id, -cents),
    queries.reduceLots(tx, expired),
    queries.logTransaction(tx, account.id, {
      type: 'expire',
      event: 'expiration',
      amount_cents: cents,
      actor: audit.SYSTEM.name,
    }),
    ledger.post(tx, {
      kind: 'store_credit.expired',
      currency: account.currency,
      ref: account.id,
      entries: [
        { account: 'store_credit', ref: account.id, amount_cents: cents },
        { account: 'breakage', amount_cents: -cents },
      ],
    }),
  ])
  return after
}
