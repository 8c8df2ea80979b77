import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { jsonTime, type Sql, sql } from '../../db/sql.ts'
import { Id, OpenObject } from '../../kernel/schema.ts'

/** Lists the mails of a customer after an id, in the order of their ids. */
export const listOf = (db: Db, customer_ref: string, after: string, limit: number) =>
  db.many(
    Type.Object({ id: Id, data: OpenObject }),
    sql`
    select id, jsonb_build_object('kind', kind, 'about_id', about_id, 'order_id', order_id,
                                  'recipient', recipient, 'language', language, 'state', state,
                                  'details', details, 'text', sent_as->>'text', 'created_at', ${jsonTime(sql`created_at`)},
                                  'sent_at', ${jsonTime(sql`sent_at`)}) as data
      from shopper_mails
     where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref} and id > ${after}
     order by id
     limit ${limit}`,
  )

/**
 * Removes address and content from mails. A mail that waits is then never sent; a worker that is about to send it has
 * lost its lease.
 */
const erase = (tx: Tx, which: Sql) =>
  tx.run(sql`
    update shopper_mails
       set recipient = null, resend_to = null, customer_ref = null, details = null, sent_as = null,
           last_error = null,
           state = case when state = 'queued' then 'erased' else state end,
           next_attempt_at = null, sending_at = null, lease_until = null, lease_token = null
     where tenant_ref = ${tx.tenant} and ${which}`)

export const eraseOfOrders = (tx: Tx, order_ids: readonly string[]) =>
  erase(
    tx,
    sql`order_id = any (${order_ids}::uuid[]) and (kind <> 'gift_card' or customer_ref is not null)`,
  )

/**
 * Erases the mails of a person that are about no order, and those of gift cards: the mail of a card that was bought
 * as a gift names no customer, and still goes to its recipient. All other mails are erased with their orders, some at
 * a time.
 */
export const eraseOthers = (tx: Tx, customer_ref: string, emails: readonly string[]) =>
  erase(
    tx,
    sql`(order_id is null or kind = 'gift_card')
        and (customer_ref = ${customer_ref} or lower(recipient) = any (${emails}::text[]))`,
  )
