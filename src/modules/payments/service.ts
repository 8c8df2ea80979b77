import { mapViolations } from '../../db/constraints.ts'
import type { Database, Db, TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import * as stores from '../stores/service.ts'
import { fencedGateway, type Gateway, unreachable } from './gateway.ts'
import * as queries from './queries.ts'
import type {
  AccountRow,
  CardForm,
  CredentialCheck,
  FailedCall,
  GatewayName,
  PaymentSettings,
  SettingsChange,
} from './schema.ts'
import { openSimulated } from './simulated.ts'
import * as simulatedQueries from './simulated-queries.ts'

export interface PaymentDeps {
  /** The database with the tables of the simulated gateway, on a handle of its own. */
  database: Database
  /** Derives a separate key for each purpose. */
  key(purpose: string): Buffer
  /** The gateway of stores without a setting of their own. */
  gateway: GatewayName
  nmi: {
    url: string
    securityKey: string | null
    /** The public key of the installation's own account. */
    tokenizationKey: string | null
  }
  /** How long a time-out of the simulated gateway takes; for tests. */
  timeoutMs?: number
  /** Reports an unexpected error of ours in a gateway's adapter. The report has no card and no credential. */
  onFault: (error: unknown) => void
  /** Reports a call without a usable answer. The report has nothing of the request. */
  onNoAnswer: (call: FailedCall) => void
  /** Reports a refusal for which an operator must repair the account. The report has nothing of the request. */
  onAccountProblem: (call: FailedCall) => void
}

export interface Payments {
  /**
   * Opens the gateway of a store, for new payments, or the named one, for earlier payments: an attempt is looked
   * up, and a charge is refunded, at the gateway where it was made.
   */
  forStore(db: Db, gateway?: GatewayName): Promise<Gateway>
  /** Tries a credential at its provider, by a call that moves no money. */
  checkCredential(gateway: 'nmi', securityKey: string): Promise<CredentialCheck>
  readonly deps: PaymentDeps
  close(): Promise<void>
}

export function openPayments(deps: PaymentDeps): Payments {
  const { onNoAnswer, onAccountProblem } = deps
  const credentialKey = deps.key('payment credentials')
  const simulatedKey = deps.key('simulated gateway')
  let nmi: Promise<import('./nmi.ts').NmiGateways> | null = null
  // Loaded at the first payment with NMI: its XML and HTTP clients would slow down every start.
  const openNmi = () =>
    (nmi ??= import('./nmi.ts').then(({ openNmiGateways }) =>
      openNmiGateways(deps.nmi.url, { onNoAnswer, onAccountProblem }),
    ))
  return {
    deps,
    async forStore(db, named) {
      const accounts = await queries.listAccounts(db)
      const gateway = named ?? accounts.find((each) => each.in_use)?.gateway ?? deps.gateway
      if (gateway === 'simulated') {
        const own = deps.database.tenantForMoney(db.tenant)
        return openSimulated({ ...deps, db: own, key: simulatedKey })
      }
      const account = accounts.find((each) => each.gateway === gateway)
      const securityKey = account?.credentials
        ? decryptText(credentialKey, account.credentials, encryptionContext(db, gateway)).toString()
        : deps.nmi.securityKey
      const opened = (await openNmi()).open({ securityKey, tenant: db.tenant })
      return distrustNewAccount(opened, deps, db.tenant)
    },
    checkCredential: async (_, securityKey) => (await openNmi()).check(securityKey),
    async close() {
      await (await nmi)?.close()
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

/** Binds an encrypted credential to its store and gateway. */
const encryptionContext = (db: Db, gateway: GatewayName) =>
  `payment account ${db.tenant}/${gateway}`

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
    accounts.some(({ gateway }) => gateway !== 'simulated') ||
    (hasOrders && deps.gateway !== 'simulated')
  )
}

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
  const gateway = account?.gateway ?? deps.gateway
  if (gateway !== 'nmi') return { gateway, tokenization_key: null }
  const isOwn = account !== undefined && account.credentials !== null
  return { gateway, tokenization_key: isOwn ? account.tokenization_key : deps.nmi.tokenizationKey }
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
  { gateway, credentials, tokenization_key }: SettingsChange,
): Promise<PaymentSettings> {
  if (credentials !== undefined && gateway === 'simulated') {
    throw badCredentials('must not be sent: the simulated gateway has no credentials')
  }
  return db.transaction('payments: set gateway', async (tx) => {
    await queries.lockAccounts(tx)
    const accounts = await queries.listAccounts(tx)
    const before = settingsOf(accounts.find((each) => each.in_use) ?? null, deps)
    const account = accounts.find((each) => each.gateway === gateway)
    const stored = account?.credentials
    const sent = credentials?.security_key
    const context = { db, deps, gateway }
    const isNew = sent !== undefined && !(stored && isSameCredential(context, stored, sent))
    const replacesOther = Boolean(stored) || deps.nmi.securityKey !== null
    const encrypted = isNew ? { ...encryptCredential(context, sent), replacesOther } : null
    if (gateway === 'nmi' && !encrypted && !stored && deps.nmi.securityKey === null) {
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

interface CredentialContext {
  db: Db
  deps: PaymentDeps
  gateway: GatewayName
}

/**
 * Whether the stored credential equals the sent one, which then changes nothing. One that cannot be decrypted was
 * encrypted with a secret that no longer exists, and counts as different.
 */
function isSameCredential(
  { db, deps, gateway }: CredentialContext,
  stored: Buffer,
  securityKey: string,
): boolean {
  try {
    const key = deps.key('payment credentials')
    return decryptText(key, stored, encryptionContext(db, gateway)).toString() === securityKey
  } catch {
    return false
  }
}

function encryptCredential({ db, deps, gateway }: CredentialContext, securityKey: string) {
  return {
    credentials: encryptText(
      deps.key('payment credentials'),
      securityKey,
      encryptionContext(db, gateway),
    ),
    hint: securityKey.length < HINT_LENGTH_MIN ? null : securityKey.slice(-4),
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
