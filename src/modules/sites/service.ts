import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { notifyChanged } from '../../platform/live-cache.ts'
import type { Scanner } from '../claims/scanner.ts'
import * as claims from '../claims/service.ts'
import * as media from '../media/service.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import { brandNameOf, type GivenManifest, hashOf, listWarnings } from './manifest.ts'
import { makeToken, readToken } from './preview.ts'
import * as queries from './queries.ts'
import type { FullVersion, VersionRow } from './schema.ts'

/** The contract's time to live of a preview token. */
const PREVIEW_MS = 30 * 60_000

/** The newest versions shown in the overview; older ones can still be published by number. */
const VERSIONS_MAX = 500

/** Somebody would have to publish in each of these few milliseconds. */
const OVERVIEW_TRIES_MAX = 10

/** Versions are numbered by a PostgreSQL integer. */
const VERSION_MAX = 2_147_483_647

/** Who writes where, and what every manifest has to pass. */
export interface Writer {
  db: TenantDb
  actor: audit.Actor
  scanner: Scanner
}

/** Keeps a manifest as the next version. What the public sees does not change. */
export async function saveDraft({ db, actor, scanner }: Writer, manifest: GivenManifest) {
  const { rulesVersion } = await claims.requireClean(manifest.value, { scanner, store: db.tenant })
  const warnings = await listWarnings(manifest)
  const saved = await db.transaction('sites: save draft', async (tx) => {
    const version = await insert(tx, actor, manifest, rulesVersion)
    await record(tx, actor, 'manifest.draft_saved', { after: version })
    return version
  })
  return { version: saved.version, rowHash: saved.rowHash, warnings }
}

/** Keeps a manifest and makes it the one the public sees. */
export async function saveActive(writer: Writer, manifest: GivenManifest) {
  const { scanner, db } = writer
  const options = { scanner, store: db.tenant }
  const { rulesVersion, findings } = await claims.requireClean(manifest.value, options)
  const action = 'manifest.published'
  const saved = await saveAndPublish(writer, manifest, { rulesVersion, action })
  return { ...saved, findings }
}

/** An operator's word over the claim scan, with the written reason for it. */
export async function saveOverridden(writer: Writer, manifest: GivenManifest, reason: string) {
  const { scanner, db } = writer
  const options = { scanner, store: db.tenant }
  const { rulesVersion, findings, passed } = await claims.scan(manifest.value, options)
  const action = passed ? 'manifest.published' : 'manifest.published.guardrails_override'
  const saved = await saveAndPublish(writer, manifest, { rulesVersion, action, reason })
  return { ...saved, findings: findings.filter(({ severity }) => severity !== 'CRITICAL') }
}

async function saveAndPublish(
  { db, actor }: Writer,
  manifest: GivenManifest,
  { rulesVersion, action, reason }: { rulesVersion: string; action: string; reason?: string },
) {
  const warnings = await listWarnings(manifest)
  const saved = await db.transaction('sites: save and publish', async (tx) => {
    const version = await insert(tx, actor, manifest, rulesVersion)
    await activate(tx, actor, version, { action, reason })
    return version
  })
  return { version: saved.version, rowHash: saved.rowHash, warnings }
}

/** Moves the pointer, forward or back. Nothing is scanned again, changed or deleted. */
export function publish(db: TenantDb, actor: audit.Actor, version: number) {
  return db.transaction('sites: publish', async (tx) => {
    const found = await getVersion(tx, version)
    await activate(tx, actor, found, { action: 'manifest.published' })
    return { version: found.version, rowHash: found.rowHash }
  })
}

async function insert(tx: Tx, actor: audit.Actor, manifest: GivenManifest, rulesVersion: string) {
  await queries.lockVersions(tx)
  const made = await queries.insertVersion(tx, {
    manifest: manifest.text,
    rowHash: hashOf(manifest),
    brandName: brandNameOf(manifest),
    rulesVersion,
    createdBy: actor.name,
  })
  // Any version can be published again, so none ever lets go of its pictures.
  await media.recordManifestAssets(tx, { kind: 'site', id: String(made.version) }, manifest.value)
  return made
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
  if (found === null) throw new ApiError('version_not_found')
  return found
}

/** One version's manifest, parsed: for whoever reads its switches. */
export const readManifest = async (db: Db, version: number): Promise<unknown> =>
  JSON.parse((await getVersion(db, version)).manifest)

/** Everything the site builder shows. One leg that fails is the failure of all. */
export async function overview(db: TenantDb) {
  for (let tries = 0; tries < OVERVIEW_TRIES_MAX; tries++) {
    const shown = await db.transaction('sites: overview', readOverview)
    if (shown !== null) return shown
  }
  throw new ApiError('service_unavailable')
}

/** Null when another version became active meanwhile: the parts would be of two moments. */
async function readOverview(tx: Tx) {
  const { activeVersion } = await stores.get(tx)
  const versions = await queries.listVersions(tx, VERSIONS_MAX)
  // None is left out and none is deleted, so the newest one's number is how many there are.
  const total = versions[0]?.version ?? 0
  const [active, draft, after] = await Promise.all([
    activeVersion === null ? null : queries.findVersion(tx, activeVersion),
    total === 0 || total === activeVersion ? null : queries.findVersion(tx, total),
    stores.get(tx),
  ])
  if (after.activeVersion !== activeVersion) return null
  return { active, draft, versions, total, activeVersion }
}

export interface PreviewDeps {
  key: Buffer
  clock: Clock
}

export async function mintPreview(db: TenantDb, { key, clock }: PreviewDeps, version: number) {
  const found = await getVersion(db, version)
  const expiresAt = clock.now() + PREVIEW_MS
  const token = makeToken(key, { tenant: db.tenant, version: found.version, expiresAt })
  return { token, version: found.version, expiresAt: new Date(expiresAt).toISOString() }
}

/** What a preview token shows. A store that is suspended shows nothing, however it is asked. */
export async function readPreview(database: Database, { key, clock }: PreviewDeps, token: string) {
  const preview = readToken(key, token, clock.now())
  if (preview === null) throw new ApiError('invalid_preview_token')
  const db = database.tenant(preview.tenant)
  const [store, version] = await Promise.all([
    stores.find(db),
    queries.findVersion(db, preview.version),
  ])
  if (store === null || store.status === 'suspended' || version === null) {
    throw new ApiError('invalid_preview_token')
  }
  return { store, version, expiresAt: new Date(preview.expiresAt).toISOString() }
}

/** What the public may see of a store, or null: draft, suspended and unknown are alike. */
export async function findLive(db: Db): Promise<{ store: Store; version: FullVersion } | null> {
  const store = isTenantRef(db.tenant) ? await stores.findLive(db) : null
  if (store === null || store.activeVersion === null) return null
  const version = await queries.findVersion(db, store.activeVersion)
  // The pointer moves only to versions that exist, and none is ever deleted.
  if (version === null) throw new Error(`the active version of ${db.tenant} is missing`)
  return { store, version }
}
