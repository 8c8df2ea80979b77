import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable, OpenObject } from '../../kernel/schema.ts'
import { createTurns } from '../../platform/store-turns.ts'
import { PaymentRequest } from './payment-request-schema.ts'

const columns = sql`
  order_id, purpose, amount_cents, currency, status, expires_at, sent_count, sent_at, created_at, ended_at`

export interface NewRequest {
  order_id: string
  amount_cents: number
  currency: string
  expires_at: string
  created_by: string
  /** The change that is applied once it is paid; null if the payment places the order. */
  correction: object | null
}

/** Writes the request of an order. It takes the place of one that has ended. */
export const insertRequest = (tx: Tx, r: NewRequest) =>
  tx.one(
    PaymentRequest,
    sql`
    insert into payment_requests as p (tenant_ref, order_id, purpose, amount_cents, currency, status,
                                       expires_at, due_at, created_by, correction)
    values (${tx.tenant}, ${r.order_id}, ${r.correction === null ? 'order' : 'correction'},
            ${r.amount_cents}, ${r.currency}, 'open', ${r.expires_at}, ${r.expires_at},
            ${r.created_by}, ${r.correction === null ? null : JSON.stringify(r.correction)})
        on conflict (tenant_ref, order_id) do update
       set purpose = excluded.purpose, amount_cents = excluded.amount_cents, status = 'open',
           expires_at = excluded.expires_at, due_at = excluded.due_at, sent_count = 1,
           sent_at = fd_now(), created_by = excluded.created_by, created_at = fd_now(),
           ended_at = null, correction = excluded.correction
     where p.status <> 'open'
    returning ${columns}`,
  )

export const findRequest = (db: Db, order_id: string) =>
  db.maybe(
    PaymentRequest,
    sql`
    select ${columns}
      from payment_requests
     where tenant_ref = ${db.tenant} and order_id = ${order_id}`,
  )

export const endRequest = (tx: Tx, order_id: string, status: 'paid' | 'withdrawn' | 'expired') =>
  tx.run(sql`
    update payment_requests
       set status = ${status}, due_at = null, ended_at = fd_now(), correction = null
     where tenant_ref = ${tx.tenant} and order_id = ${order_id} and status = 'open'`)

export const findCorrection = (db: Db, order_id: string) =>
  db.maybe(
    Type.Object({ correction: Nullable(OpenObject) }),
    sql`
    select correction
      from payment_requests
     where tenant_ref = ${db.tenant} and order_id = ${order_id} and status = 'open'`,
  )

/** Counts another mail of a request. Returns null if the request is not open, or was mailed as often as it may be. */
export const countSent = (tx: Tx, order_id: string, max: number) =>
  tx.maybe(
    PaymentRequest,
    sql`
    update payment_requests set sent_count = sent_count + 1, sent_at = fd_now()
     where tenant_ref = ${tx.tenant} and order_id = ${order_id} and status = 'open'
       and sent_count < ${max}
    returning ${columns}`,
  )

/** The stores with requests that have expired, which take turns. */
export const requestTurns = createTurns({ table: sql`payment_requests`, due: sql`due_at` })

/** A query of the time at which the next request of a store expires. */
export const nextExpiry = (db: Db) => sql`
  select min(due_at) from payment_requests where tenant_ref = ${db.tenant} and due_at is not null`

export const listExpired = (db: Db, limit: number) =>
  db.many(
    Type.Object({ tenant_ref: Type.String(), order_id: Id }),
    sql`
    select tenant_ref, order_id
      from payment_requests
     where tenant_ref = ${db.tenant} and due_at <= fd_now()
     order by due_at
     limit ${limit}`,
  )

/** Makes an expired request due again in five minutes, behind those that were not tried yet. */
export const postponeExpiry = (db: Db, order_id: string) =>
  db.run(sql`
    update payment_requests set due_at = fd_now() + interval '5 minutes'
     where tenant_ref = ${db.tenant} and order_id = ${order_id} and due_at <= fd_now()`)
