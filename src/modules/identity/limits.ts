import type { ErrorCode } from '../../error-codes.ts'
import { ApiError } from '../../errors.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../kernel/time.ts'
import { sha256 } from '../../kernel/tokens.ts'
import { type AnonymousCause, limitOfAddress } from '../../platform/address-mails.ts'
import { WINDOW_SECONDS } from '../../platform/rate-limits-store.ts'
import type { Identity } from './deps.ts'

/** How often callers may sign up, log in, ask for mails and send wrong passwords. */

/** Mails per minute to one account, because its address may belong to a stranger. */
const MAILS_PER_MINUTE = 3

/** Mails sent again per minute to one address, for all accounts that wait for its proof together. */
const RESENDS_PER_MINUTE = 6

/** Mails per hour to one address with a link to choose a new password. */
const RESETS_PER_HOUR = 5

/** Requests of one caller for such mails per hour: an office may share an address. */
const FORGOTTEN_PER_HOUR = 20

/**
 * Counts a sign-up against its caller, whether or not it succeeds: each one costs a hash, a row and a mail. Where
 * verification is off, it also shows whether the address has an account.
 */
export async function countSignUp({ limits, perHour }: Identity, caller: string): Promise<void> {
  if (await limits.velocity(`signups:${caller}`, perHour.signUps, HOUR_SECONDS)) return
  throw tooMany(`Too many sign-ups: at most ${perHour.signUps} per hour`, HOUR_SECONDS)
}

/** Counts a login against its caller, whether or not it succeeds: each one costs a hash. */
export async function countLogIn({ limits, perMinute }: Identity, caller: string): Promise<void> {
  if (await limits.velocity(`logins:${caller}`, perMinute.logIns)) return
  throw tooMany(`Too many logins: at most ${perMinute.logIns} per minute`, WINDOW_SECONDS)
}

/** Counts a request for a new password against its caller: each one may be a mail to a stranger. */
export async function countForgotten({ limits }: Identity, caller: string): Promise<void> {
  if (await limits.velocity(`forgotten:${caller}`, FORGOTTEN_PER_HOUR, HOUR_SECONDS)) return
  throw tooMany(
    `Too many requests for a new password: at most ${FORGOTTEN_PER_HOUR} per hour`,
    HOUR_SECONDS,
  )
}

/**
 * Whether an address may get another mail with a link to choose a new password. If not, the mails
 * that it got are still valid.
 */
export const maySendReset = async (identity: Identity, email: string): Promise<boolean> =>
  (await identity.limits.velocity(`resets:${digestOf(email)}`, RESETS_PER_HOUR, HOUR_SECONDS)) &&
  isWithinDay(identity, 'password', email)

/** Counts a mail to an address, and returns whether it is within the mails of a day. */
function isWithinDay({ limits }: Identity, cause: AnonymousCause, email: string): Promise<boolean> {
  const { bucket, limit, seconds } = limitOfAddress(cause, email)
  return limits.velocity(bucket, limit, seconds)
}

/** Limits the mails to an address: a stranger can sign up with it many times. */
export async function assertMailRate(identity: Identity, email: string): Promise<void> {
  const isWithin = await identity.limits.velocity(`letters:${digestOf(email)}`, MAILS_PER_MINUTE)
  if (!isWithin) throw tooManyMails()
  await assertDailyRate(identity, email)
}

/** Limits the mails of a day to an address that is not verified: it may be a stranger's. */
async function assertDailyRate(identity: Identity, email: string): Promise<void> {
  if (await isWithinDay(identity, 'sign_up', email)) return
  throw tooMany('Too many mails to this address today', DAY_SECONDS)
}

/** Limits the mails that are sent again: of an account, and of all accounts with its address. */
export async function assertResendRate(
  identity: Identity,
  { id, email }: { id: string; email: string },
): Promise<void> {
  const isWithin =
    (await identity.limits.velocity(`verify:${id}`, MAILS_PER_MINUTE)) &&
    (await identity.limits.velocity(`resends:${digestOf(email)}`, RESENDS_PER_MINUTE))
  if (!isWithin) throw tooManyMails()
  await assertDailyRate(identity, email)
}

/** One check of a password: the account, the caller, and whether the caller has logged in to the account before. */
interface PasswordAttempt {
  email: string
  caller: string
  isKnown: boolean
}

const WRONG: readonly ErrorCode[] = ['unauthorized', 'wrong_password']

/**
 * Runs a check of a password. A wrong password counts against the account. Those of unknown callers count
 * together, so that many addresses get no more attempts than one. Those of each known caller count apart, so that
 * strangers cannot lock the owner out (decision 0026).
 */
export async function countWrongPassword<T>(
  identity: Identity,
  attempt: PasswordAttempt,
  check: () => Promise<T>,
): Promise<T> {
  const { limits } = identity
  const counted = await countAttempt(identity, attempt)
  const release = () => Promise.all(counted.map((bucket) => limits.releaseHit(bucket)))
  try {
    const result = await check()
    await release()
    return result
  } catch (error) {
    // Only a wrong password counts; a full queue or an outage does not.
    const isWrong = error instanceof ApiError && WRONG.includes(error.code)
    if (!isWrong) await release()
    throw error
  }
}

/**
 * How many attempts callers have together who were not seen at the account in this hour, beside those of all unknown
 * callers: one each, and a third as many. So the owner gets in at a new address, while others guess at many.
 */
const UNSEEN_SHARE = 1 / 3

/** Counts an attempt as a wrong one, and returns where: a good one is taken back from there. */
async function countAttempt(
  { limits, perHour }: Identity,
  { email, caller, isKnown }: PasswordAttempt,
): Promise<string[]> {
  const account = digestOf(email)
  const own = `passwords:${account}:${caller}`
  const within = (bucket: string, most: number) => limits.velocity(bucket, most, HOUR_SECONDS)
  if (isKnown) {
    if (await within(own, perHour.wrongPasswords)) return [own]
    throw tooManyWrong(perHour)
  }
  const isUnseen = await within(own, 1)
  const common = `passwords:${account}`
  if (await within(common, perHour.wrongPasswords)) return [own, common]
  const unseen = `passwords:${account}:unseen`
  const most = Math.ceil(perHour.wrongPasswords * UNSEEN_SHARE)
  if (isUnseen && (await within(unseen, most))) return [own, unseen]
  throw tooManyWrong(perHour)
}

export const digestOf = (text: string) => sha256(text).toString('hex')

const tooManyMails = () =>
  tooMany(`Too many mails: at most ${MAILS_PER_MINUTE} per minute`, WINDOW_SECONDS)

const tooManyWrong = ({ wrongPasswords }: Identity['perHour']) =>
  tooMany(
    `Too many wrong passwords: at most ${wrongPasswords} per hour and account`,
    HOUR_SECONDS,
    'Try again later, or choose a new password by mail: you can then log in from here at once.',
  )

const tooMany = (what: string, seconds: number, advice = 'Try again later.') =>
  new ApiError('rate_limited', {
    message: `${what}. ${advice}`,
    headers: { 'retry-after': String(seconds) },
  })
