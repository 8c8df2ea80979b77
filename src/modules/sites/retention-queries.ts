import { machineTime, sql } from '../../db/sql.ts'
import type { Slice } from '../../platform/slices.ts'

export const siteVersionsSlice: Slice = {
  table: 'site_versions',
  from: sql`site_versions`,
  // A merchant can always go back to the version before.
  keep: sql`exists (select from stores as s
                     where s.tenant_ref = t.tenant_ref
                       and t.version in (s.active_version, s.previous_version))`,
  // The database refuses to delete younger ones, whatever the setting is.
  old: (newest) => sql`t.created_at < ${machineTime} - interval '28 days'
    and t.version <= (select max(v.version) from site_versions as v
                       where v.tenant_ref = t.tenant_ref) - ${newest}::int`,
  key: sql`version`,
  order: sql`version`,
  together: sql`, uses as (
    delete from asset_refs as r using gone
     where r.tenant_ref = gone.tenant_ref and r.owner_kind = 'site'
       and r.owner_id = gone.version::text
  )`,
}
