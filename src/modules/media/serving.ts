import type { Database, TenantDb } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isTenantRef } from '../../kernel/schema.ts'
import type { BlobRange, BlobStore } from '../../platform/blobs.ts'
import * as stores from '../stores/service.ts'
import { type Forms, formKey, isOriginal, rungFor } from './forms.ts'
import * as queries from './queries.ts'
import type { AssetRow } from './schema.ts'
import { keyOf, parseAssetRef } from './service.ts'

/** What is handed to the public: an asset, or a smaller form of it. */
export interface Served {
  db: TenantDb
  asset: AssetRow
  key: string
  bytes: number
  /** Of these very bytes, in hex. */
  hash: string
  /** The width of a form; null for the original. */
  width: number | null
  /** A form was asked for and could not be made just now. */
  makeshift: boolean
}

/**
 * Finds an asset by the file name in its address. The names cannot be guessed, so a draft store's
 * are served too: its owner has to see what is being built. A suspended store shows nothing.
 */
export async function find(
  database: Database,
  forms: Forms,
  { tenant, file, width }: { tenant: string; file: string; width: number | null },
): Promise<Served> {
  const ref = isTenantRef(tenant) ? parseAssetRef(tenant, `asset:${tenant}/${file}`) : null
  if (ref === null) throw new ApiError('asset_not_found')
  const db = database.tenant(tenant)
  const [store, asset] = await Promise.all([stores.find(db), queries.findAsset(db, ref.sha256)])
  if (store === null || store.status === 'suspended' || asset?.extension !== ref.extension) {
    throw new ApiError('asset_not_found')
  }
  const original = { db, asset, key: keyOf(tenant, asset), bytes: asset.bytes, hash: asset.sha256 }
  const rung = width === null ? null : rungFor(width, asset)
  if (rung === null) return { ...original, width: null, makeshift: false }
  const form = await forms.get(db, asset, rung)
  if (form === null) return { ...original, width: null, makeshift: true }
  if (isOriginal(form, asset)) return { ...original, width: null, makeshift: false }
  const { form_sha256: hash, bytes } = form
  return { db, asset, key: formKey(tenant, form), bytes, hash, width: rung, makeshift: false }
}

/** Opens the bytes. A form whose bytes were lost is made again; an original cannot be. */
export async function open(blobs: BlobStore, forms: Forms, served: Served, range?: BlobRange) {
  const options = range === undefined ? {} : { range }
  const blob = await blobs.get(served.key, options)
  if (blob !== null) return blob.stream
  const { db, asset, width } = served
  const form = width === null ? null : await forms.make(db, asset, width)
  const again = form?.form_sha256 === served.hash ? await blobs.get(served.key, options) : null
  if (again === null) throw new Error(`the bytes of asset ${asset.sha256} are missing`)
  return again.stream
}

/** What a `Range` header asks for: a part, all of it, or nothing that there is. */
export type Asked = { start: number; end: number } | 'all' | 'beyond'

/** One range of bytes. Several at once, other units and nonsense are answered with all of it. */
export function readRange(header: string | undefined, bytes: number): Asked {
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
