import { type Static, Type } from 'typebox'
import type { Database, Db, GlobalDb, TenantDb } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { Id, Nullable, Timestamp } from '../kernel/schema.ts'
import { eachStore } from './each-store.ts'
import { CLAIM_LEASE_SECONDS, type WonClaim } from './idempotency.ts'

/** Retries come within minutes, disputes within weeks. */
const KEPT_DAYS = 30

/** One delete of so many rows takes some milliseconds and holds its locks no longer. */
const BATCH_ROWS = 1_000

const TENANTS_MAX = 1_000

const TenantOnly = Type.Object({ tenant_ref: Type.String() })

/**
 * Tenants with work of these kinds that somebody began and left, the longest abandoned first. Other
 * work has nobody but its caller to take it up, and would stand before it for ever.
 */
export async function listStale(
  worker: GlobalDb,
  operations: readonly string[],
  limit = TENANTS_MAX,
): Promise<string[]> {
  const rows = await worker.many(
    TenantOnly,
    sql`
    select tenant_ref
      from idempotency_keys
     where state = 'running' and lease_until <= now() and operation = any(${operations})
     group by tenant_ref
     order by min(lease_until)
     limit ${limit}`,
  )
  return rows.map((row) => row.tenant_ref)
}

interface TakeStaleOptions {
  operations: readonly string[]
  limit: number
  leaseSeconds?: number
}

const Stale = Type.Object({
  operation: Type.String(),
  key: Type.String(),
  lease_token: Id,
  recovery_point: Type.String(),
  resource_id: Nullable(Id),
})

/** Takes over abandoned claims of one tenant, to finish them without the caller. */
export async function takeStale(db: TenantDb, options: TakeStaleOptions): Promise<WonClaim[]> {
  const { operations, limit, leaseSeconds = CLAIM_LEASE_SECONDS } = options
  const rows = await db.many(
    Stale,
    sql`
    with stale as (
      select operation as stale_operation, key as stale_key
        from idempotency_keys
       where tenant_ref = ${db.tenant} and operation = any(${operations})
         and state = 'running' and lease_until <= now()
       order by lease_until
       limit ${limit}
         for update skip locked
    )
    update idempotency_keys
       set lease_until = now() + make_interval(secs => ${leaseSeconds}),
           lease_token = gen_random_uuid()
      from stale
     where tenant_ref = ${db.tenant} and operation = stale_operation and key = stale_key
    returning operation, key, lease_token, recovery_point, resource_id`,
  )
  return rows.map((row) => wonBy(row, leaseSeconds))
}

const wonBy = (row: Static<typeof Stale>, leaseSeconds: number): WonClaim => ({
  state: 'won',
  operation: row.operation,
  key: row.key,
  token: row.lease_token,
  recoveryPoint: row.recovery_point,
  resourceId: row.resource_id,
  leaseSeconds,
})

/**
 * Takes over what is left undone at a resource while nobody is at work on it: a lease that has ended,
 * or has more to run than any holder takes. `busy`: somebody may be at it now. Null: nothing is left.
 */
export async function takeWaiting(
  db: TenantDb,
  resourceId: string,
): Promise<WonClaim | 'busy' | null> {
  const row = await db.maybe(
    Stale,
    sql`
    update idempotency_keys
       set lease_until = now() + make_interval(secs => ${CLAIM_LEASE_SECONDS}),
           lease_token = gen_random_uuid()
     where tenant_ref = ${db.tenant} and resource_id = ${resourceId} and state = 'running'
       and (lease_until <= now()
            or lease_until > now() + make_interval(secs => ${CLAIM_LEASE_SECONDS}))
    returning operation, key, lease_token, recovery_point, resource_id`,
  )
  if (row !== null) return wonBy(row, CLAIM_LEASE_SECONDS)
  return (await findDue(db, [resourceId])) === null ? null : 'busy'
}

/**
 * Ends the wait of whatever is left undone at a resource, because there is news of it. A lease that
 * has more to run than any holder takes is a wait; a shorter one may be somebody at work, and stays.
 */
export const hasten = (db: Db, resourceId: string): Promise<number> =>
  db.run(sql`
    update idempotency_keys set lease_until = now()
     where tenant_ref = ${db.tenant} and resource_id = ${resourceId} and state = 'running'
       and lease_until > now() + make_interval(secs => ${CLAIM_LEASE_SECONDS})`)

/** When what is left undone at one of these is taken up, at the latest; null where nothing is. */
export async function findDue(db: Db, resourceIds: readonly string[]): Promise<string | null> {
  const { due_at } = await db.one(
    Type.Object({ due_at: Nullable(Timestamp) }),
    sql`
    select min(lease_until) as due_at
      from idempotency_keys
     where tenant_ref = ${db.tenant} and resource_id = any(${resourceIds}::uuid[])
       and state = 'running'`,
  )
  return due_at
}

/** Whether nobody was told within a day that a claim cannot be ended. Whoever asks is about to. */
export const isAlertDue = async (db: Db, { operation, key }: WonClaim): Promise<boolean> =>
  (await db.run(sql`
    update idempotency_keys set alerted_at = now()
     where tenant_ref = ${db.tenant} and operation = ${operation} and key = ${key}
       and (alerted_at is null or alerted_at <= now() - interval '1 day')`)) === 1

/** Deletes answers older than 30 days, in batches. Answers how many rows went. */
export async function forgetOld(database: Database): Promise<number> {
  const stores = await listWithOld(database.global)
  return eachStore(stores, (tenant) => deleteOld(database.tenant(tenant)))
}

const old = sql`state = 'answered' and answered_at < now() - make_interval(days => ${KEPT_DAYS})`

const listWithOld = (worker: GlobalDb) =>
  worker.many(
    TenantOnly,
    sql`
    select distinct tenant_ref
      from (select tenant_ref
              from idempotency_keys
             where ${old}
             order by answered_at
             limit ${BATCH_ROWS}) as oldest`,
  )

const deleteOld = (db: Db) =>
  db.run(sql`
    delete from idempotency_keys
     where tenant_ref = ${db.tenant}
       and (operation, key) in (select operation, key
                                  from idempotency_keys
                                 where tenant_ref = ${db.tenant} and ${old}
                                 order by answered_at
                                 limit ${BATCH_ROWS}
                                   for update skip locked)`)
