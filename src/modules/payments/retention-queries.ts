import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const paymentDaysSlice: Slice = {
  table: 'payment_days',
  from: sql`payment_days`,
  only: sql`t.due_at is null`,
  old: olderThan(sql`t.day`),
  key: sql`id`,
  order: sql`day`,
}
