import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { type GatewayName, PATIENCE_HOURS, Unsettled } from './schema.ts'

/** By their due time they are few, however many a store has had. */
const unsettled = (db: Db) => sql`
  from payment_attempts
 where tenant_ref = ${db.tenant} and next_check_at is not null and state in ('begun', 'unknown')
   and created_at < now() - make_interval(hours => ${PATIENCE_HOURS})`

export const listUnsettled = (db: Db, page: Page) =>
  db.many(
    Unsettled,
    sql`
    select id as attempt_id, order_id, kind, gateway, amount_cents, currency, state, txn_id,
           parent_txn_id, created_at, closed_at
    ${unsettled(db)}
     order by created_at, id
     limit ${page.limit} offset ${page.offset}`,
  )

export const countUnsettled = (db: Db) =>
  db.one(Type.Object({ total: Type.Integer() }), sql`select count(*) as total ${unsettled(db)}`)

/** Another payment that is known by that transaction already. No index has it: it is asked by hand. */
export const findOfTxn = (
  db: Db,
  { id, gateway, txn_id }: { id: string; gateway: GatewayName; txn_id: string },
) =>
  db.maybe(
    Type.Object({ id: Id }),
    sql`
    select id
      from payment_attempts
     where tenant_ref = ${db.tenant} and gateway = ${gateway} and txn_id = ${txn_id}
       and kind in ('checkout', 'edit', 'renewal') and id <> ${id}
     limit 1`,
  )

/** Of two who close something by one transaction, the second sees what the first has done. */
export const lockTxn = (tx: Tx, txn_id: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/txn/${txn_id}`}, 0))`)

export const resolveUnknown = (tx: Tx, id: string) =>
  tx.run(sql`
    update payment_discrepancies set resolved_at = now()
     where tenant_ref = ${tx.tenant} and problem = 'outcome_unknown' and ref = ${id}
       and resolved_at is null`)
