import { allOf, besides } from '../../db/all-of.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { inProgress } from '../../platform/idempotency-run.ts'
import * as customers from '../customers/service.ts'
import * as fraud from '../fraud/service.ts'
import * as giftCards from '../gift-cards/money.ts'
import * as inventory from '../inventory/money.ts'
import * as ledger from '../ledger/money.ts'
import * as coupons from '../marketing/money.ts'
import * as orderRows from '../orders/money.ts'
import type { ChargeRow, OrderRow, WaitingOrder, WholeOrder } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { Attempt } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import * as storeCredit from '../store-credit/money.ts'
import * as subscriptions from '../subscriptions/service.ts'
import * as webhooks from '../webhooks/service.ts'
import { giveUp } from './fail-money.ts'
import type { Outcome } from './pay.ts'
import { brief, cardOf, decisionOf, placedEvent, requireWaiting, startedOf } from './placed.ts'
import type { PricedBy } from './schema.ts'
import type { CheckoutDeps } from './service.ts'

/** The order as its checkout has just written it; or its id, for whoever takes it up later. */
type Known = { waiting: WaitingOrder } | { order_id: string; asked?: Attempt }

/**
 * Makes an outcome true: the order is placed, held or failed, and the key has its answer, in one
 * transaction. An outcome that is not known yet leaves the claim to whoever asks next; `asked` is
 * the attempt that was asked about before.
 */
export async function conclude(
  deps: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  outcome: Outcome,
  known: Known,
): Promise<idempotency.Answer> {
  const waiting = 'waiting' in known ? known.waiting : null
  const order_id = 'waiting' in known ? known.waiting.order.id : known.order_id
  if (outcome.kind === 'unknown') {
    const asked = 'asked' in known ? known.asked : undefined
    return leave(deps, db, claim, order_id, outcome, asked)
  }
  const make = (which: Which) =>
    db.transaction('checkout: settle', (tx) => {
      if (outcome.kind === 'captured' || outcome.kind === 'covered') {
        const answer = (body: string) => idempotency.finish(tx, claim, 201, body)
        return settle(tx, deps, which, outcome, answer)
      }
      if (outcome.kind === 'review') return holdBack(tx, deps, claim, order_id, outcome)
      return giveUp(tx, claim, order_id, outcome)
    })
  const answer = await make({ order_id, waiting }).catch((error: unknown) => {
    if (!(error instanceof orderRows.MovedError)) throw error
    return make({ order_id, waiting: null })
  })
  if (outcome.kind === 'declined' || outcome.kind === 'rejected') {
    await weighFailure(deps, db, order_id)
  }
  await deps.at?.('settled')
  return answer
}

/** Says so, once; and leaves the claim for the reconciler, or for the same key. */
async function leave(
  { clock }: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  order_id: string,
  { attempt_id }: Extract<Outcome, { kind: 'unknown' }>,
  asked: Attempt | undefined,
): Promise<never> {
  const order = await db.transaction('checkout: unknown', async (tx) => {
    const locked = await orders.lock(tx, order_id)
    await payments.markUnknown(tx, attempt_id)
    await idempotency.renew(tx, claim, askAgainAfter(asked, clock.now()))
    return locked.payment === 'unknown' ? locked : orders.change(tx, locked, { payment: 'unknown' })
  })
  if (asked !== undefined) throw inProgress()
  throw new ApiError('payment_unconfirmed', { body: { order: brief(order) }, kind: 'upstream' })
}

/** In seconds: soon at first, since most is known then, and patiently while a gateway is away. */
export function askAgainAfter(asked: Attempt | undefined, now: number): number {
  const minutes = asked === undefined ? 0 : (now - Date.parse(asked.created_at)) / 60_000
  if (minutes < 1) return 10
  return minutes < 10 ? 60 : 300
}

/** A failed attempt weighs more against the next ones. A limiter that is away loses only that. */
async function weighFailure(
  { limits }: CheckoutDeps,
  db: TenantDb,
  order_id: string,
): Promise<void> {
  const [{ customer_ref, email, ip }, charges] = await Promise.all([
    orders.get(db, order_id),
    orders.listCharges(db, order_id),
  ])
  const card_fingerprint = charges.find(({ tender }) => tender === 'card')?.card_fingerprint
  const facts = { customer_ref, email, ip, card_fingerprint }
  await fraud.noteFailure(limits, db.tenant, facts).catch(() => {})
}

/** Without a verdict where a person has come to one. */
export type Paid = Unjudged<Extract<Outcome, { kind: 'captured' | 'covered' }>>
type Unjudged<O> = O extends { verdict: fraud.Score }
  ? Omit<O, 'verdict'> & { verdict: fraud.Score | null }
  : never

/** Which order is settled. One that is not known as it was written is read, under its lock. */
export interface Which {
  order_id: string
  waiting: WaitingOrder | null
}

/**
 * Places a paid order: stock is sold, what was held is taken, the ledger has it, the world hears of
 * it. `answer` keeps the caller's answer in the same transaction.
 */
export async function settle<T>(
  tx: Tx,
  deps: CheckoutDeps,
  { order_id, waiting }: Which,
  paid: Paid,
  answer: (body: string, whole: WholeOrder) => Promise<T>,
): Promise<T> {
  const before = waiting ?? (await lockWaiting(tx, order_id))
  const at = new Date(deps.clock.now()).toISOString()
  const card = cardOf('captured', paid.kind === 'captured' ? paid.result : null)
  const captured_cents = before.order.total_cents
  const facts = { payment: 'captured', captured_cents, placed_at: at, hold: null }
  const whole = orderRows.settled(before, facts, card, at)
  const { order, items, charges } = whole
  // The order is locked first, then its stock, then what was held: by everybody.
  const writing = besides(
    orderRows.writeSettled(tx, order, facts, {
      card,
      entry: { type: 'placed', actor: 'system', data: { captured_cents } },
      version: waiting?.version ?? null,
    }),
  )
  const stock = besides(inventory.sell(tx, order_id))
  const closed = await closeTenders(tx, order_id, charges)
  const started = await subscriptions.start(
    tx,
    originOf(order, charges, at),
    startedOf(order, items),
  )
  const [, , kept] = await allOf([
    writing,
    // Before whatever the answer tells: an order is placed first.
    webhooks.emit(tx, placedEvent(whole, started)),
    answer(answerBody(whole, started, 'accepted'), whole),
    ledger.post(tx, saleJournal(order, closed, charges)),
    paid.verdict !== null && fraud.record(tx, decisionOf(order, paid.verdict)),
    paid.kind === 'captured' && payments.closeAttempt(tx, paid.attempt_id, paid.result),
    order.coupon_code !== null && coupons.confirm(tx, { order_id }),
    customers.touch(tx, deps.keys.customers, seenOf(order)),
    stock,
  ])
  return kept
}

/** An order that waits, with all that belongs to it: nobody else changes it before this ends. */
async function lockWaiting(tx: Tx, order_id: string): Promise<WholeOrder> {
  const [order, items, charges] = await allOf([
    orders.lock(tx, order_id),
    orders.listItems(tx, order_id),
    orders.listCharges(tx, order_id),
  ])
  requireWaiting(order)
  return { order, items, charges }
}

/** Store credit first: everybody locks the two in this order. */
async function closeTenders(tx: Tx, order_id: string, charges: readonly ChargeRow[]) {
  const has = (wanted: ChargeRow['tender']) => charges.some(({ tender }) => tender === wanted)
  const credits = has('store_credit') ? await storeCredit.settleHold(tx, { order_id }) : []
  const cards = has('gift_card') ? await giftCards.settleHold(tx, { order_id }) : []
  return { credits, cards }
}

/** Tenders in, the sale out. The ledger refuses what does not sum to zero. */
function saleJournal(
  order: OrderRow,
  closed: Awaited<ReturnType<typeof closeTenders>>,
  charges: readonly ChargeRow[],
) {
  const card = charges
    .filter(({ tender }) => tender === 'card')
    .reduce((sum, each) => sum + each.captured_cents, 0)
  return {
    kind: 'order.placed',
    currency: order.currency,
    order_id: order.id,
    ref: order.id,
    entries: [
      ...closed.credits.map(({ account_id, amount_cents }) => ({
        account: 'store_credit' as const,
        ref: account_id,
        amount_cents,
      })),
      ...closed.cards.map(({ gift_card_id, amount_cents }) => ({
        account: 'gift_card' as const,
        ref: gift_card_id,
        amount_cents,
      })),
      { account: 'card_clearing' as const, amount_cents: card },
      { account: 'sales' as const, amount_cents: -order.subtotal_cents },
      { account: 'discount' as const, amount_cents: order.discount_cents },
      { account: 'shipping_income' as const, amount_cents: -order.shipping_cents },
      { account: 'tax_payable' as const, amount_cents: -order.tax_cents },
    ],
  }
}

const seenOf = ({ customer_ref, person_id, email, ship_to }: OrderRow) => ({
  customer_ref,
  person_id,
  email,
  name: ship_to?.label ?? null,
})

function originOf(order: OrderRow, charges: readonly ChargeRow[], at: string) {
  const paidBy = charges.find(({ tender }) => tender === 'card')
  const { time_zone = 'UTC' } = order.pricing as Partial<PricedBy>
  return {
    order_id: order.id,
    customer_ref: order.customer_ref,
    person_id: order.person_id,
    currency: order.currency,
    at,
    time_zone,
    ship_to: order.ship_to,
    vault_id: paidBy?.vault_id ?? null,
    initial_txn_id: paidBy?.txn_id ?? null,
    card: paidBy?.card ?? null,
  }
}

export const answerBody = (
  { order, items, charges }: WholeOrder,
  started: Awaited<ReturnType<typeof subscriptions.start>>,
  decision: 'accepted' | 'review',
): string =>
  JSON.stringify({
    order: orders.forShopper(order),
    items,
    charges: charges.map(orders.shownCharge),
    subscriptions: started,
    amount_due_cents: 0,
    fraud: { decision },
  })

/** Keeps the authorisation and everything held, until a person has looked. */
async function holdBack(
  tx: Tx,
  deps: CheckoutDeps,
  claim: idempotency.WonClaim,
  order_id: string,
  { attempt_id, result, verdict }: Extract<Outcome, { kind: 'review' }>,
): Promise<idempotency.Answer> {
  const before = await lockWaiting(tx, order_id)
  const at = new Date(deps.clock.now()).toISOString()
  const held = { payment: 'authorized', hold: { reason: 'fraud_review', by: 'system', at } }
  const card = cardOf('authorized', result)
  const whole = orderRows.settled(before, held, card, at)
  const { order } = whole
  const [kept] = await allOf([
    idempotency.finish(tx, claim, 202, answerBody(whole, [], 'review')),
    orderRows.writeSettled(tx, order, held, {
      card,
      entry: {
        type: 'held',
        actor: 'system',
        data: { reason: 'fraud_review', score: verdict.score },
      },
      version: null,
    }),
    fraud.record(tx, decisionOf(order, verdict)),
    webhooks.emit(tx, {
      type: 'commerce.order.held.v1',
      order_id,
      customer_ref: order.customer_ref,
      data: { order: orders.forMerchant(order) },
    }),
    result !== null && attempt_id !== null && payments.closeAttempt(tx, attempt_id, result),
  ])
  return kept
}
