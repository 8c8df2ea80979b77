import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { listPublicStock } from './public-queries.ts'
import * as queries from './queries.ts'
import {
  type Adjustment,
  type BulkAdjustment,
  type BulkResult,
  DEFAULT_LOCATION,
  type InventoryDetail,
  isLocationId,
  type Level,
  type Location,
  type Movement,
  type NewLocation,
  QUANTITY_MAX,
  type Settings,
} from './schema.ts'
import { listLimited, moveStock } from './stock-queries.ts'

/**
 * How many units of each variant can be sold. Null: no limit, as it is not tracked or backorders
 * are allowed.
 */
export async function available(
  db: Db,
  variant_ids: readonly string[],
): Promise<Map<string, number | null>> {
  const limited = await listLimited(db, variant_ids)
  const counts = new Map(limited.map((each) => [each.variant_id, each.available]))
  return new Map(variant_ids.map((id) => [id, counts.get(id) ?? null]))
}

/** What shoppers may know of the stock of products. */
export const publicStock = listPublicStock

/** Every variant on sale and its stock, by SKU. */
export async function list(db: Db, filters: queries.ItemFilters, page: Page) {
  const { rows, shown } = await queries.listItems(db, filters, page)
  return { items: rows, ...shown }
}

export async function get(db: Db, variant_id: string): Promise<InventoryDetail> {
  const item = isUuid(variant_id) ? await queries.findItem(db, variant_id) : null
  if (item === null) throw new ApiError('variant_not_found')
  return item
}

/** Sets whether and how a variant is tracked. A setting that is not named is off. */
export async function putSettings(
  db: TenantDb,
  actor: audit.Actor,
  variant_id: string,
  { track_inventory, allow_backorder = false, low_stock_threshold = null }: Settings,
): Promise<InventoryDetail> {
  await get(db, variant_id)
  return db.transaction('inventory: settings', async (tx) => {
    const settings = { track_inventory, allow_backorder, low_stock_threshold }
    await queries.ensureDefaultLocation(tx)
    // A tracked variant has at least one level, even with no units.
    await queries.ensureLevel(tx, variant_id, DEFAULT_LOCATION)
    await queries.putSettings(tx, variant_id, settings)
    await audit.record(tx, actor, {
      action: 'inventory.settings_changed',
      entity: `variant:${variant_id}`,
      after: settings,
    })
    return get(tx, variant_id)
  })
}

/**
 * Adjusts the units on hand at a location. The merchant's count is accepted even where it is less
 * than the units sold. With `expected_on_hand` the level is adjusted only if it is still at that
 * number.
 */
export async function adjust(
  db: TenantDb,
  actor: audit.Actor,
  variant_id: string,
  adjustment: Adjustment,
): Promise<Level> {
  const {
    location_id = DEFAULT_LOCATION,
    delta,
    set_on_hand,
    expected_on_hand,
    reason,
  } = adjustment
  if ((delta === undefined) === (set_on_hand === undefined)) {
    throw invalidBody('delta', 'must be sent, or set_on_hand instead')
  }
  await get(db, variant_id)
  return db.transaction('inventory: adjust', async (tx) => {
    await requireLocation(tx, location_id)
    await queries.ensureLevel(tx, variant_id, location_id)
    const level = await queries.lockLevel(tx, variant_id, location_id)
    if (expected_on_hand !== undefined && expected_on_hand !== level.on_hand) {
      throw new ApiError('stale_level', { body: { on_hand: level.on_hand } })
    }
    const change = delta ?? (set_on_hand ?? 0) - level.on_hand
    if (change === 0) return level
    if (change < 0 && level.on_hand + change < 0) throw new ApiError('stock_below_zero')
    if (level.on_hand + change > QUANTITY_MAX) throw tooMany()
    const place = { variant_id, location_id, allocated: 0, reserved: 0 }
    const move = { ...place, kind: 'adjusted' as const, on_hand: change }
    // The reason is free text. It is stored with the movement and kept out of the audit log.
    const [[moved]] = await Promise.all([
      moveStock(tx, [move], { actor: actor.name, reason }),
      audit.record(tx, actor, {
        action: 'inventory.adjusted',
        entity: `variant:${variant_id}`,
        before: { location_id, on_hand: level.on_hand },
        after: { location_id, on_hand: level.on_hand + change },
      }),
    ])
    return moved ?? level
  })
}

const tooMany = () => invalidBody('delta', `must leave at most ${QUANTITY_MAX} on hand`)

/** Refuses a location that does not exist, and keeps one that does from being archived. */
export async function requireLocation(tx: Tx, id: string): Promise<void> {
  if (id === DEFAULT_LOCATION) await queries.ensureDefaultLocation(tx)
  const location = isLocationId(id) ? await queries.lockLocationShared(tx, id) : null
  if (location === null) throw new ApiError('location_not_found')
}

/** Adjusts many levels, one after the other. A refused row does not affect the others. */
export async function adjustBulk(
  db: TenantDb,
  actor: audit.Actor,
  { reason, adjustments }: BulkAdjustment,
): Promise<BulkResult[]> {
  const results: BulkResult[] = []
  for (const { variant_id, ...adjustment } of adjustments) {
    results.push(await adjustRow(db, actor, variant_id, { ...adjustment, reason }))
  }
  return results
}

async function adjustRow(
  db: TenantDb,
  actor: audit.Actor,
  variant_id: string,
  adjustment: Adjustment,
): Promise<BulkResult> {
  try {
    return { variant_id, level: await adjust(db, actor, variant_id, adjustment), error: null }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return { variant_id, level: null, error: { code: error.code, message: error.message } }
  }
}

/** The movements with these ids, in their order. */
export const movementsOf = (db: Db, ids: readonly string[]): Promise<Movement[]> =>
  queries.listMovementsByIds(db, ids)

/** Lists the stock movements, newest first. */
export async function listMovements(db: Db, filters: queries.MovementFilters, page: Page) {
  const { rows, shown } = await queries.listMovements(db, filters, page)
  return { movements: rows, ...shown }
}

export async function listLocations(db: Db, page: Page) {
  const { rows, shown } = await queries.listLocations(db, page)
  return { locations: rows, ...shown }
}

export async function getLocation(db: Db, id: string): Promise<Location> {
  const location = isLocationId(id) ? await queries.findLocation(db, id) : null
  if (location === null) throw new ApiError('location_not_found')
  return location
}

export function createLocation(db: TenantDb, actor: audit.Actor, request: NewLocation) {
  return db.transaction('inventory: create location', async (tx) => {
    const location = await mapViolations(queries.insertLocation(tx, request), {
      inventory_locations_pkey: 'location_exists',
    })
    await auditLocation(tx, actor, 'created', location)
    return location
  })
}

export function renameLocation(db: TenantDb, actor: audit.Actor, id: string, name: string) {
  return db.transaction('inventory: rename location', async (tx) => {
    const before = await lockOpenLocation(tx, id)
    if (before.name === name) return before
    const after = await queries.renameLocation(tx, id, name)
    await auditLocation(tx, actor, 'renamed', after)
    return after
  })
}

/** Archives an empty location. Its movements stay, and a repeated call is harmless. */
export function archiveLocation(db: TenantDb, actor: audit.Actor, id: string) {
  return db.transaction('inventory: archive location', async (tx) => {
    const before = isLocationId(id) ? await queries.lockLocation(tx, id) : null
    if (before === null) throw new ApiError('location_not_found')
    if (before.archived_at !== null) return before
    const after = id === DEFAULT_LOCATION ? null : await queries.archiveLocation(tx, id)
    if (after === null) throw new ApiError('location_in_use')
    await auditLocation(tx, actor, 'archived', after)
    return after
  })
}

async function lockOpenLocation(tx: Tx, id: string): Promise<Location> {
  const location = isLocationId(id) ? await queries.lockLocation(tx, id) : null
  if (location === null || location.archived_at !== null) throw new ApiError('location_not_found')
  return location
}

const auditLocation = (tx: Tx, actor: audit.Actor, action: string, { id, name }: Location) =>
  audit.record(tx, actor, {
    action: `inventory.location_${action}`,
    entity: `location:${id}`,
    after: { name },
  })
