import { mapViolations } from '../../db/constraints.ts'
import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Owner } from '../../kernel/owner.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import {
  isScope,
  PRE_LIVE_SCOPES,
  SCOPES,
  type Scope,
  satisfies,
  sortScopes,
} from '../../kernel/scopes.ts'
import { digestEquals, randomBase62, sha256 } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import { readExpiry } from '../../platform/expiry.ts'
import * as identity from '../identity/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type { InitialCredential, IssuedCredential, NewCredential, Stage } from './schema.ts'

const KEY = /^fdk_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})$/

/** Compared with a malformed or unknown key, so that every refusal takes the same path and time. */
const UNKNOWN_KEY = { publicId: '00000000', hash: sha256('no key has this hash') }

/** Finds the store and scopes of a key, or null. Reads the database each time: a revoked key ends at once. */
export async function check(db: Runner, key: string) {
  const [, publicId, secret] = KEY.exec(key) ?? []
  const found = await queries.findByPublicId(db, publicId ?? UNKNOWN_KEY.publicId)
  const matches = digestEquals(found?.secret_hash ?? UNKNOWN_KEY.hash, sha256(secret ?? ''))
  if (!matches || !found?.active) return null
  return { tenant: found.tenant_ref, credentialId: found.id, scopes: found.scopes }
}

interface Issuer {
  actor: audit.Actor
  scopes: readonly Scope[]
  /** The issuing key; absent when the platform itself issues. */
  credentialId?: string
}

/** Issues a key with at most the scopes of its issuer. */
export async function issue(db: TenantDb, issuer: Issuer, request: NewCredential) {
  const scopes = checkScopes(request.scopes, issuer.scopes)
  const expiresAt = readExpiry(systemClock, request.expires_at)
  return db.transaction('credentials: issue', async (tx) => {
    assertNoLongerLife(expiresAt, await lockIssuer(tx, issuer))
    return insertKey(tx, issuer.actor, {
      label: request.label,
      scopes,
      expiresAt,
      initialStage: null,
    })
  })
}

/**
 * Locks the issuing key and checks it again. A request may take seconds to arrive after the first check;
 * without the second, a stolen key could issue another one after its revocation.
 */
async function lockIssuer(tx: Tx, { credentialId }: Issuer) {
  if (credentialId === undefined) return null
  const active = await queries.lockActive(tx, credentialId)
  if (active === null) throw new ApiError('unauthorized')
  return active.expires_at
}

/** Refuses a key that would expire later than its issuer. */
function assertNoLongerLife(expiresAt: string | null, issuerExpiresAt: string | null) {
  if (issuerExpiresAt === null) return
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.parse(issuerExpiresAt)) return
  throw invalidBody('expires_at', 'must not be later than the expiry of the issuing key')
}

function checkScopes(requested: readonly string[], held: readonly Scope[]): Scope[] {
  const unknown = [...new Set(requested.filter((scope) => !isScope(scope)))]
  if (unknown.length > 0) {
    throw refuse('unknown_scope', {
      message: `No such scope: ${quote(unknown)}. Use a scope that the API reference names.`,
    })
  }
  const scopes = sortScopes(requested.filter(isScope))
  const beyond = scopes.filter((scope) => !satisfies(held, scope))
  if (beyond.length > 0) {
    throw refuse('scope_escalation', {
      message: `The issuing key does not hold ${quote(beyond)}. Leave it out, or use a key that holds it.`,
      body: { scopes: beyond },
    })
  }
  return scopes
}

/** Names the scopes, as the contract asks. A text that cannot be a scope is not repeated. */
const quote = (scopes: readonly string[]) =>
  scopes.map((scope) => (/^[a-z:_*.-]{1,60}$/i.test(scope) ? scope : '(unreadable)')).join(', ')

/** Issues the first key of a store to its owner. */
export async function issueInitial(
  database: Database,
  actor: audit.Actor,
  owner: Owner,
  { tenant_ref, label }: InitialCredential,
) {
  const owned = await identity.requireOwnedStore(database.directory, owner, tenant_ref)
  const db = database.tenantForOwnWork(owned.tenant_ref)
  return db.transaction('credentials: issue initial', async (tx) => {
    await identity.lockSession(tx, owner)
    // The lock serialises two requests, and a request and a change of the owner.
    const { status, owner_email } = await stores.lock(tx)
    if (owner_email !== owner.email) throw new ApiError('unknown_tenant')
    const live = status === 'live'
    const initialStage = live ? 'live' : 'pre_live'
    await assertNoInitialKey(tx, initialStage)
    const scopes = live ? SCOPES : PRE_LIVE_SCOPES
    const row = { label: label ?? 'Initial key', scopes, expiresAt: null, initialStage } as const
    return mapViolations(
      insertKey(tx, actor, row),
      {
        credentials_initial: 'initial_credential_exists',
      },
      refuse,
    )
  })
}

/** Refuses a second initial key and names the first: an owner who does not have it can revoke it. */
async function assertNoInitialKey(tx: Tx, stage: Stage) {
  const existing = await queries.findInitial(tx, stage)
  if (existing === null) return
  throw refuse('initial_credential_exists', { body: { credential_id: existing.id } })
}

interface NewKey {
  label: string
  scopes: readonly Scope[]
  expiresAt: string | null
  initialStage: Stage | null
}

async function insertKey(tx: Tx, actor: audit.Actor, row: NewKey): Promise<IssuedCredential> {
  const publicId = await freePublicId(tx)
  const secret = randomBase62(32)
  const created = await queries.insertCredential(tx, {
    ...row,
    publicId,
    secretHash: sha256(secret),
  })
  const { id, label, scopes, expires_at } = created
  await audit.record(tx, actor, {
    action: 'credential.issued',
    entity: `credential:${id}`,
    after: { label, scopes, expires_at },
  })
  return { credential: { id, key: `fdk_${publicId}_${secret}`, label, scopes, expires_at } }
}

/** A public id that no key has. It is short, so a random one may be in use among millions of keys. */
async function freePublicId(db: Runner): Promise<string> {
  for (;;) {
    const publicId = randomBase62(8).slice(0, 8)
    if ((await queries.findByPublicId(db, publicId)) === null) return publicId
  }
}

export async function list(db: Db, page: Page) {
  const { rows, shown } = await queries.listCredentials(db, page)
  return { credentials: rows, ...shown }
}

export const countActive = async (db: Db) => (await queries.countActive(db)).active

export async function get(db: Db, id: string) {
  const found = isUuid(id) ? await queries.findCredential(db, id) : null
  if (found === null) throw refuse('credential_not_found')
  return found
}

/** Revokes a key for ever. It may be repeated; a key may revoke itself. */
export function revoke(db: TenantDb, actor: audit.Actor, id: string) {
  return db.transaction('credentials: revoke', async (tx) => {
    const found = await get(tx, id)
    const revoked = await queries.revokeCredential(tx, found.id)
    const selfRevoked = actor.name === `merchant_key:${found.id}`
    if (revoked === null) {
      return { credential: await get(tx, id), alreadyRevoked: true, selfRevoked }
    }
    await audit.record(tx, actor, {
      action: 'credential.revoked',
      entity: `credential:${found.id}`,
      before: { revoked_at: null },
      after: { revoked_at: revoked.revoked_at },
    })
    return { credential: revoked, alreadyRevoked: false, selfRevoked }
  })
}

/** Revokes a key by its id, in whichever of the owner's stores has it. */
export async function revokeAsOwner(
  database: Database,
  actor: audit.Actor,
  owner: Owner,
  id: string,
) {
  for (const { tenant_ref } of await identity.listOwnedStores(database.directory, owner)) {
    const db = database.tenantForOwnWork(tenant_ref)
    if (isUuid(id) && (await queries.findCredential(db, id)) !== null) return revoke(db, actor, id)
  }
  throw refuse('credential_not_found')
}
