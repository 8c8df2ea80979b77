import { ApiError } from '../../errors.ts'
import { sha256 } from '../../kernel/tokens.ts'
import { callerOf, type Limits } from '../../platform/rate-limits.ts'
import { WINDOW_SECONDS } from '../../platform/rate-limits-store.ts'

/** Wrong codes per minute of one shopper: enough for typing errors, too few to guess codes. */
const WRONG_PER_SHOPPER = 10
/**
 * Wrong codes per minute of a storefront's server that does not say which shopper sends the code: it has many shoppers.
 */
const WRONG_PER_SERVER = 60
/** Wrong codes per minute of all shoppers of a store together: an attacker may have many addresses. */
const WRONG_PER_STORE = 200

/** A code of a coupon or a gift card that is tried, and who tries it. */
interface CodeAttempt {
  kind: 'coupons' | 'gift-codes'
  tenant: string
  code: string | null | undefined
  /** The shopper's address, if the storefront sends it. */
  shopper: string | null | undefined
  /** The address of the request. */
  caller: string
}

/** A counter of wrong codes, and its limit. */
interface Counted {
  bucket: string
  limit: number
}

type Counters = Pick<Limits, 'velocity' | 'hits'>

/**
 * Looks a code up, and counts an unknown code, before a checkout or its preview uses it. Over the limit every code is
 * refused, and it is not looked up: if known codes still passed, the refusals would reveal them. A request without a
 * code is never refused, and a code that is sent again within the minute counts once: a page asks for the price of its
 * cart each time it is shown.
 *
 * Nothing is counted ahead, or many shoppers with a good code at the same time would use up the limit. Many guesses at
 * the same time do not exceed it either: their codes are looked up, but the limit is read again before an answer says
 * that one exists.
 */
export async function limitCodes<T>(
  limits: Counters,
  { code, ...attempt }: CodeAttempt,
  find: (code: string) => Promise<T | null>,
): Promise<T | null> {
  if (!code) return null
  const { kind } = attempt
  const counted = bucketsOf(attempt)
  const [own] = counted
  await requireGuessesLeft(limits, kind, counted)
  const sent = `${own.bucket}:${digestOf(code)}`
  const found = await find(code)
  if (found !== null || (await limits.hits(sent)) > 0) {
    await requireGuessesLeft(limits, kind, counted)
    return found
  }
  for (const { bucket, limit } of counted) {
    if (!(await limits.velocity(bucket, limit))) throw tooManyGuesses(kind)
  }
  // Noted only after the limits: a noted code passes uncounted when it is sent again.
  await limits.velocity(sent, 1)
  return null
}

async function requireGuessesLeft(
  limits: Counters,
  kind: CodeAttempt['kind'],
  counted: readonly Counted[],
): Promise<void> {
  const hits = await Promise.all(counted.map(({ bucket }) => limits.hits(bucket)))
  if (counted.some(({ limit }, i) => (hits[i] ?? limit) >= limit)) throw tooManyGuesses(kind)
}

const NAMES: Readonly<Record<CodeAttempt['kind'], string>> = {
  coupons: 'coupon codes',
  'gift-codes': 'gift card codes',
}

const tooManyGuesses = (kind: CodeAttempt['kind']) =>
  new ApiError('rate_limited', {
    message: `Too many ${NAMES[kind]} that do not exist. Try again later.`,
    headers: { 'retry-after': String(WINDOW_SECONDS) },
  })

/** Addresses and codes are hashed, so that the limiter stores no data of a shopper. */
const digestOf = (text: string) => sha256(text).toString('hex')

function bucketsOf({
  kind,
  tenant,
  shopper,
  caller,
}: Omit<CodeAttempt, 'code'>): [Counted, Counted] {
  const of = (who: string, address: string) =>
    `${kind}:${tenant}:${who}:${digestOf(callerOf(address))}`
  const one = shopper
    ? { bucket: of('shopper', shopper), limit: WRONG_PER_SHOPPER }
    : { bucket: of('server', caller), limit: WRONG_PER_SERVER }
  return [one, { bucket: `${kind}:${tenant}`, limit: WRONG_PER_STORE }]
}
