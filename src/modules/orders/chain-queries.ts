import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'

/** The charges of an exchange chain: the original charges, and the charges to which their money was moved. */

/**
 * Walks from charges up to the ones that a shopper paid, and from there down to all charges to which their money was
 * moved.
 */
const chainOf = (db: Db, charge_ids: readonly string[]) => sql`
    source as (
      select charge_id, moved_from
        from charges
       where tenant_ref = ${db.tenant} and charge_id = any (${charge_ids}::uuid[])
       union
      select c.charge_id, c.moved_from
        from source s
        join charges c on c.tenant_ref = ${db.tenant} and c.charge_id = s.moved_from
    ), chain as (
      select c.charge_id, c.order_id
        from source s
        join charges c on c.tenant_ref = ${db.tenant} and c.charge_id = s.charge_id
       where s.moved_from is null
       union
      select c.charge_id, c.order_id
        from chain h
        join charges c on c.tenant_ref = ${db.tenant} and c.moved_from = h.charge_id
    )`

/** Finds an order of the chains of these charges whose dispute is open. */
export const findDisputed = (db: Db, charge_ids: readonly string[]) =>
  db.maybe(
    Type.Object({ order_id: Id }),
    sql`
    with recursive ${chainOf(db, charge_ids)}
    select h.order_id
      from chain h
      join orders o on o.tenant_ref = ${db.tenant} and o.id = h.order_id
     where o.disputed_at is not null
     limit 1`,
  )

/** Finds an order with an open dispute that has these charges, or that their money came from. */
export const findDisputedSource = (db: Db, charge_ids: readonly string[]) =>
  db.maybe(
    Type.Object({ order_id: Id }),
    sql`
    with recursive source as (
      select order_id, moved_from
        from charges
       where tenant_ref = ${db.tenant} and charge_id = any (${charge_ids}::uuid[])
       union
      select c.order_id, c.moved_from
        from source s
        join charges c on c.tenant_ref = ${db.tenant} and c.charge_id = s.moved_from
    )
    select s.order_id
      from source s
      join orders o on o.tenant_ref = ${db.tenant} and o.id = s.order_id
     where o.disputed_at is not null
     limit 1`,
  )

/** Finds the order whose payment a charge is, over any number of exchanges. */
export const findFirstOrder = (db: Db, charge_id: string) =>
  db.one(
    Type.Object({ order_id: Id }),
    sql`
    with recursive source as (
      select order_id, moved_from
        from charges
       where tenant_ref = ${db.tenant} and charge_id = ${charge_id}
       union all
      select c.order_id, c.moved_from
        from source s
        join charges c on c.tenant_ref = ${db.tenant} and c.charge_id = s.moved_from
    )
    select order_id from source where moved_from is null`,
  )

/**
 * Lists the orders to which an exchange has moved money of these charges directly, and not later orders of the chain.
 */
export const listOrdersMovedTo = (db: Db, charge_ids: readonly string[]) =>
  db.many(
    Type.Object({ order_id: Id }),
    sql`
    select distinct order_id
      from charges
     where tenant_ref = ${db.tenant} and moved_from = any (${charge_ids}::uuid[])
     order by order_id`,
  )
