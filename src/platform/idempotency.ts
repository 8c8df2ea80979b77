import { type Static, Type } from 'typebox'
import type { Db, TenantDb, Tx } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import type { ErrorCode } from '../error-codes.ts'
import { ApiError, errorBody } from '../errors.ts'
import { Id, Nullable, Timestamp } from '../kernel/schema.ts'
import type { Actor } from './audit.ts'
import { LeaseLostError } from './leases.ts'

/** The recovery point of every new claim: nothing has been written that a resume would need. */
export const STARTED = 'started'

/**
 * How long a claim's lease lasts: longer than a checkout with a slow gateway takes, shorter than a shopper waits
 * after a crash.
 */
export const CLAIM_LEASE_SECONDS = 60

export interface ClaimRequest {
  operation: string
  key: string
  fingerprint: Buffer
  leaseSeconds?: number
  /** The correlation id in the body of a refusal. It is left out where bodies have none. */
  correlationId?: string
}

/** The right to work on one key, for as long as its lease lasts. */
export interface WonClaim {
  readonly state: 'won'
  readonly operation: string
  readonly key: string
  readonly token: string
  /** The last step that committed. Unless it is `STARTED`, an earlier process committed it. */
  readonly recoveryPoint: string
  readonly resourceId: string | null
  readonly leaseSeconds: number
  readonly correlationId?: string
}

/** The status and body stored under a key, byte for byte. Only `finish` and `refuse` make one. */
export interface StoredAnswer {
  readonly state: 'answered'
  readonly status: number
  readonly body: string
}

export type Claim = WonClaim | StoredAnswer | { readonly state: 'running' }

const Won = Type.Object({
  lease_token: Id,
  recovery_point: Type.String(),
  resource_id: Nullable(Id),
})

const Standing = Type.Object({
  same: Type.Boolean(),
  due: Type.Boolean(),
  response_status: Nullable(Type.Integer()),
  response_body: Nullable(Type.String()),
})

/** Claims the key, or returns its state. Commits at once, so that no other caller waits for the lock. */
export async function claim(db: TenantDb, request: ClaimRequest): Promise<Claim> {
  for (;;) {
    const fresh = await insertClaim(db.asyncCommit, request)
    if (fresh !== null) return won(request, fresh)
    const standing = await readClaim(db, request)
    // Null means that the key was freed in between, so it can be claimed again.
    if (standing !== null) return standing
  }
}

/** Returns the state of a key; null where it is free. Claims a key that is due. */
export async function readClaim(db: Db, request: ClaimRequest): Promise<Claim | null> {
  const row = await findStanding(db, request)
  if (row === null) return null
  if (!row.same) throw new ApiError('idempotency_key_reused')
  if (row.response_status !== null) {
    return { state: 'answered', status: row.response_status, body: row.response_body ?? '' }
  }
  const taken = row.due ? await takeOver(db, request) : null
  return taken === null ? { state: 'running' } : won(request, taken)
}

function won(request: ClaimRequest, row: Static<typeof Won>): WonClaim {
  const { operation, key, correlationId, leaseSeconds = CLAIM_LEASE_SECONDS } = request
  return {
    state: 'won',
    operation,
    key,
    token: row.lease_token,
    recoveryPoint: row.recovery_point,
    resourceId: row.resource_id,
    leaseSeconds,
    ...(correlationId === undefined ? {} : { correlationId }),
  }
}

const secondsFromNow = (seconds: number) => sql`${machineTime} + make_interval(secs => ${seconds})`

/** Assigns the key to the process that runs the statement. */
export const newLease = (seconds = CLAIM_LEASE_SECONDS) => sql`
  lease_until = ${secondsFromNow(seconds)}, lease_token = gen_random_uuid(), next_attempt_at = null`

const rowOf = (db: Db, { operation, key }: { operation: string; key: string }) =>
  sql`tenant_ref = ${db.tenant} and operation = ${operation} and key = ${key}`

/** Inserts the row for exactly one of any number of callers; the others find it there. */
const insertClaim = (db: Db, { operation, key, fingerprint, leaseSeconds }: ClaimRequest) =>
  db.maybe(
    Won,
    sql`
    insert into idempotency_keys
           (tenant_ref, operation, key, fingerprint, lease_until, lease_token)
    values (${db.tenant}, ${operation}, ${key}, ${fingerprint},
            ${secondsFromNow(leaseSeconds ?? CLAIM_LEASE_SECONDS)}, gen_random_uuid())
        on conflict do nothing
    returning lease_token, recovery_point, resource_id`,
  )

const findStanding = (db: Db, request: ClaimRequest) =>
  db.maybe(
    Standing,
    sql`
    select fingerprint = ${request.fingerprint} as same,
           coalesce(due_at <= ${machineTime}, false) as due,
           response_status, response_body
      from idempotency_keys
     where ${rowOf(db, request)}`,
  )

const takeOver = (db: Db, request: ClaimRequest) =>
  db.maybe(
    Won,
    sql`
    update idempotency_keys
       set ${newLease(request.leaseSeconds)}
     where ${rowOf(db, request)} and fingerprint = ${request.fingerprint}
       and state = 'running' and due_at <= ${machineTime}
    returning lease_token, recovery_point, resource_id`,
  )

/** Writes to the claim's row. Throws, which rolls the transaction back, when the lease was lost. */
async function writeHeld(db: Db, held: WonClaim, assignments: Sql): Promise<void> {
  const written = await db.run(sql`
    update idempotency_keys set ${assignments} where ${heldBy(db, held)}`)
  if (written === 0) throw new LeaseLostError(`the key of this ${held.operation}`, held.token)
}

/**
 * Matches the row of a claim that is still held. An answered key has no token. The state is left out: with it
 * PostgreSQL would scan all running keys.
 */
const heldBy = (db: Db, held: WonClaim) => sql`${rowOf(db, held)} and lease_token = ${held.token}`

/** Moves the claim to a recovery point, in the transaction of that step. The lease starts again. */
export async function advance(
  db: Db,
  held: WonClaim,
  recoveryPoint: string,
  resourceId: string | null = held.resourceId,
): Promise<WonClaim> {
  await writeHeld(
    db,
    held,
    sql`
    recovery_point = ${recoveryPoint}, resource_id = ${resourceId},
    lease_until = ${secondsFromNow(held.leaseSeconds)}`,
  )
  return { ...held, recoveryPoint, resourceId }
}

/** Starts the lease again. Throws where another process has claimed the key. */
export const renew = (db: Db, held: WonClaim): Promise<void> =>
  writeHeld(db, held, sql`lease_until = ${secondsFromNow(held.leaseSeconds)}`)

/** Ends the lease, and makes the key due for any process after so many seconds. */
export const postpone = (db: Db, held: WonClaim, seconds: number): Promise<void> =>
  writeHeld(
    db,
    held,
    sql`lease_until = null, lease_token = null, next_attempt_at = ${secondsFromNow(seconds)}`,
  )

/** Stores the answer, in the transaction that ends the operation. */
export async function finish(
  db: Db,
  held: WonClaim,
  status: number,
  body: string,
): Promise<StoredAnswer> {
  await writeHeld(db, held, answered(status, body))
  return { state: 'answered', status, body }
}

/** Stores the answer of a change in the transaction that makes it, where the caller has sent a key. */
export type KeepAnswer = (tx: Tx, body: unknown) => Promise<void>

/** The caller of a change whose key is optional. */
export interface KeepingCaller {
  actor: Actor
  keep: KeepAnswer
}

/** Stores a refusal as the final answer: another attempt needs another key. */
export async function refuse(db: Db, held: WonClaim, error: ApiError): Promise<StoredAnswer> {
  if (!bindsKey(error)) throw new Error(`${error.code} cannot be a stored answer`, { cause: error })
  return finish(db, held, error.status, refusalBody(held, error))
}

const answered = (status: number, body: string) => sql`
  state = 'answered', answered_at = ${machineTime}, response_status = ${status}, response_body = ${body},
  lease_until = null, lease_token = null, next_attempt_at = null`

/** Writes the body of a refusal. A 404 has no correlation id, so that all of a kind are alike. */
const refusalBody = ({ correlationId }: WonClaim, error: ApiError) =>
  errorBody(error, error.status === 404 ? undefined : correlationId)

/** Refusals of the request itself, or because of a temporary state: the same key can be used again. */
const PASSING_STATUS: readonly number[] = [400, 401, 408, 413, 414, 415, 417, 429, 431]
const PASSING: readonly ErrorCode[] = [
  'forbidden',
  'csrf_required',
  'unknown_tenant',
  'idempotency_in_progress',
  'idempotency_key_reused',
]

/** Whether a refusal is an outcome of the operation, and so the stored answer of its key. */
export const bindsKey = ({ code, status }: ApiError): boolean =>
  status >= 400 && status < 500 && !PASSING_STATUS.includes(status) && !PASSING.includes(code)

/** Stores a refusal that came before the first recovery point; null when the operation had begun. */
export async function refuseUnbegun(
  db: Db,
  held: WonClaim,
  error: ApiError,
): Promise<StoredAnswer | null> {
  const { status } = error
  const body = refusalBody(held, error)
  const written = await db.run(sql`
    update idempotency_keys
       set ${answered(status, body)}
     where ${heldBy(db, held)} and recovery_point = ${STARTED}`)
  return written === 0 ? null : { state: 'answered', status, body }
}

/** Frees a key whose operation never began. Returns false where it has begun, and must be resumed. */
export async function freeKey(db: Db, held: WonClaim): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from idempotency_keys
     where ${heldBy(db, held)} and recovery_point = ${STARTED}`)
  return deleted === 1
}

const KeyState = Type.Object({
  operation: Type.String(),
  key: Type.String(),
  state: Type.Enum(['running', 'answered']),
  recovery_point: Type.String(),
  resource_id: Nullable(Id),
  response_status: Nullable(Type.Integer()),
  response_body: Nullable(Type.String()),
  created_at: Timestamp,
  answered_at: Nullable(Timestamp),
})
export type KeyState = Static<typeof KeyState>

/** Returns the state of a key; null when it was never used, or its answer was deleted. */
export const lookup = (db: Db, operation: string, key: string): Promise<KeyState | null> =>
  db.maybe(
    KeyState,
    sql`
    select operation, key, state, recovery_point, resource_id, response_status, response_body,
           created_at, answered_at
      from idempotency_keys
     where ${rowOf(db, { operation, key })}`,
  )
