import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { join, type Sql, sql } from '../../db/sql.ts'
import { foldEmail } from '../../kernel/email.ts'
import type { Page } from '../../kernel/page.ts'
import { Customer, type SeenCustomer } from './schema.ts'

const columns = sql`c.customer_ref, c.person_id, c.email, c.name, c.tags, c.first_seen_at,
                    c.updated_at`

const byHash = (db: Db, ref_hash: Buffer) =>
  sql`tenant_ref = ${db.tenant} and ref_hash = ${ref_hash}`

interface SeenRow extends Required<SeenCustomer> {
  ref_hash: Buffer
  email_folded: string | null
}

/**
 * Inserts a customer, or updates the changed members. Writes nothing if none has changed. An erased customer is not
 * restored: the row with the hash says that they were erased.
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
    sql`select ${columns} from customers c where ${byHash(db, ref_hash)} and erased_at is null`,
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
    select ${columns} from customers c
     where tenant_ref = ${db.tenant} and email_folded = ${email_folded}
     order by first_seen_at`,
  )

/** Both orders have an index. An order by money spent would need the sums of the reports. */
export const SORTS = ['newest', 'oldest'] as const

export interface CustomerFilters {
  /** A search text, see `matchingSearch`. */
  q?: string | undefined
  /** By the time of the first order; newest first by default. */
  sort?: (typeof SORTS)[number] | undefined
}

/** More results than a person reads. A search that finds more needs a longer text. */
const FOUND_MAX = 1_000

/** Customers that a search compares one by one: a few hundred pages of the table. */
const COMPARED_MAX = 5_000

/** Sorts after every character: appended to a prefix, it is an upper bound of all texts with it. */
const LAST = '\u{10ffff}'

const startsWith = (column: Sql, prefix: string) =>
  sql`${column} ~>=~ lower(${prefix}::text) and ${column} ~<~ (lower(${prefix}::text) || ${LAST})`

/**
 * The keys of customers that match a search text in any case: those whose reference, name, last name or e-mail address
 * begins with it, and among the newest those that contain it anywhere. No index finds a part of a text: under row level
 * security PostgreSQL uses an index only with operators that cannot leak what they compare, and operators that compare
 * beginnings are among them. An erased customer has no text that could begin with it.
 */
function matchingSearch(db: Db, q: string): Sql {
  const beginnings = [
    startsWith(sql`ref_folded`, q),
    startsWith(sql`name_folded`, q),
    startsWith(sql`last_name_folded`, q),
    startsWith(sql`email_folded`, foldEmail(q) ?? q.normalize('NFKC')),
  ].map(
    (begins) => sql`(select first_seen_at, ref_hash from customers
                      where tenant_ref = ${db.tenant} and ${begins} limit ${FOUND_MAX})`,
  )
  return sql`
    ${join(beginnings, ' union ')}
    union
    (select first_seen_at, ref_hash
      from (select first_seen_at, ref_hash, customer_ref, name, email
              from customers
             where tenant_ref = ${db.tenant} and erased_at is null
             order by first_seen_at desc, ref_hash desc
             limit ${COMPARED_MAX}) as newest
     where exists (select from unnest(array[customer_ref, name, email]) as part
                    where position(lower(${q}::text) in lower(part)) > 0)
     limit ${FOUND_MAX})`
}

export const listCustomers = (db: Db, { q, sort }: CustomerFilters, page: Page) =>
  readList(
    db,
    {
      shape: Customer,
      table: sql`customers`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: [sql`c.erased_at is null`],
      ...(q !== undefined &&
        q !== '' && { found: { keys: matchingSearch(db, q), isSearch: true } }),
      key: [
        { name: sql`first_seen_at`, type: 'timestamp' },
        { name: sql`ref_hash`, type: 'bytes' },
      ],
      descending: sort !== 'oldest',
      columns,
    },
    page,
  )

/** Erases everything but the hash, also for a reference that was never seen. */
export const eraseCustomer = (tx: Tx, ref_hash: Buffer) =>
  tx.run(sql`
    insert into customers as c (tenant_ref, ref_hash, erased_at)
    values (${tx.tenant}, ${ref_hash}, fd_now())
        on conflict (tenant_ref, ref_hash) do update
       set customer_ref = null, person_id = null, email = null, email_folded = null, name = null,
           tags = '{}', erased_at = fd_now(), updated_at = fd_now()
     where c.erased_at is null`)
