import { type Static, Type } from 'typebox'
import type { Db, TenantDb } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { ApiError, type ErrorCode, errorBody } from '../errors.ts'
import { Id, Nullable, Timestamp } from '../kernel/schema.ts'
import { LeaseLostError } from './leases.ts'

/** Where every claim begins: nothing has been done that would have to be undone. */
export const STARTED = 'started'

/** Longer than a checkout with a slow gateway, shorter than a shopper's patience after a crash. */
export const CLAIM_LEASE_SECONDS = 60

export interface ClaimRequest {
  operation: string
  key: string
  fingerprint: Buffer
  leaseSeconds?: number
  /** Named in the body of a refusal. Left out where bodies name none. */
  correlationId?: string
}

/** The right to do the work of one key, for as long as the lease is held. */
export interface WonClaim {
  readonly state: 'won'
  readonly operation: string
  readonly key: string
  readonly token: string
  /** The last step that committed. Not `STARTED`: a holder before us got that far. */
  readonly recoveryPoint: string
  readonly resourceId: string | null
  readonly leaseSeconds: number
  readonly correlationId?: string
}

/** What is sent, to the byte. Made only by storing it: `finish` or `refuse`. */
export interface Answer {
  readonly state: 'answered'
  readonly status: number
  readonly body: string
}

export type Claim = WonClaim | Answer | { readonly state: 'running' }

const Won = Type.Object({
  lease_token: Id,
  recovery_point: Type.String(),
  resource_id: Nullable(Id),
})

const Standing = Type.Object({
  same: Type.Boolean(),
  expired: Type.Boolean(),
  response_status: Nullable(Type.Integer()),
  response_body: Nullable(Type.String()),
})

/** Takes the key, or says what became of it. Commits at once, so nobody waits for a slow winner. */
export async function claim(db: TenantDb, request: ClaimRequest): Promise<Claim> {
  for (;;) {
    const fresh = await insertClaim(db.lightly, request)
    if (fresh !== null) return won(request, fresh)
    const standing = await look(db, request)
    // Null: it was given back in between, so that it is free again.
    if (standing !== null) return standing
  }
}

/** What stands at the key, taken over if its holder is gone; or null. */
export async function look(db: Db, request: ClaimRequest): Promise<Claim | null> {
  const row = await findStanding(db, request)
  if (row === null) return null
  if (!row.same) throw new ApiError('idempotency_key_reused')
  if (row.response_status !== null) {
    return { state: 'answered', status: row.response_status, body: row.response_body ?? '' }
  }
  const taken = row.expired ? await takeOver(db, request) : null
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

const leaseEnd = (seconds = CLAIM_LEASE_SECONDS) => sql`now() + make_interval(secs => ${seconds})`

const rowOf = (db: Db, { operation, key }: { operation: string; key: string }) =>
  sql`tenant_ref = ${db.tenant} and operation = ${operation} and key = ${key}`

/** Of any number of callers one inserts the row; the others find that it is there. */
const insertClaim = (db: Db, { operation, key, fingerprint, leaseSeconds }: ClaimRequest) =>
  db.maybe(
    Won,
    sql`
    insert into idempotency_keys
           (tenant_ref, operation, key, fingerprint, lease_until, lease_token)
    values (${db.tenant}, ${operation}, ${key}, ${fingerprint}, ${leaseEnd(leaseSeconds)},
            gen_random_uuid())
        on conflict do nothing
    returning lease_token, recovery_point, resource_id`,
  )

const findStanding = (db: Db, request: ClaimRequest) =>
  db.maybe(
    Standing,
    sql`
    select fingerprint = ${request.fingerprint} as same,
           coalesce(lease_until <= now(), false) as expired,
           response_status, response_body
      from idempotency_keys
     where ${rowOf(db, request)}`,
  )

const takeOver = (db: Db, request: ClaimRequest) =>
  db.maybe(
    Won,
    sql`
    update idempotency_keys
       set lease_until = ${leaseEnd(request.leaseSeconds)}, lease_token = gen_random_uuid()
     where ${rowOf(db, request)} and fingerprint = ${request.fingerprint}
       and state = 'running' and lease_until <= now()
    returning lease_token, recovery_point, resource_id`,
  )

/** Writes to the claim's row, or throws and so undoes the transaction, when the lease was lost. */
async function writeHeld(db: Db, held: WonClaim, assignments: Sql): Promise<void> {
  const written = await db.run(sql`
    update idempotency_keys set ${assignments} where ${heldBy(db, held)}`)
  if (written === 0) throw new LeaseLostError(`the key of this ${held.operation}`, held.token)
}

/** An answer has no token any more. Were its state named, too, all that run would be looked through. */
const heldBy = (db: Db, held: WonClaim) => sql`${rowOf(db, held)} and lease_token = ${held.token}`

/** Marks a step as done, in the transaction that does it. The lease begins anew. */
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
    lease_until = ${leaseEnd(held.leaseSeconds)}`,
  )
  return { ...held, recoveryPoint, resourceId }
}

/** Keeps the claim for so much longer; or, with 0, leaves it to whoever comes next. */
export const renew = (db: Db, held: WonClaim, leaseSeconds = held.leaseSeconds): Promise<void> =>
  writeHeld(db, held, sql`lease_until = ${leaseEnd(leaseSeconds)}`)

/** Keeps the answer, in the transaction that makes it true. */
export async function finish(
  db: Db,
  held: WonClaim,
  status: number,
  body: string,
): Promise<Answer> {
  await writeHeld(db, held, answered(status, body))
  return { state: 'answered', status, body }
}

/** Keeps a refusal as the final answer: another try needs another key. */
export async function refuse(db: Db, held: WonClaim, error: ApiError): Promise<Answer> {
  if (!bindsKey(error)) throw new Error(`${error.code} is no outcome to be kept`, { cause: error })
  return finish(db, held, error.status, refusalBody(held, error))
}

const answered = (status: number, body: string) => sql`
  state = 'answered', answered_at = now(), response_status = ${status}, response_body = ${body},
  lease_until = null, lease_token = null`

/** A 404 names no correlation, so that all of a kind are alike. */
const refusalBody = ({ correlationId }: WonClaim, error: ApiError) =>
  errorBody(error, error.status === 404 ? undefined : correlationId)

/** What is wrong with the request itself, or with the moment: the same key may try again. */
const PASSING_STATUS: readonly number[] = [400, 401, 408, 413, 414, 415, 417, 429, 431]
const PASSING: readonly ErrorCode[] = [
  'forbidden',
  'csrf_required',
  'unknown_tenant',
  'idempotency_in_progress',
  'idempotency_key_reused',
]

/** Whether a refusal is an outcome of the work, and so the answer of its key from now on. */
export const bindsKey = ({ code, status }: ApiError): boolean =>
  status >= 400 && status < 500 && !PASSING_STATUS.includes(status) && !PASSING.includes(code)

/** Keeps a refusal that came before the first recovery point; null when work had already begun. */
export async function refuseUnbegun(
  db: Db,
  held: WonClaim,
  error: ApiError,
): Promise<Answer | null> {
  const { status } = error
  const body = refusalBody(held, error)
  const written = await db.run(sql`
    update idempotency_keys
       set ${answered(status, body)}
     where ${heldBy(db, held)} and recovery_point = ${STARTED}`)
  return written === 0 ? null : { state: 'answered', status, body }
}

/** Frees a key whose work never began. Answers false when there is something to be taken up. */
export async function giveBack(db: Db, held: WonClaim): Promise<boolean> {
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

/** What happened to a key; null when it was never used, or long ago. */
export const lookup = (db: Db, operation: string, key: string): Promise<KeyState | null> =>
  db.maybe(
    KeyState,
    sql`
    select operation, key, state, recovery_point, resource_id, response_status, response_body,
           created_at, answered_at
      from idempotency_keys
     where ${rowOf(db, { operation, key })}`,
  )
