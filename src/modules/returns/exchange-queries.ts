import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { ExchangeRow } from './schema.ts'

const columns = sql`
  id, return_id, order_id, advance, status, amount_cents, from_waived_cents, pay_days, refund_id,
  created_by, created_at, placed_at, released_at`

export interface NewExchange {
  id: string
  return_id: string
  order_id: string
  advance: boolean
  amount_cents: number
  from_waived_cents: number
  pay_days: number
  refund_id: string | null
  created_by: string
}

export const insertExchange = (tx: Tx, e: NewExchange) =>
  tx.run(sql`
    insert into return_exchanges (tenant_ref, id, return_id, order_id, advance, status, amount_cents,
                                  from_waived_cents, pay_days, refund_id, created_by)
    values (${tx.tenant}, ${e.id}, ${e.return_id}, ${e.order_id}, ${e.advance}, 'waiting',
            ${e.amount_cents}, ${e.from_waived_cents}, ${e.pay_days}, ${e.refund_id},
            ${e.created_by})`)

/** Finds the exchange that created an order. */
export const findOfOrder = (db: Db, order_id: string) =>
  db.maybe(
    ExchangeRow,
    sql`
    select ${columns}
      from return_exchanges
     where tenant_ref = ${db.tenant} and order_id = ${order_id}`,
  )

/** Lists the exchanges that these refunds pay for. */
export const listOfRefunds = (db: Db, refund_ids: readonly string[]) =>
  db.many(
    ExchangeRow,
    sql`
    select ${columns}
      from return_exchanges
     where tenant_ref = ${db.tenant} and refund_id = any (${refund_ids}::uuid[])
     order by created_at, id`,
  )

export const placeExchange = (tx: Tx, id: string) =>
  tx.one(
    ExchangeRow,
    sql`
    update return_exchanges set status = 'placed', placed_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'waiting'
    returning ${columns}`,
  )

/**
 * Ends an exchange, of which `cents` go back to the return. Money that its order has
 * refunded to the shopper stays taken.
 */
export const releaseExchange = (tx: Tx, id: string, cents: number) =>
  tx.one(
    ExchangeRow,
    sql`
    update return_exchanges
       set status = 'released', released_at = fd_now(), amount_cents = amount_cents - ${cents},
           from_waived_cents = least(from_waived_cents, amount_cents - ${cents})
     where tenant_ref = ${tx.tenant} and id = ${id} and status <> 'released'
    returning ${columns}`,
  )

const Taken = Type.Object({
  /** The amount that receipts have to deduct. */
  to_deduct_cents: Type.Integer(),
  from_waived_cents: Type.Integer(),
})

/** Adds up the amounts that the exchanges of a return have taken from its refund. */
export const sumTaken = (db: Db, return_id: string) =>
  db.one(
    Taken,
    sql`
    select coalesce(sum(amount_cents - from_waived_cents), 0)::bigint as to_deduct_cents,
           coalesce(sum(from_waived_cents), 0)::bigint as from_waived_cents
      from return_exchanges
     where tenant_ref = ${db.tenant} and return_id = ${return_id}`,
  )
