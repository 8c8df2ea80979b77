import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { createRowTurns } from '../../platform/store-turns.ts'
import {
  Balance,
  CanonicalJournal,
  Counts,
  type Entry,
  type HeldKind,
  Hold,
  Link,
  LinkWithJournal,
  type NewHold,
  PostedEntry,
} from './schema.ts'

/** A journal that was checked and has its id. */
export interface JournalRow {
  id: string
  kind: string
  currency: string
  order_id: string | null
  ref: string | null
  /** Null means now. */
  at: string | null
  entries: readonly Entry[]
}

/** Inserts journals, their entries, and their rows in the queue of the numbering loop. */
export function insertJournals(tx: Tx, journals: readonly JournalRow[]) {
  const of = <K extends keyof JournalRow>(key: K) => journals.map((journal) => journal[key])
  const entries = journals.flatMap(({ id, currency, entries: each }) =>
    each.map((entry, position) => ({ ...entry, id, currency, position })),
  )
  return tx.run(sql`
    with journals as (
      insert into ledger_journals (tenant_ref, id, kind, currency, order_id, ref, created_at)
      select ${tx.tenant}, j.id, j.kind, j.currency, j.order_id, j.ref, coalesce(j.at, fd_now())
        from unnest(${of('id')}::uuid[], ${of('kind')}::text[], ${of('currency')}::text[],
                    ${of('order_id')}::uuid[], ${of('ref')}::text[], ${of('at')}::timestamptz[])
             as j (id, kind, currency, order_id, ref, at)
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

/** Lists the pending holds on one account, oldest first. */
export const listHolds = (db: Db, account: HeldKind, ref: string) =>
  db.many(
    Hold,
    sql`
    select ${holdColumns}
      from ledger_holds
     where tenant_ref = ${db.tenant} and account = ${account} and ref = ${ref}
       and state = 'pending'
     order by created_at, id`,
  )

/** Closes pending holds. If two callers do this at the same time, one gets the row; the other finds none pending. */
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

/** The stores with journals that have no number yet, which take turns. */
export const unchainedTurns = createRowTurns({ table: sql`ledger_unsealed` })

/** Takes the lock under which one worker at a time extends a store's chain. */
export const tryLockChain = (tx: Tx) =>
  tx.one(
    Type.Object({ locked: Type.Boolean() }),
    sql`
    select pg_try_advisory_xact_lock(hashtextextended(${`${tx.tenant}/ledger chain`}, 0)) as locked`,
  )

export const hasLinksAfter = (db: Db, sequence: number) =>
  db.one(
    Type.Object({ has: Type.Boolean() }),
    sql`
    select exists (select from ledger_seals
                    where tenant_ref = ${db.tenant} and sequence > ${sequence}) as has`,
  )

export const findHead = (db: Db) =>
  db.maybe(
    Link,
    sql`
    select sequence, encode(hash, 'hex') as hash
      from ledger_seals
     where tenant_ref = ${db.tenant}
     order by sequence desc
     limit 1`,
  )

export const findLink = (db: Db, sequence: number) =>
  db.maybe(
    Link,
    sql`
    select sequence, encode(hash, 'hex') as hash
      from ledger_seals
     where tenant_ref = ${db.tenant} and sequence = ${sequence}`,
  )

/** The columns of the journal `j` that its hash covers. */
const canonicalJournal = sql`
  j.id, j.kind, j.currency, j.order_id, j.ref,
  to_char(j.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at,
  (select coalesce(json_agg(json_build_array(e.position, e.account, e.ref, e.currency,
                                             e.amount_cents)
                            order by e.position), '[]')
     from ledger_entries e
    where e.tenant_ref = j.tenant_ref and e.journal_id = j.id) as entries`

export const listUnchained = (tx: Tx, limit: number) =>
  tx.many(
    CanonicalJournal,
    sql`
    select ${canonicalJournal}
      from (select journal_id from ledger_unsealed where tenant_ref = ${tx.tenant} limit ${limit}) u
      join ledger_journals j on j.tenant_ref = ${tx.tenant} and j.id = u.journal_id
     order by j.created_at, j.id`,
  )

export const insertLinks = (tx: Tx, first: number, ids: readonly string[], hashes: Buffer[]) =>
  tx.run(sql`
    insert into ledger_seals (tenant_ref, sequence, journal_id, hash)
    select ${tx.tenant}, ${first}::bigint + s.n - 1, s.journal_id, s.hash
      from unnest(${ids}::uuid[], ${hashes}::bytea[]) with ordinality as s (journal_id, hash, n)`)

export const deleteUnchained = (tx: Tx, ids: readonly string[]) =>
  tx.run(sql`
    delete from ledger_unsealed where tenant_ref = ${tx.tenant} and journal_id = any(${ids}::uuid[])`)

/** Lists the links from `from` on, with their journals. */
export const listLinks = (db: Db, from: number, limit: number) =>
  db.many(
    LinkWithJournal,
    sql`
    select s.sequence, encode(s.hash, 'hex') as hash,
           (select row_to_json(form)
              from (select ${canonicalJournal}
                      from ledger_journals j
                     where j.tenant_ref = s.tenant_ref and j.id = s.journal_id) form) as journal
      from ledger_seals s
     where s.tenant_ref = ${db.tenant} and s.sequence >= ${from}
     order by s.sequence
     limit ${limit}`,
  )

/** Sums of the accounts up to a link. */
export interface Base {
  sequence: number
  balances: readonly Balance[]
}

/**
 * The trial balance: a base that was verified, or a later checkpoint, plus all journals after it.
 * The entries are read by journal, one by one (`offset 0`): PostgreSQL would otherwise hash all
 * entries of the store to find those of a few hundred journals.
 */
export const listBalances = (db: Db, base: Base) =>
  db.many(
    Balance,
    sql`
    with mark as (
      select max(sequence) as sequence
        from ledger_checkpoints
       where tenant_ref = ${db.tenant} and sequence > ${base.sequence}
    ), recent as (
      select s.journal_id
        from ledger_seals s
       where s.tenant_ref = ${db.tenant}
         and s.sequence > (select coalesce(sequence, ${base.sequence}) from mark)
       union all
      select journal_id from ledger_unsealed where tenant_ref = ${db.tenant}
    ), amounts as (
      select e.account, e.currency, e.amount_cents
        from recent r
       cross join lateral (
             select account, currency, amount_cents
               from ledger_entries
              where tenant_ref = ${db.tenant} and journal_id = r.journal_id
             offset 0) as e
       union all
      select c.account, c.currency, c.balance_cents
        from ledger_checkpoints c
       where c.tenant_ref = ${db.tenant} and c.sequence = (select sequence from mark)
       union all
      select b.account, b.currency, b.balance_cents
        from jsonb_to_recordset(${JSON.stringify(base.balances)}::jsonb)
             as b (account text, currency text, balance_cents bigint)
       where (select sequence from mark) is null
    )
    select account, currency, sum(amount_cents)::bigint as balance_cents
      from amounts
     group by account, currency
     order by account, currency`,
  )

/** Inserts a checkpoint: the balances of the previous checkpoint plus the journals since. */
export const insertCheckpoint = (tx: Tx, before: number, at: number) =>
  tx.run(sql`
    insert into ledger_checkpoints (tenant_ref, sequence, account, currency, balance_cents)
    select ${tx.tenant}, ${at}, account, currency, sum(amount_cents)
      from (select e.account, e.currency, e.amount_cents
              from ledger_seals s
             cross join lateral (
                   select account, currency, amount_cents
                     from ledger_entries
                    where tenant_ref = ${tx.tenant} and journal_id = s.journal_id
                   offset 0) as e
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

interface CountOptions {
  checkpointEvery: number
  /** The link up to which checkpoints do not matter, because the trial balance begins there. */
  after: number
  /** The most journals that are counted. */
  limit: number
}

/**
 * Counts the journals in one statement, so that a journal that is numbered meanwhile is counted once. The links are
 * counted by the newest number: the proof finds gaps itself. `doubled` are journals in both tables, which would
 * hide journals that are in neither. `stray` are lines of checkpoints at numbers where the loop writes none: a
 * trial balance would begin with one, and no link would prove it wrong.
 */
export const countJournals = (db: Db, { checkpointEvery, after, limit }: CountOptions) =>
  db.one(
    Counts,
    sql`
    with newest as (
      select coalesce(max(sequence), 0) as sequence
        from ledger_seals
       where tenant_ref = ${db.tenant}
    )
    select (select count(*)
              from (select from ledger_journals where tenant_ref = ${db.tenant} limit ${limit})
                as counted) as journals,
           newest.sequence as chained,
           (select count(*) from ledger_unsealed where tenant_ref = ${db.tenant}) as unchained,
           (select count(*)
              from ledger_unsealed u
             cross join lateral (
                   select from ledger_seals
                    where tenant_ref = ${db.tenant} and journal_id = u.journal_id
                   offset 0) as s
             where u.tenant_ref = ${db.tenant}) as doubled,
           (select count(*)
              from ledger_checkpoints
             where tenant_ref = ${db.tenant} and sequence > ${after}
               and (sequence % ${checkpointEvery} <> 0
                    or sequence > newest.sequence)) as stray
      from newest`,
  )
