import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { type Runner, sql } from '../../db/sql.ts'
import { Nullable } from '../../kernel/schema.ts'
import { LimitRow } from './limit-schema.ts'

const CountedRow = Type.Object({
  limit_key: Type.String(),
  used: Type.Integer(),
  max: Type.Integer(),
  max_override: Nullable(Type.Integer()),
  is_of_tier: Type.Boolean(),
})
export type CountedRow = Static<typeof CountedRow>

export const listCounted = (db: Db) =>
  db.many(
    CountedRow,
    sql`
    select l.limit_key, coalesce(u.used, 0) as used, u.max_override,
           fd_limit(${db.tenant}, l.limit_key, u.max_override) as max,
           exists (select from usage_limits as own
                    where own.limit_key = l.limit_key
                      and own.tier = (select tier from entitlement_tiers
                                       where tenant_ref = ${db.tenant})) as is_of_tier
      from usage_limits as l
      left join store_usage as u on u.tenant_ref = ${db.tenant} and u.limit_key = l.limit_key
     where l.tier = '*'`,
  )

export const findCounted = (db: Db, key: string) =>
  db.one(
    Type.Object({ used: Type.Integer(), max: Type.Integer() }),
    sql`
    select coalesce(u.used, 0) as used, fd_limit(${db.tenant}, ${key}, u.max_override) as max
      from (select) as one
      left join store_usage as u on u.tenant_ref = ${db.tenant} and u.limit_key = ${key}`,
  )

/** Sets the limit of one store. Null: the limit of its tier, or of all stores, applies again. */
export const setOwnLimit = (tx: Tx, key: string, max: number | null) =>
  tx.run(sql`
    insert into store_usage (tenant_ref, limit_key, max_override) values (${tx.tenant}, ${key}, ${max})
        on conflict (tenant_ref, limit_key) do update set max_override = excluded.max_override`)

export const listLimits = (db: Runner) =>
  db.many(
    LimitRow,
    sql`select tier, limit_key as limit, max from usage_limits order by limit_key, tier`,
  )

export const setLimit = (db: Runner, tier: string, key: string, max: number) =>
  db.run(sql`
    insert into usage_limits (tier, limit_key, max) values (${tier}, ${key}, ${max})
        on conflict (limit_key, tier) do update set max = excluded.max`)

export const deleteLimit = (db: Runner, tier: string, key: string) =>
  db.run(sql`delete from usage_limits where tier = ${tier} and limit_key = ${key} and tier <> '*'`)
