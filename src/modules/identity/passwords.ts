import { hash, verify } from '@node-rs/argon2'
import { WorkQueue } from '../../platform/work-queue.ts'

/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. */
const ARGON2 = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Bounds the hashing of passwords. Each takes one of the four threads that the process has for crypto,
 * files and name lookups. Two at a time leave the others for new database connections; with more than 64
 * waiting, the last would wait longer than any caller does.
 */
const hashing = new WorkQueue({ running: 2, waiting: 64 })

export const hashPassword = (password: string): Promise<string> =>
  hashing.run(() => hash(password, ARGON2))

/** Compared with the password of an unknown address, so that it takes as long as a known one. */
const UNKNOWN_HASH = hash('nobody has this password', ARGON2)

/** Whether the password matches. `known` is null for an unknown account, or one without a password. */
export async function matchesPassword(known: string | null, password: string): Promise<boolean> {
  const against = known ?? (await UNKNOWN_HASH)
  return (await hashing.run(() => verify(against, password))) && known !== null
}
