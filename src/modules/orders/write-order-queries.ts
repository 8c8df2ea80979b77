import { Type } from 'typebox'
import type { TenantDb, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Timestamp } from '../../kernel/schema.ts'
import { chargesInserted, factColumns, type WrittenFacts } from './queries.ts'
import type { NewCharge, NewEntry, ShipTo } from './schema.ts'
import type { OrderTerms, Risk } from './terms-schema.ts'

export interface NewOrder {
  id: string
  order_number: number
  customer_ref: string
  person_id: string | null
  coupon_code: string | null
  subtotal_cents: number
  gift_card_cents: number
  discount_cents: number
  shipping_cents: number
  tax_cents: number
  total_cents: number
  prices_include_tax: boolean
  currency: string
  idempotency_key: string
  ship_to: (ShipTo & { line2: string | null }) | null
  email: string | null
  ip: string | null
  customer_name: string | null
  referral_code: string | null
  source: 'checkout' | 'subscription_renewal' | 'operator' | 'exchange'
  /** The terms by which an edit prices the order again. */
  pricing: OrderTerms
  /** The findings of the fraud check before the payment. */
  risk: Risk
  /** The subscription and the cycle that a renewal charges. */
  subscription_id: string | null
  subscription_cycle: number | null
}

export interface NewItem {
  id: string
  product_id: string
  variant_id: string
  product_name: string
  sku: string
  label: string | null
  quantity: number
  unit_price_cents: number
  list_price_cents: number
  line_total_cents: number
  discount_cents: number
  tax_cents: number
  shipping_cents: number
  is_subscription: boolean
  gift_card: boolean
}

const Counter = Type.Object({ last_number: Type.Integer() })

/**
 * Takes the store's next order number, in a commit of its own, so that no order waits for another.
 */
export const takeNumber = (db: TenantDb) =>
  db.asyncCommit.one(
    Counter,
    sql`
    insert into order_counters as c (tenant_ref, last_number)
    values (${db.tenant}, 1001)
        on conflict (tenant_ref) do update set last_number = c.last_number + 1
    returning last_number`,
  )

/** Puts an unused order number back into the counter. It stays unused if a later number is already taken. */
export const returnNumber = (db: TenantDb, order_number: number) =>
  db.asyncCommit.run(sql`
    update order_counters set last_number = last_number - 1
     where tenant_ref = ${db.tenant} and last_number = ${order_number}`)

/** A written row with its version, which every change of the row changes. */
const Written = Type.Object({ created_at: Timestamp, version: Type.String() })

/**
 * Writes a new order that waits for its payment, with its lines, charges and first timeline entry.
 */
export const insertOrder = (
  tx: Tx,
  order: NewOrder,
  {
    items,
    charges,
    entry,
  }: { items: readonly NewItem[]; charges: readonly NewCharge[]; entry: NewEntry },
) =>
  tx.one(
    Written,
    sql`
    with line as (
      insert into order_items (tenant_ref, id, order_id, product_id, variant_id, product_name, sku,
                               label, quantity, original_quantity, unit_price_cents,
                               list_price_cents, line_total_cents, discount_cents, tax_cents,
                               shipping_cents, is_subscription, gift_card, position)
      select ${tx.tenant}, i.id, ${order.id}, i.product_id, i.variant_id, i.product_name, i.sku,
             i.label, i.quantity, i.quantity, i.unit_price_cents, i.list_price_cents,
             i.line_total_cents, i.discount_cents, i.tax_cents, i.shipping_cents,
             i.is_subscription, i.gift_card, i.position
        from jsonb_to_recordset(${JSON.stringify(items.map((item, position) => ({ ...item, position })))})
             as i (id uuid, product_id uuid, variant_id uuid, product_name text, sku text,
                   label text, quantity int, unit_price_cents bigint, list_price_cents bigint,
                   line_total_cents bigint, discount_cents bigint, tax_cents bigint,
                   shipping_cents bigint, is_subscription boolean, gift_card boolean,
                   position int)
    ), charge as (${chargesInserted(tx, order.id, charges)}
    ), entry as (
      insert into order_timeline (tenant_ref, order_id, type, actor, data)
      values (${tx.tenant}, ${order.id}, ${entry.type}, ${entry.actor},
              ${JSON.stringify(entry.data ?? {})})
    )
    insert into orders (tenant_ref, id, order_number, customer_ref, person_id, status,
                        payment_status, fulfillment_status, coupon_code, subtotal_cents,
                        gift_card_cents, discount_cents, shipping_cents, tax_cents, total_cents,
                        prices_include_tax, currency, idempotency_key, ship_to, email, ip, customer_name, referral_code, source,
                        pricing, risk, subscription_id, subscription_cycle)
    values (${tx.tenant}, ${order.id}, ${order.order_number}, ${order.customer_ref},
            ${order.person_id}, 'pending_payment', 'pending', 'unfulfilled', ${order.coupon_code},
            ${order.subtotal_cents}, ${order.gift_card_cents}, ${order.discount_cents}, ${order.shipping_cents},
            ${order.tax_cents}, ${order.total_cents}, ${order.prices_include_tax},
            ${order.currency}, ${order.idempotency_key},
            ${order.ship_to === null ? null : JSON.stringify(order.ship_to)},
            ${order.email}, ${order.ip}, ${order.customer_name}, ${order.referral_code},
            ${order.source},
            ${JSON.stringify(order.pricing)}, ${JSON.stringify(order.risk)},
            ${order.subscription_id}, ${order.subscription_cycle})
    returning created_at, xmin::text as version`,
  )

/** A card charge after the gateway's reply. */
export interface CardOutcome {
  status: 'captured' | 'authorized'
  txn_id: string | null
  vault_id: string | null
  card: { brand: string | null; last4: string | null } | null
}

export interface Settlement extends WrittenFacts {
  card: CardOutcome
  entry: NewEntry
  /** The version that the facts were derived from; null if they were read under the order's lock. */
  version: string | null
}

/**
 * Writes the outcome of the payment of a waiting order: its facts, its charges and a timeline entry. Returns 0 if
 * the order has another version by now; then nothing was written. A bank honours an authorisation for seven days,
 * so the time counts from the creation of the order, however late the reply comes.
 */
export const settleOrder = (tx: Tx, id: string, { card, entry, version, ...facts }: Settlement) =>
  tx.run(sql`
    with changed as (
      update orders
         set ${factColumns(facts)}
       where tenant_ref = ${tx.tenant} and id = ${id}
         and (${version}::xid is null or xmin = ${version}::xid)
      returning id, created_at
    ), charge as (
      update charges c
         set status = ${card.status},
             captured_cents = case when ${card.status} = 'captured' then amount_cents else 0 end,
             txn_id = case when tender = 'card' then coalesce(${card.txn_id}, txn_id) end,
             vault_id = case when tender = 'card' then coalesce(${card.vault_id}, vault_id) end,
             card_brand = case when tender = 'card'
                               then coalesce(card_brand, ${card.card?.brand ?? null}) end,
             card_last4 = case when tender = 'card'
                               then coalesce(card_last4, ${card.card?.last4 ?? null}) end,
             authorized_until = case when tender = 'card' and ${card.status} = 'authorized'
                                     then changed.created_at + interval '7 days' end
        from changed
       where c.tenant_ref = ${tx.tenant} and c.order_id = changed.id
         and c.status in ('pending', 'authorized')
    )
    insert into order_timeline (tenant_ref, order_id, type, actor, data)
    select ${tx.tenant}, id, ${entry.type}, ${entry.actor}, ${JSON.stringify(entry.data ?? {})}::jsonb
      from changed`)
