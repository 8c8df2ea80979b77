import type { Runner } from '../../db/sql.ts'
import { ApiError } from '../../errors.ts'
import type { Owner } from '../../kernel/owner.ts'
import { HOUR_SECONDS } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import * as mail from '../../platform/mail.ts'
import type { Identity } from './deps.ts'
import { refuse } from './errors.ts'
import { countWrongPassword, digestOf, maySendReset } from './limits.ts'
import { hashLike, hashPassword } from './passwords.ts'
import * as queries from './queries.ts'
import type { OwnerRow, PasswordChange, PasswordReset } from './schema.ts'
import { hashCaller } from './service.ts'

const RESET_SECONDS = HOUR_SECONDS

/** The payload of a token for a new password; the mark is a digest of the present password's hash. */
type ResetPayload = [id: string, expires: number, mark: string]

/**
 * Mails a link to choose a new password to the account of an address, if there is one. Neither the answer nor its
 * time shows whether there is an account.
 */
export async function forgotPassword(identity: Identity, address: string): Promise<void> {
  const email = address.toLowerCase()
  const mayMail = await maySendReset(identity, email)
  await identity.db.transaction('identity: forgot password', async (tx) => {
    const owner = await queries.findVerifiedOwner(tx, email)
    const token = resetToken(identity, owner)
    const url = identity.pageUrl(`/account/password/new?token=${token}`)
    await mail.sendIf(tx, owner !== null && mayMail, {
      to: email,
      subject: 'Choose a new password',
      text: `Choose a new password within an hour:\n\n${url}\n\nA program sends this token to POST /v1/identity/password/reset:\n\n${token}\n\nIf you did not ask for it, ignore this mail: your password has not changed.\n`,
    })
  })
}

function resetToken({ resetKey, clock }: Identity, owner: OwnerRow | null): string {
  const expires = Math.floor(clock.now() / 1_000) + RESET_SECONDS
  const payload: ResetPayload = [owner?.id ?? '', expires, digestOf(owner?.password_hash ?? '')]
  return tokens.sign(resetKey, Buffer.from(JSON.stringify(payload)))
}

/**
 * Sets a new password by the mailed token. It ends all sessions of the account: one of them may be the
 * reason for the change. A token works for one password change, since its mark is a digest of the old
 * password's hash. The caller has read the account's mail, so it becomes a known caller: strangers who guess
 * passwords cannot keep it out.
 */
export async function resetPassword(
  identity: Identity,
  caller: string,
  { token, password }: PasswordReset,
): Promise<void> {
  const { db, clock, saltKey, resetKey } = identity
  const payload = tokens.verify(resetKey, token)
  if (payload === null) throw invalidToken()
  const [id, expires, mark] = JSON.parse(payload.toString()) as ResetPayload
  const owner = await queries.findOwner(db, id)
  const isMarked = owner !== null && digestOf(owner.password_hash ?? '') === mark
  if (!isMarked || expires * 1_000 < clock.now()) throw invalidToken()
  const hash = await hashPassword({ caller, email: owner.email, saltKey }, password)
  await db.transaction('identity: reset password', async (tx) => {
    const isReplaced = await replacePassword(identity, tx, { owner, hash, keptSession: null })
    if (!isReplaced) throw invalidToken()
    await queries.insertCaller(tx, owner.id, hashCaller(identity, caller))
  })
}

const invalidToken = () =>
  new ApiError('unauthorized', {
    message: 'The token is not valid, was used or has expired. Ask for a new mail.',
  })

/** Changes the password of a session's account, and ends its other sessions. */
export async function changePassword(
  identity: Identity,
  caller: string,
  owner: Owner,
  { current_password, new_password }: PasswordChange,
): Promise<void> {
  const { db, saltKey } = identity
  const found = await queries.findOwner(db, owner.id)
  if (found === null) throw new ApiError('unauthorized')
  const { email, password_hash } = found
  const sender = { caller, email, saltKey }
  await countWrongPassword(identity, { email, caller, isKnown: true }, async () => {
    const hash = await hashLike(password_hash, sender, current_password)
    if (hash !== password_hash) throw refuse('wrong_password')
  })
  const hash = await hashPassword(sender, new_password)
  const keptSession = owner.token === undefined ? null : tokens.sha256(owner.token)
  const isChanged = await db.transaction('identity: change password', (tx) =>
    replacePassword(identity, tx, { owner: found, hash, keptSession }),
  )
  if (!isChanged) throw refuse('wrong_password')
}

interface Replacement {
  owner: OwnerRow
  hash: string
  keptSession: Buffer | null
}

/**
 * Stores a new password, ends sessions and sends a mail about it. Returns false if the
 * password was changed meanwhile.
 */
async function replacePassword(
  { pageUrl }: Identity,
  tx: Runner,
  { owner: { id, email, password_hash }, hash, keptSession }: Replacement,
): Promise<boolean> {
  if ((await queries.updatePassword(tx, id, password_hash, hash)) === 0) return false
  await queries.deleteSessionsOf(tx, id, keptSession)
  await mail.send(tx, {
    to: email,
    subject: 'Your password was changed',
    text: `The password of your account was changed, and its other sessions have ended.\n\nIf that was not you, choose a new password at once:\n\n${pageUrl('/account/password')}\n`,
  })
  return true
}
