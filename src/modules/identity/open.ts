import type { House } from '../house.ts'
import type { Identity } from './deps.ts'

export async function openIdentity(house: House): Promise<Identity> {
  const { config, database, clock, limits, key, publicUrl } = house
  return {
    db: database.directory,
    clock,
    limits,
    verificationKey: key('email verification'),
    resetKey: key('password reset'),
    pageUrl: (path) => new URL(path, publicUrl()).href,
    verification: config.IDENTITY_EMAIL_VERIFICATION,
    saltKey: key('password salts'),
    perMinute: { logIns: config.RATE_LIMIT_LOGINS_PER_MINUTE },
    perHour: {
      signUps: config.RATE_LIMIT_SIGNUPS_PER_HOUR,
      wrongPasswords: config.RATE_LIMIT_WRONG_PASSWORDS_PER_HOUR,
    },
    checkExternal: await openExternalCheck(config),
  }
}

/**
 * Opens the check of an external identity provider. It is loaded only where one is trusted: most installations never
 * need it.
 */
async function openExternalCheck(config: House['config']) {
  const { IDENTITY_JWKS_URL, IDENTITY_ISSUER, IDENTITY_AUDIENCE } = config
  if (!IDENTITY_JWKS_URL || !IDENTITY_ISSUER || !IDENTITY_AUDIENCE) return null
  const { createExternalCheck } = await import('./external-tokens.ts')
  return createExternalCheck({
    jwksUrl: IDENTITY_JWKS_URL,
    issuer: IDENTITY_ISSUER,
    audience: IDENTITY_AUDIENCE,
  })
}
