import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import type { Database, TenantDb } from '../../../src/db/database.ts'
import { createRecount } from '../../../src/modules/inventory/jobs.ts'
import * as stores from '../../../src/modules/stores/service.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { openSuperuser } from '../../harness/superuser.ts'

export interface Stock {
  testDatabase: TestDatabase
  database: Database
  db: TenantDb
  superuser: pg.Client
}

/** A store whose database takes many orders at once. */
export async function openStock(t: TestContext): Promise<Stock> {
  const testDatabase = await openTestDatabase(t)
  const database = testDatabase.open('fd_app', 20)
  await stores.create(database, SYSTEM, { tenant_ref: 'acme', display_name: 'Acme' })
  const superuser = await openSuperuser(t, testDatabase)
  return { testDatabase, database, db: database.tenant('acme'), superuser }
}

interface Tracked {
  on_hand?: number
  allow_backorder?: boolean
  track?: boolean
  threshold?: number | null
  location?: string
}

/** A variant of a product in the catalog, without stock. */
export async function putVariant(
  superuser: pg.Client,
  tenant = 'acme',
  sku: string = randomUUID(),
) {
  const product = randomUUID()
  const variant = randomUUID()
  await superuser.query(
    `insert into products (tenant_ref, id, slug, name) values ($1, $2, $3, 'A thing')`,
    [tenant, product, `p-${product}`],
  )
  await superuser.query(
    `insert into variants (tenant_ref, id, product_id, sku, price_cents, currency)
     values ($1, $2, $3, $4, 1000, 'USD')`,
    [tenant, variant, product, sku],
  )
  return variant
}

/** A variant whose stock is tracked. */
export async function putTracked(superuser: pg.Client, options: Tracked = {}) {
  const { on_hand = 0, allow_backorder = false, track = true, threshold = null } = options
  const variant = await putVariant(superuser)
  await superuser.query(
    `insert into inventory_settings
            (tenant_ref, variant_id, track_inventory, allow_backorder, low_stock_threshold)
     values ('acme', $1, $2, $3, $4)`,
    [variant, track, allow_backorder, threshold],
  )
  await putStock(superuser, variant, on_hand, options.location)
  return variant
}

/** Stock at a location, with the movement that brought it. */
export async function putStock(
  superuser: pg.Client,
  variant: string,
  on_hand: number,
  location = 'default',
) {
  await superuser.query(
    `insert into inventory_locations (tenant_ref, id, name) values ('acme', $1, $1)
         on conflict do nothing`,
    [location],
  )
  await superuser.query(
    `insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand)
     values ('acme', $1, $2, $3)`,
    [variant, location, on_hand],
  )
  if (on_hand === 0) return
  await superuser.query(
    `insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                      on_hand_after, allocated_after, actor)
     values ('acme', $1, $2, 'received', $3, $3, 0, 'test')`,
    [variant, location, on_hand],
  )
}

/** `[on_hand, allocated, reserved]` at each location, by its id. */
export async function countersOf(superuser: pg.Client, variant: string) {
  const { rows } = await superuser.query(
    `select location_id, on_hand::int, allocated::int, reserved::int
       from inventory_levels where variant_id = $1`,
    [variant],
  )
  return Object.fromEntries(
    rows.map((row) => [row.location_id, [row.on_hand, row.allocated, row.reserved]]),
  )
}

/** Recounts the stock of all stores, as if a day had passed. */
export async function recountNow(
  worker: Database,
  superuser: pg.Client,
  logger: { error(fields: Record<string, unknown>): void },
): Promise<void> {
  await superuser.query('update inventory_recounts set due_at = now()')
  const step = createRecount({ database: worker, logger: logger as never, days: 7 })
  while ((await step()) > 0);
}
