import { mapViolations } from '../../db/constraints.ts'
import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { systemClock } from '../../kernel/clock.ts'
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
import * as queries from './queries.ts'
import type { InitialCredential, IssuedCredential, NewCredential, Stage } from './schema.ts'

const KEY = /^fdk_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})$/

/** What a malformed or unknown key is compared with, so that every refusal takes the same path. */
const NOBODY = { publicId: '00000000', hash: sha256('no key has this hash') }

/** Who a key stands for, or null. Asks the database each time: a revoked key ends at once. */
export async function check(db: Runner, key: string) {
  const [, publicId, secret] = KEY.exec(key) ?? []
  const found = await queries.findByPublicId(db, publicId ?? NOBODY.publicId)
  const matches = digestEquals(found?.secret_hash ?? NOBODY.hash, sha256(secret ?? ''))
  if (!matches || !found?.active) return null
  return { tenant: found.tenant_ref, credentialId: found.id, scopes: found.scopes }
}

interface Issuer {
  actor: audit.Actor
  scopes: readonly Scope[]
  /** The issuing key; absent when the platform itself issues. */
  credentialId?: string
}

/** Issues a key with no more than its issuer may do. */
export async function issue(db: TenantDb, issuer: Issuer, wanted: NewCredential) {
  const scopes = checkScopes(wanted.scopes, issuer.scopes)
  const expiresAt = readExpiry(systemClock, wanted.expires_at)
  return db.transaction('credentials: issue', async (tx) => {
    refuseOutliving(expiresAt, await holdIssuer(tx, issuer))
    return mint(tx, issuer.actor, { label: wanted.label, scopes, expiresAt, initialStage: null })
  })
}

/**
 * A request may take seconds to arrive after its key was checked. Were that check enough, a stolen
 * key could outlive its revocation by having a slow request issue another.
 */
async function holdIssuer(tx: Tx, { credentialId }: Issuer) {
  if (credentialId === undefined) return null
  const held = await queries.holdActive(tx, credentialId)
  if (held === null) throw new ApiError('unauthorized')
  return held.expires_at
}

/** A key that is to end may not leave a longer-lived one behind. */
function refuseOutliving(expiresAt: string | null, issuerExpiresAt: string | null) {
  if (issuerExpiresAt === null) return
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.parse(issuerExpiresAt)) return
  throw invalidBody('expires_at', 'must not be later than the expiry of the issuing key')
}

function checkScopes(wanted: readonly string[], held: readonly Scope[]): Scope[] {
  const unknown = [...new Set(wanted.filter((scope) => !isScope(scope)))]
  if (unknown.length > 0) {
    throw new ApiError('unknown_scope', {
      message: `No such scope: ${quote(unknown)}. Use a scope that the API reference names.`,
    })
  }
  const scopes = sortScopes(wanted.filter(isScope))
  const beyond = scopes.filter((scope) => !satisfies(held, scope))
  if (beyond.length > 0) {
    throw new ApiError('scope_escalation', {
      message: `The issuing key does not hold ${quote(beyond)}. Leave it out, or use a key that holds it.`,
      body: { scopes: beyond },
    })
  }
  return scopes
}

/** The contract wants the scopes named; a name that cannot be one is not repeated. */
const quote = (scopes: readonly string[]) =>
  scopes.map((scope) => (/^[a-z:_*.-]{1,60}$/i.test(scope) ? scope : '(unreadable)')).join(', ')

/** The first key of a store, minted by its owner. */
export async function issueInitial(
  database: Database,
  actor: audit.Actor,
  owner: identity.Owner,
  { tenant_ref, label }: InitialCredential,
) {
  const owned = await identity.requireOwnedStore(database.global, owner, tenant_ref)
  const db = database.tenant(owned.tenant_ref)
  return db.transaction('credentials: issue initial', async (tx) => {
    await identity.holdSession(tx, owner)
    // Two who ask at once follow one another, and so do a mint and a change of the owner.
    const { status, owner_email } = await stores.lock(tx)
    if (owner_email !== owner.email) throw new ApiError('unknown_tenant')
    const live = status === 'live'
    const initialStage = live ? 'live' : 'pre_live'
    await refuseSecond(tx, initialStage)
    const scopes = live ? SCOPES : PRE_LIVE_SCOPES
    const row = { label: label ?? 'Initial key', scopes, expiresAt: null, initialStage } as const
    return mapViolations(mint(tx, actor, row), { credentials_initial: 'initial_credential_exists' })
  })
}

/** Names the key there is: whoever has lost it, or has the store from somebody else, can revoke it. */
async function refuseSecond(tx: Tx, stage: Stage) {
  const standing = await queries.findInitial(tx, stage)
  if (standing === null) return
  throw new ApiError('initial_credential_exists', { body: { credential_id: standing.id } })
}

interface NewKey {
  label: string
  scopes: readonly Scope[]
  expiresAt: string | null
  initialStage: Stage | null
}

async function mint(tx: Tx, actor: audit.Actor, row: NewKey): Promise<IssuedCredential> {
  const publicId = await freePublicId(tx)
  const secret = randomBase62(32)
  const made = await queries.insertCredential(tx, { ...row, publicId, secretHash: sha256(secret) })
  const { id, label, scopes, expires_at } = made
  await audit.record(tx, actor, {
    action: 'credential.issued',
    entity: `credential:${id}`,
    after: { label, scopes, expires_at },
  })
  return { credential: { id, key: `fdk_${publicId}_${secret}`, label, scopes, expires_at } }
}

/** The public id is short, so that among millions of keys two could be alike: look first. */
async function freePublicId(db: Runner): Promise<string> {
  for (;;) {
    const publicId = randomBase62(8).slice(0, 8)
    if ((await queries.findByPublicId(db, publicId)) === null) return publicId
  }
}

export const list = queries.listCredentials

export const countActive = async (db: Db) => (await queries.countActive(db)).total

export async function get(db: Db, id: string) {
  const found = isUuid(id) ? await queries.findCredential(db, id) : null
  if (found === null) throw new ApiError('credential_not_found')
  return found
}

/** Revokes a key, for good. Repeating it is harmless; a key may revoke itself. */
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

/** An owner knows a key by its id alone: the store is the one of theirs that has it. */
export async function revokeAsOwner(
  database: Database,
  actor: audit.Actor,
  owner: identity.Owner,
  id: string,
) {
  for (const { tenant_ref } of await identity.listOwnedStores(database.global, owner)) {
    const db = database.tenant(tenant_ref)
    if (isUuid(id) && (await queries.findCredential(db, id)) !== null) return revoke(db, actor, id)
  }
  throw new ApiError('credential_not_found')
}
