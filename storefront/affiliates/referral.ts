/** The affiliate who has sent a shopper, and the name of a browser that an affiliate uses, as cookies have them. */

/** The referral that is sent with the checkout. */
export interface Referral {
  referral_code: string
  referral_touch: string
}

/** Reads the value of the cookie. Its names are short, because it goes with every request. */
export function unpackReferral(packed: unknown): Referral | null {
  const { c, t } = Object(packed) as { c?: unknown; t?: unknown }
  return typeof c === 'string' && typeof t === 'string'
    ? { referral_code: c, referral_touch: t }
    : null
}

export const unpackDevice = (packed: unknown): string | null =>
  typeof packed === 'string' ? packed : null
