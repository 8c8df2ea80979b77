import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, OpenObject } from '../../kernel/schema.ts'

/** The customer that a card was issued for, known by reference or by e-mail address. */
export interface Holder {
  customer_ref: string
  /** In lower case. */
  emails: readonly string[]
}

const ofHolder = (db: Db, { customer_ref, emails }: Holder) => sql`
  tenant_ref = ${db.tenant}
  and (customer_ref = ${customer_ref} or recipient_folded = any(${emails}::text[]))`

/** Erases the person from cards. The codes stay valid: a code has no personal data. */
export const eraseCards = (tx: Tx, holder: Holder, pseudonym: string) =>
  tx.many(
    Type.Object({ id: Id }),
    sql`
    update gift_cards
       set customer_ref = case when customer_ref = ${holder.customer_ref} then ${pseudonym}
                               else customer_ref end,
           recipient_email = case when recipient_folded = any(${holder.emails}::text[])
                                    or customer_ref = ${holder.customer_ref} then null
                                  else recipient_email end,
           note = null, updated_at = fd_now()
     where ${ofHolder(tx, holder)}
    returning id`,
  )

export const eraseReasons = (tx: Tx, ids: readonly string[]) =>
  tx.run(sql`
    update gift_card_transactions set reason = '[erased]'
     where tenant_ref = ${tx.tenant} and gift_card_id = any(${ids}::uuid[])
       and reason is not null`)

export const listCards = (db: Db, holder: Holder) =>
  db.many(
    Type.Object({ id: Id, data: OpenObject }),
    sql`
    select id, to_jsonb(g) - array['tenant_ref', 'code_hmac', 'code_sealed', 'code_until', 'recipient_folded',
                                'pending_refund_id', 'pending_refund_cents'] as data
      from gift_cards g
     where ${ofHolder(db, holder)}
     order by created_at, id`,
  )

export const listTransactions = (db: Db, ids: readonly string[]) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(t) - 'tenant_ref' as data
      from gift_card_transactions t
     where tenant_ref = ${db.tenant} and gift_card_id = any(${ids}::uuid[])
     order by created_at, id`,
  )

/** Erases the recipient of cards, with the messages to the recipient. */
export const eraseRecipients = (tx: Tx, emails: readonly string[]) =>
  tx.run(sql`
    update gift_card_purchases set recipient_email = null, recipient_name = null, message = null
     where tenant_ref = ${tx.tenant} and recipient_folded = any(${emails}::text[])`)

interface Renamed {
  customer_refs: readonly string[]
  /** The new references, in the same order. */
  pseudonyms: readonly string[]
}

/** Erases the buyer from the cards that orders have bought for the buyer. */
export const eraseBought = (tx: Tx, order_ids: readonly string[], renamed: Renamed) =>
  tx.run(sql`
    update gift_cards as g
       set customer_ref = p.pseudonym, recipient_email = null, note = null, updated_at = fd_now()
      from unnest(${renamed.customer_refs}::text[], ${renamed.pseudonyms}::text[])
           as p (ref, pseudonym)
     where g.tenant_ref = ${tx.tenant} and g.issued_order_id = any(${order_ids}::uuid[])
       and g.customer_ref = p.ref`)

/**
 * Erases a buyer's messages, and the buyer's own address. The recipient of a card is another
 * person: their card is still mailed.
 */
export const erasePurchases = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`
    update gift_card_purchases
       set message = null,
           recipient_email = case when for_buyer then null else recipient_email end
     where tenant_ref = ${tx.tenant} and order_id = any(${order_ids}::uuid[])`)
