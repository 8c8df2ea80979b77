import type { Database } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import * as queries from './queries.ts'
import type { AccountName, Scheme } from './schema.ts'

/** An account with its signing key decrypted. */
export interface DecryptedAccount {
  tenant_ref: string
  scheme: Scheme
  signingKey: string
}

/** How long a cached account is used: a busy provider causes one read a second, and not one for each event. */
const TRUSTED_MS = 1_000
const ACCOUNTS_MAX = 1_000

const contextOf = (tenant: string, { provider, account_ref }: AccountName) =>
  `gateway account ${tenant}/${provider}/${account_ref}`

/** Encrypts a signing key. It is bound to its store and account, and cannot be decrypted for another. */
export const encryptKey = (key: Buffer, tenant: string, name: AccountName, signingKey: string) =>
  encryptText(key, signingKey, contextOf(tenant, name))

/** A cache of accounts with their stores and signing keys. */
export function createAccountCache({
  database,
  clock,
  key,
}: {
  database: Database
  clock: Clock
  key: Buffer
}) {
  const known = new Map<string, { account: DecryptedAccount; at: number }>()
  const idOf = ({ provider, account_ref }: AccountName) => `${provider}/${account_ref}`

  function cached(name: AccountName): DecryptedAccount | null {
    const entry = known.get(idOf(name))
    const age = entry === undefined ? TRUSTED_MS : clock.now() - entry.at
    // If the clock is set back, the entry must not live longer.
    return entry !== undefined && age >= 0 && age < TRUSTED_MS ? entry.account : null
  }

  /** Reads an account from the database, and caches it. */
  async function load(name: AccountName): Promise<DecryptedAccount | null> {
    const found = await queries.findByName(database.directory, name)
    known.delete(idOf(name))
    if (found === null) return null
    const { tenant_ref, scheme, signing_key } = found
    const signingKey = decryptText(key, signing_key, contextOf(tenant_ref, name)).toString()
    const account = { tenant_ref, scheme, signingKey }
    known.set(idOf(name), { account, at: clock.now() })
    const [oldest] = known.keys()
    if (known.size > ACCOUNTS_MAX && oldest !== undefined) known.delete(oldest)
    return account
  }

  return { cached, load, drop: (name: AccountName) => void known.delete(idOf(name)) }
}

export type AccountCache = ReturnType<typeof createAccountCache>
