import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { join, sql } from '../../db/sql.ts'
import { type Page, Total } from '../../kernel/page.ts'
import { Customer, type SeenCustomer } from './schema.ts'

const columns = sql`customer_ref, person_id, email, name, tags, first_seen_at, updated_at`

const byHash = (db: Db, ref_hash: Buffer) =>
  sql`tenant_ref = ${db.tenant} and ref_hash = ${ref_hash}`

interface SeenRow extends Required<SeenCustomer> {
  ref_hash: Buffer
  email_folded: string | null
}

/**
 * Inserts a customer, or updates the members that are new. Writes nothing if none is. An erased customer
 * is not restored: the row with the hash says that they were erased.
 */
export const upsertCustomer = (tx: Tx, seen: SeenRow) =>
  tx.run(sql`
    insert into customers as c
           (tenant_ref, ref_hash, customer_ref, person_id, email, email_folded, name)
    values (${tx.tenant}, ${seen.ref_hash}, ${seen.customer_ref}, ${seen.person_id ?? null},
            ${seen.email ?? null}, ${seen.email_folded}, ${seen.name ?? null})
        on conflict (tenant_ref, ref_hash) do update
       set person_id = coalesce(excluded.person_id, c.person_id),
           email = coalesce(excluded.email, c.email),
           email_folded = case when excluded.email is null then c.email_folded
                               else excluded.email_folded end,
           name = coalesce(excluded.name, c.name),
           updated_at = fd_now()
     where c.erased_at is null
       and (coalesce(excluded.person_id, c.person_id) is distinct from c.person_id
            or coalesce(excluded.email, c.email) is distinct from c.email
            or coalesce(excluded.name, c.name) is distinct from c.name)`)

export const findCustomer = (db: Db, ref_hash: Buffer) =>
  db.maybe(
    Customer,
    sql`select ${columns} from customers where ${byHash(db, ref_hash)} and erased_at is null`,
  )

/** Whether the reference was erased. */
export const findTombstone = (db: Db, ref_hash: Buffer) =>
  db.maybe(
    Type.Object({ erased_at: Type.String() }),
    sql`select erased_at from customers where ${byHash(db, ref_hash)} and erased_at is not null`,
  )

export const listByEmail = (db: Db, email_folded: string) =>
  db.many(
    Customer,
    sql`
    select ${columns} from customers
     where tenant_ref = ${db.tenant} and email_folded = ${email_folded}
     order by first_seen_at`,
  )

/** Both orders have an index. An order by money spent would need the sums of the reports. */
export const SORTS = ['newest', 'oldest'] as const

export interface CustomerFilters {
  /** A part of the reference, the name or the e-mail address. */
  q?: string | undefined
  tag?: string | undefined
  /** By the time of the first order; newest first by default. */
  sort?: (typeof SORTS)[number] | undefined
}

const matching = (db: Db, { q, tag }: CustomerFilters) =>
  join(
    [
      sql`from customers where tenant_ref = ${db.tenant} and erased_at is null`,
      ...(q === undefined
        ? []
        : [
            sql`exists (select
                         from unnest(array[customer_ref, name, email]) as part
                        where position(lower(${q}::text) in lower(part)) > 0)`,
          ]),
      ...(tag === undefined ? [] : [sql`${tag} = any (tags)`]),
    ],
    ' and ',
  )

const newestFirst = sql`first_seen_at desc, ref_hash`
const oldestFirst = sql`first_seen_at, ref_hash desc`

export const listCustomers = (db: Db, filters: CustomerFilters, page: Page) =>
  db.many(
    Customer,
    sql`
    select ${columns} ${matching(db, filters)}
     order by ${filters.sort === 'oldest' ? oldestFirst : newestFirst}
     limit ${page.limit} offset ${page.offset}`,
  )

export const countCustomers = (db: Db, filters: CustomerFilters) =>
  db.one(Total, sql`select count(*) as total ${matching(db, filters)}`)

/** Erases everything but the hash, also for a reference that was never seen. */
export const eraseCustomer = (tx: Tx, ref_hash: Buffer) =>
  tx.run(sql`
    insert into customers as c (tenant_ref, ref_hash, erased_at)
    values (${tx.tenant}, ${ref_hash}, fd_now())
        on conflict (tenant_ref, ref_hash) do update
       set customer_ref = null, person_id = null, email = null, email_folded = null, name = null,
           tags = '{}', erased_at = fd_now(), updated_at = fd_now()
     where c.erased_at is null`)
