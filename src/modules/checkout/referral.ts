import { readTouch } from '../affiliates/apply.ts'
import { hashDevice } from '../affiliates/service.ts'
import type { Referral } from '../orders/terms-schema.ts'
import type { CheckoutRequest } from './schema.ts'
import type { Sale } from './service.ts'

interface Referring {
  tenant: string
  /** Verifies when a link was followed. */
  touchKey: Buffer
  request: Pick<CheckoutRequest, 'referral_code' | 'referral_touch' | 'device_ref'>
  sale: Pick<Sale, 'coupon' | 'priced'>
  /** The subscription or the exchange that the order follows from, if no shopper checks out. */
  follows: 'subscription' | 'exchange' | null
}

/**
 * Returns the referral code of an order: the last touch wins. A coupon that carries a code is entered at the
 * checkout, and so comes after any link. Nothing is refused: a code that is not well formed is ignored.
 */
export function referralOf(referring: Referring): { code: string; evidence: Referral } | null {
  const { tenant, touchKey, request, sale, follows } = referring
  const device = hashDevice(request.device_ref)?.toString('hex') ?? null
  const carried = sale.priced.coupon.applied ? (sale.coupon?.referral_code ?? null) : null
  if (carried !== null && follows === null) {
    return { code: carried, evidence: { source: 'coupon', touched_at: null, device } }
  }
  const code = readCode(request.referral_code)
  if (code === null) return null
  if (follows !== null) return { code, evidence: { source: follows, touched_at: null, device } }
  const touched_at = readTouch(touchKey, { tenant, code }, request.referral_touch)
  return { code, evidence: { source: touched_at === null ? 'code' : 'link', touched_at, device } }
}

const REFERRAL = /^[A-Za-z0-9_-]{1,64}$/

const readCode = (code: unknown): string | null =>
  typeof code === 'string' && REFERRAL.test(code) ? code : null
