import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import type { Caller } from '../../db/store-shares.ts'
import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Page } from '../../kernel/page.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import { MINUTE_MS } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'
import { findServedTenant } from '../domains/certificates.ts'
import * as entitlements from '../entitlements/service.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import * as healthClaims from '../health-claims/service.ts'
import * as media from '../media/service.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import { listMisspeltPolicies, listPolicyFaults } from './behavior-faults.ts'
import { refuse } from './errors.ts'
import { brandNameOf, hashOf, listWarnings, type ReceivedManifest } from './manifest.ts'
import { createToken, readToken } from './preview.ts'
import * as queries from './queries.ts'
import type { FullVersion, Manifest, VersionRow } from './schema.ts'

/** How long a preview token is valid, by the contract. */
const PREVIEW_MS = 30 * MINUTE_MS

/**
 * How many times the overview is read again. All of them fail only if another version is published in each of these
 * few milliseconds.
 */
const OVERVIEW_TRIES_MAX = 10

/** Versions are numbered by a PostgreSQL integer. */
const VERSION_MAX = 2_147_483_647

/** Who reads by a preview token: it is a credential, so that unknown names do not delay a preview of a hidden store. */
const PREVIEW: Caller = { lane: 'known', name: 'preview' }

/** The store and actor of a save, and the scanner that checks the manifest. */
export interface Writer {
  db: TenantDb
  actor: audit.Actor
  scanner: Scanner
}

/** Saves a manifest as the next version. The public site does not change. */
export async function saveDraft({ db, actor, scanner }: Writer, manifest: ReceivedManifest) {
  requireReadablePolicies(manifest)
  const { rulesVersion } = await healthClaims.requireClean(manifest.value, {
    scanner,
    store: db.tenant,
  })
  const warnings = listWarnings(manifest)
  const saved = await db.transaction('sites: save draft', async (tx) => {
    const version = await insert(tx, actor, manifest, rulesVersion)
    await record(tx, actor, 'manifest.draft_saved', { after: version })
    return version
  })
  return { version: saved.version, rowHash: saved.rowHash, warnings }
}

/** Saves a manifest and publishes it. */
export async function saveActive(writer: Writer, manifest: ReceivedManifest) {
  requireReadablePolicies(manifest)
  const { scanner, db } = writer
  const options = { scanner, store: db.tenant }
  const { rulesVersion, findings } = await healthClaims.requireClean(manifest.value, options)
  const action = 'manifest.published'
  const saved = await saveAndPublish(writer, manifest, { rulesVersion, action })
  return { ...saved, findings }
}

/** Saves and publishes a manifest despite health claims, by an operator with a written reason. */
export async function saveOverridden(writer: Writer, manifest: ReceivedManifest, reason: string) {
  requireReadablePolicies(manifest)
  const { scanner, db } = writer
  const options = { scanner, store: db.tenant }
  const { rulesVersion, findings, passed } = await healthClaims.scan(manifest.value, options)
  const action = passed ? 'manifest.published' : 'manifest.published.guardrails_override'
  const saved = await saveAndPublish(writer, manifest, { rulesVersion, action, reason })
  return { ...saved, findings: findings.filter(({ severity }) => severity !== 'CRITICAL') }
}

async function saveAndPublish(
  { db, actor }: Writer,
  manifest: ReceivedManifest,
  { rulesVersion, action, reason }: { rulesVersion: string; action: string; reason?: string },
) {
  const warnings = listWarnings(manifest)
  const saved = await db.transaction('sites: save and publish', async (tx) => {
    const version = await insert(tx, actor, manifest, rulesVersion)
    await activate(tx, actor, version, { action, reason })
    return version
  })
  return { version: saved.version, rowHash: saved.rowHash, warnings }
}

/**
 * Publishes a saved version, newer or older. Nothing is scanned again, changed or deleted; the warnings of its
 * manifest are repeated.
 */
export function publish(db: TenantDb, actor: audit.Actor, version: number) {
  return db.transaction('sites: publish', async (tx) => {
    const found = await getVersion(tx, version)
    const manifest = { value: JSON.parse(found.manifest) as Manifest, text: found.manifest }
    requireReadablePolicies(manifest)
    await activate(tx, actor, found, { action: 'manifest.published' })
    return { version: found.version, rowHash: found.rowHash, warnings: listWarnings(manifest) }
  })
}

/** Refuses policies that cannot be read: shoppers would pay no shipping, or no tax. */
function requireReadablePolicies({ value }: ReceivedManifest): void {
  const { shipping, tax } = listPolicyFaults(value.behavior)
  const issues = [...shipping, ...tax, ...listMisspeltPolicies(value)].map(({ path, message }) => ({
    path: `manifest${path.replaceAll('/', '.')}`,
    message,
  }))
  if (issues.length > 0) throw new ApiError('unreadable_policy', { body: { issues } })
}

async function insert(
  tx: Tx,
  actor: audit.Actor,
  manifest: ReceivedManifest,
  rulesVersion: string,
) {
  await queries.lockVersions(tx)
  const inserted = await queries.insertVersion(tx, {
    manifest: manifest.text,
    rowHash: hashOf(manifest),
    brandName: brandNameOf(manifest),
    rulesVersion,
    createdBy: actor.name,
  })
  // Any version can be published again, so it uses its assets until it is removed itself.
  await media.recordManifestAssets(
    tx,
    { kind: 'site', id: String(inserted.version) },
    manifest.value,
  )
  return inserted
}

async function activate(
  tx: Tx,
  actor: audit.Actor,
  after: VersionRow,
  { action, reason }: { action: string; reason?: string | undefined },
) {
  const before = await stores.setActiveVersion(tx, after.version)
  await record(tx, actor, action, { before: { version: before }, after, reason })
  await notifyChanged(tx)
}

function record(
  tx: Tx,
  actor: audit.Actor,
  action: string,
  {
    before,
    after,
    reason,
  }: {
    before?: { version: number | null }
    after: { version: number; rowHash: string }
    reason?: string | undefined
  },
) {
  return audit.record(tx, actor, {
    action,
    entity: `site:${tx.tenant}`,
    ...(before === undefined ? {} : { before }),
    after: { version: after.version, rowHash: after.rowHash },
    reason,
  })
}

async function getVersion(db: Db, version: number): Promise<FullVersion> {
  const known = Number.isInteger(version) && version > 0 && version <= VERSION_MAX
  const found = known ? await queries.findVersion(db, version) : null
  if (found === null) throw refuse('version_not_found')
  return found
}

/** Reads the parsed manifest of one version, such as for the switches of a checkout. */
export const readManifest = async (db: Db, version: number): Promise<unknown> =>
  JSON.parse((await getVersion(db, version)).manifest)

/** Reads any kept version, and the number of the published one. */
export async function readVersion(db: Db, version: number) {
  const [found, { activeVersion }] = await Promise.all([getVersion(db, version), stores.get(db)])
  return { found, activeVersion }
}

/** The data of the site builder. If one part cannot be read, the whole call fails. */
export async function overview(db: TenantDb, page: Page) {
  for (let tries = 0; tries < OVERVIEW_TRIES_MAX; tries++) {
    const found = await db.transaction('sites: overview', (tx) => readOverview(tx, page))
    if (found !== null) return found
  }
  throw new ApiError('service_unavailable')
}

/**
 * Reads the parts of the overview. Returns null if another version became active meanwhile: the parts would not
 * match.
 */
async function readOverview(tx: Tx, page: Page) {
  const { activeVersion } = await stores.get(tx)
  const [{ rows, shown }, newest] = await Promise.all([
    queries.listVersions(tx, page),
    queries.findNewestNumber(tx),
  ])
  const [active, draft, after] = await Promise.all([
    activeVersion === null ? null : queries.findVersion(tx, activeVersion),
    newest === 0 || newest === activeVersion ? null : queries.findVersion(tx, newest),
    stores.get(tx),
  ])
  if (after.activeVersion !== activeVersion) return null
  return { active, draft, versions: rows, shown, newest, activeVersion }
}

export interface PreviewDeps {
  key: Buffer
  clock: Clock
}

export async function createPreviewToken(
  db: TenantDb,
  { key, clock }: PreviewDeps,
  version: number,
) {
  const found = await getVersion(db, version)
  const expiresAt = clock.now() + PREVIEW_MS
  const token = createToken(key, { tenant: db.tenant, version: found.version, expiresAt })
  return { token, version: found.version, expiresAt: new Date(expiresAt).toISOString() }
}

/** What a renderer sends to read a preview: a token and, optionally, the host on which it shows the draft. */
export interface PreviewRequest {
  token: string
  hostname: string | undefined
}

/**
 * Reads the version of a preview token. A suspended store has no previews, and a host shows only previews of the
 * store that it belongs to: otherwise a merchant could show a draft under the name of another store.
 */
export async function readPreview(
  database: Database,
  { key, clock }: PreviewDeps,
  { token, hostname }: PreviewRequest,
) {
  const preview = readToken(key, token, clock.now())
  if (preview === null) throw refuse('invalid_preview_token')
  const db = database.tenant(preview.tenant, PREVIEW)
  const [store, version, addOns, holder] = await Promise.all([
    stores.find(db),
    queries.findVersion(db, preview.version),
    entitlements.listShownToShoppers(db),
    hostname === undefined ? preview.tenant : findServedTenant(database, hostname),
  ])
  const isOwnHost = holder === preview.tenant
  if (store === null || store.status === 'suspended' || version === null || !isOwnHost) {
    throw refuse('invalid_preview_token')
  }
  return { store, version, addOns, expiresAt: new Date(preview.expiresAt).toISOString() }
}

/** A store with a version of its site, and the add-ons that its renderer must know. */
export interface FoundSite {
  store: Store
  version: FullVersion
  addOns: readonly string[]
}

/** Finds the public site of a live store. Returns null alike for a draft, a suspended and an unknown store. */
export async function findLive(db: Db): Promise<FoundSite | null> {
  const store = isTenantRef(db.tenant) ? await stores.findLive(db) : null
  if (store === null || store.activeVersion === null) return null
  const [version, addOns] = await Promise.all([
    queries.findVersion(db, store.activeVersion),
    entitlements.listShownToShoppers(db),
  ])
  // Only existing versions become active, and none is ever deleted.
  if (version === null) throw new Error(`the active version of ${db.tenant} is missing`)
  return { store, version, addOns }
}
