import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import * as audit from '../../platform/audit.ts'
import type { BlobStore } from '../../platform/blobs.ts'
import type { WorkQueue } from '../../platform/work-queue.ts'
import * as queries from './queries.ts'
import {
  ASSET_BYTES_MAX,
  type Asset,
  type AssetRow,
  type AssetUse,
  CONTENT_TYPES,
  type ContentType,
  EXTENSIONS,
  type Extension,
} from './schema.ts'
import { type Fit, free, makeFit } from './workshop.ts'

/** What keeping an image needs. */
export interface MediaDeps {
  blobs: BlobStore
  workshop: WorkQueue
  /** What one store may keep. */
  bytesPerStore: number
  /** Where assets are served from; null: nowhere that we know. Known once we listen. */
  assetBase(): string | null
}

const REF = /^asset:(?<tenant>[a-z0-9-]{3,63})\/(?<sha256>[0-9a-f]{64})\.(?<extension>[a-z]{3,4})$/

const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set(Object.values(EXTENSIONS))

interface ParsedRef {
  sha256: string
  extension: Extension
}

function parse(ref: string): (ParsedRef & { tenant: string }) | null {
  const { tenant, sha256, extension } = REF.exec(ref)?.groups ?? {}
  if (tenant === undefined || sha256 === undefined || !KNOWN_EXTENSIONS.has(extension ?? '')) {
    return null
  }
  return { tenant, sha256, extension: extension as Extension }
}

/** Reads `asset:<tenant>/<sha256>.<ext>`. Null when it is malformed or another store's. */
export function parseAssetRef(tenant: string, ref: string): ParsedRef | null {
  const parsed = parse(ref)
  if (parsed === null || parsed.tenant !== tenant) return null
  return { sha256: parsed.sha256, extension: parsed.extension }
}

/** Where the public finds an asset. Null when the base is unset or the ref malformed. */
export function assetUrl(base: string | null, ref: string | null): string | null {
  const parsed = base === null || ref === null ? null : parse(ref)
  if (parsed === null) return null
  return `${base}/stores/${parsed.tenant}/assets/${parsed.sha256}.${parsed.extension}`
}

const refOf = (tenant: string, { sha256, extension }: Pick<AssetRow, 'sha256' | 'extension'>) =>
  `asset:${tenant}/${sha256}.${extension}`

/** Where the bytes lie in the blob store. */
export const keyOf = (
  tenant: string,
  { sha256, extension }: { sha256: string; extension: string },
) => `${tenant}/${sha256}.${extension}`

/**
 * Says which assets a product or a site uses, all of them: what was claimed before and is not named
 * again is let go. Every ref must be one of the store's own. Whoever deletes an asset at the same
 * time either sees the claim or comes first, and then the claim is refused.
 */
export async function claimAssets(tx: Tx, owner: AssetUse, refs: readonly string[]): Promise<void> {
  const wanted = refs.map((ref) => parseAssetRef(tx.tenant, ref))
  const hashes = [...new Set(wanted.map((each) => each?.sha256 ?? ''))].sort()
  const found = hashes.length === 0 ? [] : await queries.shareAssets(tx, hashes)
  const known = new Set(found.map((each) => keyOf(tx.tenant, each)))
  if (wanted.some((each) => each === null || !known.has(keyOf(tx.tenant, each)))) {
    throw new ApiError('asset_not_found')
  }
  await replaceUses(tx, owner, hashes)
}

/**
 * For a manifest, which is kept as it came: every ref of the store's own that stands in it counts
 * as used, whether there is such an asset or not (yet).
 */
export async function noteAssets(tx: Tx, owner: AssetUse, manifest: unknown): Promise<void> {
  const text = JSON.stringify(manifest)
  const refs = text.matchAll(/asset:[a-z0-9-]{3,63}\/[0-9a-f]{64}\.[a-z]{3,4}/g)
  const named = [...refs].flatMap(([ref]) => parseAssetRef(tx.tenant, ref)?.sha256 ?? [])
  if (named.length === 0) return
  const hashes = [...new Set(named)].sort()
  await queries.shareAssets(tx, hashes)
  await replaceUses(tx, owner, hashes)
}

async function replaceUses(tx: Tx, owner: AssetUse, hashes: readonly string[]) {
  await Promise.all([queries.dropUses(tx, owner, hashes), queries.insertUses(tx, owner, hashes)])
}

/** What a caller says about an upload's type. Anything we do not take is 415. */
export function readContentType(declared: string | undefined): ContentType {
  const named = (declared ?? '').split(';', 1)[0]?.trim().toLowerCase()
  const type = named === 'image/jpg' ? 'image/jpeg' : named
  const known = CONTENT_TYPES.find((each) => each === type)
  if (known === undefined) {
    throw new ApiError('unsupported_media_type', {
      message: `The content type is not supported. Upload one of ${CONTENT_TYPES.join(', ')}.`,
    })
  }
  return known
}

/** Keeps an image that is in memory already. */
export function keepAsset(
  db: TenantDb,
  deps: MediaDeps,
  bytes: Buffer,
  contentType: string,
  alt?: string,
): Promise<Asset> {
  const read = async () => ({ bytes, contentType, alt: alt ?? null, isOurs: false })
  return upload(db, deps, { actor: audit.SYSTEM, read })
}

export interface Given {
  bytes: Buffer
  contentType: string
  alt: string | null
  /** Nobody else holds the bytes, so that they can be freed when the image is kept. */
  isOurs: boolean
}

/** Keeps an image. Its bytes are read only when there is room to work on them. */
export async function upload(
  db: TenantDb,
  deps: MediaDeps,
  { actor, read }: { actor: audit.Actor; read: () => Promise<Given> },
): Promise<Asset> {
  return deps.workshop.run(async () => {
    const given = await read()
    const used = given.isOurs ? [given.bytes] : []
    try {
      if (given.bytes.length > ASSET_BYTES_MAX) throw new ApiError('asset_too_large')
      const type = readContentType(given.contentType)
      const fit = await makeFit(given.bytes, type)
      if (fit.bytes !== given.bytes) used.push(fit.bytes)
      // What was encoded anew may have grown.
      if (fit.bytes.length > ASSET_BYTES_MAX) throw new ApiError('asset_too_large')
      const { row, deduped } = await keep(db, deps, actor, { fit, type, alt: given.alt })
      return show(db.tenant, deps, row, deduped)
    } finally {
      used.forEach(free)
    }
  })
}

/** The collector takes seconds; whoever meets it waits that long. */
const TRIES_MAX = 20
const RETRY_MS = 250

interface Kept {
  fit: Fit
  type: ContentType
  alt: string | null
}

/**
 * A row first, then the bytes, then the word that they are there: so the collector, which takes
 * bytes away only under a row that says so, can never take those of an asset that is being
 * uploaded.
 */
async function keep(db: TenantDb, deps: MediaDeps, actor: audit.Actor, { fit, type, alt }: Kept) {
  const { blobs, bytesPerStore } = deps
  const asset = {
    sha256: createHash('sha256').update(fit.bytes).digest('hex'),
    extension: EXTENSIONS[type],
    content_type: type,
    bytes: fit.bytes.length,
    width: fit.width,
    height: fit.height,
  }
  const key = keyOf(db.tenant, asset)
  const before = await reserve(db, asset, bytesPerStore)
  const there = before.stored && (await blobs.head(key)) !== null
  if (!there) await blobs.put(key, fit.bytes, { contentType: type })
  return db.transaction('media: keep', async (tx) => {
    const made = await queries.completeAsset(tx, asset.sha256, alt)
    if (made === null) return { row: await get(tx, asset.sha256), deduped: true }
    const after = { content_type: type, bytes: made.bytes }
    await audit.record(tx, actor, { action: 'asset.uploaded', entity: entityOf(made), after })
    return { row: made, deduped: false }
  })
}

async function reserve(db: TenantDb, asset: queries.NewAsset, bytesMax: number) {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const reserved = await db.transaction('media: reserve', async (tx) => {
      const made = await queries.insertAsset(tx, asset)
      if (made === null) return queries.holdAsset(tx, asset.sha256)
      const { bytes } = await queries.readUsage(tx)
      if (bytes > bytesMax) throw new ApiError('media_limit_reached')
      return made
    })
    if (reserved !== null) return reserved
    await sleep(RETRY_MS)
  }
  throw new ApiError('service_unavailable')
}

const entityOf = ({ sha256 }: Pick<AssetRow, 'sha256'>) => `asset:${sha256}`

function show(
  tenant: string,
  { assetBase }: Pick<MediaDeps, 'assetBase'>,
  { extension, ...row }: AssetRow,
  deduped = false,
): Asset {
  const asset_ref = refOf(tenant, { sha256: row.sha256, extension })
  return { asset_ref, url: assetUrl(assetBase(), asset_ref), ...row, deduped }
}

const HASH = /^[0-9a-f]{64}$/

async function get(db: Db, sha256: string): Promise<AssetRow> {
  const row = HASH.test(sha256) ? await queries.findAsset(db, sha256) : null
  if (row === null) throw new ApiError('asset_not_found')
  return row
}

type Shown = Pick<MediaDeps, 'assetBase'>

export const read = async (db: Db, deps: Shown, sha256: string) =>
  show(db.tenant, deps, await get(db, sha256))

/** The store's assets, newest first. */
export async function list(db: Db, deps: Shown, filters: queries.AssetFilters, page: Page) {
  const [rows, { total }] = await Promise.all([
    queries.listAssets(db, filters, page),
    queries.countAssets(db, filters),
  ])
  return { assets: rows.map((row) => show(db.tenant, deps, row)), total, ...page }
}

/** Who changes what, and which asset. */
interface Change {
  actor: audit.Actor
  sha256: string
}

async function lock(tx: Tx, sha256: string): Promise<AssetRow> {
  const row = HASH.test(sha256) ? await queries.lockAsset(tx, sha256) : null
  if (row === null) throw new ApiError('asset_not_found')
  return row
}

export function setAlt(db: TenantDb, deps: Shown, { actor, sha256 }: Change, alt: string | null) {
  return db.transaction('media: set alt', async (tx) => {
    const before = await lock(tx, sha256)
    const after = await queries.updateAlt(tx, sha256, alt)
    const entry = { before: { alt: before.alt }, after: { alt: after.alt } }
    await audit.record(tx, actor, { action: 'asset.changed', entity: entityOf(after), ...entry })
    return show(tx.tenant, deps, after)
  })
}

/** Enough to go and look; a store may use one logo a thousand times. */
const USES_SHOWN_MAX = 100

/** Deletes what nobody uses. The bytes are served no more, and go after 30 days. */
export function remove(db: TenantDb, deps: Shown, { actor, sha256 }: Change) {
  return db.transaction('media: delete', async (tx) => {
    const row = await lock(tx, sha256)
    const refs = await queries.listUses(tx, sha256, USES_SHOWN_MAX)
    if (refs.length > 0) throw new ApiError('asset_in_use', { body: { refs } })
    await queries.deleteAsset(tx, sha256)
    await audit.record(tx, actor, { action: 'asset.deleted', entity: entityOf(row) })
    return show(tx.tenant, deps, row)
  })
}
