import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { jsonTime, sql } from '../../db/sql.ts'
import { Cents, Id, Nullable } from '../../kernel/schema.ts'
import {
  BoughtCard,
  type CardShare,
  GiftCardPurchase,
  type NewPurchase,
  PurchaseRow,
} from './purchase-schema.ts'
import { columns } from './queries.ts'
import { type CardRow, GiftCard } from './schema.ts'

/** The gift cards that orders buy, and take back by refunds. */

export const insertPurchases = (tx: Tx, order_id: string, purchases: readonly NewPurchase[]) =>
  tx.run(sql`
    insert into gift_card_purchases (tenant_ref, order_item_id, order_id, quantity, amount_cents,
                                     for_buyer, recipient_email, recipient_name, message, send_at)
    select ${tx.tenant}, p.order_item_id, ${order_id}, p.quantity, p.amount_cents, p.for_buyer,
           p.recipient_email, p.recipient_name, p.message, p.send_at
      from jsonb_to_recordset(${JSON.stringify(purchases)})
           as p (order_item_id uuid, quantity int, amount_cents bigint, for_buyer boolean,
                 recipient_email text, recipient_name text, message text, send_at timestamptz)`)

/**
 * Lists the purchases of an order whose cards are to be issued, by the ids of their
 * lines, which is the cart's order.
 */
export const listToIssue = (tx: Tx, order_id: string) =>
  tx.many(
    PurchaseRow,
    sql`
    select order_item_id, quantity, amount_cents, for_buyer, recipient_email, send_at
      from gift_card_purchases
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}
     order by order_item_id`,
  )

export const listPurchases = (db: Db, order_ids: readonly string[]) =>
  db.many(
    Type.Object({ order_id: Id, data: GiftCardPurchase }),
    sql`
    select p.order_id,
           jsonb_build_object(
             'order_item_id', p.order_item_id, 'quantity', p.quantity,
             'amount_cents', p.amount_cents, 'recipient_email', p.recipient_email,
             'recipient_name', p.recipient_name, 'message', p.message,
             'send_at', ${jsonTime(sql`p.send_at`)},
             'cards', coalesce((select jsonb_agg(jsonb_build_object(
                                         'gift_card_id', g.id, 'code_last4', g.code_last4,
                                         'sent_at', ${jsonTime(sql`g.sent_at`)})
                                       order by g.id)
                                  from gift_cards g
                                 where g.tenant_ref = p.tenant_ref
                                   and g.issued_order_id = p.order_id
                                   and g.order_item_id = p.order_item_id), '[]')) as data
      from gift_card_purchases p
     where p.tenant_ref = ${db.tenant} and p.order_id = any (${order_ids}::uuid[])
     order by p.order_id, p.order_item_id`,
  )

/** Finds the name and the message in the mail of a bought card. A card that was not bought has no row. */
export const findWords = (db: Db, gift_card_id: string) =>
  db.maybe(
    Type.Object({
      recipient_name: Nullable(Type.String()),
      message: Nullable(Type.String()),
    }),
    sql`
    select p.recipient_name, p.message
      from gift_cards g
      join gift_card_purchases p on p.tenant_ref = g.tenant_ref
                                and p.order_item_id = g.order_item_id
     where g.tenant_ref = ${db.tenant} and g.id = ${gift_card_id}`,
  )

interface BoughtRow extends CardRow {
  order_item_id: string
  amount_cents: number
  recipient_email: string | null
  customer_ref: string | null
  send_at: string | null
}

/**
 * How many days after its mail the code of a bought card is kept, so that the mail can be sent again. They give the
 * recipient time to say that no mail came.
 */
const KEPT_DAYS = 30

export const insertBought = (
  tx: Tx,
  { order_id, currency }: { order_id: string; currency: string },
  cards: readonly BoughtRow[],
) => {
  const column = <K extends keyof BoughtRow>(name: K) => cards.map((card) => card[name])
  return tx.many(
    GiftCard,
    sql`
    insert into gift_cards (tenant_ref, id, code_hmac, code_last4, code_sealed, code_until,
                            initial_balance_cents, balance_cents, currency, issued_order_id,
                            order_item_id, recipient_email, customer_ref, send_at)
    select ${tx.tenant}, c.id, c.code_hmac, c.code_last4, c.code_sealed,
           greatest(c.send_at, fd_now()) + make_interval(days => ${KEPT_DAYS}),
           c.amount_cents, c.amount_cents, ${currency}, ${order_id}, c.order_item_id,
           c.recipient_email, c.customer_ref, c.send_at
      from unnest(${column('id')}::uuid[], ${column('code_hmac')}::bytea[],
                  ${column('code_last4')}::text[], ${column('code_sealed')}::bytea[],
                  ${column('order_item_id')}::uuid[], ${column('amount_cents')}::bigint[],
                  ${column('recipient_email')}::text[], ${column('customer_ref')}::text[],
                  ${column('send_at')}::timestamptz[])
           as c (id, code_hmac, code_last4, code_sealed, order_item_id, amount_cents,
                 recipient_email, customer_ref, send_at)
    returning ${columns}`,
  )
}

/** Records the transactions of bought cards: their issue, or the amounts that a refund takes back. */
export const logBought = (
  tx: Tx,
  shares: readonly CardShare[],
  line: { type: 'credit' | 'debit'; event: 'issue' | 'refund'; order_id: string; actor: string },
) =>
  tx.run(sql`
    insert into gift_card_transactions (tenant_ref, gift_card_id, type, event, amount_cents,
                                        balance_after_cents, order_id, actor)
    select g.tenant_ref, g.id, ${line.type}, ${line.event}, s.amount_cents, g.balance_cents,
           ${line.order_id}, ${line.actor}
      from unnest(${shares.map(({ gift_card_id }) => gift_card_id)}::uuid[],
                  ${shares.map(({ amount_cents }) => amount_cents)}::bigint[])
           as s (id, amount_cents)
      join gift_cards g on g.tenant_ref = ${tx.tenant} and g.id = s.id`)

/** The amount of a card that can be taken back: 0 once it has expired, or while a refund has reserved it. */
const spendable = sql`
  case when pending_refund_id is not null or expired_at is not null
            or (disabled_at is null and expires_at <= fd_now()) then 0
       else balance_cents - held_cents end`

/** The cards of an order: those not mailed yet first, then the newest. */
const bought = (db: Db, order_id: string) => sql`
    select id, order_item_id, initial_balance_cents as amount_cents,
           ${spendable} as spendable_cents, sent_at is not null as is_sent
      from gift_cards
     where tenant_ref = ${db.tenant} and issued_order_id = ${order_id}
       and order_item_id is not null
     order by sent_at is not null, id desc`

export const listBought = (db: Db, order_id: string) => db.many(BoughtCard, bought(db, order_id))

/** Lists the cards of an order like `listBought`, and locks them. */
export const lockBought = (tx: Tx, order_id: string) =>
  tx.many(BoughtCard, sql`${bought(tx, order_id)} for update`)

/** Reserves cards for a refund. Returns how many were reserved: fewer than `shares` if a card has too little left. */
export const reserveCards = (tx: Tx, refund_id: string, shares: readonly CardShare[]) =>
  tx.run(sql`
    update gift_cards
       set pending_refund_id = ${refund_id}, pending_refund_cents = s.amount_cents,
           updated_at = fd_now()
      from unnest(${shares.map(({ gift_card_id }) => gift_card_id)}::uuid[],
                  ${shares.map(({ amount_cents }) => amount_cents)}::bigint[])
           as s (card_id, amount_cents)
     where tenant_ref = ${tx.tenant} and id = s.card_id and ${spendable} >= s.amount_cents`)

export const lockReserved = (tx: Tx, refund_id: string) =>
  tx.many(
    Type.Object({ gift_card_id: Id, amount_cents: Cents }),
    sql`
    select id as gift_card_id, pending_refund_cents as amount_cents
      from gift_cards
     where tenant_ref = ${tx.tenant} and pending_refund_id = ${refund_id}
     order by id
       for update`,
  )

/**
 * Ends the reservation of cards, and subtracts from each the amount that is taken back. A card whose whole reserved
 * amount is taken is disabled.
 */
export const endReservation = (tx: Tx, shares: readonly CardShare[]) =>
  tx.run(sql`
    update gift_cards
       set balance_cents = balance_cents - s.amount_cents,
           disabled_at = case when s.amount_cents = pending_refund_cents
                              then coalesce(disabled_at, fd_now()) else disabled_at end,
           pending_refund_id = null, pending_refund_cents = null, updated_at = fd_now()
      from unnest(${shares.map(({ gift_card_id }) => gift_card_id)}::uuid[],
                  ${shares.map(({ amount_cents }) => amount_cents)}::bigint[])
           as s (card_id, amount_cents)
     where tenant_ref = ${tx.tenant} and id = s.card_id and pending_refund_id is not null`)
