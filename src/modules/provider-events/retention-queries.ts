import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const gatewayEventsSlice: Slice = {
  table: 'gateway_events',
  from: sql`gateway_events`,
  only: sql`t.status in ('applied', 'ignored')`,
  old: olderThan(sql`t.received_at`),
  // The time is part of the key because another index has it: without it PostgreSQL reads all events of the
  // account.
  key: sql`provider, account_ref, event_id, received_at`,
  order: sql`received_at`,
}
