import type { Directory } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import type { ExternalCheck } from './external-tokens.ts'

export interface Identity {
  db: Directory
  clock: Clock
  /** Signs the tokens that verify an e-mail address. */
  verificationKey: Buffer
  /** Signs the tokens that allow a new password. */
  resetKey: Buffer
  /** The address of a page of the platform, for the links of mails. */
  pageUrl: (path: string) => string
  verification: 'off' | 'required'
  checkExternal: ExternalCheck | null
  /** Derives the salts of passwords, and the digests of callers. */
  saltKey: Buffer
  limits: Pick<Limits, 'velocity' | 'releaseHit'>
  perMinute: { logIns: number }
  perHour: { signUps: number; wrongPasswords: number }
}
