import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Id, Nullable, OpenObject } from '../../kernel/schema.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { CustomerStats, GiftCardUse, SavedAddress } from './customer-schema.ts'
import { orderColumns } from './queries.ts'
import { MERCHANT_HOLD, MerchantOrder } from './schema.ts'

/** Replaces a text that a person wrote. */
const ERASED = '[erased]'

/** The condition that no person wrote the reason of a hold: it is the platform's own, or the merchant gave none. */
const hasFixedReason = sql`(hold_by = ${SYSTEM.name} or hold_reason = ${MERCHANT_HOLD})`

/** Adds up the placed orders of customers, without test orders. Amounts are in one currency. */
export const sumOrders = (db: Db, customer_refs: readonly string[], currency: string) =>
  db.many(
    CustomerStats,
    sql`
    select customer_ref, count(*)::int as orders_count,
           coalesce(sum(captured_cents) filter (where currency = ${currency}), 0)::bigint
             as total_spent_cents,
           coalesce(sum(refunded_cents) filter (where currency = ${currency}), 0)::bigint
             as refunded_cents,
           min(placed_at) as first_order_at, max(placed_at) as last_order_at
      from orders
     where tenant_ref = ${db.tenant} and customer_ref = any(${customer_refs}::text[])
       and placed_at is not null and not is_test
     group by customer_ref`,
  )

export const listLatest = (db: Db, customer_ref: string, limit: number) =>
  db.many(
    MerchantOrder,
    sql`
    select ${orderColumns}
      from orders o
     where o.tenant_ref = ${db.tenant} and o.customer_ref = ${customer_ref}
     order by o.created_at desc, o.id desc
     limit ${limit}`,
  )

/** The distinct addresses of the latest orders, last used first. */
export const listAddresses = (db: Db, customer_ref: string, orders: number, limit: number) =>
  db.many(
    SavedAddress,
    sql`
    select ship_to as address, max(created_at) as last_used_at
      from (select ship_to, created_at
              from orders
             where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref}
             order by created_at desc, id desc
             limit ${orders}) as latest
     where ship_to is not null
     group by ship_to
     order by last_used_at desc
     limit ${limit}`,
  )

export const listGiftCardUses = (db: Db, customer_ref: string, orders: number) =>
  db.many(
    GiftCardUse,
    sql`
    select c.gift_card_id, c.gift_card_last4, o.id as order_id, o.order_number,
           c.captured_cents as amount_cents, c.currency, c.created_at
      from (select id, order_number
              from orders
             where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref}
             order by created_at desc, id desc
             limit ${orders}) as o
      join charges c on c.tenant_ref = ${db.tenant} and c.order_id = o.id
     where c.tender = 'gift_card' and c.captured_cents > 0
     order by c.created_at desc, c.charge_id`,
  )

/** The addresses under which a customer has ordered, in lower case. */
export const listEmails = (db: Db, customer_ref: string, limit: number) =>
  db.many(
    Type.Object({ email: Type.String() }),
    sql`
    select distinct lower(email) as email
      from orders
     where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref} and email is not null
     order by 1
     limit ${limit}`,
  )

/** Lists the customers who ordered under these addresses, without those whose orders name another person. */
export const listRefsByEmail = (
  db: Db,
  emails: readonly string[],
  person_id: string | null,
  limit: number,
) =>
  db.many(
    Type.Object({ customer_ref: Type.String() }),
    sql`
    select customer_ref
      from orders
     where tenant_ref = ${db.tenant} and email_folded = any(${emails}::text[])
     group by customer_ref
    having not exists (select
                         from orders as any_order
                        where any_order.tenant_ref = ${db.tenant}
                          and any_order.customer_ref = orders.customer_ref
                          and any_order.person_id is not null
                          and any_order.person_id is distinct from ${person_id}::uuid)
     order by customer_ref
     limit ${limit}`,
  )

/** Lists the newest orders of a person, found by reference and by address. */
export const listTraces = (
  db: Db,
  { customer_ref, email_folded }: { customer_ref: string | null; email_folded: string | null },
  limit: number,
) =>
  db.many(
    Type.Object({ ship_to: Nullable(OpenObject), cards: Type.Array(Type.String()) }),
    sql`
    with own as (
      (select id, ship_to from orders
        where tenant_ref = ${db.tenant} and email_folded = ${email_folded}::text
        order by created_at desc
        limit ${limit})
       union
      (select id, ship_to from orders
        where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref}::text
        order by created_at desc, id desc
        limit ${limit})
    )
    select own.ship_to,
           array(select c.card_fingerprint from charges c
                  where c.tenant_ref = ${db.tenant} and c.order_id = own.id
                    and c.card_fingerprint is not null) as cards
      from own`,
  )

/**
 * The condition that the payment of an order is open. A hold before the capture counts, too: a release would capture
 * it. So does a correction that its shopper is asked to pay for.
 */
const beingPaid = sql`(status = 'pending_payment'
  or (status = 'on_hold' and (placed_at is null or payment = 'requested')))`

/**
 * The condition that an order has units to ship. A partial refund hides that in the status,
 * so fulfilment decides there.
 */
const toBeSent = sql`(status in ('placed', 'processing', 'on_hold', 'partially_shipped')
  or (status = 'partially_refunded'
      and fulfillment_status in ('unfulfilled', 'processing', 'partially_shipped')))`

/**
 * Counts orders. `open`: units are still to be shipped. `busy`: being paid or changed at this
 * moment.
 */
export const countOrders = (db: Db, customer_refs: readonly string[]) =>
  db.one(
    Type.Object({ orders: Type.Integer(), open: Type.Integer(), busy: Type.Integer() }),
    sql`
    select count(*)::int as orders,
           count(*) filter (where ${toBeSent})::int as open,
           count(*) filter (where ${beingPaid} or operation_id is not null)::int as busy
      from orders
     where tenant_ref = ${db.tenant} and customer_ref = any(${customer_refs}::text[])`,
  )

interface Erasure {
  customer_refs: readonly string[]
  /** The new references, in the same order. */
  pseudonyms: readonly string[]
  /** Orders that were created later are new, and stay. */
  before: string
  limit: number
}

/** The plan of a running operation without the facts of the person, which its end would otherwise write. */
const erasedPlan = sql`
  jsonb_set(jsonb_set(jsonb_set(operation, '{note}', 'null', false),
                      '{charge,card_fingerprint}', 'null', false),
            '{correction,contact}', 'null', false)`

/**
 * Erases the person from some orders and returns their ids; none if no order is left. An order that is being paid
 * was committed after the erasure began, since an erasure does not begin while one is: it is new, and stays.
 */
export const eraseOrders = (tx: Tx, { customer_refs, pseudonyms, before, limit }: Erasure) =>
  tx.many(
    Type.Object({ id: Id }),
    sql`
    with picked as (
      select o.id, p.pseudonym
        from unnest(${customer_refs}::text[], ${pseudonyms}::text[]) as p (ref, pseudonym)
        join orders o on o.tenant_ref = ${tx.tenant} and o.customer_ref = p.ref
       where o.created_at <= ${before} and not ${beingPaid}
       order by o.id
       limit ${limit}
         for update of o
    )
    update orders as o
       set customer_ref = picked.pseudonym, person_id = null, email = null, ip = null,
           customer_name = null, ship_to = null, operation = ${erasedPlan},
           pricing = pricing #- '{referral,device}',
           hold_reason = case when ${hasFixedReason} then hold_reason
                              when hold_reason is not null then ${ERASED} end
      from picked
     where o.tenant_ref = ${tx.tenant} and o.id = picked.id
    returning o.id`,
  )

export const eraseNotes = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`
    update order_notes set note = ${ERASED}
     where tenant_ref = ${tx.tenant} and order_id = any(${order_ids}::uuid[])`)

/** Removes the address of corrections that were never paid for, of orders that are no longer open. */
export const eraseCorrections = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`
    update payment_requests set correction = jsonb_set(correction, '{contact}', 'null', false)
     where tenant_ref = ${tx.tenant} and order_id = any(${order_ids}::uuid[])
       and correction is not null`)

export const eraseRefundReasons = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`
    update refunds set reason = ${ERASED}
     where tenant_ref = ${tx.tenant} and order_id = any(${order_ids}::uuid[])
       and reason is not null`)

/** Lists the refunds of orders: stored answers about a refund have the id of the refund. */
export const listRefundIds = (db: Db, order_ids: readonly string[]) =>
  db.many(
    Type.Object({ refund_id: Id }),
    sql`
    select refund_id
      from refunds
     where tenant_ref = ${db.tenant} and order_id = any(${order_ids}::uuid[])`,
  )

/**
 * Erases the facts by which a card could be recognised or charged again. The facts that a refund
 * needs stay.
 */
export const eraseCards = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`
    update charges set card_fingerprint = null, vault_id = null
     where tenant_ref = ${tx.tenant} and order_id = any(${order_ids}::uuid[])
       and (card_fingerprint is not null or vault_id is not null)`)

const rowsOf = (table: Sql) => sql`
  (select coalesce(jsonb_agg(to_jsonb(r) - array['tenant_ref', 'order_id', 'card_fingerprint',
                                                 'vault_id', 'txn_id', 'name_folded']), '[]')
     from ${table} as r
    where r.tenant_ref = o.tenant_ref and r.order_id = o.id)`

/** Lists whole orders for the customer to read, in slices by id. Columns of our own bookkeeping are left out. */
export const listWhole = (db: Db, customer_ref: string, after: string, limit: number) =>
  db.many(
    Type.Object({ id: Id, data: OpenObject }),
    sql`
    select o.id,
           to_jsonb(o) - array['tenant_ref', 'pricing', 'risk', 'operation',
                               'operation_id', 'email_folded']
           || jsonb_build_object('attestation', o.pricing -> 'attestation',
                                 'items', ${rowsOf(sql`order_items`)},
                                 'charges', ${rowsOf(sql`charges`)},
                                 'refunds', ${rowsOf(sql`refunds`)},
                                 'notes', ${rowsOf(sql`order_notes`)},
                                 'timeline', ${rowsOf(sql`order_timeline`)}) as data
      from orders o
     where o.tenant_ref = ${db.tenant} and o.customer_ref = ${customer_ref} and o.id > ${after}
     order by o.id
     limit ${limit}`,
  )
