import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const campaignRecipientsSlice: Slice = {
  table: 'campaign_recipients',
  from: sql`campaign_recipients`,
  // A paused campaign may be resumed, and must know which addresses it has reached.
  keep: sql`exists (select from campaigns as c
                     where c.tenant_ref = t.tenant_ref and c.id = t.campaign_id
                       and c.status in ('active', 'paused'))`,
  old: olderThan(sql`t.created_at`),
  key: sql`campaign_id, id`,
  order: sql`created_at`,
}
