import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Nullable } from '../../kernel/schema.ts'
import { enqueue } from './queue-queries.ts'

/** Finds the first event that is still kept, from a number on, and whether it happened before a time. */
export const findEventFrom = (db: Db, sequence: number, at: string | null) =>
  db.maybe(
    Type.Object({ sequence: Type.Integer(), is_before: Nullable(Type.Boolean()) }),
    sql`
    select sequence, created_at < ${at}::timestamptz as is_before
      from webhook_events
     where tenant_ref = ${db.tenant} and sequence >= ${sequence}
     order by sequence
     limit 1`,
  )

export interface ReplayedSpan {
  from: number
  to: number
  types: readonly string[]
  subscription: { id: string }
  includeDelivered: boolean
  limit: number
}

/**
 * Reads some events in the order of their numbers, and queues a delivery to the endpoint for each that it
 * has missed. The due times differ by a microsecond each, since the queue goes by them alone. The ids of
 * deliveries follow from those of their events; as a list they let PostgreSQL open their months only.
 */
export const replaySome = (tx: Tx, span: ReplayedSpan) =>
  tx.one(
    Type.Object({ queued: Type.Integer(), last: Nullable(Type.Integer()) }),
    sql`
    with page as materialized (
      select id, sequence, type, erase_requested_at
        from webhook_events
       where tenant_ref = ${tx.tenant} and sequence >= ${span.from} and sequence <= ${span.to}
       order by sequence
       limit ${span.limit}
    ), endpoint as materialized (
      select id, url
        from webhook_subscriptions
       where tenant_ref = ${tx.tenant} and id = ${span.subscription.id} and active
    ), chosen as materialized (
      select page.id as event_id, page.type, fd_delivery_id(page.id, endpoint.id) as id,
             endpoint.id as subscription_id, endpoint.url,
             fd_now() + row_number() over (order by page.sequence) * interval '1 microsecond' as due_at
        from page, endpoint
       where page.type = any (${span.types}::text[]) and page.erase_requested_at is null
    ), known as materialized (
      select id, status
        from webhook_deliveries
       where tenant_ref = ${tx.tenant} and id = any (array(select id from chosen))
    ), restarted as (
      update webhook_deliveries as d
         set status = 'pending', next_retry_at = chosen.due_at, ladder_from = d.attempt_count,
             delivered_at = null, dead_lettered_at = null, replayed_at = fd_now()
        from chosen
       where d.tenant_ref = ${tx.tenant} and d.id = chosen.id
         and d.id = any (array(select id from known
                                where status = 'dead_lettered'
                                   or status = 'delivered' and ${span.includeDelivered}::boolean))
         and d.status <> 'pending'
      returning d.*
    ), added as (
      insert into webhook_deliveries (tenant_ref, id, event_id, subscription_id, event_type,
                                      endpoint_url, next_retry_at, replayed_at)
      select ${tx.tenant}, chosen.id, chosen.event_id, chosen.subscription_id, chosen.type,
             chosen.url, chosen.due_at, fd_now()
        from chosen
       where chosen.id not in (select id from known)
      returning *
    ), queued as (
      ${enqueue(sql`(select * from restarted union all select * from added) as d`)}
    )
    select (select count(*) from restarted) + (select count(*) from added) as queued,
           (select max(sequence) from page) as last`,
  )
