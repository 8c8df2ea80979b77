import { isViolationOf } from '../../db/constraints.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { StaleWorkError } from '../operations/service.ts'
import { rateOf } from '../pricing/tax.ts'
import type {
  ChargeRow,
  FactChange,
  NewCharge,
  NewEntry,
  OrderItem,
  OrderRow,
  WaitingOrder,
  WholeOrder,
} from './schema.ts'
import { withFacts, writtenFacts } from './service.ts'
import * as queries from './write-order-queries.ts'

/** Writes an order that waits for its payment, and returns it as a read would. */
export async function insertWaiting(
  tx: Tx,
  order: queries.NewOrder,
  items: readonly queries.NewItem[],
  charges: readonly NewCharge[],
): Promise<WaitingOrder> {
  const { total_cents, currency } = order
  const actor = order.source === 'checkout' ? 'shopper' : SYSTEM.name
  const entry = { type: 'created', actor, data: { total_cents, currency } }
  const { created_at, version } = await queries
    .insertOrder(tx, order, { items, charges, entry })
    .catch((error) => {
      throw isViolationOf(error, 'orders_key') ? placedBefore(error) : error
    })
  return {
    order: waitingRow(tx.tenant, order, items, created_at),
    items: items.map((item) => itemRow(order.id, item)),
    charges: charges.map((charge) => chargeRow(order.id, charge)),
    version,
  }
}

/** An order keeps its key for ever; the keys of requests are deleted after a month. */
const placedBefore = (cause: unknown) =>
  new ApiError('idempotency_key_reused', {
    cause,
    message:
      'An order was placed with that Idempotency-Key more than 30 days ago. Do not send it again. Send a new key only for another order.',
  })

const waitingRow = (
  tenant_ref: string,
  order: queries.NewOrder,
  items: readonly queries.NewItem[],
  created_at: string,
): OrderRow => ({
  ...order,
  tenant_ref,
  tax_rate_bps: rateOf(order.pricing.tax),
  status: 'pending_payment',
  payment_status: 'pending',
  fulfillment_status: 'unfulfilled',
  hold: null,
  expedited: order.pricing.expedited === true,
  placed_at: null,
  cancelled_at: null,
  created_at,
  updated_at: created_at,
  is_test: false,
  captured_cents: 0,
  refunded_cents: 0,
  payment: 'pending',
  payment_failure: null,
  processing_at: null,
  disputed: false,
  busy: false,
  operation: null,
  q_ordered: unitsOf(items, false),
  q_gift_cards: unitsOf(items, true),
  q_cancelled: 0,
  q_packed: 0,
  q_returning: 0,
  q_returned: 0,
  q_refunded: 0,
  q_shipped: 0,
  q_delivered: 0,
})

const unitsOf = (items: readonly queries.NewItem[], giftCards: boolean): number =>
  items.reduce((sum, { quantity, gift_card }) => sum + (gift_card === giftCards ? quantity : 0), 0)

const itemRow = (order_id: string, item: queries.NewItem): OrderItem => ({
  id: item.id,
  order_id,
  product_id: item.product_id,
  variant_id: item.variant_id,
  product_name: item.product_name,
  sku: item.sku,
  quantity: item.quantity,
  unit_price_cents: item.unit_price_cents,
  line_total_cents: item.line_total_cents,
  label: item.label,
  discount_cents: item.discount_cents,
  tax_cents: item.tax_cents,
  shipping_cents: item.shipping_cents,
  is_subscription: item.is_subscription,
  gift_card: item.gift_card,
  refunded_quantity: 0,
  packed_quantity: 0,
  shipped_quantity: 0,
  delivered_quantity: 0,
  returning_quantity: 0,
  returned_quantity: 0,
  restocked_quantity: 0,
})

const chargeRow = (order_id: string, charge: NewCharge): ChargeRow => ({
  charge_id: charge.charge_id,
  order_id,
  tender: charge.tender,
  amount_cents: charge.amount_cents,
  captured_cents: 0,
  refunded_cents: 0,
  currency: charge.currency,
  status: 'pending',
  card:
    charge.tender === 'card'
      ? { brand: charge.card_brand ?? null, last4: charge.card_last4 ?? null }
      : null,
  gift_card_last4: charge.gift_card_last4 ?? null,
  gateway: charge.gateway ?? null,
  txn_id: null,
  vault_id: null,
  gift_card_id: charge.gift_card_id ?? null,
  card_fingerprint: charge.card_fingerprint ?? null,
  moved_from: charge.moved_from ?? null,
})

/** Returns the order, its lines and its charges as they are after the gateway's reply to its payment. */
export function settled(
  { order, items, charges }: WholeOrder,
  facts: FactChange,
  card: queries.CardOutcome,
  at: string,
): WholeOrder {
  return {
    order: withFacts(order, facts, at),
    items,
    charges: charges.map((charge) => settledCharge(charge, card)),
  }
}

function settledCharge(charge: ChargeRow, paid: queries.CardOutcome): ChargeRow {
  if (charge.status !== 'pending' && charge.status !== 'authorized') return charge
  const captured_cents = paid.status === 'captured' ? charge.amount_cents : 0
  const { status } = paid
  if (charge.tender !== 'card') return { ...charge, status, captured_cents }
  const { card, txn_id, vault_id } = charge
  return {
    ...charge,
    status,
    captured_cents,
    txn_id: paid.txn_id ?? txn_id,
    vault_id: paid.vault_id ?? vault_id,
    card: {
      brand: card?.brand ?? paid.card?.brand ?? null,
      last4: card?.last4 ?? paid.card?.last4 ?? null,
    },
  }
}

/** Writes the settled order, in one statement. `version` is null under the order's lock. */
export async function writeSettled(
  tx: Tx,
  order: OrderRow,
  facts: FactChange,
  { card, entry, version }: { card: queries.CardOutcome; entry: NewEntry; version: string | null },
): Promise<void> {
  const written = { ...writtenFacts(order, facts), card, entry, version }
  if ((await queries.settleOrder(tx, order.id, written)) === 0) throw new StaleWorkError()
}

/**
 * Takes the store's next order number, in a commit of its own, so that no order waits for another.
 */
export const takeOrderNumber = async (db: TenantDb): Promise<number> =>
  (await queries.takeNumber(db)).last_number

/**
 * Puts the order number of a refused checkout back into the counter, if no order was written: so a store's first
 * sale is 1001, and refusals leave few gaps.
 */
export const returnOrderNumber = (db: TenantDb, order_number: number) =>
  queries.returnNumber(db, order_number)
