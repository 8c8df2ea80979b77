import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const orderTimelineSlice: Slice = {
  table: 'order_timeline',
  from: sql`order_timeline`,
  // The database keeps them for a year, whatever the setting is.
  old: (days) => olderThan(sql`t.at`)(Math.max(days, 366)),
  key: sql`id`,
  order: sql`id`,
  line: sql`to_jsonb(t)`,
}
