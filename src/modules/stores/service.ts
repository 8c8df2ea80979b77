import { Type } from 'typebox'
import { mapViolations } from '../../db/constraints.ts'
import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody, invalidBodyOf } from '../../errors.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'
import * as outbox from '../../platform/outbox.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import {
  LANGUAGE_LENGTH_MAX,
  type NewStore,
  type StatusChange,
  type Store,
  type StorePatch,
} from './schema.ts'

/** Says that a store exists. */
export const PROVISIONED = {
  type: 'store.provisioned.v1',
  payload: Type.Object({ store_ref: Type.String(), display_name: Type.String() }),
} satisfies outbox.Topic

/** Creates a store, in draft, and says so. */
export async function create(database: Database, actor: audit.Actor, request: NewStore) {
  const store = { ...request, ...checkSettings(request), ...lowerOwner(request.owner_email) }
  const db = database.tenantForOwnWork(store.tenant_ref)
  return db.transaction('stores: create', async (tx) => {
    const created = await mapViolations(queries.insertStore(tx, store), {
      stores_pkey: 'tenant_exists',
    })
    await audit.record(tx, actor, {
      action: 'store.created',
      entity: `store:${created.tenant_ref}`,
      after: created,
    })
    await outbox.publish(tx, PROVISIONED, {
      store_ref: created.tenant_ref,
      display_name: created.display_name,
    })
    return created
  })
}

export async function get(db: Db): Promise<Store> {
  const store = isTenantRef(db.tenant) ? await queries.findStore(db) : null
  if (store === null) throw new ApiError('unknown_tenant')
  return store
}

/** How many stores are remembered: some ten megabytes of names. When there are more, the set starts again empty. */
const KNOWN_MAX = 100_000

/** Makes a function that refuses an unknown store. A store is never removed, so a known one is read once. */
export function openStoreCheck(): (db: Db) => Promise<void> {
  const known = new Set<string>()
  return async (db) => {
    if (known.has(db.tenant)) return
    await get(db)
    if (known.size === KNOWN_MAX) known.clear()
    known.add(db.tenant)
  }
}

export const find = queries.findStore

/** Gets the store and locks its row until the transaction ends. */
export async function lock(tx: Tx): Promise<Store> {
  const store = await queries.lockStore(tx)
  if (store === null) throw new ApiError('unknown_tenant')
  return store
}

/** Gets the store's currency, which cannot change until the transaction ends. */
export async function lockCurrency(tx: Tx): Promise<string> {
  return (await queries.lockCurrency(tx)).currency
}

/** Finds the store if it is live. It is one statement, so that all refusals take the same time. */
export const findLive = queries.findLiveStore

/** The condition of `findLive` as a source for another module's statement, which saves a second statement. */
export const liveStore = queries.liveStore

export const stockHint = queries.stockHint
export const autoDeliverDays = queries.autoDeliverDays

export const list = queries.listStores

/** Makes a store live, draft or suspended. */
export function setStatus(db: TenantDb, actor: audit.Actor, { status, reason }: StatusChange) {
  return change(db, actor, { action: 'store.status_changed', reason }, (tx, before) => {
    if (status === 'live' && before.activeVersion === null) throw refuse('no_active_version')
    return queries.updateStatus(tx, status)
  })
}

export function setOwner(db: TenantDb, actor: audit.Actor, email: string) {
  return change(db, actor, { action: 'store.owner_changed' }, (tx) =>
    queries.updateOwner(tx, email.toLowerCase()),
  )
}

/** Makes a store a sandbox, or makes it an ordinary store again. `check` may refuse it, under the lock of the store. */
export function setSandbox(
  db: TenantDb,
  actor: audit.Actor,
  sandbox: boolean,
  check: (tx: Tx) => Promise<void>,
) {
  return change(db, actor, { action: 'store.sandbox_changed' }, async (tx, before) => {
    if (before.sandbox !== sandbox) await check(tx)
    return queries.updateSandbox(tx, sandbox)
  })
}

export function updateSettings(db: TenantDb, actor: audit.Actor, patch: StorePatch) {
  const checked = { ...patch, ...checkSettings(patch) }
  const { display_name, currency, language, time_zone, stock_hint, auto_deliver_days } = checked
  // The request has no known setting: nothing changes, and nothing is audited.
  const settings = [display_name, currency, language, time_zone, stock_hint, auto_deliver_days]
  if (settings.every((each) => each === undefined)) return get(db)
  return change(db, actor, { action: 'store.settings_changed' }, (tx) =>
    mapViolations(
      queries.updateSettings(tx, checked),
      { stores_currency_fixed: 'currency_fixed' },
      refuse,
    ),
  )
}

/** Sets the active version in the site's transaction, which audits it. Returns the previous version. */
export async function setActiveVersion(tx: Tx, version: number): Promise<number | null> {
  const before = await lock(tx)
  await queries.updateActiveVersion(tx, version)
  return before.activeVersion
}

/** Sets the store's primary hostname. `domains` checks its ownership and notifies caches. */
export const setPrimaryHostname = (tx: Tx, hostname: string | null) =>
  queries.updatePrimaryHostname(tx, hostname)

/** Changes the store's row under its lock, audits it, and notifies the live caches. */
function change(
  db: TenantDb,
  actor: audit.Actor,
  { action, reason }: { action: string; reason?: string | undefined },
  apply: (tx: Tx, before: Store) => Promise<Store>,
) {
  return db.transaction(action, async (tx) => {
    const before = await lock(tx)
    const after = await apply(tx, before)
    await audit.record(tx, actor, {
      action,
      entity: `store:${tx.tenant}`,
      before,
      after,
      reason,
    })
    await notifyChanged(tx)
    return after
  })
}

const lowerOwner = (email: string | undefined) =>
  email === undefined ? {} : { owner_email: email.toLowerCase() }

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))

const isCurrency = (code: string): boolean => CURRENCIES.has(code)

const NO_CURRENCY = 'must be a currency code of ISO 4217, such as USD'

/** Refuses an unknown currency. */
export function checkCurrency(currency: string): string {
  if (isCurrency(currency)) return currency
  throw invalidBody('currency', NO_CURRENCY)
}

/** Refuses unknown currencies, time zones and languages. Returns the language in its canonical form. */
function checkSettings({ currency, language, time_zone }: StorePatch): { language?: string } {
  const issues: { path: string; message: string }[] = []
  if (currency !== undefined && !isCurrency(currency)) {
    issues.push({ path: 'currency', message: NO_CURRENCY })
  }
  if (time_zone !== undefined && !isTimeZone(time_zone)) {
    issues.push({
      path: 'time_zone',
      message: 'must be a time zone of the IANA database, such as Europe/Berlin',
    })
  }
  const [canonical] = language === undefined ? [] : canonicalLanguage(language)
  if (language !== undefined && canonical === undefined) {
    issues.push({ path: 'language', message: 'must be a language tag of BCP 47, such as en' })
  }
  if (issues.length > 0) throw invalidBodyOf(issues)
  return canonical === undefined ? {} : { language: canonical }
}

/**
 * Returns the canonical form of a language tag, which may be longer than the tag: `sh` becomes `sr-Latn`. The list is
 * empty for an unknown tag, or one that becomes too long.
 */
function canonicalLanguage(tag: string): string[] {
  try {
    return Intl.getCanonicalLocales(tag).filter((each) => each.length <= LANGUAGE_LENGTH_MAX)
  } catch {
    return []
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    // Offsets such as +02:00 are valid too, but have no summer time.
    return /^[A-Za-z]/.test(name)
  } catch {
    return false
  }
}
