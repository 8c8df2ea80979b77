import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { FullVersion, VersionRow } from './schema.ts'

const columns = sql`version, row_hash as "rowHash", created_at as "createdAt",
                    brand_name as "brandName"`

/** Serialises the saves of a store's site, so that each gets the next number. */
export const lockVersions = (db: Db) =>
  db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${db.tenant}/site versions`}, 0))`)

interface NewVersion {
  manifest: string
  rowHash: string
  brandName: string | null
  rulesVersion: string
  createdBy: string
}

/** Inserts a version with the next number, without a gap. Call it after `lockVersions`. */
export const insertVersion = (db: Db, row: NewVersion) =>
  db.one(
    VersionRow,
    sql`
    insert into site_versions
           (tenant_ref, version, manifest, row_hash, brand_name, rules_version, created_by)
    select ${db.tenant}, coalesce(max(version), 0) + 1, ${row.manifest}, ${row.rowHash},
           ${row.brandName}, ${row.rulesVersion}, ${row.createdBy}
      from site_versions
     where tenant_ref = ${db.tenant}
    returning ${columns}`,
  )

export const findVersion = (db: Db, version: number) =>
  db.maybe(
    FullVersion,
    sql`
    select ${columns}, manifest
      from site_versions
     where tenant_ref = ${db.tenant} and version = ${version}`,
  )

/** Lists the versions of the site, newest first. */
export const listVersions = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: VersionRow,
      table: sql`site_versions`,
      as: sql`v`,
      scope: sql`v.tenant_ref = ${db.tenant}`,
      filters: [],
      key: [{ name: sql`version`, type: 'integer' }],
      descending: true,
      columns: sql`v.version, row_hash as "rowHash", created_at as "createdAt",
                   brand_name as "brandName"`,
    },
    page,
  )

/** Returns the number of the newest version, which is how many versions were ever saved; 0 without one. */
export const findNewestNumber = async (db: Db): Promise<number> => {
  const { newest } = await db.one(
    Type.Object({ newest: Type.Integer() }),
    sql`select coalesce(max(version), 0) as newest from site_versions where tenant_ref = ${db.tenant}`,
  )
  return newest
}
