import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import * as stores from '../stores/service.ts'
import type {
  Account,
  AdapterDeps,
  CredentialShape,
  Credentials,
  GatewayAdapter,
  OpenGateways,
} from './adapters/adapter.ts'
import { ADAPTERS, adapterOf } from './adapters/all.ts'
import type { Gateway } from './adapters/gateway.ts'
import { unreachable } from './adapters/results.ts'
import type { CredentialCheck } from './adapters/schema.ts'
import * as simulatedQueries from './adapters/simulated/queries.ts'
import { refuse } from './errors.ts'
import { fencedGateway } from './gateway.ts'
import * as queries from './queries.ts'
import type {
  AccountRow,
  CardForm,
  GatewayName,
  PaymentSettings,
  SettingsChange,
} from './schema.ts'

export interface PaymentDeps extends AdapterDeps {
  /** The gateway of stores without a setting of their own. */
  gateway: GatewayName
}

export interface Payments {
  /**
   * Opens the gateway of a store, for new payments, or the named one, for earlier payments: an attempt is looked
   * up, and a charge is refunded, at the gateway where it was made.
   */
  forStore(db: Db, gateway?: GatewayName): Promise<Gateway>
  /** Tries credentials at their provider, by a call that moves no money. */
  checkCredentials(gateway: GatewayName, credentials: Credentials): Promise<CredentialCheck>
  readonly deps: PaymentDeps
  close(): Promise<void>
}

export function openPayments(deps: PaymentDeps): Payments {
  const opened = new Map<GatewayName, Promise<OpenGateways>>()
  const open = (name: GatewayName): Promise<OpenGateways> => {
    const known = opened.get(name) ?? adapterOf(name).open(deps)
    opened.set(name, known)
    return known
  }
  return {
    deps,
    async forStore(db, named) {
      const accounts = await queries.listAccounts(db)
      const name = named ?? accounts.find((each) => each.in_use)?.gateway ?? deps.gateway
      const stored = accounts.find((each) => each.gateway === name)?.credentials
      const context = { db, deps, adapter: adapterOf(name) }
      const { tenant } = db
      const credentials = stored ? decrypt(context, stored) : ownAccount(context).credentials
      const gateway = (await open(name)).forAccount({ tenant, credentials })
      const { credentials: shape } = context.adapter
      return shape === null ? gateway : distrustNewAccount(gateway, deps, tenant)
    },
    checkCredentials: async (name, credentials) => (await open(name)).check(credentials),
    async close() {
      for (const each of opened.values()) await (await each).close()
    },
  }
}

/**
 * Wraps a gateway so that lookups return `unreachable` instead of `no` for an attempt that is older than the
 * store's credentials. The attempt may have gone to the account before, so a missing record in this account proves
 * nothing. The attempt stays unknown until an operator decides.
 */
const distrustNewAccount = (gateway: Gateway, deps: PaymentDeps, tenant: string): Gateway => ({
  ...gateway,
  async lookup(target) {
    const found = await gateway.lookup(target)
    if (found.found !== 'no') return found
    const before = await queries
      .findAttemptBeforeCredentials(deps.database.tenantForMoney(tenant), target)
      .catch(deps.onFault)
    return before === null ? found : unreachable()
  },
})

/** Wraps the payments so that their gateways call `assertHeld` before every request that moves money. */
export const fencedPayments = (payments: Payments, assertHeld: () => Promise<void>): Payments => ({
  ...payments,
  forStore: async (...of) => fencedGateway(await payments.forStore(...of), assertHeld),
})

/** The gateway of a store, without the credential. */
export async function settings(db: Db, deps: PaymentDeps): Promise<PaymentSettings> {
  const accounts = await queries.listAccounts(db)
  return settingsOf(accounts.find((each) => each.in_use) ?? null, deps)
}

/**
 * Whether money of a store may be with a real gateway: it has had an account there, or has orders that
 * the installation's gateway may have paid.
 */
export async function mayHaveRealMoney(
  db: Db,
  deps: PaymentDeps,
  hasOrders: boolean,
): Promise<boolean> {
  const accounts = await queries.listAccounts(db)
  return (
    accounts.some(({ gateway }) => movesMoney(gateway)) || (hasOrders && movesMoney(deps.gateway))
  )
}

/** Whether a gateway moves money; also true of one that only a newer process knows. */
const movesMoney = (gateway: GatewayName): boolean =>
  ADAPTERS.find(({ name }) => name === gateway)?.movesMoney ?? true

export const settingsOf = (account: AccountRow | null, deps: PaymentDeps): PaymentSettings => ({
  gateway: account?.gateway ?? deps.gateway,
  account: account?.credentials ? 'store' : 'installation',
  credential_hint: account?.hint ?? null,
  tokenization_key: account?.tokenization_key ?? null,
  updated_at: account?.updated_at ?? null,
})

/**
 * Returns how a storefront asks for a card. A token works only at the account that its key belongs to: a store with
 * an account of its own never uses the key of the installation.
 */
export async function cardForm(db: Db, deps: PaymentDeps): Promise<CardForm> {
  const [store, accounts] = await Promise.all([stores.findLive(db), queries.listAccounts(db)])
  if (store === null) throw new ApiError('unknown_tenant')
  const account = accounts.find((each) => each.in_use)
  const adapter = adapterOf(account?.gateway ?? deps.gateway)
  const isOwn = account !== undefined && account.credentials !== null
  const own = ownAccount({ adapter, deps })
  const public_key = isOwn ? account.tokenization_key : own.public_key
  const script = adapter.cardScript({ ...own, public_key }, deps.settings)
  return { gateway: adapter.name, tokenization_key: public_key, script }
}

/**
 * The shortest credential whose last four characters are shown: they distinguish long credentials, and would
 * reveal too much of a short one.
 */
const HINT_LENGTH_MIN = 16

export function setGateway(
  db: TenantDb,
  actor: audit.Actor,
  deps: PaymentDeps,
  { gateway, credentials: sent, tokenization_key }: SettingsChange,
): Promise<PaymentSettings> {
  const adapter = adapterOf(gateway)
  if (sent !== undefined) requireCredentials(adapter, sent)
  return db.transaction('payments: set gateway', async (tx) => {
    await queries.lockAccounts(tx)
    const accounts = await queries.listAccounts(tx)
    const before = settingsOf(accounts.find((each) => each.in_use) ?? null, deps)
    const account = accounts.find((each) => each.gateway === gateway)
    const stored = account?.credentials
    const context = { db, deps, adapter }
    const isNew = sent !== undefined && !(stored && isSameCredential(context, stored, sent))
    const hasOwn = ownAccount(context).credentials !== null
    const replacesOther = Boolean(stored) || hasOwn
    const encrypted = isNew ? { ...encrypt(context, sent), replacesOther } : null
    if (adapter.credentials !== null && !encrypted && !stored && !hasOwn) {
      throw badCredentials('must be sent: the installation has no account of its own')
    }
    if (tokenization_key && !encrypted && !stored) {
      throw invalidBody(
        'tokenization_key',
        'must belong to an account of the store: send credentials',
      )
    }
    await queries.retireAccounts(tx)
    const tokenizationKey =
      tokenization_key === undefined ? (account?.tokenization_key ?? null) : tokenization_key
    const used = await mapViolations(
      queries.useAccount(tx, gateway, { given: encrypted, tokenizationKey }),
      { payment_accounts_sandbox: 'sandbox_store' },
      refuse,
    )
    const after = settingsOf(used, deps)
    await audit.record(tx, actor, {
      action: 'payments.gateway_set',
      entity: 'payments',
      before: auditFacts(before),
      after: auditFacts(after),
    })
    return after
  })
}

/** Refuses credentials that are not those of the gateway. */
export function requireCredentials(
  { name, credentials: shape }: Pick<GatewayAdapter, 'name' | 'credentials'>,
  sent: Credentials,
): void {
  if (shape === null) {
    throw badCredentials(`must not be sent: the ${name} gateway has no credentials`)
  }
  const members = Object.keys(shape.members)
  if (members.some((member) => sent[member] === undefined)) {
    throw badCredentials(`must have ${members.join(' and ')} for the gateway ${name}`)
  }
}

interface CredentialContext {
  db: Db
  deps: PaymentDeps
  adapter: GatewayAdapter
}

/** The account of the installation. */
const ownAccount = ({ adapter, deps }: Omit<CredentialContext, 'db'>): Account =>
  adapter.ownAccount(deps.settings)

/** Binds encrypted credentials to their store and gateway. */
const encryptionContext = ({ db, adapter }: CredentialContext) =>
  `payment account ${db.tenant}/${adapter.name}`

const keyOf = ({ deps }: CredentialContext) => deps.key('payment credentials')

const shapeOf = ({ adapter }: CredentialContext): CredentialShape => {
  if (adapter.credentials === null) throw new Error(`${adapter.name} has no credentials`)
  return adapter.credentials
}

const decrypt = (context: CredentialContext, stored: Buffer): Credentials =>
  shapeOf(context).fromText(
    decryptText(keyOf(context), stored, encryptionContext(context)).toString(),
  )

function encrypt(context: CredentialContext, credentials: Credentials) {
  const shape = shapeOf(context)
  const hinted = shape.hinted(credentials)
  const text = shape.toText(credentials)
  return {
    credentials: encryptText(keyOf(context), text, encryptionContext(context)),
    hint: hinted.length < HINT_LENGTH_MIN ? null : hinted.slice(-4),
  }
}

/**
 * Whether the stored credentials equal those that were sent, which then change nothing. Stored ones that cannot be
 * decrypted were encrypted with a secret that no longer exists, and count as different.
 */
function isSameCredential(context: CredentialContext, stored: Buffer, sent: Credentials): boolean {
  const { toText } = shapeOf(context)
  try {
    return toText(decrypt(context, stored)) === toText(sent)
  } catch {
    return false
  }
}

const badCredentials = (message: string) => invalidBody('credentials', message)

export const auditFacts = ({ gateway, account, credential_hint }: PaymentSettings) => ({
  gateway,
  account,
  credential_hint,
})

/** The differences between the gateway's record and ours, newest first. */
export async function listDiscrepancies(db: Db, onlyOpen: boolean, page: Page) {
  const { rows, shown } = await queries.listDiscrepancies(db, onlyOpen, page)
  return { discrepancies: rows, ...shown }
}

/** The simulated gateway's own record of a store, newest first. */
export async function listSimulated(db: Db, page: Page) {
  const { rows, shown } = await simulatedQueries.listCharges(db, page)
  return { charges: rows, ...shown }
}
