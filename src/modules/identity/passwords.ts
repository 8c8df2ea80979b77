import { hash, verify } from '@node-rs/argon2'
import { ApiError } from '../../errors.ts'

/** OWASP's choice for argon2id: 19 MiB, two passes, one lane. */
const ARGON2 = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Hashing takes one of the four threads that all of the process's crypto, file and name work shares.
 * Two at a time leave the others for new database connections; more than these waiting would wait
 * longer than anybody does.
 */
const AT_ONCE = 2
const WAITING_MAX = 64

let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= WAITING_MAX) {
      const cause = new Error('too many passwords to hash')
      throw new ApiError('service_unavailable', { cause, kind: 'overload' })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    // The place is handed on, so that nobody slips in between.
    if (next === undefined) running -= 1
    else next()
  }
}

export const hashPassword = (password: string): Promise<string> =>
  inTurn(() => hash(password, ARGON2))

/** What the password of an unknown address is held against, so that it takes as long as a known one. */
const NOBODY_HASH = hash('nobody has this password', ARGON2)

/** Whether it is this account's password. Null: there is no account, or none with a password. */
export async function matchesPassword(known: string | null, password: string): Promise<boolean> {
  const against = known ?? (await NOBODY_HASH)
  return (await inTurn(() => verify(against, password))) && known !== null
}
