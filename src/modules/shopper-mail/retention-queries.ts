import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const shopperMailsSlice: Slice = {
  table: 'shopper_mails',
  from: sql`shopper_mails`,
  // The mail of a gift card may wait for its day.
  keep: sql`(t.state = 'queued' and t.next_attempt_at > fd_now())`,
  old: olderThan(sql`t.created_at`),
  key: sql`id`,
  order: sql`created_at, id`,
}
