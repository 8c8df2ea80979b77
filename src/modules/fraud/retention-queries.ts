import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const fraudDecisionsSlice: Slice = {
  table: 'fraud_decisions',
  from: sql`fraud_decisions`,
  keep: sql`exists (select from orders as o
                     where o.tenant_ref = t.tenant_ref and o.id = t.order_id
                       and o.hold_at is not null)`,
  old: olderThan(sql`t.created_at`),
  key: sql`id`,
  order: sql`created_at, id`,
  line: sql`to_jsonb(t)`,
}
