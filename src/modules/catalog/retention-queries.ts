import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const pastPricesSlice: Slice = {
  table: 'past_prices',
  from: sql`past_prices`,
  old: olderThan(sql`t.until_at`),
  key: sql`id`,
  order: sql`until_at, id`,
}
