import type { Database, Db, TenantDb } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import { fencedGateway, type Gateway, unreachable } from './gateway.ts'
import * as queries from './queries.ts'
import type { AccountRow, GatewayName, PaymentSettings, SettingsChange, Silence } from './schema.ts'
import * as simQueries from './sim-queries.ts'
import { openSimulated } from './simulated.ts'

export interface PaymentDeps {
  /** Where the simulated gateway keeps its books, on a handle of its own. */
  database: Database
  /** A key of its own for each purpose. */
  key(purpose: string): Buffer
  /** What stores pay by that have no setting of their own. */
  gateway: GatewayName
  nmi: { url: string; securityKey: string | null }
  /** How long the simulated gateway keeps silent, for tests. */
  silenceMs?: number
  /** Told of faults that a gateway's answer cannot name. Holds no card and no credential. */
  onFault: (error: unknown) => void
  /** Told of each call that got no answer which can be used. Holds nothing of what was sent. */
  onSilence: (silence: Silence) => void
  /** Told of each refusal that somebody has to mend the account for, in the same way. */
  onTrouble: (trouble: Silence) => void
}

export interface Payments {
  /**
   * The gateway that the store pays by; or the named one, for what was paid by it once: an attempt
   * is asked about, and a charge refunded, where it was made.
   */
  forStore(db: Db, gateway?: GatewayName): Promise<Gateway>
  readonly deps: PaymentDeps
  close(): Promise<void>
}

export function openPayments(deps: PaymentDeps): Payments {
  const { onSilence, onTrouble } = deps
  const credentialKey = deps.key('payment credentials')
  const simulatedKey = deps.key('simulated gateway')
  let nmi: Promise<import('./nmi.ts').NmiGateways> | null = null
  // Loaded at the first payment by it: its XML and HTTP clients cost every start otherwise.
  const openNmi = () =>
    (nmi ??= import('./nmi.ts').then(({ openNmiGateways }) =>
      openNmiGateways(deps.nmi.url, { onSilence, onTrouble }),
    ))
  return {
    deps,
    async forStore(db, named) {
      const accounts = await queries.listAccounts(db)
      const gateway = named ?? accounts.find((each) => each.in_use)?.gateway ?? deps.gateway
      if (gateway === 'simulated') {
        const own = deps.database.tenant(db.tenant)
        return openSimulated({ ...deps, db: own, key: simulatedKey })
      }
      const account = accounts.find((each) => each.gateway === gateway)
      const securityKey = account?.credentials
        ? decryptText(credentialKey, account.credentials, sealContext(db, gateway)).toString()
        : deps.nmi.securityKey
      const opened = (await openNmi()).open({ securityKey, tenant: db.tenant })
      return knowing(opened, deps, db.tenant)
    },
    async close() {
      await (await nmi)?.close()
    },
  }
}

/**
 * An account that a store has had for less long than it waits for an answer cannot say that it was never
 * asked: that may have been the one before. Nobody knows then, until somebody says so by hand.
 */
const knowing = (gateway: Gateway, deps: PaymentDeps, tenant: string): Gateway => ({
  ...gateway,
  async lookup(what) {
    const found = await gateway.lookup(what)
    if (found.found !== 'no') return found
    const before = await queries
      .findOfAccountBefore(deps.database.tenant(tenant), what)
      .catch(deps.onFault)
    return before === null ? found : unreachable()
  },
})

/** The same payments, whose gateways call `assertHeld` before every request that moves money. */
export const fencedPayments = (payments: Payments, assertHeld: () => Promise<void>): Payments => ({
  ...payments,
  forStore: async (...of) => fencedGateway(await payments.forStore(...of), assertHeld),
})

const sealContext = (db: Db, gateway: GatewayName) => `payment account ${db.tenant}/${gateway}`

/** What the store pays by, without the credential. */
export async function settings(db: Db, deps: PaymentDeps): Promise<PaymentSettings> {
  const accounts = await queries.listAccounts(db)
  return shown(accounts.find((each) => each.in_use) ?? null, deps)
}

const shown = (account: AccountRow | null, deps: PaymentDeps): PaymentSettings => ({
  gateway: account?.gateway ?? deps.gateway,
  account: account?.credentials ? 'store' : 'installation',
  credential_hint: account?.hint ?? null,
  updated_at: account?.updated_at ?? null,
})

/** Four letters of a long credential tell two apart; of a short one they would give too much away. */
const HINT_FROM_LENGTH = 16

export function setGateway(
  db: TenantDb,
  actor: audit.Actor,
  deps: PaymentDeps,
  { gateway, credentials }: SettingsChange,
): Promise<PaymentSettings> {
  if (credentials !== undefined && gateway === 'simulated') {
    throw badCredentials('must not be sent: the simulated gateway has no credentials')
  }
  return db.transaction('payments: set gateway', async (tx) => {
    await queries.lockAccounts(tx)
    const accounts = await queries.listAccounts(tx)
    const before = shown(accounts.find((each) => each.in_use) ?? null, deps)
    const kept = accounts.find((each) => each.gateway === gateway)?.credentials
    const given = credentials?.security_key
    const isNew = given !== undefined && !(kept && opensTo({ db, deps, gateway }, kept, given))
    const sealed = isNew ? sealCredentials(db, deps, gateway, given) : null
    if (gateway === 'nmi' && !sealed && !kept && deps.nmi.securityKey === null) {
      throw badCredentials('must be sent: the installation has no account of its own')
    }
    await queries.retireAccounts(tx)
    const after = shown(await queries.useAccount(tx, gateway, sealed), deps)
    await audit.record(tx, actor, {
      action: 'payments.gateway_set',
      entity: 'payments',
      before: essence(before),
      after: essence(after),
    })
    return after
  })
}

interface Sealing {
  db: Db
  deps: PaymentDeps
  gateway: GatewayName
}

/** The same again is no change. What cannot be opened any more was sealed with a secret that is gone. */
function opensTo({ db, deps, gateway }: Sealing, sealed: Buffer, securityKey: string): boolean {
  try {
    const key = deps.key('payment credentials')
    return decryptText(key, sealed, sealContext(db, gateway)).toString() === securityKey
  } catch {
    return false
  }
}

function sealCredentials(db: Db, deps: PaymentDeps, gateway: GatewayName, securityKey: string) {
  return {
    credentials: encryptText(
      deps.key('payment credentials'),
      securityKey,
      sealContext(db, gateway),
    ),
    hint: securityKey.length < HINT_FROM_LENGTH ? null : securityKey.slice(-4),
  }
}

const badCredentials = (message: string) => invalidBody('credentials', message)

const essence = ({ gateway, account, credential_hint }: PaymentSettings) => ({
  gateway,
  account,
  credential_hint,
})

/** Where the gateway's record and ours differ, newest first. */
export async function listDiscrepancies(db: Db, onlyOpen: boolean, page: Page) {
  const [discrepancies, { total }] = await Promise.all([
    queries.listDiscrepancies(db, onlyOpen, page),
    queries.countDiscrepancies(db, onlyOpen),
  ])
  return { discrepancies, total, ...page }
}

/** The simulated gateway's own record of a store, newest first. */
export async function listSimulated(db: Db, page: Page) {
  const [charges, { total }] = await Promise.all([
    simQueries.listCharges(db, page),
    simQueries.countCharges(db),
  ])
  return { charges, total, ...page }
}
