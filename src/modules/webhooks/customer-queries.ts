import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'

/** Marks the events of certain orders for erasure. Returns the number of events. */
export const requestErasureOfOrders = (
  tx: Tx,
  customer_refs: readonly string[],
  order_ids: readonly string[],
) =>
  tx.run(sql`
    update webhook_events
       set erase_requested_at = fd_now(), customer_ref = null
     where tenant_ref = ${tx.tenant} and customer_ref = any(${customer_refs}::text[])
       and order_id = any(${order_ids}::uuid[])`)

/**
 * Marks at most `limit` of the events that are about no order for erasure. Returns the number of events; 0 when none
 * is left.
 */
export const requestErasure = (
  tx: Tx,
  customer_ref: string,
  { before, limit }: { before: string; limit: number },
) =>
  tx.run(sql`
    update webhook_events as e
       set erase_requested_at = fd_now(), customer_ref = null
      from (select id as picked
              from webhook_events
             where tenant_ref = ${tx.tenant} and customer_ref = ${customer_ref}
               and order_id is null and emitted_at <= ${before}
             order by id
             limit ${limit}
               for update) as batch
     where e.tenant_ref = ${tx.tenant} and e.id = batch.picked`)

/** Lists the events about a customer, by id, after a given id. */
export const listEvents = (db: Db, customer_ref: string, after: string, limit: number) =>
  db.many(
    Type.Object({
      id: Id,
      type: Type.String(),
      created_at: Nullable(Timestamp),
      data: Type.String({ description: 'JSON text: what happened, or its whole envelope.' }),
    }),
    sql`
    select id, type, created_at, coalesce(data, convert_from(payload, 'UTF8')) as data
      from webhook_events
     where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref} and id > ${after}
     order by id
     limit ${limit}`,
  )
