import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'

export interface Provider {
  jwksUrl: string
  issuer: string
  audience: string
}

/** The person that a provider has identified. */
export interface ExternalIdentity {
  email: string
  name: string
}

/** Checks a token of an external identity provider. Returns null if the token is refused. */
export type ExternalCheck = (token: string) => Promise<ExternalIdentity | null>

/** The accepted signatures are asymmetric: with a shared secret, this installation could lose it too. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA']

export function createExternalCheck({ jwksUrl, issuer, audience }: Provider): ExternalCheck {
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

/**
 * The accepted addresses: ASCII only, because `toLowerCase` turns the Kelvin sign into a k, and
 * so one address into another.
 */
const ADDRESS = /^[\x21-\x3f\x41-\x7e]{1,64}@[\x21-\x3f\x41-\x7e]{1,189}$/

/** Reads the claims. Returns null if they have no address that the provider has verified. */
function readClaims({ email, email_verified, name }: JWTPayload): ExternalIdentity | null {
  if (typeof email !== 'string' || !ADDRESS.test(email) || email_verified !== true) return null
  const shown = typeof name === 'string' && name.trim() !== '' ? name.slice(0, 200) : email
  return { email: email.toLowerCase(), name: shown.slice(0, 200) }
}

/** Whether an error means that the token is bad. An unreachable provider is another error. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false
  return !['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'].includes(error.code)
}
