import { isUtf8 } from 'node:buffer'
import { mapViolations } from '../../db/constraints.ts'
import type { AllStores, Database, Db } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/page.ts'
import * as audit from '../../platform/audit.ts'
import { standardKey } from '../../platform/event-signatures.ts'
import type { EventSubject, Headers, ReceivedRequest } from '../../platform/provider-events.ts'
import * as stores from '../stores/service.ts'
import {
  type AccountCache,
  createAccountCache,
  type DecryptedAccount,
  encryptKey,
} from './accounts.ts'
import { refuse } from './errors.ts'
import * as events from './event-queries.ts'
import { parseLabel, parseSubject, readBody } from './parse-event.ts'
import * as queries from './queries.ts'
import {
  ACCOUNT_REF,
  type AccountChange,
  type AccountName,
  type GatewayAccount,
  type GatewayEventDetail,
  PROVIDER,
  type Receipt,
  type WebhookReceived,
} from './schema.ts'
import { schemeOf } from './schemes.ts'

export interface ProviderEventDeps {
  database: Database
  clock: Clock
  /** Encrypts the signing keys. */
  key: Buffer
  accounts: AccountCache
}

export const openProviderEvents = (
  deps: Omit<ProviderEventDeps, 'accounts'>,
): ProviderEventDeps => ({
  ...deps,
  accounts: createAccountCache(deps),
})

const unknownProvider = () => refuse('unknown_provider')

/** Refuses names that no account can have. */
function requireName({ provider, account_ref }: AccountName): void {
  if (!PROVIDER.test(provider) || !ACCOUNT_REF.test(account_ref)) throw unknownProvider()
}

/** Registers an account, or changes its key. It belongs to its store until it is removed. */
export async function setAccount(
  { database, key, accounts }: ProviderEventDeps,
  actor: audit.Actor,
  name: AccountName,
  { tenant_ref, scheme, signing_key }: AccountChange,
): Promise<GatewayAccount> {
  requireName(name)
  if (scheme === 'standard' && standardKey(signing_key) === null) {
    throw invalidBody('signing_key', 'must be base64, with or without whsec_')
  }
  const encrypted = encryptKey(key, tenant_ref, name, signing_key)
  const db = database.tenantForOwnWork(tenant_ref)
  await stores.get(db)
  const saving = db.transaction('gateway: set account', async (tx) => {
    const before = await queries.findAccount(tx, name)
    const after = await queries.saveAccount(tx, name, { scheme, signing_key: encrypted })
    await audit.record(tx, actor, {
      action: 'gateway.account_set',
      entity: entityOf(name),
      ...(before !== null && { before: { scheme: before.scheme } }),
      after: { scheme: after.scheme },
    })
    return after
  })
  const saved = await mapViolations(
    saving,
    { gateway_accounts_gate: 'gateway_account_taken' },
    refuse,
  )
  accounts.drop(name)
  return saved
}

const entityOf = ({ provider, account_ref }: AccountName) => `gateway:${provider}/${account_ref}`

/** Removes an account: its events are refused, and another store may register it. */
export async function removeAccount(
  { database, accounts }: ProviderEventDeps,
  actor: audit.Actor,
  name: AccountName,
): Promise<GatewayAccount> {
  const found = await queries.findByName(database.directory, name)
  if (found === null) throw unknownProvider()
  const db = database.tenantForOwnWork(found.tenant_ref)
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
  accounts.drop(name)
  return account
}

export async function listAccounts(
  operator: AllStores,
  filters: queries.AccountFilters,
  page: Page,
) {
  const { rows, shown } = await queries.listAccounts(operator, filters, page)
  return { accounts: rows, ...shown }
}

export async function getAccount(operator: AllStores, name: AccountName): Promise<GatewayAccount> {
  const account = await queries.findAccountOfAny(operator, name)
  if (account === null) throw unknownProvider()
  return account
}

/**
 * Receives an event: finds its account, verifies the signature, and only then reads the content. The request is
 * answered when the event is stored and published. The worker handles it later.
 */
export async function receive(
  deps: ProviderEventDeps,
  name: AccountName,
  request: ReceivedRequest,
): Promise<Receipt> {
  requireName(name)
  const { tenant_ref, scheme } = await verifySignature(deps, name, request)
  const { event_id, event_type, readable } = parseLabel(schemeOf(scheme), request)
  const written = await queries.insertEvent(deps.database.tenantForOwnWork(tenant_ref), {
    provider: name.provider,
    account_ref: name.account_ref,
    provider_event_id: event_id,
    event_type,
    scheme,
    status: readable ? 'received' : 'unhandled',
    reason: readable ? null : 'unreadable',
    body: request.raw,
    headers: headersToStore(request.headers),
  })
  return { received: true, deduped: written === 0 }
}

/** Verifies the signature and returns the account. A cached account may accept; only one read just now may refuse. */
async function verifySignature(
  { accounts, clock }: ProviderEventDeps,
  name: AccountName,
  request: ReceivedRequest,
): Promise<DecryptedAccount> {
  const hasSigned = ({ scheme, signingKey }: DecryptedAccount) =>
    schemeOf(scheme).verify(signingKey, request, clock.now())
  const cached = accounts.cached(name)
  if (cached !== null && hasSigned(cached)) return cached
  const found = await accounts.load(name)
  if (found === null) throw unknownProvider()
  if (!hasSigned(found)) throw new ApiError('invalid_signature')
  return found
}

/** The headers that show later who sent an event and how it was signed. */
const STORED_HEADERS = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'stripe-signature',
]
const HEADER_LENGTH_MAX = 2_000

function headersToStore(headers: Headers): Record<string, string> {
  const stored: Record<string, string> = {}
  for (const name of STORED_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string') stored[name] = value.slice(0, HEADER_LENGTH_MAX)
  }
  return stored
}

/** Reads what a published event is about. Returns null if its body is unreadable or was erased. */
export async function readEventSubject(
  db: Db,
  event: WebhookReceived,
): Promise<EventSubject | null> {
  const row = await events.findEvent(db, event)
  const body = row?.body ? readBody(row.body) : null
  return row === null || body === null ? null : parseSubject(schemeOf(row.scheme), body)
}

/** Reads the body of a published event. Returns null if it is unreadable or was erased. */
export async function readEventBody(
  db: Db,
  event: WebhookReceived,
): Promise<Readonly<Record<string, unknown>> | null> {
  const row = await events.findEvent(db, event)
  return row?.body ? readBody(row.body) : null
}

/** Stores the outcome of an event. */
export const recordOutcome = events.writeOutcome

export async function listEvents(operator: AllStores, filters: events.EventFilters, page: Page) {
  const { rows, shown } = await events.listEvents(operator, filters, page)
  return { events: rows, ...shown }
}

/** Gets an event with its body: as text if it is UTF-8, in base64 otherwise. */
export async function getEvent(
  operator: AllStores,
  name: AccountName,
  id: string,
): Promise<GatewayEventDetail> {
  const found = await events.readEvent(operator, name, id)
  if (found === null) throw refuse('gateway_event_not_found')
  const { body } = found
  const body_encoding = body === null ? null : isUtf8(body) ? 'utf8' : 'base64'
  return { ...found, body: body?.toString(body_encoding ?? 'utf8') ?? null, body_encoding }
}
