import type { GlobalDb } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Owner } from '../../kernel/owner.ts'
import * as tokens from '../../kernel/tokens.ts'
import type { Limits } from '../../platform/limits.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'
import * as mail from '../../platform/mail.ts'
import type { Vouched, VouchedCheck } from './external.ts'
import { hashPassword, matchesPassword } from './passwords.ts'
import * as queries from './queries.ts'
import type { LogIn, OwnedStore, OwnerRow, SessionStarted, SignUp } from './schema.ts'

export type { Owner }

export interface Identity {
  db: GlobalDb
  clock: Clock
  /** Signs the tokens that prove an e-mail address. */
  verificationKey: Buffer
  verification: 'off' | 'required'
  checkVouched: VouchedCheck | null
  limits: Pick<Limits, 'velocity'>
}

const HOUR = 3_600
const SESSION = { slidingSeconds: 12 * HOUR, absoluteSeconds: 30 * 24 * HOUR }

/** A session in use is moved once an hour, not at every request. */
const SESSION_MOVE_SECONDS = SESSION.slidingSeconds - HOUR

const VERIFICATION_SECONDS = 24 * HOUR

/** Letters that one account can have mailed in a minute: anybody's address may be on it. */
const RESENDS_PER_MINUTE = 3

export async function signUp(identity: Identity, wanted: SignUp): Promise<SessionStarted> {
  const { db, verification } = identity
  const email = wanted.email.toLowerCase()
  if (verification === 'required') await spareTheInbox(identity, email)
  const passwordHash = await hashPassword(wanted.password)
  const row = { email, name: wanted.name, passwordHash, verified: verification === 'off' }
  return db.transaction('identity: sign up', async (tx) => {
    const made = await queries.insertOwner(tx, row)
    if (made === null) throw new ApiError('email_exists')
    await queries.deleteSessionsOf(tx, made.id)
    if (!made.email_verified) await sendVerification(identity, tx, made)
    return startSession(tx, made)
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

/** Who a session token, or the token of a trusted provider, belongs to. */
export async function check(identity: Identity, token: string): Promise<Owner | null> {
  if (identity.checkVouched !== null && token.split('.').length === 3) {
    const vouched = await identity.checkVouched(token)
    return vouched === null ? null : toOwner(await welcomeVouched(identity, vouched))
  }
  const tokenHash = tokens.sha256(token)
  const found = await queries.findSession(identity.db, tokenHash)
  if (found === null) return null
  if (found.seconds_left < SESSION_MOVE_SECONDS) {
    await queries.extendSession(identity.db, tokenHash, SESSION)
  }
  return { ...toOwner(found), token }
}

/** Whoever had a session of this account before its address was proven may be somebody else. */
async function welcomeVouched({ db }: Identity, { email, name }: Vouched): Promise<OwnerRow> {
  const known = await queries.findOwnerByEmail(db, email)
  if (known?.email_verified) return known
  return db.transaction('identity: welcome a vouched owner', async (tx) => {
    const owner = await queries.upsertVouchedOwner(tx, email, name)
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

/** Anyone can sign up with anyone's address, again and again: its owner gets a few letters at most. */
async function spareTheInbox({ limits }: Identity, email: string): Promise<void> {
  const bucket = `letters:${tokens.sha256(email).toString('hex')}`
  if (!(await limits.velocity(bucket, RESENDS_PER_MINUTE))) throw tooManyLetters()
}

const tooManyLetters = () =>
  new ApiError('rate_limited', {
    message: `Too many mails: at most ${RESENDS_PER_MINUTE} per minute. Try again later.`,
    headers: { 'retry-after': String(WINDOW_SECONDS) },
  })

/** Mails a link's token again. Says nothing about an address that is proven already. */
export async function resendVerification(identity: Identity, owner: Owner): Promise<void> {
  if (!(await identity.limits.velocity(`verify:${owner.id}`, RESENDS_PER_MINUTE))) {
    throw tooManyLetters()
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

/** Whom a letter was written to: the account, its address, until when, and a mark of its password. */
type Letter = [id: string, email: string, expires: number, mark: string]

/**
 * Takes the token that was mailed, from the account it was mailed for: a letter that somebody else's
 * sign-up caused proves nothing for them, should its reader follow it.
 */
export async function verifyEmail(identity: Identity, owner: Owner, token: string): Promise<void> {
  const payload = tokens.verify(identity.verificationKey, token)
  if (payload === null) throw new ApiError('unauthorized')
  const [id, email, expires, mark] = JSON.parse(payload.toString()) as Letter
  if (expires * 1_000 < identity.clock.now() || id !== owner.id) throw new ApiError('unauthorized')
  const marked = await queries.markVerified(identity.db, id, email, mark)
  if (marked === 0) throw new ApiError('unauthorized')
}

export async function listOwnedStores(db: Runner, owner: Owner): Promise<OwnedStore[]> {
  return owner.emailVerified ? queries.listOwnedStores(db, owner.email) : []
}

/** Keeps the session from being ended until this transaction is: what it began is its last act. */
export async function holdSession(tx: Runner, { token }: Owner): Promise<void> {
  if (token === undefined) return
  if ((await queries.lockSession(tx, tokens.sha256(token))) === null) {
    throw new ApiError('unauthorized')
  }
}

/** The store an owner means. One that is somebody else's answers like one that does not exist. */
export async function requireOwnedStore(db: Runner, owner: Owner, tenantRef: string | undefined) {
  const owned = await listOwnedStores(db, owner)
  if (tenantRef === undefined && owned.length > 1) {
    throw invalidBody('tenant_ref', 'must be sent when you own several stores')
  }
  const found = tenantRef === undefined ? owned[0] : owned.find((s) => s.tenant_ref === tenantRef)
  if (found === undefined) throw new ApiError('unknown_tenant')
  return found
}
