import { isUtf8 } from 'node:buffer'
import { mapViolations } from '../../db/constraints.ts'
import type { Database, Db } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/page.ts'
import * as audit from '../../platform/audit.ts'
import * as stores from '../stores/service.ts'
import { type Accounts, type OpenAccount, openAccounts, sealKey } from './accounts.ts'
import * as events from './event-queries.ts'
import { labelOf, newsOf, readBody } from './news.ts'
import * as queries from './queries.ts'
import {
  ACCOUNT_REF,
  type AccountChange,
  type AccountName,
  type GatewayAccount,
  type GatewayEventDetail,
  type News,
  PROVIDER,
  type Receipt,
  type WebhookReceived,
} from './schema.ts'
import { type Headers, type Sent, standardKey, VERIFIERS } from './verify.ts'

export interface GatewayDeps {
  database: Database
  clock: Clock
  /** Seals the signing keys. */
  key: Buffer
  accounts: Accounts
}

export const openGateway = (deps: Omit<GatewayDeps, 'accounts'>): GatewayDeps => ({
  ...deps,
  accounts: openAccounts(deps),
})

const unknownProvider = () => new ApiError('unknown_provider')

/** What is no name cannot be an account's. */
function requireName({ provider, account_ref }: AccountName): void {
  if (!PROVIDER.test(provider) || !ACCOUNT_REF.test(account_ref)) throw unknownProvider()
}

/** Registers an account, or gives it another key. It stays with its store until it is removed. */
export async function setAccount(
  { database, key, accounts }: GatewayDeps,
  actor: audit.Actor,
  name: AccountName,
  { tenant_ref, scheme, signing_key }: AccountChange,
): Promise<GatewayAccount> {
  requireName(name)
  if (scheme === 'standard' && standardKey(signing_key) === null) {
    throw invalidBody('signing_key', 'must be base64, with or without whsec_')
  }
  const sealed = sealKey(key, tenant_ref, name, signing_key)
  const db = database.tenant(tenant_ref)
  await stores.get(db)
  const saving = db.transaction('gateway: set account', async (tx) => {
    const before = await queries.findAccount(tx, name)
    const after = await queries.saveAccount(tx, name, { scheme, signing_key: sealed })
    await audit.record(tx, actor, {
      action: 'gateway.account_set',
      entity: entityOf(name),
      ...(before !== null && { before: { scheme: before.scheme } }),
      after: { scheme: after.scheme },
    })
    return after
  })
  const saved = await mapViolations(saving, { gateway_accounts_gate: 'gateway_account_taken' })
  accounts.forget(name)
  return saved
}

const entityOf = ({ provider, account_ref }: AccountName) => `gateway:${provider}/${account_ref}`

/** Takes no more events for an account. Another store may have it then. */
export async function removeAccount(
  { database, accounts }: GatewayDeps,
  actor: audit.Actor,
  name: AccountName,
): Promise<GatewayAccount> {
  const found = await queries.findByName(database.global, name)
  if (found === null) throw unknownProvider()
  const db = database.tenant(found.tenant_ref)
  const account = await db.transaction('gateway: remove account', async (tx) => {
    const removed = await queries.removeAccount(tx, name)
    if (removed === null) throw unknownProvider()
    await audit.record(tx, actor, {
      action: 'gateway.account_removed',
      entity: entityOf(name),
      before: { scheme: removed.scheme },
    })
    return removed
  })
  accounts.forget(name)
  return account
}

export async function listAccounts(operator: Runner, filters: queries.AccountFilters, page: Page) {
  const [accounts, { total }] = await Promise.all([
    queries.listAccounts(operator, filters, page),
    queries.countAccounts(operator, filters),
  ])
  return { accounts, total, ...page }
}

export async function getAccount(operator: Runner, name: AccountName): Promise<GatewayAccount> {
  const [account] = await queries.listAccounts(operator, name, { limit: 1, offset: 0 })
  if (account === undefined) throw unknownProvider()
  return account
}

/**
 * Takes an event in: whose it is, whether they have signed it, and only then what it says. It is
 * answered once it is kept and published. Nothing happens to any order here.
 */
export async function receive(deps: GatewayDeps, name: AccountName, sent: Sent): Promise<Receipt> {
  requireName(name)
  const { tenant_ref, scheme } = await requireSigned(deps, name, sent)
  const { event_id, event_type, readable } = labelOf(scheme, sent)
  const written = await queries.insertEvent(deps.database.tenant(tenant_ref), {
    provider: name.provider,
    account_ref: name.account_ref,
    provider_event_id: event_id,
    event_type,
    scheme,
    status: readable ? 'received' : 'unhandled',
    reason: readable ? null : 'unreadable',
    body: sent.raw,
    headers: keptHeaders(sent.headers),
  })
  return { received: true, deduped: written === 0 }
}

/** The account that has signed it. What is remembered may accept; only what stands now refuses. */
async function requireSigned(
  { accounts, clock }: GatewayDeps,
  name: AccountName,
  sent: Sent,
): Promise<OpenAccount> {
  const holds = ({ scheme, signingKey }: OpenAccount) =>
    VERIFIERS[scheme](signingKey, sent, clock.now())
  const recalled = accounts.recall(name)
  if (recalled !== null && holds(recalled)) return recalled
  const found = await accounts.find(name)
  if (found === null) throw unknownProvider()
  if (!holds(found)) throw new ApiError('invalid_signature')
  return found
}

/** What shows later who sent it and how it was signed. */
const KEPT_HEADERS = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'stripe-signature',
]
const HEADER_LENGTH_MAX = 2_000

function keptHeaders(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of KEPT_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string') kept[name] = value.slice(0, HEADER_LENGTH_MAX)
  }
  return kept
}

/** What a published event is about; null when it cannot be read, or is not kept any more. */
export async function readNews(db: Db, event: WebhookReceived): Promise<News | null> {
  const row = await events.findEvent(db, event)
  const body = row?.body ? readBody(row.body) : null
  return row === null || body === null ? null : newsOf(row.scheme, body)
}

/** Writes down what came of an event. */
export const conclude = events.writeOutcome

export async function listEvents(operator: Runner, filters: events.EventFilters, page: Page) {
  const [listed, { total }] = await Promise.all([
    events.listEvents(operator, filters, page),
    events.countEvents(operator, filters),
  ])
  return { events: listed, total, ...page }
}

/** One event with what was sent: as text where it is text. */
export async function getEvent(
  operator: Runner,
  name: AccountName,
  id: string,
): Promise<GatewayEventDetail> {
  const found = await events.readEvent(operator, name, id)
  if (found === null) throw new ApiError('gateway_event_not_found')
  const { body } = found
  const body_encoding = body === null ? null : isUtf8(body) ? 'utf8' : 'base64'
  return { ...found, body: body?.toString(body_encoding ?? 'utf8') ?? null, body_encoding }
}
