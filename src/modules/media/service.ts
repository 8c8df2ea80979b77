import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import * as audit from '../../platform/audit.ts'
import type { BlobStore } from '../../platform/blobs.ts'
import { refuse } from './errors.ts'
import type { ImageProcesses, PerformImageJob } from './image-processes.ts'
import { freeBuffer, type ProcessedImage, processImage } from './process-image.ts'
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

/** The dependencies of storing an image. */
export interface MediaDeps {
  blobs: BlobStore
  images: ImageProcesses
  /** The limit of all assets of one store. */
  bytesPerStore: number
  /** The base URL of assets; null if there is none. It is known once the server listens. */
  assetBase(): string | null
}

const REF =
  /^asset:(?<tenant>[a-z0-9-]{3,63})\/(?<sha256>[0-9a-f]{64})\.(?<extension>[a-z0-9]{3,5})$/

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

/** Parses `asset:<tenant>/<sha256>.<ext>`. Returns null if it is malformed or belongs to another store. */
export function parseAssetRef(tenant: string, ref: string): ParsedRef | null {
  const parsed = parse(ref)
  if (parsed === null || parsed.tenant !== tenant) return null
  return { sha256: parsed.sha256, extension: parsed.extension }
}

/** Returns the public URL of an asset, or null if the base is unset or the ref malformed. */
export function assetUrl(base: string | null, ref: string | null): string | null {
  const parsed = base === null || ref === null ? null : parse(ref)
  if (parsed === null) return null
  return `${base}/stores/${parsed.tenant}/assets/${parsed.sha256}.${parsed.extension}`
}

const refOf = (tenant: string, { sha256, extension }: Pick<AssetRow, 'sha256' | 'extension'>) =>
  `asset:${tenant}/${sha256}.${extension}`

/** The key of the bytes in the blob store. */
export const keyOf = (
  tenant: string,
  { sha256, extension }: { sha256: string; extension: string },
) => `${tenant}/${sha256}.${extension}`

/**
 * Sets the images that a product uses. Earlier uses that are not named again end. Every ref must be
 * an image of the store. A concurrent deletion of an asset either sees the use and is
 * refused, or comes first, and then this call is refused.
 */
export async function setAssetUses(
  tx: Tx,
  owner: AssetUse,
  refs: readonly string[],
): Promise<void> {
  const parsed = refs.map((ref) => parseAssetRef(tx.tenant, ref))
  const hashes = [...new Set(parsed.map((each) => each?.sha256 ?? ''))].sort()
  const found = hashes.length === 0 ? [] : await queries.lockAssets(tx, hashes)
  const known = new Set(found.map((each) => keyOf(tx.tenant, each)))
  const isImage = (each: ParsedRef | null) =>
    each !== null && each.extension !== 'woff2' && known.has(keyOf(tx.tenant, each))
  if (!parsed.every(isImage)) {
    throw new ApiError('asset_not_found')
  }
  await replaceUses(tx, owner, hashes)
}

/**
 * Records the assets that a manifest uses. A manifest is stored as it came: every ref of the store
 * in it counts as used, even if the asset does not exist (yet).
 */
export async function recordManifestAssets(
  tx: Tx,
  owner: AssetUse,
  manifest: unknown,
): Promise<void> {
  const text = JSON.stringify(manifest)
  const refs = text.matchAll(/asset:[a-z0-9-]{3,63}\/[0-9a-f]{64}\.[a-z0-9]{3,5}/g)
  const named = [...refs].flatMap(([ref]) => parseAssetRef(tx.tenant, ref)?.sha256 ?? [])
  if (named.length === 0) return
  const hashes = [...new Set(named)].sort()
  await queries.lockAssets(tx, hashes)
  await replaceUses(tx, owner, hashes)
}

async function replaceUses(tx: Tx, owner: AssetUse, hashes: readonly string[]) {
  await Promise.all([queries.deleteUses(tx, owner, hashes), queries.insertUses(tx, owner, hashes)])
}

/**
 * Reads the declared content type of an upload. A type that is not accepted is refused with 415.
 */
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

/** Stores an image that is in memory already. */
export function storeAsset(
  db: TenantDb,
  deps: MediaDeps,
  image: Omit<UploadedImage, 'mayFree'>,
): Promise<Asset> {
  const read = async () => ({ ...image, mayFree: false })
  return upload(db, deps, { actor: audit.SYSTEM, read })
}

export interface UploadedImage {
  bytes: Buffer
  contentType: string
  alt: string | null
  /** No other code uses the bytes, so that they can be freed once the image is stored. */
  mayFree: boolean
}

interface Upload {
  actor: audit.Actor
  /** Reads the bytes. It is called only when the image's turn comes. */
  read: () => Promise<UploadedImage>
  /** Aborted when the caller no longer waits. */
  signal?: AbortSignal
}

/** Stores an image. An image whose caller is gone is not processed further. */
export async function upload(
  db: TenantDb,
  deps: MediaDeps,
  { actor, read, signal }: Upload,
): Promise<Asset> {
  const work = async (perform: PerformImageJob) => {
    const uploaded = await read()
    const used = uploaded.mayFree ? [uploaded.bytes] : []
    try {
      if (uploaded.bytes.length > ASSET_BYTES_MAX) throw refuse('asset_too_large')
      const type = readContentType(uploaded.contentType)
      const image = await processImage(uploaded.bytes, type, perform)
      if (image.bytes !== uploaded.bytes) used.push(image.bytes)
      // An image that was encoded again may have grown.
      if (image.bytes.length > ASSET_BYTES_MAX) throw refuse('asset_too_large')
      const { row, deduped } = await store(db, deps, actor, { image, type, alt: uploaded.alt })
      return toAsset(db.tenant, deps, row, deduped)
    } finally {
      used.forEach(freeBuffer)
    }
  }
  return deps.images.run(db.tenant, work, signal)
}

/** How often an upload waits for the collector, which takes seconds to remove the same bytes. */
const TRIES_MAX = 20
const RETRY_MS = 250

interface NewAsset {
  image: ProcessedImage
  type: ContentType
  alt: string | null
}

/**
 * Inserts the row, stores the bytes, and then records that they are stored. The collector deletes
 * bytes only by a row that allows it, so it can never delete those of an asset that is being
 * uploaded.
 */
async function store(
  db: TenantDb,
  deps: MediaDeps,
  actor: audit.Actor,
  { image, type, alt }: NewAsset,
) {
  const { blobs, bytesPerStore } = deps
  const asset = {
    sha256: createHash('sha256').update(image.bytes).digest('hex'),
    extension: EXTENSIONS[type],
    content_type: type,
    bytes: image.bytes.length,
    width: image.width,
    height: image.height,
  }
  const key = keyOf(db.tenant, asset)
  const before = await reserve(db, asset, bytesPerStore)
  const isStored = before.stored && (await blobs.head(key)) !== null
  if (!isStored) await blobs.put(key, image.bytes, { contentType: type })
  return db.transaction('media: keep', async (tx) => {
    const row = await queries.completeAsset(tx, asset.sha256, alt)
    if (row === null) return { row: await get(tx, asset.sha256), deduped: true }
    const after = { content_type: type, bytes: row.bytes }
    await audit.record(tx, actor, { action: 'asset.uploaded', entity: entityOf(row), after })
    return { row, deduped: false }
  })
}

async function reserve(db: TenantDb, asset: queries.NewAsset, bytesMax: number) {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const reserved = await db.transaction('media: reserve', async (tx) => {
      const inserted = await queries.insertAsset(tx, asset)
      if (inserted === null) return queries.postponeCollection(tx, asset.sha256)
      const { bytes } = await queries.readUsage(tx)
      if (bytes > bytesMax) {
        const used = bytes - asset.bytes
        throw new ApiError('media_limit_reached', { body: { max: bytesMax, used } })
      }
      return inserted
    })
    if (reserved !== null) return reserved
    await sleep(RETRY_MS)
  }
  throw new ApiError('service_unavailable')
}

/** Reads how many bytes all assets of the store have. */
export const readUsedBytes = async (db: Db) => (await queries.findUsage(db))?.bytes ?? 0

const entityOf = ({ sha256 }: Pick<AssetRow, 'sha256'>) => `asset:${sha256}`

function toAsset(
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

type UrlDeps = Pick<MediaDeps, 'assetBase'>

export const read = async (db: Db, deps: UrlDeps, sha256: string) =>
  toAsset(db.tenant, deps, await get(db, sha256))

/** Reads the bytes of one of the store's images. Returns null if there is none of that name, or if it is too large. */
export async function readImage(
  db: Db,
  { blobs }: Pick<MediaDeps, 'blobs'>,
  ref: string,
  bytesMax: number,
): Promise<Buffer | null> {
  const parsed = parseAssetRef(db.tenant, ref)
  const row = parsed === null ? null : await queries.findAsset(db, parsed.sha256)
  if (row === null || row.content_type === 'font/woff2' || row.bytes > bytesMax) return null
  const blob = await blobs.get(keyOf(db.tenant, row))
  return blob === null ? null : buffer(blob.stream)
}

/** The store's assets, newest first. */
export async function list(db: Db, deps: UrlDeps, filters: queries.AssetFilters, page: Page) {
  const { rows, shown } = await queries.listAssets(db, filters, page)
  return { assets: rows.map((row) => toAsset(db.tenant, deps, row)), ...shown }
}

/** The actor of a change, and the asset. */
interface Change {
  actor: audit.Actor
  sha256: string
}

async function lock(tx: Tx, sha256: string): Promise<AssetRow> {
  const row = HASH.test(sha256) ? await queries.lockAsset(tx, sha256) : null
  if (row === null) throw new ApiError('asset_not_found')
  return row
}

export function setAlt(db: TenantDb, deps: UrlDeps, { actor, sha256 }: Change, alt: string | null) {
  return db.transaction('media: set alt', async (tx) => {
    const before = await lock(tx, sha256)
    const after = await queries.updateAlt(tx, sha256, alt)
    const entry = { before: { alt: before.alt }, after: { alt: after.alt } }
    await audit.record(tx, actor, { action: 'asset.changed', entity: entityOf(after), ...entry })
    return toAsset(tx.tenant, deps, after)
  })
}

/** How many uses are shown: enough to find them; a store may use one logo a thousand times. */
const USES_SHOWN_MAX = 100

/** Deletes an unused asset. Its bytes are no longer served, and are removed after 30 days. */
export function remove(db: TenantDb, deps: UrlDeps, { actor, sha256 }: Change) {
  return db.transaction('media: delete', async (tx) => {
    const row = await lock(tx, sha256)
    const refs = await queries.listUses(tx, sha256, USES_SHOWN_MAX)
    if (refs.length > 0) throw refuse('asset_in_use', { body: { refs } })
    await queries.deleteAsset(tx, sha256)
    await audit.record(tx, actor, { action: 'asset.deleted', entity: entityOf(row) })
    return toAsset(tx.tenant, deps, row)
  })
}
