import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { ProductScan } from './schema.ts'

export const listScans = (db: Db, productIds: readonly string[]) =>
  db.many(
    ProductScan,
    sql`
    select product_id, text_hash, rules_version, passed
      from product_scans
     where tenant_ref = ${db.tenant} and product_id = any (${productIds}::uuid[])`,
  )

/** Stores verdicts, in the order of the ids, so that two feeds at once do not wait for each other. */
export const putScans = (db: Db, scans: readonly ProductScan[]) =>
  db.run(sql`
    insert into product_scans (tenant_ref, product_id, text_hash, rules_version, passed)
    select ${db.tenant}, s.product_id, s.text_hash, s.rules_version, s.passed
      from unnest(${scans.map(({ product_id }) => product_id)}::uuid[],
                  ${scans.map(({ text_hash }) => text_hash)}::bytea[],
                  ${scans.map(({ rules_version }) => rules_version)}::text[],
                  ${scans.map(({ passed }) => passed)}::boolean[])
           as s (product_id, text_hash, rules_version, passed)
     order by s.product_id
        on conflict (tenant_ref, product_id) do update
       set text_hash = excluded.text_hash, rules_version = excluded.rules_version,
           passed = excluded.passed, scanned_at = excluded.scanned_at`)
