import { ApiError } from '../../errors.ts'
import { sha256 } from '../../kernel/tokens.ts'
import { callerOf, type Limits } from '../../platform/limits.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'

/** Wrong codes per minute of one shopper: enough for typing errors, too few to guess codes. */
const WRONG_PER_SHOPPER = 10
/** Of a storefront's server that does not say whose code it sends: it has many shoppers. */
const WRONG_PER_SERVER = 60
/** Of all shoppers of a store together: an attacker may have many addresses. */
const WRONG_PER_STORE = 200

/** A code that is tried, and who tries it. */
interface CouponTry {
  tenant: string
  code: string | null | undefined
  /** The shopper's address, where the storefront says it. */
  shopper: string | null | undefined
  /** The address of the request. */
  caller: string
}

/**
 * Runs a checkout or its preview, and counts a coupon code that does not exist. Over the limit every code is
 * refused before it is looked up: if known codes still passed, the refusals would tell which they are. A
 * request without a code is never refused, and a code that is sent again within the minute counts once: a page
 * asks for the price of its cart each time it is shown.
 */
export async function limitCoupons<T>(
  limits: Pick<Limits, 'velocity' | 'takeBackHit'>,
  attempt: CouponTry,
  { run, isUnknown }: { run: () => Promise<T>; isUnknown: (result: T) => boolean },
): Promise<T> {
  if (!attempt.code) return run()
  const counted = bucketsOf(attempt)
  for (const { bucket, limit } of counted) {
    if (await limits.velocity(bucket, limit)) continue
    throw new ApiError('rate_limited', {
      message: 'Too many coupon codes that do not exist. Try again later.',
      headers: { 'retry-after': String(WINDOW_SECONDS) },
    })
  }
  let isWrong = false
  try {
    const result = await run()
    isWrong = isUnknown(result)
    return result
  } catch (error) {
    isWrong = isUnknownCoupon(error)
    throw error
  } finally {
    const counts = isWrong && (await isNewGuess(limits, counted[0].bucket, attempt.code))
    if (!counts) for (const { bucket } of counted) await limits.takeBackHit(bucket)
  }
}

/** Whether the code was not sent before within the minute. */
const isNewGuess = (limits: Pick<Limits, 'velocity'>, bucket: string, code: string) =>
  limits.velocity(`${bucket}:${digestOf(code)}`, 1)

/** Addresses and codes are hashed, so that the limiter stores no data of a shopper. */
const digestOf = (text: string) => sha256(text).toString('hex')

function bucketsOf({ tenant, shopper, caller }: CouponTry) {
  const of = (kind: string, address: string) =>
    `coupons:${tenant}:${kind}:${digestOf(callerOf(address))}`
  const one = shopper
    ? { bucket: of('shopper', shopper), limit: WRONG_PER_SHOPPER }
    : { bucket: of('server', caller), limit: WRONG_PER_SERVER }
  return [one, { bucket: `coupons:${tenant}`, limit: WRONG_PER_STORE }] as const
}

const isUnknownCoupon = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'coupon_invalid' && error.body.reason === 'unknown'
