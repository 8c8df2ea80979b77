import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const funnelDaysSlice: Slice = {
  table: 'funnel_days',
  from: sql`funnel_days`,
  old: olderThan(sql`t.day`),
  key: sql`day, type, product_id, shard`,
  order: sql`day`,
}
