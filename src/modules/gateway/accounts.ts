import type { Database } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import * as queries from './queries.ts'
import type { AccountName, Scheme } from './schema.ts'

/** An account with its key opened. */
export interface OpenAccount {
  tenant_ref: string
  scheme: Scheme
  signingKey: string
}

/** A provider with much to tell asks for its account once a second and not for every event. */
const TRUSTED_MS = 1_000
const ACCOUNTS_MAX = 1_000

const contextOf = (tenant: string, { provider, account_ref }: AccountName) =>
  `gateway account ${tenant}/${provider}/${account_ref}`

/** Bound to the store and the account, so that it opens for no other. */
export const sealKey = (key: Buffer, tenant: string, name: AccountName, signingKey: string) =>
  encryptText(key, signingKey, contextOf(tenant, name))

/** Whose an account is and how it signs, remembered for a moment. */
export function openAccounts({
  database,
  clock,
  key,
}: {
  database: Database
  clock: Clock
  key: Buffer
}) {
  const known = new Map<string, { account: OpenAccount; at: number }>()
  const idOf = ({ provider, account_ref }: AccountName) => `${provider}/${account_ref}`

  function recall(name: AccountName): OpenAccount | null {
    const entry = known.get(idOf(name))
    const age = entry === undefined ? TRUSTED_MS : clock.now() - entry.at
    // A clock that was set back must not keep an entry alive.
    return entry !== undefined && age >= 0 && age < TRUSTED_MS ? entry.account : null
  }

  /** As it stands now. */
  async function find(name: AccountName): Promise<OpenAccount | null> {
    const found = await queries.findByName(database.global, name)
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

  return { recall, find, forget: (name: AccountName) => void known.delete(idOf(name)) }
}

export type Accounts = ReturnType<typeof openAccounts>
