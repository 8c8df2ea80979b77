import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'

export const listGroupsOf = (db: Db, customer_refs: readonly string[]) =>
  db.many(
    Type.Object({ customer_ref: Type.String(), id: Id, name: Type.String() }),
    sql`
    select m.customer_ref, g.id, g.name
      from pricing_group_members m
      join pricing_groups g on g.tenant_ref = m.tenant_ref and g.id = m.group_id
     where m.tenant_ref = ${db.tenant} and m.customer_ref = any(${customer_refs}::text[])
     order by g.created_at, g.id`,
  )

export const deleteMemberships = (tx: Tx, customer_ref: string) =>
  tx.run(sql`
    delete from pricing_group_members
     where tenant_ref = ${tx.tenant} and customer_ref = ${customer_ref}`)
