import { Type } from 'typebox'
import type { AllStores, Db, DueLists, Tx } from '../../db/database.ts'
import { machineTime, sql } from '../../db/sql.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import { StoreWithWork } from '../../platform/store-lists.ts'
import { Verified } from './schema.ts'

const columns = sql`
  sequence, encode(hash, 'hex') as hash, balances, verified_at,
  walk_sequence, encode(walk_hash, 'hex') as walk_hash, walk_balances, walk_journal, walk_due_at,
  walked_at, fault, fault_at, fault_since, encode(mac, 'hex') as mac`

/** The stores whose ledger is verified next: one row each, so that they take turns. */
export const verificationQueue = defineQueue({
  table: sql`ledger_verified`,
  due: sql`due_at`,
  time: machineTime,
  columns,
  shape: Verified,
})

/** Makes the verification of a store due, because it has new links. The first links create the row. */
export const announceLinks = (tx: Tx, newest: number) =>
  tx.run(sql`
    insert into ledger_verified as v (tenant_ref, newest, due_at)
    values (${tx.tenant}, ${newest}, ${machineTime})
        on conflict (tenant_ref) do update
       set newest = excluded.newest, due_at = least(v.due_at, excluded.due_at)`)

export const findVerified = (db: Db) =>
  db.maybe(
    Verified,
    sql`
    select ${columns} from ledger_verified where tenant_ref = ${db.tenant}`,
  )

const assignments = (v: Verified) => sql`
  sequence = ${v.sequence}, hash = decode(${v.hash}, 'hex'),
  balances = ${JSON.stringify(v.balances)}::jsonb, verified_at = ${v.verified_at},
  walk_sequence = ${v.walk_sequence}, walk_hash = decode(${v.walk_hash}, 'hex'),
  walk_balances = ${JSON.stringify(v.walk_balances)}::jsonb, walk_journal = ${v.walk_journal},
  walk_due_at = ${v.walk_due_at}, walked_at = ${v.walked_at}, fault = ${v.fault},
  fault_at = ${v.fault_at}, fault_since = ${v.fault_since},
  mac = decode(${v.mac}, 'hex')`

/**
 * Stores the result of a step and ends its lease. Links that were added meanwhile make it due at
 * once: `newest` is read in the row itself, which a numbering transaction has changed or waits for.
 */
export const finish = (db: Db, lease: Lease, verified: Verified, dueAt: string) =>
  verificationQueue.finish(
    db,
    lease,
    sql`
    ${assignments(verified)},
    due_at = case when newest > ${verified.sequence} and ${verified.fault}::text is null
                  then ${machineTime}
                  else ${dueAt}::timestamptz end`,
  )

/** Replaces the record of how far a store is verified, whatever it said: an operator has accepted the ledger. */
export const replace = (tx: Tx, verified: Verified) =>
  tx.run(sql`
    update ledger_verified
       set ${assignments(verified)}, due_at = ${machineTime}, lease_until = null, lease_token = null
     where tenant_ref = ${tx.tenant}`)

/** Lists the stores that have a ledger, as fd_operator. */
export const listStoresWithLinks = (operator: AllStores) =>
  operator.many(
    StoreWithWork,
    sql`
    select tenant_ref
      from stores s
     where exists (select from ledger_seals l where l.tenant_ref = s.tenant_ref)
     order by tenant_ref`,
  )

/**
 * Reads a slice of the journals by id: the last id of it, and the first journal in it that has no
 * number and does not wait for one. One statement sees one moment, so that a journal that is being
 * numbered is in one of the two tables.
 */
export const readJournals = (db: Db, after: string | null, limit: number) =>
  db.one(
    Type.Object({ count: Type.Integer(), last: Nullable(Id), stray: Nullable(Id) }),
    sql`
    with slice as materialized (
      select id
        from ledger_journals
       where tenant_ref = ${db.tenant}
         and id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
       order by id
       limit ${limit}
    )
    select (select count(*) from slice) as count,
           (select id from slice order by id desc limit 1) as last,
           (select id
              from slice
             where not exists (select from ledger_seals s
                                where s.tenant_ref = ${db.tenant} and s.journal_id = slice.id)
               and not exists (select from ledger_unsealed u
                                where u.tenant_ref = ${db.tenant} and u.journal_id = slice.id)
             order by id
             limit 1) as stray`,
  )

/** Counts the stores whose ledger has a fault, as any role that sees all stores. */
export const countFaulty = async (all: DueLists): Promise<number> =>
  (
    await all.one(
      Type.Object({ count: Type.Integer() }),
      sql`select count(*) as count from ledger_verified where fault is not null`,
    )
  ).count

/**
 * Reads the state of the verification over all stores, as fd_operator: `faulty` stores, `missing` ones that have
 * links and no row, `late` ones that no worker has looked at although they are due, and `postponed` ones that are
 * due later than the loop ever plans.
 */
export const summarize = (operator: AllStores, lateSeconds: number, periodDays: number) =>
  operator.one(
    Type.Object({
      stores: Type.Integer(),
      faulty: Type.Integer(),
      missing: Type.Integer(),
      late: Type.Integer(),
      postponed: Type.Integer(),
    }),
    sql`
    select (select count(*) from ledger_verified) as stores,
           (select count(*) from ledger_verified where fault is not null) as faulty,
           (select count(*)
              from stores s
             where exists (select from ledger_seals l where l.tenant_ref = s.tenant_ref)
               and not exists (select from ledger_verified v where v.tenant_ref = s.tenant_ref)
           ) as missing,
           (select count(*) from ledger_verified
             where due_at < ${machineTime} - make_interval(secs => ${lateSeconds})) as late,
           (select count(*) from ledger_verified
             where due_at > ${machineTime} + make_interval(days => ${periodDays})) as postponed`,
  )
