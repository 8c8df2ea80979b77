import type { Database, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import type { BlobRange, BlobStore } from '../../platform/blobs.ts'
import * as stores from '../stores/service.ts'
import * as queries from './queries.ts'
import { type ImageResizer, isOriginal, resizedKeyOf, widthFor } from './resized-images.ts'
import type { AssetRow } from './schema.ts'
import { keyOf, parseAssetRef } from './service.ts'

/** The bytes to send to the public: an asset, or a resized copy of it. */
export interface ServedAsset {
  db: TenantDb
  asset: AssetRow
  key: string
  bytes: number
  /** The hash of these bytes, in hex. */
  hash: string
  /** The width of a resized image; null for the original. */
  width: number | null
  /** Whether the original is sent because a resized image cannot be made right now. */
  isFallback: boolean
}

/**
 * Finds an asset by the file name in its URL. The names cannot be guessed, so assets of a draft
 * store are served too: its owner must see the site. A suspended store serves none.
 */
export async function find(
  database: Database,
  resizer: ImageResizer,
  { tenant, file, width }: { tenant: string; file: string; width: number | null },
): Promise<ServedAsset> {
  const ref = isTenantRef(tenant) ? parseAssetRef(tenant, `asset:${tenant}/${file}`) : null
  if (ref === null) throw new ApiError('asset_not_found')
  const db = database.tenant(tenant)
  const [store, asset] = await Promise.all([stores.find(db), queries.findAsset(db, ref.sha256)])
  if (store === null || store.status === 'suspended' || asset?.extension !== ref.extension) {
    throw new ApiError('asset_not_found')
  }
  const original = { db, asset, key: keyOf(tenant, asset), bytes: asset.bytes, hash: asset.sha256 }
  const resizedWidth = width === null ? null : widthFor(width, asset)
  if (resizedWidth === null) return { ...original, width: null, isFallback: false }
  const resized = await resizer.get(db, asset, resizedWidth)
  if (resized === null) return { ...original, width: null, isFallback: true }
  if (isOriginal(resized, asset)) return { ...original, width: null, isFallback: false }
  const { form_sha256: hash, bytes } = resized
  const key = resizedKeyOf(tenant, resized)
  return { db, asset, key, bytes, hash, width: resizedWidth, isFallback: false }
}

/** Opens the bytes of an asset. If those of a resized image are lost, it is made again; an original cannot be. */
export async function open(
  blobs: BlobStore,
  resizer: ImageResizer,
  served: ServedAsset,
  range?: BlobRange,
) {
  const options = range === undefined ? {} : { range }
  const blob = await blobs.get(served.key, options)
  if (blob !== null) return blob.stream
  const { db, asset, width } = served
  const resized = width === null ? null : await resizer.create(db, asset, width)
  const again = resized?.form_sha256 === served.hash ? await blobs.get(served.key, options) : null
  if (again === null) throw new Error(`the bytes of asset ${asset.sha256} are missing`)
  return again.stream
}

/** The range of a `Range` header: a part, all, or a part beyond the end. */
export type RequestedRange = { start: number; end: number } | 'all' | 'beyond'

/** Reads one range of bytes. For several ranges, other units and invalid headers it returns `all`. */
export function readRange(header: string | undefined, bytes: number): RequestedRange {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'all'
  if (first === '') {
    const length = Math.min(Number(last), bytes)
    return length === 0 ? 'beyond' : { start: bytes - length, end: bytes - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return 'all'
  if (start >= bytes) return 'beyond'
  return { start, end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) }
}
