import { awaitAll } from '../../db/await-all.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { attributedCode } from '../affiliates/commissions.ts'
import * as orderStock from '../inventory/order-stock.ts'
import * as inventory from '../inventory/service.ts'
import { defineOperation, type Replies } from '../operations/service.ts'
import { actorOf } from '../orders/actor.ts'
import { holdIfDisputed } from '../orders/dispute-hold.ts'
import { requestPayment } from '../orders/payment-request.ts'
import type { PaymentRequest } from '../orders/payment-request-schema.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forMerchant } from '../orders/show.ts'
import type { Risk } from '../orders/terms-schema.ts'
import { returnOrderNumber, takeOrderNumber } from '../orders/write-order.ts'
import {
  getExchange,
  lockExchanged,
  readCredit,
  readRemaining,
  settleExchange,
  takeCredit,
} from '../returns/exchange-money.ts'
import { takeOf } from '../returns/plan-exchange.ts'
import type { ExchangeRow } from '../returns/schema.ts'
import * as returns from '../returns/service.ts'
import { termsAtPrice } from '../shipping/terms.ts'
import { DEFAULT_DAYS, type ExchangePreview, type NewExchange } from './exchange-schema.ts'
import { stockLines, withTax, writeOrder } from './reserve-money.ts'
import type { CheckoutRequest } from './schema.ts'
import {
  asksProvider,
  type CheckoutDeps,
  type KeptTerms,
  readSale,
  type Sale,
  type Taxed,
} from './service.ts'
import { settleOrder } from './settle-money.ts'

/**
 * Makes the order of an exchange: `begin` prices it, reserves its stock and its part of the return's refund; `end`
 * places it, or holds it and asks the shopper to pay the rest. No gateway is asked: nothing is charged without the
 * shopper.
 */

interface Work {
  order: OrderRow
  exchange: ExchangeRow
}

/** No gateway is asked, so no reply is unknown. */
const NO_REPLIES: Replies = { unknown: [] }

export const exchangeOperation = defineOperation<
  CheckoutDeps,
  { returnId: string; body: NewExchange },
  Work,
  Replies
>({
  name: 'exchange',
  async begin(deps, db, { actor, reach }, { returnId, body }) {
    const request = await requestOf(db, returnId, body)
    const order_number = await takeOrderNumber(db)
    try {
      return await withTax(deps, db, request, (taxed) =>
        db.transaction('exchange: begin', async (tx) => {
          const exchanging = { returnId, body, request, taxed, order_number }
          const order_id = await reserve(tx, deps, actor, exchanging)
          return { state: 'begun' as const, claim: await reach(tx, order_id) }
        }),
      )
    } catch (error) {
      if (error instanceof ApiError) await returnOrderNumber(db, order_number)
      throw error
    }
  },
  async load(db, orderId) {
    const [order, exchange] = await Promise.all([orders.get(db, orderId), getExchange(db, orderId)])
    return { order, exchange }
  },
  ask: async () => NO_REPLIES,
  recall: async () => NO_REPLIES,
  async end(tx, deps, { claim, work }) {
    const { exchange } = work
    await lockExchanged(tx, work.order)
    const order = await orders.lock(tx, work.order.id)
    const due = order.total_cents - exchange.amount_cents
    const ended = due === 0 ? await place(tx, deps, order) : await ask(tx, order, exchange, due)
    await auditExchange(tx, claim, exchange, ended)
    const body = await answerOf(tx, exchange, ended, due)
    return idempotency.finish(tx, claim, 201, JSON.stringify(body))
  },
  orderOf: ({ order }) => briefOf(order),
})

/** The request of a checkout, with the price of shipping that a merchant names. */
type ExchangeRequest = CheckoutRequest & { kept: KeptTerms }

/** The cart of an exchange: for the customer of the returned order, to the same address. */
async function requestOf(db: Db, returnId: string, body: NewExchange): Promise<ExchangeRequest> {
  const { order_id } = await returns.find(db, returnId)
  const order = await orders.get(db, order_id)
  // The return claws commission back from the affiliate, and the new goods earn it again.
  return { ...cartOf(order, body), referral_code: await attributedCode(db, order) }
}

/**
 * Makes the cart of an exchange. It is taxed as the returned order was. Shipping costs what the merchant
 * says, and nothing by default.
 */
function cartOf(order: OrderRow, { items, shipping_cents = 0 }: NewExchange): ExchangeRequest {
  const { tax, attestation } = order.pricing
  const ofCatalog = { unit_price_cents: null, prices_include_tax: null, coupon: null }
  return {
    customer_ref: order.customer_ref,
    person_id: order.person_id,
    items,
    kept: { ...ofCatalog, shipping: termsAtPrice(shipping_cents) },
    tax: tax ?? null,
    shipping_address: order.ship_to,
    email: order.email,
    name: order.customer_name,
    ip: order.ip,
    attestation: attestation ?? null,
  }
}

interface Exchanging {
  returnId: string
  body: NewExchange
  request: ExchangeRequest
  taxed: Taxed | undefined
  order_number: number
}

/** A merchant makes the order, so the fraud check has nothing to find before its shopper pays. */
const NO_RISK: Risk = { ban: 'allow', ban_ids: [], velocity: 0 }

async function reserve(
  tx: Tx,
  deps: CheckoutDeps,
  actor: audit.Actor,
  { returnId, body, request, taxed, order_number }: Exchanging,
): Promise<string> {
  const { advance = false, expires_in_days: pay_days = DEFAULT_DAYS } = body
  const locked = await returns.lockReturn(tx, returnId)
  const credit = await readCredit(tx, locked, advance)
  const sale = await readSale(tx, deps, request, taxed)
  requireGoods(locked.order, sale)
  const order_id = newId()
  await orderStock.reserve(tx, order_id, stockLines(request.items))
  const [waiting] = writeOrder(tx, deps, {
    order_id,
    order_number,
    // An order of a checkout may have any key that a caller can send.
    key: `exchange ${order_id}`,
    sale,
    risk: NO_RISK,
    tenders: [],
    charge: null,
    placing: { request, source: null },
    source: 'exchange',
  })
  await waiting
  const { total_cents } = sale.priced
  const taking = { order_id, total_cents, advance, pay_days, actor: actorOf(actor) }
  await takeCredit(tx, locked, credit, taking)
  return order_id
}

/**
 * Refuses gift cards and another currency. Only goods are exchanged: money that was paid with a gift card must not buy
 * another one.
 */
function requireGoods({ currency }: OrderRow, { priced }: Sale): void {
  if (priced.currency !== currency) throw new ApiError('currency_mismatch')
  const card = priced.lines.findIndex(({ gift_card }) => gift_card)
  if (card >= 0) throw invalidBody(`items.${card}.variant_id`, 'must not be a gift card')
}

interface Ended {
  order: OrderRow
  items: OrderItem[]
  request: PaymentRequest | null
}

/** Places the order of an exchange, whose total the refund covers. */
async function place(tx: Tx, deps: CheckoutDeps, { id: order_id }: OrderRow): Promise<Ended> {
  await settleExchange(tx, order_id)
  const paid = { kind: 'covered', verdict: null } as const
  const settling = { order_id, waiting: null, paid }
  return settleOrder(tx, deps, settling, async (_, { order, items }) => ({
    order: await holdIfDisputed(tx, order),
    items,
    request: null,
  }))
}

async function ask(
  tx: Tx,
  order: OrderRow,
  { created_by: actor, pay_days: days }: ExchangeRow,
  amount_cents: number,
): Promise<Ended> {
  const [due, items] = await awaitAll([
    requestPayment(tx, order, { amount_cents, days, actor }),
    orders.listItems(tx, order.id),
  ])
  return { order: due.order, items, request: due.request }
}

async function auditExchange(
  tx: Tx,
  { correlationId }: idempotency.WonClaim,
  { return_id, amount_cents, advance, created_by: name }: ExchangeRow,
  { order, request }: Ended,
): Promise<void> {
  const actor = { name, correlationId: correlationId ?? null }
  await audit.record(tx, actor, {
    action: 'return.exchanged',
    entity: `return:${return_id}`,
    after: {
      order_id: order.id,
      total_cents: order.total_cents,
      credit_cents: amount_cents,
      amount_due_cents: request?.amount_cents ?? 0,
      advance,
    },
  })
}

async function answerOf(tx: Tx, exchange: ExchangeRow, ended: Ended, amount_due_cents: number) {
  const { return_id, amount_cents: credit_cents, advance } = exchange
  const { order, items, request } = ended
  const remaining_cents = await readRemaining(tx, return_id, advance)
  return {
    return: await returns.get(tx, return_id),
    order: forMerchant(order),
    items,
    credit_cents,
    amount_due_cents,
    remaining_cents,
    payment_request: request,
  }
}

/** Computes an exchange without making it. */
export async function previewExchange(
  deps: CheckoutDeps,
  db: TenantDb,
  returnId: string,
  body: NewExchange,
): Promise<ExchangePreview> {
  const returned = await returns.find(db, returnId)
  const order = await orders.get(db, returned.order_id)
  const request = cartOf(order, body)
  const show = async (tx: Db) => {
    const credit = await readCredit(tx, { returned, order }, body.advance ?? false)
    const sale = await readSale(tx, deps, request)
    requireGoods(order, sale)
    const stock = await inventory.available(tx, variantsOf(sale))
    const { total_cents } = sale.priced
    const { amount_cents: credit_cents } = takeOf(credit, total_cents)
    return {
      ...shownSale(sale, stock),
      credit_cents,
      amount_due_cents: total_cents - credit_cents,
      remaining_cents: credit.available_cents - credit_cents,
    }
  }
  return asksProvider(request) ? show(db) : db.transaction('exchange: preview', show)
}

const variantsOf = ({ priced }: Sale): string[] => priced.lines.map(({ variant_id }) => variant_id)

function shownSale(
  { priced, options }: Sale,
  stock: ReadonlyMap<string, number | null>,
): Omit<ExchangePreview, 'credit_cents' | 'amount_due_cents' | 'remaining_cents'> {
  const byVariant = Map.groupBy(priced.lines, ({ variant_id }) => variant_id)
  const unitsOf = (variant_id: string) =>
    (byVariant.get(variant_id) ?? []).reduce((units, { quantity }) => units + quantity, 0)
  return {
    items: priced.lines.map((line) => ({
      variant_id: line.variant_id,
      quantity: line.quantity,
      unit_price_cents: line.unit_price_cents,
      line_total_cents: line.line_total_cents,
      available:
        unitsOf(line.variant_id) <= (stock.get(line.variant_id) ?? Number.POSITIVE_INFINITY),
    })),
    subtotal_cents: priced.subtotal_cents,
    shipping_cents: priced.shipping_cents,
    tax_cents: priced.tax_cents,
    total_cents: priced.total_cents,
    prices_include_tax: options.pricesIncludeTax,
    currency: priced.currency,
  }
}
