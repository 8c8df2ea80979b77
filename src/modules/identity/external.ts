import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'

export interface Provider {
  jwksUrl: string
  issuer: string
  audience: string
}

export interface Vouched {
  email: string
  name: string
}

/** Checks a token of an external identity provider: its word on who somebody is, or null. */
export type VouchedCheck = (token: string) => Promise<Vouched | null>

/** Asymmetric signatures only: with a shared secret the provider's key would be ours to lose. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA']

export function createVouchedCheck({ jwksUrl, issuer, audience }: Provider): VouchedCheck {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 3_000 })
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'email'],
        clockTolerance: 5,
      })
      return readClaims(payload)
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }
}

/** ASCII only: `toLowerCase` turns the Kelvin sign into a k, and so one address into another's. */
const ADDRESS = /^[\x21-\x3f\x41-\x7e]{1,64}@[\x21-\x3f\x41-\x7e]{1,189}$/

/** An address the provider has not proven is nobody's. */
function readClaims({ email, email_verified, name }: JWTPayload): Vouched | null {
  if (typeof email !== 'string' || !ADDRESS.test(email) || email_verified !== true) return null
  const shown = typeof name === 'string' && name.trim() !== '' ? name.slice(0, 200) : email
  return { email: email.toLowerCase(), name: shown.slice(0, 200) }
}

/** A bad token is a refusal; a provider that cannot be asked is not. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false
  return !['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'].includes(error.code)
}
