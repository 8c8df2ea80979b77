import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Nullable, Timestamp } from '../../kernel/schema.ts'
import { ANSWER_WAIT_HOURS, Attempt, type GatewayName } from './schema.ts'

/** An attempt of ours, with which a gateway's record of a day is compared. */
const OurRecord = Type.Object({
  id: Type.String(),
  order_id: Type.String(),
  kind: Attempt.properties.kind,
  state: Attempt.properties.state,
  amount_cents: Type.Integer(),
  txn_id: Nullable(Type.String()),
  created_at: Timestamp,
  released_cents: Nullable(Type.Integer()),
  is_reversed: Type.Boolean(),
})
export type OurRecord = Static<typeof OurRecord>

interface Range {
  from: Date
  to: Date
}

export const listGatewaysUsed = (db: Db, { from, to }: Range) =>
  db.many(
    Type.Object({ gateway: Attempt.properties.gateway }),
    sql`
    select distinct gateway
      from payment_attempts
     where tenant_ref = ${db.tenant} and created_at >= ${from} and created_at < ${to}`,
  )

/** Lists the attempts of a range whose gateway has not answered for hours. */
export const listOpenAttempts = (db: Db, of: { gateway: GatewayName } & Range) =>
  db.many(
    Type.Pick(OurRecord, ['id', 'order_id', 'amount_cents', 'txn_id']),
    sql`
    select id, order_id, amount_cents, txn_id
      from payment_attempts
     where tenant_ref = ${db.tenant} and gateway = ${of.gateway}
       and created_at >= ${of.from} and created_at < ${of.to}
       and created_at < fd_now() - make_interval(hours => ${ANSWER_WAIT_HOURS})
       and state in ('begun', 'unknown')`,
  )

/**
 * Attempts by id, or begun in a range. `is_reversed`: a later attempt voided or refunded all of it,
 * so that the gateway need not show it as active. A charge that was refunded in part is still
 * active there.
 */
export const listOurRecords = (
  db: Db,
  of: { gateway: GatewayName; ids: readonly string[] } & Range,
) =>
  db.many(
    OurRecord,
    sql`
    select id, order_id, kind, state, amount_cents, txn_id, created_at, released_cents,
           exists (select from payment_attempts v
                    where v.tenant_ref = ${db.tenant} and v.parent_txn_id = a.txn_id
                      and v.state = 'approved'
                      and (v.kind = 'void'
                           or (v.kind = 'refund'
                               and v.amount_cents >= coalesce(released_cents, a.amount_cents)))
                  ) as is_reversed
      from payment_attempts a
      left join lateral (
             select r.amount_cents as released_cents
               from payment_attempts r
              where r.tenant_ref = ${db.tenant} and r.parent_txn_id = a.txn_id
                and r.kind = 'release' and r.state = 'approved'
              order by r.created_at desc
              limit 1) as released on true
     where a.tenant_ref = ${db.tenant} and gateway = ${of.gateway}
       and (id = any(${of.ids}::uuid[]) or (created_at >= ${of.from} and created_at < ${of.to}))`,
  )
