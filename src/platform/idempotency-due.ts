import { type Static, Type } from 'typebox'
import type { Db, TenantDb } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { Id, Nullable, Timestamp } from '../kernel/schema.ts'
import { CLAIM_LEASE_SECONDS, newLease, type WonClaim } from './idempotency.ts'
import { createTurns, type StoreTurns } from './store-turns.ts'

/**
 * The keys that are due: their operation is not finished and no process works on it. Either the process stopped, so
 * that its lease expired, or the outcome was unknown, so that the key waits for its next try.
 */

/**
 * The turns of the stores with due keys of these operations. Other operations are resumed only by their caller;
 * without the filter their keys would be before all others for ever.
 */
export const createDueTurns = (operations: readonly string[]): StoreTurns =>
  createTurns({
    table: sql`idempotency_keys`,
    due: sql`due_at`,
    time: machineTime,
    only: sql`state = 'running' and operation = any(${operations})`,
  })

/**
 * A query of the time at which the next key of these operations is due, by the store's clock. A key that a process is
 * working on is left out: the process may finish it at any time.
 */
export const nextDueKey = (db: Db, operations: readonly string[]): Sql => sql`
  select fd_now() + (min(due_at) - ${machineTime})
    from idempotency_keys
   where tenant_ref = ${db.tenant} and operation = any(${operations}) and state = 'running'
     and (next_attempt_at is not null or lease_until <= ${machineTime})`

/** Makes keys that wait for their next try due earlier by so many milliseconds. */
export const hastenAll = (db: Db, operations: readonly string[], byMs: number): Promise<number> =>
  db.run(sql`
    update idempotency_keys
       set next_attempt_at = next_attempt_at - ${byMs}::bigint * interval '1 millisecond'
     where tenant_ref = ${db.tenant} and operation = any(${operations}) and state = 'running'
       and next_attempt_at is not null`)

const Taken = Type.Object({
  operation: Type.String(),
  key: Type.String(),
  lease_token: Id,
  recovery_point: Type.String(),
  resource_id: Nullable(Id),
})

/**
 * Claims due keys of one store, to finish their operations without the caller. They are compared by the pair of store
 * and time, which only the index of both columns has, so that the keys of other stores are not read first.
 */
export async function claimDue(
  db: TenantDb,
  { operations, limit }: { operations: readonly string[]; limit: number },
): Promise<WonClaim[]> {
  const rows = await db.many(
    Taken,
    sql`
    with due as (
      select operation as due_operation, key as due_key
        from idempotency_keys
       where tenant_ref = ${db.tenant} and operation = any(${operations}) and state = 'running'
         and (tenant_ref, due_at) >= (${db.tenant}, '-infinity') and due_at <= ${machineTime}
       order by due_at
       limit ${limit}
         for update skip locked
    )
    update idempotency_keys
       set ${newLease()}
      from due
     where tenant_ref = ${db.tenant} and operation = due_operation and key = due_key
    returning operation, key, lease_token, recovery_point, resource_id`,
  )
  return rows.map(claimOf)
}

const claimOf = (row: Static<typeof Taken>): WonClaim => ({
  state: 'won',
  operation: row.operation,
  key: row.key,
  token: row.lease_token,
  recoveryPoint: row.recovery_point,
  resourceId: row.resource_id,
  leaseSeconds: CLAIM_LEASE_SECONDS,
})

/**
 * Claims the open key of a resource, even before its next try is due. Returns `busy` where a process works on it now,
 * and null where the resource has no open key.
 */
export async function claimWaiting(
  db: TenantDb,
  resourceId: string,
): Promise<WonClaim | 'busy' | null> {
  const row = await db.maybe(
    Taken,
    sql`
    update idempotency_keys
       set ${newLease()}
     where tenant_ref = ${db.tenant} and resource_id = ${resourceId} and state = 'running'
       and (next_attempt_at is not null or lease_until <= ${machineTime})
    returning operation, key, lease_token, recovery_point, resource_id`,
  )
  if (row !== null) return claimOf(row)
  return (await findNextAttempt(db, [resourceId])) === null ? null : 'busy'
}

/**
 * Makes the waiting keys of a resource due now, because a provider has reported a change of it. Returns how many there
 * are.
 */
export const hasten = (db: Db, resourceId: string): Promise<number> =>
  db.run(sql`
    update idempotency_keys set next_attempt_at = ${machineTime}
     where tenant_ref = ${db.tenant} and resource_id = ${resourceId} and state = 'running'
       and next_attempt_at > ${machineTime}`)

/** Returns when the open keys of these resources are looked at next, in business time; null without such keys. */
export async function findNextAttempt(
  db: Db,
  resourceIds: readonly string[],
): Promise<string | null> {
  const { due_at } = await db.one(
    Type.Object({ due_at: Nullable(Timestamp) }),
    sql`
    select fd_now() + (min(due_at) - ${machineTime}) as due_at
      from idempotency_keys
     where tenant_ref = ${db.tenant} and resource_id = any(${resourceIds}::uuid[])
       and state = 'running'`,
  )
  return due_at
}

/** Whether to alert that a claim cannot be finished: the first time, and then once a day. Records the alert. */
export const isAlertDue = async (db: Db, { operation, key }: WonClaim): Promise<boolean> =>
  (await db.run(sql`
    update idempotency_keys set alerted_at = ${machineTime}
     where tenant_ref = ${db.tenant} and operation = ${operation} and key = ${key}
       and (alerted_at is null or alerted_at <= ${machineTime} - interval '1 day')`)) === 1
