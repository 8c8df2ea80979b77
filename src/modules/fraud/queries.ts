import { Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { OpenObject, Timestamp } from '../../kernel/schema.ts'
import { listStoresIn } from '../../platform/store-lists.ts'
import {
  Ban,
  type BanAction,
  type BanKind,
  type Decision,
  FoundBan,
  FraudDecision,
  type NewDecision,
} from './schema.ts'

/** The characters of a digest that a list shows: enough to tell two apart. */
const DIGEST_SHOWN = 12

const isActive = sql`(lifted_at is null and (expires_at is null or expires_at > fd_now()))`

/** The hits include those that are not added to the ban yet, so that the number is always right. */
const columns = sql`
  fraud_bans.id, kind,
  case when kind = 'card_fingerprint' then left(value, ${DIGEST_SHOWN}) else value end as value,
  action, reason, expires_at, created_by, fraud_bans.created_at,
  hits + (select count(*) from fraud_ban_hits h
           where h.tenant_ref = fraud_bans.tenant_ref and h.ban_id = fraud_bans.id) as hits,
  ${isActive} as active, lifted_at, lifted_by`

/**
 * Finds the active bans of any of the values, and the settings of the store, in one statement. The lateral join looks
 * each value up, since the planner may otherwise read all bans when it guesses their number. The values are JSON,
 * whose length the planner ignores: for an array it would plan again at every call.
 */
export const findBans = (db: Db, values: readonly { kind: BanKind; value: string }[]) =>
  db.many(
    FoundBan,
    sql`
    select found.id, found.action, null::jsonb as settings
      from jsonb_to_recordset(${JSON.stringify(values)}) as wanted (kind text, value text)
     cross join lateral (
           select id, action
             from fraud_bans
            where tenant_ref = ${db.tenant} and kind = wanted.kind and value = wanted.value
              and ${isActive}
            limit 1) as found
     union all
    select null, null, settings
      from fraud_settings
     where tenant_ref = ${db.tenant}
     order by 2, 1`,
  )

const StoredSettings = Type.Object({ settings: OpenObject, updated_at: Timestamp })

export const findSettings = (db: Db) =>
  db.maybe(
    StoredSettings,
    sql`select settings, updated_at from fraud_settings where tenant_ref = ${db.tenant}`,
  )

export const upsertSettings = (tx: Tx, settings: object, updated_by: string) =>
  tx.run(sql`
    insert into fraud_settings (tenant_ref, settings, updated_by)
    values (${tx.tenant}, ${JSON.stringify(settings)}, ${updated_by})
        on conflict (tenant_ref) do update
       set settings = excluded.settings, updated_by = excluded.updated_by, updated_at = fd_now()`)

/** Lifts an expired ban, so that the value can be banned again. */
export const liftExpired = (tx: Tx, kind: BanKind, value: string) =>
  tx.run(sql`
    update fraud_bans set lifted_at = expires_at, lifted_by = 'system'
     where tenant_ref = ${tx.tenant} and kind = ${kind} and value = ${value}
       and lifted_at is null and expires_at <= fd_now()`)

interface BanRow {
  kind: BanKind
  value: string
  action: BanAction
  reason: string | null
  expires_at: string | null
  created_by: string
}

/** Inserts a ban. Returns null where the value is banned already. */
export const insertBan = (tx: Tx, ban: BanRow) =>
  tx.maybe(
    Ban,
    sql`
    insert into fraud_bans (tenant_ref, kind, value, action, reason, expires_at, created_by)
    values (${tx.tenant}, ${ban.kind}, ${ban.value}, ${ban.action}, ${ban.reason},
            ${ban.expires_at}, ${ban.created_by})
        on conflict (tenant_ref, kind, value) where lifted_at is null do nothing
    returning ${columns}`,
  )

export const findUnlifted = (db: Db, kind: BanKind, value: string) =>
  db.maybe(
    Ban,
    sql`
    select ${columns} from fraud_bans
     where tenant_ref = ${db.tenant} and kind = ${kind} and value = ${value} and lifted_at is null`,
  )

export const findBan = (db: Db, id: string) =>
  db.maybe(
    Ban,
    sql`select ${columns} from fraud_bans where tenant_ref = ${db.tenant} and id = ${id}`,
  )

/** Lifts a ban. Returns null where it was lifted before. */
export const liftBan = (tx: Tx, id: string, by: string) =>
  tx.maybe(
    Ban,
    sql`
    update fraud_bans set lifted_at = fd_now(), lifted_by = ${by}
     where tenant_ref = ${tx.tenant} and id = ${id} and lifted_at is null
    returning ${columns}`,
  )

export interface BanFilters {
  kind: BanKind | undefined
  active: boolean | undefined
}

/** The opposite of `isActive`, in conditions that the indexes have. */
const isInactive = sql`(lifted_at is not null or (lifted_at is null and expires_at <= fd_now()))`

function matchingBans({ kind, active }: BanFilters): Sql[] {
  const where: Sql[] = []
  if (kind !== undefined) where.push(sql`kind = ${kind}`)
  if (active !== undefined) where.push(active ? isActive : isInactive)
  return where
}

/** Lists bans, newest first. */
export const listBans = (db: Db, filters: BanFilters, page: Page) =>
  readList(
    db,
    {
      shape: Ban,
      table: sql`fraud_bans`,
      as: sql`fraud_bans`,
      scope: sql`fraud_bans.tenant_ref = ${db.tenant}`,
      filters: matchingBans(filters),
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

/** Inserts the decision, and a hit for each of its bans as a row, so that no transaction waits. */
export const insertDecision = (tx: Tx, decision: NewDecision) =>
  tx.run(sql`
    with decided as (
      insert into fraud_decisions (tenant_ref, order_id, decision, score, signals, ban_ids)
      values (${tx.tenant}, ${decision.order_id}, ${decision.decision}, ${decision.score},
              ${JSON.stringify(decision.signals)}, ${decision.ban_ids ?? []})
      returning tenant_ref, ban_ids
    )
    insert into fraud_ban_hits (tenant_ref, ban_id)
    select tenant_ref, unnest(ban_ids) from decided`)

export interface DecisionFilters {
  order_id: string | undefined
  decision: Decision | undefined
}

function matchingDecisions({ order_id, decision }: DecisionFilters): Sql[] {
  const where: Sql[] = []
  if (order_id !== undefined) where.push(sql`d.order_id = ${order_id}`)
  if (decision !== undefined) where.push(sql`d.decision = ${decision}`)
  // Written out, for a plan that knows no values: the index has the rarer decisions alone.
  if (decision !== undefined && decision !== 'accepted') where.push(sql`d.decision <> 'accepted'`)
  return where
}

/** Lists decisions, newest first. */
export const listDecisions = (db: Db, filters: DecisionFilters, page: Page) =>
  readList(
    db,
    {
      shape: FraudDecision,
      table: sql`fraud_decisions`,
      as: sql`d`,
      scope: sql`d.tenant_ref = ${db.tenant}`,
      filters: matchingDecisions(filters),
      key: NEWEST_KEY,
      descending: true,
      columns: sql`d.id, d.order_id, d.decision, d.score, d.signals, d.ban_ids, d.created_at`,
    },
    page,
  )

/** Stores with hits that are not added to their bans yet. */
export const listStoresWithHits = (worker: DueLists) => listStoresIn(worker, sql`fraud_ban_hits`)

/** Adds at most `limit` hits to the counts of their bans. */
export const addHitsToBans = (db: Db, limit: number) =>
  db.one(
    Type.Object({ added: Type.Integer() }),
    sql`
    with taken as (
      delete from fraud_ban_hits
       where tenant_ref = ${db.tenant}
         and id in (select id from fraud_ban_hits
                     where tenant_ref = ${db.tenant}
                     order by id
                     limit ${limit})
      returning ban_id
    ),
    summed as (select ban_id, count(*) as hits from taken group by ban_id),
    counted as (
      update fraud_bans b set hits = b.hits + s.hits
        from summed s
       where b.tenant_ref = ${db.tenant} and b.id = s.ban_id
    )
    select count(*) as added from taken`,
  )
