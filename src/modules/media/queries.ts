import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { defineQueue, type Lease } from '../../platform/leases.ts'
import {
  AssetRow,
  AssetState,
  AssetUse,
  CollectableAsset,
  type ContentType,
  type Extension,
  ResizedImage,
} from './schema.ts'

const columns = sql`assets.sha256, extension, content_type, bytes, width, height, alt,
                    assets.created_at`

/** The condition that an asset is uploaded and not deleted. */
const present = sql`stored_at is not null and deleted_at is null`

export const findAsset = (db: Db, sha256: string) =>
  db.maybe(
    AssetRow,
    sql`
    select ${columns} from assets
     where tenant_ref = ${db.tenant} and sha256 = ${sha256} and ${present}`,
  )

/** Locks an asset against changes and new uses until the transaction ends. */
export const lockAsset = (tx: Tx, sha256: string) =>
  tx.maybe(
    AssetRow,
    sql`
    select ${columns} from assets
     where tenant_ref = ${tx.tenant} and sha256 = ${sha256} and ${present}
       for update`,
  )

/**
 * Locks those of the assets that the store has, so that none is deleted until the transaction ends. No
 * shared lock: the first use of an asset also changes its row.
 */
export const lockAssets = (tx: Tx, hashes: readonly string[]) =>
  tx.many(
    CollectableAsset,
    sql`
    select sha256, extension from assets
     where tenant_ref = ${tx.tenant} and sha256 = any(${hashes}) and ${present}
     order by sha256
       for no key update`,
  )

export interface NewAsset {
  sha256: string
  extension: Extension
  content_type: ContentType
  bytes: number
  width: number | null
  height: number | null
}

const stateColumns = sql`
  ${columns}, stored_at is not null as stored, deleted_at is not null as deleted`

/**
 * Inserts the row of an asset before its bytes are stored. The collector ignores it for a day.
 * Returns null if the row exists.
 */
export const insertAsset = (tx: Tx, asset: NewAsset) =>
  tx.maybe(
    AssetState,
    sql`
    insert into assets (tenant_ref, sha256, extension, content_type, bytes, width, height,
                        collect_at)
    values (${tx.tenant}, ${asset.sha256}, ${asset.extension}, ${asset.content_type},
            ${asset.bytes}, ${asset.width}, ${asset.height}, fd_now() + interval '1 day')
        on conflict (tenant_ref, sha256) do nothing
    returning ${stateColumns}`,
  )

/** Postpones the collection by a day. Returns null if the collector is removing these bytes right now. */
export const postponeCollection = (tx: Tx, sha256: string) =>
  tx.maybe(
    AssetState,
    sql`
    update assets
       set collect_at = case when collect_at is not null
                             then greatest(collect_at, fd_now() + interval '1 day') end
     where tenant_ref = ${tx.tenant} and sha256 = ${sha256} and collecting_at is null
    returning ${stateColumns}`,
  )

/**
 * Reads how many bytes the store uses. After an insert in the same transaction the number is final, since other
 * inserts wait for the end of that transaction.
 */
export const readUsage = (tx: Tx) =>
  tx.one(
    Type.Object({ bytes: Type.Integer() }),
    sql`select bytes from media_usage where tenant_ref = ${tx.tenant}`,
  )

export const findUsage = (db: Db) =>
  db.maybe(
    Type.Object({ bytes: Type.Integer() }),
    sql`select bytes from media_usage where tenant_ref = ${db.tenant}`,
  )

/** Records that the bytes are stored. Returns null if another upload of the same bytes was first. */
export const completeAsset = (tx: Tx, sha256: string, alt: string | null) =>
  tx.maybe(
    AssetRow,
    sql`
    update assets
       set stored_at = coalesce(stored_at, fd_now()), deleted_at = null, collect_at = null,
           alt = ${alt}, created_at = fd_now(), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and sha256 = ${sha256} and collecting_at is null
       and (stored_at is null or deleted_at is not null)
    returning ${columns}`,
  )

export const updateAlt = (tx: Tx, sha256: string, alt: string | null) =>
  tx.one(
    AssetRow,
    sql`
    update assets set alt = ${alt}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and sha256 = ${sha256}
    returning ${columns}`,
  )

/** Marks an asset as deleted. Its bytes stay for 30 days, so that another upload can restore it. */
export const deleteAsset = (tx: Tx, sha256: string) =>
  tx.run(sql`
    update assets
       set deleted_at = fd_now(), collect_at = fd_now() + interval '30 days', updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and sha256 = ${sha256}`)

export interface AssetFilters {
  content_type?: ContentType | undefined
  unused: boolean
}

const assetsWhere = ({ content_type, unused }: AssetFilters) => [
  present,
  ...(content_type === undefined ? [] : [sql`content_type = ${content_type}`]),
  ...(unused ? [sql`not is_used`] : []),
]

/** Lists the assets of a store, newest first. */
export const listAssets = (db: Db, filters: AssetFilters, page: Page) =>
  readList(
    db,
    {
      shape: AssetRow,
      table: sql`assets`,
      as: sql`assets`,
      scope: sql`assets.tenant_ref = ${db.tenant}`,
      filters: assetsWhere(filters),
      key: [
        { name: sql`created_at`, type: 'timestamp' },
        { name: sql`sha256`, type: 'text' },
      ],
      descending: true,
      columns,
    },
    page,
  )

export const listUses = (db: Db, sha256: string, limit: number) =>
  db.many(
    AssetUse,
    sql`
    select owner_kind as kind, owner_id as id from asset_refs
     where tenant_ref = ${db.tenant} and sha256 = ${sha256}
     order by owner_kind, owner_id
     limit ${limit}`,
  )

export const deleteUses = (tx: Tx, owner: AssetUse, except: readonly string[]) =>
  tx.run(sql`
    delete from asset_refs
     where tenant_ref = ${tx.tenant} and owner_kind = ${owner.kind} and owner_id = ${owner.id}
       and not sha256 = any(${except})`)

export const insertUses = (tx: Tx, owner: AssetUse, hashes: readonly string[]) =>
  tx.run(sql`
    insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
    select ${tx.tenant}, hash, ${owner.kind}, ${owner.id} from unnest(${hashes}::text[]) as hash
    on conflict do nothing`)

export const findResized = (db: Db, sha256: string, width: number) =>
  db.maybe(
    ResizedImage,
    sql`
    select form_sha256, bytes from asset_forms
     where tenant_ref = ${db.tenant} and sha256 = ${sha256} and width = ${width}`,
  )

/** Inserts a resized image, or replaces one whose bytes may have been lost. */
export const saveResized = (db: Db, sha256: string, width: number, form: ResizedImage) =>
  db.run(sql`
    insert into asset_forms (tenant_ref, sha256, width, form_sha256, bytes)
    values (${db.tenant}, ${sha256}, ${width}, ${form.form_sha256}, ${form.bytes})
    on conflict (tenant_ref, sha256, width) do update
       set form_sha256 = excluded.form_sha256, bytes = excluded.bytes`)

export const listResized = (db: Db, sha256: string) =>
  db.many(
    ResizedImage,
    sql`
    select form_sha256, bytes from asset_forms
     where tenant_ref = ${db.tenant} and sha256 = ${sha256}`,
  )

/** The queue of assets whose row and bytes can be removed. */
export const collectableAssets = defineQueue({
  table: sql`assets`,
  due: sql`collect_at`,
  columns: sql`sha256, extension`,
  shape: CollectableAsset,
})

/** Marks an asset before its bytes are deleted. Returns false if it was uploaded again meanwhile. */
export const beginCollecting = async (db: Db, lease: Lease) =>
  (await db.run(sql`
    update assets set collecting_at = coalesce(collecting_at, fd_now())
     where tenant_ref = ${db.tenant} and id = ${lease.id} and lease_token = ${lease.lease_token}
       and collect_at <= fd_now()`)) === 1

export const endCollecting = (db: Db, lease: Lease) =>
  db.run(sql`
    delete from assets
     where tenant_ref = ${db.tenant} and id = ${lease.id} and lease_token = ${lease.lease_token}
       and collecting_at is not null`)
