import { hash, verify } from '@node-rs/argon2'
import { WorkQueue } from '../../platform/work-queue.ts'

/** OWASP's choice for argon2id: 19 MiB, two passes, one lane. */
const ARGON2 = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Hashing takes one of the four threads that all of the process's crypto, file and name work shares.
 * Two at a time leave the others for new database connections; more than these waiting would wait
 * longer than any caller does.
 */
const hashing = new WorkQueue({ running: 2, waiting: 64 })

export const hashPassword = (password: string): Promise<string> =>
  hashing.run(() => hash(password, ARGON2))

/** What the password of an unknown address is held against, so that it takes as long as a known one. */
const NOBODY_HASH = hash('nobody has this password', ARGON2)

/** Whether it is this account's password. Null: there is no account, or none with a password. */
export async function matchesPassword(known: string | null, password: string): Promise<boolean> {
  const against = known ?? (await NOBODY_HASH)
  return (await hashing.run(() => verify(against, password))) && known !== null
}
