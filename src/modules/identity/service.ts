import { mapViolations } from '../../db/constraints.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { hmacBytes } from '../../kernel/hmac.ts'
import type { Owner } from '../../kernel/owner.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import * as mail from '../../platform/mail.ts'
import type { Identity } from './deps.ts'
import { refuse } from './errors.ts'
import type { ExternalIdentity } from './external-tokens.ts'
import { assertMailRate, assertResendRate, countWrongPassword, digestOf } from './limits.ts'
import { hashLike, hashPassword } from './passwords.ts'
import * as queries from './queries.ts'
import type { LogIn, OwnedStore, OwnerRow, SessionStarted, SignUp } from './schema.ts'

const SESSION = { slidingSeconds: 12 * HOUR_SECONDS, absoluteSeconds: 30 * DAY_SECONDS }

/**
 * How few seconds a session must have left to be extended: in use, it is extended once an
 * hour and not at every request.
 */
const EXTEND_BELOW_SECONDS = SESSION.slidingSeconds - HOUR_SECONDS

const VERIFICATION_SECONDS = DAY_SECONDS

/**
 * Creates an account. Where addresses are verified, the account waits for the proof beside any other sign-ups with
 * the address. The answer is then the same whether or not the address has an account: only the mail says it.
 */
export async function signUp(
  identity: Identity,
  caller: string,
  request: SignUp,
): Promise<SessionStarted> {
  const { db, verification, saltKey } = identity
  const email = request.email.toLowerCase()
  if (verification === 'required') await assertMailRate(identity, email)
  const passwordHash = await hashPassword({ caller, email, saltKey }, request.password)
  const row = { email, name: request.name, passwordHash }
  return db.transaction('identity: sign up', async (tx) => {
    if (verification === 'required') {
      const pending = await queries.insertPendingOwner(tx, row)
      await sendVerification(identity, tx, pending)
      return startSession(identity, tx, { owner: pending, caller })
    }
    const owner = await queries.insertVerifiedOwner(tx, row)
    if (owner === null) throw refuse('email_exists')
    await queries.deletePendingOf(tx, email)
    return startSession(identity, tx, { owner, caller })
  })
}

/** Logs in. An unknown address is treated and counted like one with an account. */
export async function logIn(
  identity: Identity,
  caller: string,
  request: LogIn,
): Promise<SessionStarted> {
  const { db, saltKey } = identity
  const email = request.email.toLowerCase()
  const facts = await queries.readLoginFacts(db, email, hashCaller(identity, caller))
  return countWrongPassword(identity, { email, caller, isKnown: facts.is_known }, async () => {
    const hash = await hashLike(facts.password_hash, { caller, email, saltKey }, request.password)
    const owner = await queries.findOwnerByPassword(db, email, hash)
    if (owner === null) throw new ApiError('unauthorized')
    return startSession(identity, db, { owner, caller })
  })
}

/** Starts a session, and records its caller as a known caller of the account. */
async function startSession(
  identity: Identity,
  db: Runner,
  { owner, caller }: { owner: OwnerRow; caller: string },
): Promise<SessionStarted> {
  const token = `fds_${tokens.randomBase62(32)}`
  const tokenHash = tokens.sha256(token)
  const session = await queries.insertSession(db, tokenHash, owner, SESSION.slidingSeconds)
  if (session === null) throw new ApiError('unauthorized')
  await queries.insertCaller(db, owner.id, hashCaller(identity, caller))
  const { id, email, name, email_verified } = owner
  return { owner: { id, email, name, email_verified }, session: { token, ...session } }
}

/** The caller as it is stored: a digest that only this installation can compute. */
export const hashCaller = ({ saltKey }: Identity, caller: string): Buffer =>
  hmacBytes(saltKey, [Buffer.from(`caller ${caller}`)])

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

/**
 * Finds or creates the owner. Accounts that waited for the proof of the address may be a stranger's, and
 * are deleted with their sessions.
 */
async function findExternalOwner(
  { db }: Identity,
  { email, name }: ExternalIdentity,
): Promise<OwnerRow> {
  const known = await queries.findVerifiedOwner(db, email)
  if (known !== null) return known
  return db.transaction('identity: verify by external token', async (tx) => {
    await queries.insertVerifiedOwner(tx, { email, name, passwordHash: null })
    await queries.deletePendingOf(tx, email)
    const owner = await queries.findVerifiedOwner(tx, email)
    if (owner === null) throw new Error('the owner was not created')
    return owner
  })
}

const toOwner = ({ id, email, name, email_verified }: OwnerRow): Owner => ({
  id,
  email,
  name,
  emailVerified: email_verified,
})

/** Mails the verification token again. Does nothing if the account is verified already. */
export async function resendVerification(identity: Identity, owner: Owner): Promise<void> {
  await assertResendRate(identity, owner)
  const found = await queries.findOwner(identity.db, owner.id)
  if (found !== null && !found.email_verified) await sendVerification(identity, identity.db, found)
}

/**
 * Mails the token that verifies the address. If the address has a verified account, the mail has no token and says
 * that there is an account: the caller, who may be a stranger, does not learn of it.
 */
async function sendVerification(
  { verificationKey, clock, pageUrl }: Identity,
  db: Runner,
  { id, email, password_hash }: OwnerRow,
) {
  if ((await queries.findVerifiedOwner(db, email)) !== null) return sendExisting(db, email)
  const expires = Math.floor(clock.now() / 1_000) + VERIFICATION_SECONDS
  const payload = JSON.stringify([id, email, expires, digestOf(password_hash ?? '')])
  const token = tokens.sign(verificationKey, Buffer.from(payload))
  await mail.send(db, {
    to: email,
    subject: 'Confirm your e-mail address',
    text: `Confirm your e-mail address within a day:\n\n${pageUrl(`/account/verify?token=${token}`)}\n\nA program sends this token to POST /v1/identity/verify:\n\n${token}\n\nIf you did not sign up, ignore this mail.\n`,
  })
}

const sendExisting = (db: Runner, email: string) =>
  mail.send(db, {
    to: email,
    subject: 'You already have an account',
    text: 'A sign-up used your e-mail address, which already has an account. If that was you, log in with the password of your account. If not, ignore this mail: nothing has changed.\n',
  })

/** The payload of a verification token; the mark is a digest of the account's password hash. */
type VerificationPayload = [id: string, email: string, expires: number, mark: string]

/**
 * Verifies an address by the mailed token. Only the account that the mail was sent for can use the token: if a
 * stranger signs up with another person's address, the reader of the mail must not verify that account. The other
 * accounts that wait for the proof of the address are deleted.
 */
export async function verifyEmail(identity: Identity, owner: Owner, token: string): Promise<void> {
  const payload = tokens.verify(identity.verificationKey, token)
  if (payload === null) throw new ApiError('unauthorized')
  const [id, email, expires, mark] = JSON.parse(payload.toString()) as VerificationPayload
  if (expires * 1_000 < identity.clock.now() || id !== owner.id) throw new ApiError('unauthorized')
  const verified = identity.db.transaction('identity: verify', async (tx) => {
    await queries.lockAddress(tx, email)
    const marked = await queries.markVerified(tx, id, email, mark)
    if (marked === 0) throw new ApiError('unauthorized')
    await queries.deletePendingOf(tx, email)
  })
  await mapViolations(verified, { owners_verified_email: 'unauthorized' })
}

export async function listOwnedStores(db: Runner, owner: Owner): Promise<OwnedStore[]> {
  return owner.emailVerified ? queries.listOwnedStores(db, owner.email) : []
}

/** Locks the session, so that it cannot end before the transaction does. Refuses an ended session. */
export async function lockSession(tx: Runner, { token }: Owner): Promise<void> {
  if (token === undefined) return
  if ((await queries.lockSession(tx, tokens.sha256(token))) === null) {
    throw new ApiError('unauthorized')
  }
}

/**
 * Gets the store that an owner names. Another owner's store is answered like an unknown one. An account without a
 * verified address gets the same answer for every store, before any store is looked up: it may be the account of a
 * stranger who signed up with the owner's address.
 */
export async function requireOwnedStore(db: Runner, owner: Owner, tenantRef: string | undefined) {
  if (!owner.emailVerified) throw new ApiError('email_not_verified')
  const owned = await listOwnedStores(db, owner)
  if (tenantRef === undefined && owned.length > 1) {
    throw invalidBody('tenant_ref', 'must be sent when you own several stores')
  }
  const found = tenantRef === undefined ? owned[0] : owned.find((s) => s.tenant_ref === tenantRef)
  if (found === undefined) throw new ApiError('unknown_tenant')
  return found
}
