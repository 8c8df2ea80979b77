import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import * as orders from '../orders/money.ts'
import type { WaitingOrder } from '../orders/schema.ts'
import * as payments from '../payments/service.ts'
import { keptTerms } from '../pricing/service.ts'
import type { Begun, Placing } from './begun.ts'
import type { PricedBy, Risk } from './schema.ts'
import type { CheckoutDeps, Sale } from './service.ts'

/** What pays for a part of an order. */
export type Tender = orders.NewCharge

interface Writing {
  order_id: string
  order_number: number
  key: string
  sale: Sale
  risk: Risk
  tenders: readonly Tender[]
  charge: Begun['charge']
  placing: Placing
}

/** All rows of the order, in statements that travel together. */
export function writeOrder(
  tx: Tx,
  { keys }: CheckoutDeps,
  writing: Writing,
): [Promise<WaitingOrder>, Promise<unknown>] {
  const { order_id, sale, tenders, charge, placing } = writing
  const items = sale.priced.lines.map((line) => ({ ...line, id: randomUUID() }))
  const charges = charge === null ? tenders : [...tenders, cardCharge(charge, placing, keys)]
  return [
    orders.insertWaiting(tx, newOrder(writing), items, charges),
    charge === null ? Promise.resolve() : beginAttempt(tx, order_id, charge),
  ]
}

function cardCharge(
  charge: NonNullable<Begun['charge']>,
  { source }: Placing,
  keys: CheckoutDeps['keys'],
): Tender {
  const card = source !== null && 'card' in source ? source.card : null
  return {
    charge_id: charge.attempt_id,
    tender: 'card',
    amount_cents: charge.amount_cents,
    currency: charge.currency,
    gateway: charge.gateway.name,
    card_brand: card?.brand ?? null,
    card_last4: card?.last4 ?? null,
    card_fingerprint: card?.fingerprint(keys.fingerprint) ?? null,
  }
}

const beginAttempt = (tx: Tx, order_id: string, charge: NonNullable<Begun['charge']>) =>
  payments.beginAttempt(tx, {
    id: charge.attempt_id,
    order_id,
    kind: 'checkout',
    gateway: charge.gateway.name,
    amount_cents: charge.amount_cents,
    currency: charge.currency,
    charge_id: charge.attempt_id,
  })

function newOrder({ order_id, order_number, key, sale, risk, placing }: Writing) {
  const { request } = placing
  const { priced, store } = sale
  const subscriptions = priced.lines.flatMap(subscriptionOf)
  const pricing: PricedBy = {
    shipping: request.shipping ?? null,
    tax: request.tax ?? null,
    expedited: request.expedited ?? false,
    coupon:
      sale.coupon !== null && priced.coupon.applied ? keptTerms(sale.coupon, priced.lines) : null,
    subscribe: request.subscribe ?? false,
    attestation: request.attestation ?? null,
    subscriptions,
    ...(subscriptions.length > 0 && { time_zone: store.time_zone }),
  }
  return {
    id: order_id,
    order_number,
    customer_ref: request.customer_ref,
    person_id: request.person_id?.toLowerCase() ?? null,
    // As the merchant wrote it: shoppers write it in any way.
    coupon_code: priced.coupon.applied ? (sale.coupon?.code ?? null) : null,
    subtotal_cents: priced.subtotal_cents,
    discount_cents: priced.discount_cents,
    shipping_cents: priced.shipping_cents,
    tax_cents: priced.tax_cents,
    total_cents: priced.total_cents,
    currency: priced.currency,
    idempotency_key: key,
    ship_to: request.shipping_address ? { line2: null, ...request.shipping_address } : null,
    email: request.email ?? null,
    ip: request.ip ?? null,
    referral_code: readReferral(request.referral_code),
    source: 'checkout' as const,
    pricing: { ...pricing },
    risk: { ...risk },
  }
}

/** How often a line that is subscribed to comes again, as its product says now. */
function subscriptionOf(line: Sale['priced']['lines'][number]): PricedBy['subscriptions'] {
  const { variant_id, is_subscription, subscription_interval, subscription_interval_count } = line
  if (!is_subscription || subscription_interval === null) return []
  const interval_count = subscription_interval_count ?? 1
  return [{ variant_id, interval: subscription_interval, interval_count }]
}

const REFERRAL = /^[A-Za-z0-9_-]{1,64}$/

/** Anything that is no code is dropped in silence. */
const readReferral = (code: unknown): string | null =>
  typeof code === 'string' && REFERRAL.test(code) ? code : null
