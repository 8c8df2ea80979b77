import { mapViolations } from '../../db/constraints.ts'
import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'
import * as outbox from '../../platform/outbox.ts'
import * as queries from './queries.ts'
import {
  LANGUAGE_LENGTH_MAX,
  type NewStore,
  type StatusChange,
  type Store,
  type StorePatch,
} from './schema.ts'

/** Opens a store, in draft. The news of it travels by `store.provisioned.v1`. */
export async function create(database: Database, actor: audit.Actor, wanted: NewStore) {
  const store = { ...wanted, ...checkSettings(wanted), ...lowerOwner(wanted.owner_email) }
  const db = database.tenant(store.tenant_ref)
  return db.transaction('stores: create', async (tx) => {
    const made = await mapViolations(queries.insertStore(tx, store), {
      stores_pkey: 'tenant_exists',
    })
    await audit.record(tx, actor, {
      action: 'store.created',
      entity: `store:${made.tenant_ref}`,
      after: made,
    })
    await outbox.publish(tx, 'store.provisioned.v1', {
      store_ref: made.tenant_ref,
      display_name: made.display_name,
    })
    return made
  })
}

export async function get(db: Db): Promise<Store> {
  const store = isTenantRef(db.tenant) ? await queries.findStore(db) : null
  if (store === null) throw new ApiError('unknown_tenant')
  return store
}

/** Some ten megabytes of names. Beyond that they are looked for again. */
const KNOWN_MAX = 100_000

/** Refuses a store that does not exist. One that ever did is never removed, and asked for once. */
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

/** The store, which nobody else changes until this transaction has ended. */
export async function lock(tx: Tx): Promise<Store> {
  const store = await queries.lockStore(tx)
  if (store === null) throw new ApiError('unknown_tenant')
  return store
}

/** The store's currency, which stays what it is until this transaction has ended. */
export async function holdCurrency(tx: Tx): Promise<string> {
  return (await queries.holdCurrency(tx)).currency
}

/** The store, if the public may see it. One statement, so that all others take as long as each other. */
export const findLive = queries.findLiveStore

/** The same as the source of another module's statement, which then needs no second one. */
export const liveStore = queries.liveStore

export const list = queries.listStores

/** Puts a store live, back to draft, or out of sight. */
export function setStatus(db: TenantDb, actor: audit.Actor, { status, reason }: StatusChange) {
  return change(db, actor, { action: 'store.status_changed', reason }, (tx, before) => {
    if (status === 'live' && before.activeVersion === null) throw new ApiError('no_active_version')
    return queries.updateStatus(tx, status)
  })
}

export function setOwner(db: TenantDb, actor: audit.Actor, email: string) {
  return change(db, actor, { action: 'store.owner_changed' }, (tx) =>
    queries.updateOwner(tx, email.toLowerCase()),
  )
}

export function updateSettings(db: TenantDb, actor: audit.Actor, patch: StorePatch) {
  const checked = { ...patch, ...checkSettings(patch) }
  const { display_name, currency, language, time_zone } = checked
  // Nothing that we know was sent: nothing changes, and there is nothing to put on record.
  if ([display_name, currency, language, time_zone].every((each) => each === undefined)) {
    return get(db)
  }
  return change(db, actor, { action: 'store.settings_changed' }, (tx) =>
    mapViolations(queries.updateSettings(tx, checked), { stores_currency_fixed: 'currency_fixed' }),
  )
}

/** For the site's own transaction, which audits and announces it. Answers the version before. */
export async function setActiveVersion(tx: Tx, version: number): Promise<number | null> {
  const before = await lock(tx)
  await queries.updateActiveVersion(tx, version)
  return before.activeVersion
}

/** The name the store is known by. Whose it is, and who hears of it, is seen to by `domains`. */
export const setPrimaryHostname = (tx: Tx, hostname: string | null) =>
  queries.updatePrimaryHostname(tx, hostname)

/** One change of the store's row: locked, audited, and announced to whoever serves it. */
function change(
  db: TenantDb,
  actor: audit.Actor,
  { action, reason }: { action: string; reason?: string | undefined },
  apply: (db: Db, before: Store) => Promise<Store>,
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

/** Refuses what money cannot be written in. */
export function checkCurrency(currency: string): string {
  if (isCurrency(currency)) return currency
  throw invalidBody('currency', NO_CURRENCY)
}

/** Only what money and dates can later be written in. A language comes back in its usual case. */
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
  if (issues.length > 0) throw new ApiError('invalid_body', { body: { issues } })
  return canonical === undefined ? {} : { language: canonical }
}

/** The usual form of a tag may be longer than what was sent: `sh` is `sr-Latn`. */
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
    // Offsets such as +02:00 pass too, but know no summer time.
    return /^[A-Za-z]/.test(name)
  } catch {
    return false
  }
}
