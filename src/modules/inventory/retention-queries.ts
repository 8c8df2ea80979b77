import { sql } from '../../db/sql.ts'
import { olderThan, type Slice } from '../../platform/slices.ts'

export const inventoryReservationsSlice: Slice = {
  table: 'inventory_reservations',
  from: sql`inventory_reservations`,
  only: sql`t.released_at is not null`,
  old: olderThan(sql`t.released_at`),
  key: sql`order_id, variant_id, location_id`,
  order: sql`released_at`,
}
