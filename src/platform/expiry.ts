import { invalidBody } from '../errors.ts'
import type { Clock } from '../kernel/clock.ts'
import { toUtc } from '../kernel/time.ts'

/**
 * Reads the `expires_at` of a request, in UTC; null if it is absent. A time in the past is refused: nothing that
 * expires at it would ever be valid.
 */
export function readExpiry(clock: Clock, expiresAt: string | null | undefined): string | null {
  if (expiresAt == null) return null
  const at = toUtc(expiresAt)
  if (at !== null && Date.parse(at) > clock.now()) return at
  throw invalidBody('expires_at', 'must be in the future and before the year 10000')
}
