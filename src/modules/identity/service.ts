import type { GlobalDb } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Owner } from '../../kernel/owner.ts'
import * as tokens from '../../kernel/tokens.ts'
import type { Limits } from '../../platform/limits.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'
import * as mail from '../../platform/mail.ts'
import type { ExternalCheck, ExternalIdentity } from './external-tokens.ts'
import { hashPassword, matchesPassword } from './passwords.ts'
import * as queries from './queries.ts'
import type { LogIn, OwnedStore, OwnerRow, SessionStarted, SignUp } from './schema.ts'

export interface Identity {
  db: GlobalDb
  clock: Clock
  /** Signs the tokens that verify an e-mail address. */
  verificationKey: Buffer
  verification: 'off' | 'required'
  checkExternal: ExternalCheck | null
  limits: Pick<Limits, 'velocity'>
}

const HOUR = 3_600
const SESSION = { slidingSeconds: 12 * HOUR, absoluteSeconds: 30 * 24 * HOUR }

/** A session in use is extended once an hour, and not at every request. */
const EXTEND_BELOW_SECONDS = SESSION.slidingSeconds - HOUR

const VERIFICATION_SECONDS = 24 * HOUR

/** Mails per minute to one account, whose address may be a stranger's. */
const MAILS_PER_MINUTE = 3

export async function signUp(identity: Identity, request: SignUp): Promise<SessionStarted> {
  const { db, verification } = identity
  const email = request.email.toLowerCase()
  if (verification === 'required') await assertMailRate(identity, email)
  const passwordHash = await hashPassword(request.password)
  const row = { email, name: request.name, passwordHash, verified: verification === 'off' }
  return db.transaction('identity: sign up', async (tx) => {
    const created = await queries.insertOwner(tx, row)
    if (created === null) throw new ApiError('email_exists')
    await queries.deleteSessionsOf(tx, created.id)
    if (!created.email_verified) await sendVerification(identity, tx, created)
    return startSession(tx, created)
  })
}

export async function logIn({ db }: Identity, { email, password }: LogIn) {
  const found = await queries.findOwnerByEmail(db, email.toLowerCase())
  const matches = await matchesPassword(found?.password_hash ?? null, password)
  if (!matches || found === null || found.password_hash === null) {
    throw new ApiError('unauthorized')
  }
  return startSession(db, found)
}

async function startSession(db: Runner, owner: OwnerRow): Promise<SessionStarted> {
  const token = `fds_${tokens.randomBase62(32)}`
  const tokenHash = tokens.sha256(token)
  const session = await queries.insertSession(db, tokenHash, owner, SESSION.slidingSeconds)
  if (session === null) throw new ApiError('unauthorized')
  const { id, email, name, email_verified } = owner
  return { owner: { id, email, name, email_verified }, session: { token, ...session } }
}

export async function logOut({ db }: Identity, { token }: Owner): Promise<void> {
  if (token !== undefined) await queries.deleteSession(db, tokens.sha256(token))
}

/** Finds the owner of a session token, or of a token of the external provider. */
export async function check(identity: Identity, token: string): Promise<Owner | null> {
  if (identity.checkExternal !== null && token.split('.').length === 3) {
    const external = await identity.checkExternal(token)
    return external === null ? null : toOwner(await findExternalOwner(identity, external))
  }
  const tokenHash = tokens.sha256(token)
  const found = await queries.findSession(identity.db, tokenHash)
  if (found === null) return null
  if (found.seconds_left < EXTEND_BELOW_SECONDS) {
    await queries.extendSession(identity.db, tokenHash, SESSION)
  }
  return { ...toOwner(found), token }
}

/** Finds or creates the owner. Sessions from before the verification may be a stranger's and end. */
async function findExternalOwner(
  { db }: Identity,
  { email, name }: ExternalIdentity,
): Promise<OwnerRow> {
  const known = await queries.findOwnerByEmail(db, email)
  if (known?.email_verified) return known
  return db.transaction('identity: verify by external token', async (tx) => {
    const owner = await queries.upsertExternalOwner(tx, email, name)
    await queries.deleteSessionsOf(tx, owner.id)
    return owner
  })
}

const toOwner = ({ id, email, name, email_verified }: OwnerRow): Owner => ({
  id,
  email,
  name,
  emailVerified: email_verified,
})

/** Limits the mails to an address: a stranger can sign up with it again and again. */
async function assertMailRate({ limits }: Identity, email: string): Promise<void> {
  const bucket = `letters:${tokens.sha256(email).toString('hex')}`
  if (!(await limits.velocity(bucket, MAILS_PER_MINUTE))) throw tooManyMails()
}

const tooManyMails = () =>
  new ApiError('rate_limited', {
    message: `Too many mails: at most ${MAILS_PER_MINUTE} per minute. Try again later.`,
    headers: { 'retry-after': String(WINDOW_SECONDS) },
  })

/** Mails the verification token again. Does nothing if the address is verified already. */
export async function resendVerification(identity: Identity, owner: Owner): Promise<void> {
  if (!(await identity.limits.velocity(`verify:${owner.id}`, MAILS_PER_MINUTE))) {
    throw tooManyMails()
  }
  const found = await queries.findOwnerByEmail(identity.db, owner.email)
  if (found !== null && !found.email_verified) {
    await sendVerification(identity, identity.db, found)
  }
}

async function sendVerification(
  { verificationKey, clock }: Identity,
  db: Runner,
  { id, email, password_hash }: OwnerRow,
) {
  const expires = Math.floor(clock.now() / 1_000) + VERIFICATION_SECONDS
  const mark = tokens.sha256(password_hash ?? '').toString('hex')
  const payload = JSON.stringify([id, email, expires, mark])
  const token = tokens.sign(verificationKey, Buffer.from(payload))
  await mail.send(db, {
    to: email,
    subject: 'Confirm your e-mail address',
    text: `Confirm your e-mail address: send this token to POST /v1/identity/verify within a day.\n\n${token}\n\nIf you did not sign up, ignore this mail.\n`,
  })
}

/** The payload of a verification token; the mark is a digest of the account's password hash. */
type VerificationPayload = [id: string, email: string, expires: number, mark: string]

/**
 * Verifies an address by the mailed token. Only the account that the mail was sent for can use it: a
 * stranger's sign-up with another's address must not be verified by the reader of the mail.
 */
export async function verifyEmail(identity: Identity, owner: Owner, token: string): Promise<void> {
  const payload = tokens.verify(identity.verificationKey, token)
  if (payload === null) throw new ApiError('unauthorized')
  const [id, email, expires, mark] = JSON.parse(payload.toString()) as VerificationPayload
  if (expires * 1_000 < identity.clock.now() || id !== owner.id) throw new ApiError('unauthorized')
  const marked = await queries.markVerified(identity.db, id, email, mark)
  if (marked === 0) throw new ApiError('unauthorized')
}

export async function listOwnedStores(db: Runner, owner: Owner): Promise<OwnedStore[]> {
  return owner.emailVerified ? queries.listOwnedStores(db, owner.email) : []
}

/** Locks the session against its end until the transaction ends. Refuses an ended session. */
export async function lockSession(tx: Runner, { token }: Owner): Promise<void> {
  if (token === undefined) return
  if ((await queries.lockSession(tx, tokens.sha256(token))) === null) {
    throw new ApiError('unauthorized')
  }
}

/** Gets the store that an owner names. Another owner's store is answered like an unknown one. */
export async function requireOwnedStore(db: Runner, owner: Owner, tenantRef: string | undefined) {
  const owned = await listOwnedStores(db, owner)
  if (tenantRef === undefined && owned.length > 1) {
    throw invalidBody('tenant_ref', 'must be sent when you own several stores')
  }
  const found = tenantRef === undefined ? owned[0] : owned.find((s) => s.tenant_ref === tenantRef)
  if (found === undefined) throw new ApiError('unknown_tenant')
  return found
}
