import type { Options } from '@node-rs/argon2'
import { ApiError } from '../../errors.ts'
import { hmacBytes } from '../../kernel/hmac.ts'
import { WorkQueue } from '../../platform/work-queue.ts'

/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. */
const ARGON2 = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const SALT_BYTES = 16

/**
 * Bounds the hashing of passwords. Each takes one of the four threads that the process has for crypto,
 * files and name lookups. Two at a time leave the others for new database connections. The callers take
 * turns, so that a login waits for one hash of each other caller at most, however many those send. A
 * caller with more than 16 waiting is flooding us: an office at one address sends fewer at a time (decision 0026).
 */
const hashing = new WorkQueue({
  running: 2,
  waiting: 512,
  waitingPerStore: 16,
  refuseStore: (cause) =>
    new ApiError('rate_limited', {
      cause,
      message: 'Too many logins at the same time. Try again in a moment.',
      headers: { 'retry-after': '1' },
    }),
})

/** Loads the library with the first password: a process without logins does without its two megabytes. */
async function hash(password: string, options: Options): Promise<string> {
  const argon2 = await import('@node-rs/argon2')
  return argon2.hash(password, options)
}

/** Who sends a password, and to which account. */
export interface PasswordSender {
  caller: string
  email: string
  /** Derives the salts. */
  saltKey: Buffer
}

/**
 * Hashes the password of a sign-up. The salt is derived from the address: several sign-ups with one
 * address can wait side by side, and a login finds its own among them by a single hash.
 */
export const hashPassword = (sender: PasswordSender, password: string): Promise<string> =>
  hashing.run(() => hash(password, { ...ARGON2, salt: saltOf(sender) }), sender.caller)

/**
 * Hashes a password with the parameters and the salt of a known hash, so that equal passwords give equal texts.
 * Without a known hash it hashes as for a sign-up, so that a login with an unknown address takes as long.
 */
export function hashLike(
  known: string | null,
  sender: PasswordSender,
  password: string,
): Promise<string> {
  const options = known === null ? null : readOptions(known)
  if (options === null) return hashPassword(sender, password)
  return hashing.run(() => hash(password, options), sender.caller)
}

const saltOf = ({ saltKey, email }: PasswordSender) =>
  hmacBytes(saltKey, [Buffer.from(email)]).subarray(0, SALT_BYTES)

const STORED = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$[\w+/]+$/

/** Reads the parameters and the salt of a stored hash. */
function readOptions(stored: string): Options | null {
  const [, m, t, p, salt] = STORED.exec(stored) ?? []
  if (salt === undefined) return null
  return {
    algorithm: ARGON2.algorithm,
    memoryCost: Number(m),
    timeCost: Number(t),
    parallelism: Number(p),
    salt: Buffer.from(salt, 'base64'),
  }
}
