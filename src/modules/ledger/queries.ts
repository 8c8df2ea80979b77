import { Type } from 'typebox'
import type { Db, GlobalDb, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { listStoresIn } from '../../platform/store-lists.ts'
import {
  Balance,
  Counts,
  type Entry,
  type HeldKind,
  Hold,
  Link,
  type NewHold,
  PostedEntry,
  Seal,
  SealedForm,
} from './schema.ts'

/** A journal that is checked and has its id. */
export interface JournalRow {
  id: string
  kind: string
  currency: string
  order_id: string | null
  ref: string | null
  entries: readonly Entry[]
}

/** Journals, their entries and their places in the sealer's queue, in one statement. */
export function insertJournals(tx: Tx, journals: readonly JournalRow[]) {
  const of = <K extends keyof JournalRow>(key: K) => journals.map((journal) => journal[key])
  const entries = journals.flatMap(({ id, currency, entries: each }) =>
    each.map((entry, position) => ({ ...entry, id, currency, position })),
  )
  return tx.run(sql`
    with journals as (
      insert into ledger_journals (tenant_ref, id, kind, currency, order_id, ref)
      select ${tx.tenant}, j.*
        from unnest(${of('id')}::uuid[], ${of('kind')}::text[], ${of('currency')}::text[],
                    ${of('order_id')}::uuid[], ${of('ref')}::text[]) as j
    ), queued as (
      insert into ledger_unsealed (tenant_ref, journal_id)
      select ${tx.tenant}, j.id from unnest(${of('id')}::uuid[]) as j (id)
    )
    insert into ledger_entries
           (tenant_ref, journal_id, position, account, ref, currency, amount_cents)
    select ${tx.tenant}, e.*
      from unnest(${entries.map(({ id }) => id)}::uuid[],
                  ${entries.map(({ position }) => position)}::integer[],
                  ${entries.map(({ account }) => account)}::text[],
                  ${entries.map(({ ref }) => ref)}::text[],
                  ${entries.map(({ currency }) => currency)}::text[],
                  ${entries.map(({ amount_cents }) => amount_cents)}::bigint[]) as e`)
}

const holdColumns = sql`id, account, ref, currency, amount_cents, order_id, state, expires_at,
                        created_at, closed_at`

export const insertHold = (tx: Tx, hold: NewHold) =>
  tx.one(
    Type.Object({ id: Id }),
    sql`
    insert into ledger_holds (tenant_ref, account, ref, currency, amount_cents, order_id, expires_at)
    values (${tx.tenant}, ${hold.account}, ${hold.ref}, ${hold.currency}, ${hold.amount_cents},
            ${hold.order_id}, ${hold.expires_at ?? null})
    returning id`,
  )

/** What orders hold of one account, the oldest first. */
export const listHeld = (db: Db, account: HeldKind, ref: string) =>
  db.many(
    Hold,
    sql`
    select ${holdColumns}
      from ledger_holds
     where tenant_ref = ${db.tenant} and account = ${account} and ref = ${ref}
       and state = 'pending'
     order by created_at, id`,
  )

/** Of two that close the same hold one gets the row; the other finds that it is pending no more. */
export const closeHolds = (
  tx: Tx,
  orderId: string,
  to: 'posted' | 'voided' | 'expired',
  account: HeldKind | null,
) =>
  tx.many(
    Hold,
    sql`
    update ledger_holds set state = ${to}, closed_at = fd_now()
     where tenant_ref = ${tx.tenant} and order_id = ${orderId} and state = 'pending'
       and (${account}::text is null or account = ${account})
    returning ${holdColumns}`,
  )

export const listEntriesOfOrder = (db: Db, orderId: string) =>
  db.many(
    PostedEntry,
    sql`
    select j.id as journal_id, j.kind, j.ref as journal_ref, j.currency, e.account, e.ref,
           e.amount_cents, j.created_at
      from ledger_journals j
      join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
     where j.tenant_ref = ${db.tenant} and j.order_id = ${orderId}
     order by j.created_at, j.id, e.position`,
  )

export const listTenantsToSeal = (worker: GlobalDb, limit: number) =>
  listStoresIn(worker, sql`ledger_unsealed`, limit)

/** One sealer for each store at a time. Whoever comes second leaves the store to the first. */
export const tryLockChain = (tx: Tx) =>
  tx.one(
    Type.Object({ mine: Type.Boolean() }),
    sql`
    select pg_try_advisory_xact_lock(hashtextextended(${`${tx.tenant}/ledger chain`}, 0)) as mine`,
  )

export const findHead = (db: Db) =>
  db.maybe(
    Seal,
    sql`
    select sequence, encode(hash, 'hex') as hash
      from ledger_seals
     where tenant_ref = ${db.tenant}
     order by sequence desc
     limit 1`,
  )

export const findSeal = (db: Db, sequence: number) =>
  db.maybe(
    Seal,
    sql`
    select sequence, encode(hash, 'hex') as hash
      from ledger_seals
     where tenant_ref = ${db.tenant} and sequence = ${sequence}`,
  )

/** Of the journal `j`: what a seal covers. */
const sealedForm = sql`
  j.id, j.kind, j.currency, j.order_id, j.ref,
  to_char(j.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at,
  (select coalesce(json_agg(json_build_array(e.position, e.account, e.ref, e.currency,
                                             e.amount_cents)
                            order by e.position), '[]')
     from ledger_entries e
    where e.tenant_ref = j.tenant_ref and e.journal_id = j.id) as entries`

export const listUnsealed = (tx: Tx, limit: number) =>
  tx.many(
    SealedForm,
    sql`
    select ${sealedForm}
      from (select journal_id from ledger_unsealed where tenant_ref = ${tx.tenant} limit ${limit}) u
      join ledger_journals j on j.tenant_ref = ${tx.tenant} and j.id = u.journal_id
     order by j.created_at, j.id`,
  )

export const insertSeals = (tx: Tx, first: number, ids: readonly string[], hashes: Buffer[]) =>
  tx.run(sql`
    insert into ledger_seals (tenant_ref, sequence, journal_id, hash)
    select ${tx.tenant}, ${first}::bigint + s.n - 1, s.journal_id, s.hash
      from unnest(${ids}::uuid[], ${hashes}::bytea[]) with ordinality as s (journal_id, hash, n)`)

export const deleteUnsealed = (tx: Tx, ids: readonly string[]) =>
  tx.run(sql`
    delete from ledger_unsealed where tenant_ref = ${tx.tenant} and journal_id = any(${ids}::uuid[])`)

/** The links from `from` on, by sequence. */
export const listLinks = (db: Db, from: number, limit: number) =>
  db.many(
    Link,
    sql`
    select s.sequence, encode(s.hash, 'hex') as hash,
           (select row_to_json(form)
              from (select ${sealedForm}
                      from ledger_journals j
                     where j.tenant_ref = s.tenant_ref and j.id = s.journal_id) form) as journal
      from ledger_seals s
     where s.tenant_ref = ${db.tenant} and s.sequence >= ${from}
     order by s.sequence
     limit ${limit}`,
  )

/** The last checkpoint, and whatever came after it. */
export const listBalances = (db: Db) =>
  db.many(
    Balance,
    sql`
    with mark as (
      select coalesce(max(sequence), 0) as sequence
        from ledger_checkpoints
       where tenant_ref = ${db.tenant}
    ), recent as (
      select s.journal_id
        from ledger_seals s, mark
       where s.tenant_ref = ${db.tenant} and s.sequence > mark.sequence
       union all
      select journal_id from ledger_unsealed where tenant_ref = ${db.tenant}
    ), amounts as (
      select e.account, e.currency, e.amount_cents
        from recent r
        join ledger_entries e on e.tenant_ref = ${db.tenant} and e.journal_id = r.journal_id
       union all
      select c.account, c.currency, c.balance_cents
        from ledger_checkpoints c, mark
       where c.tenant_ref = ${db.tenant} and c.sequence = mark.sequence
    )
    select account, currency, sum(amount_cents)::bigint as balance_cents
      from amounts
     group by account, currency
     order by account, currency`,
  )

/** From the checkpoint before and the seals since. */
export const insertCheckpoint = (tx: Tx, before: number, at: number) =>
  tx.run(sql`
    insert into ledger_checkpoints (tenant_ref, sequence, account, currency, balance_cents)
    select ${tx.tenant}, ${at}, account, currency, sum(amount_cents)
      from (select e.account, e.currency, e.amount_cents
              from ledger_seals s
              join ledger_entries e on e.tenant_ref = s.tenant_ref and e.journal_id = s.journal_id
             where s.tenant_ref = ${tx.tenant} and s.sequence > ${before} and s.sequence <= ${at}
             union all
            select account, currency, balance_cents
              from ledger_checkpoints
             where tenant_ref = ${tx.tenant} and sequence = ${before}) as amounts
     group by account, currency`)

export const listCheckpoint = (db: Db, sequence: number) =>
  db.many(
    Balance,
    sql`
    select account, currency, balance_cents
      from ledger_checkpoints
     where tenant_ref = ${db.tenant} and sequence = ${sequence}`,
  )

/**
 * One statement, so that a journal which is sealed meanwhile is counted once. One that stands in both
 * places would make up for one that stands in neither. A checkpoint is stray where no sealer puts one:
 * a trial balance would begin with it, and no link would prove it wrong.
 */
export const countJournals = (db: Db, checkpointEvery: number) =>
  db.one(
    Counts,
    sql`
    select (select count(*) from ledger_journals where tenant_ref = ${db.tenant}) as journals,
           (select count(*) from ledger_seals where tenant_ref = ${db.tenant}) as sealed,
           (select count(*) from ledger_unsealed where tenant_ref = ${db.tenant}) as unsealed,
           (select count(*)
              from ledger_unsealed u
              join ledger_seals s on s.tenant_ref = u.tenant_ref and s.journal_id = u.journal_id
             where u.tenant_ref = ${db.tenant}) as doubled,
           (select count(*)
              from ledger_checkpoints
             where tenant_ref = ${db.tenant}
               and (sequence % ${checkpointEvery} <> 0
                    or sequence > (select coalesce(max(sequence), 0) from ledger_seals
                                    where tenant_ref = ${db.tenant}))) as stray`,
  )
