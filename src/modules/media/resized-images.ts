import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Db, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { BlobStore } from '../../platform/blobs.ts'
import type { ImageProcesses, PerformImageJob } from './image-processes.ts'
import { resize } from './process-image.ts'
import * as queries from './queries.ts'
import type { AssetRow, ResizedImage } from './schema.ts'
import { keyOf } from './service.ts'

/**
 * The available widths. They are few, so that no caller can cause endless work or fill the disk.
 */
export const WIDTHS = [160, 320, 480, 640, 960, 1_280, 1_920] as const

/** How many images of a store may wait to be resized. If more wait, a reader gets the original at once. */
const WAITING_MAX = 32

/**
 * The extension of resized images. No asset has it, so that neither can delete the bytes of the
 * other.
 */
const RESIZED_EXTENSION = 'form'

export const resizedKeyOf = (tenant: string, { form_sha256 }: ResizedImage) =>
  `${tenant}/${form_sha256}.${RESIZED_EXTENSION}`

/** The next larger available width; null if that is not smaller than the original. */
export function widthFor(requested: number, asset: AssetRow): number | null {
  const width = WIDTHS.find((each) => each >= requested)
  if (width === undefined || asset.content_type === 'image/svg+xml') return null
  return asset.width === null || asset.width <= width ? null : width
}

/** Whether the original replaces the resized image, which would take at least as many bytes. */
export const isOriginal = ({ form_sha256 }: ResizedImage, { sha256 }: AssetRow): boolean =>
  form_sha256 === sha256

export interface ResizerDeps {
  blobs: BlobStore
  images: ImageProcesses
}

/** Resizes images. Each is resized once, however many callers ask for it at the same time. */
export interface ImageResizer {
  /** Gets the resized image, which is created on first use. Returns null if too many others are waiting. */
  get(db: TenantDb, asset: AssetRow, width: number): Promise<ResizedImage | null>
  /** Resizes an image even if it was resized before: the bytes may be lost. */
  create(db: TenantDb, asset: AssetRow, width: number): Promise<ResizedImage | null>
}

export function createImageResizer({ blobs, images }: ResizerDeps): ImageResizer {
  const inProgress = new Map<string, Promise<ResizedImage>>()

  async function create(db: TenantDb, asset: AssetRow, width: number) {
    const name = `${db.tenant}/${asset.sha256}/${width}`
    const running = inProgress.get(name)
    if (running !== undefined) return running
    if (images.waitingOf(db.tenant) >= WAITING_MAX) return null
    const work = images
      .run(db.tenant, (perform) => createResized(db, blobs, { asset, width, perform }))
      .finally(() => inProgress.delete(name))
    inProgress.set(name, work)
    return work
  }

  return {
    create,
    async get(db, asset, width) {
      return (await queries.findResized(db, asset.sha256, width)) ?? create(db, asset, width)
    },
  }
}

interface Resizing {
  asset: AssetRow
  width: number
  perform: PerformImageJob
}

async function createResized(db: Db, blobs: BlobStore, { asset, width, perform }: Resizing) {
  const { content_type: contentType } = asset
  if (contentType === 'image/svg+xml' || contentType === 'font/woff2') {
    throw new Error('a drawing or a font has no smaller forms')
  }
  const original = await blobs.get(keyOf(db.tenant, asset))
  if (original === null) throw new Error(`the bytes of asset ${asset.sha256} are missing`)
  const bytes = await resize(await buffer(original.stream), { contentType, width }, perform).catch(
    nullIfTooCostly,
  )
  const resized = smallerOf(asset, bytes)
  if (bytes !== null && !isOriginal(resized, asset)) {
    await blobs.put(resizedKeyOf(db.tenant, resized), bytes, { contentType })
  }
  await queries.saveResized(db, asset.sha256, width, resized)
  return resized
}

/**
 * Returns null for an image that cannot be resized, which is then shown as it is. Otherwise each of its readers
 * would cause another attempt.
 */
function nullIfTooCostly(error: unknown): null {
  if (error instanceof ApiError && error.code === 'image_invalid') return null
  throw error
}

/**
 * Returns the smaller of the original and the resized image. Any reader can ask for resized images, and
 * they do not count against the store's limit. So none takes more bytes than its original: otherwise a few
 * small images could fill the disk.
 */
function smallerOf(asset: AssetRow, bytes: Buffer | null): ResizedImage {
  if (bytes === null || bytes.length >= asset.bytes)
    return { form_sha256: asset.sha256, bytes: asset.bytes }
  return { form_sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
}
