import { isViolationOf, mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { refuse } from './errors.ts'
import { listPublicStock, readPublicStockVersion } from './public-queries.ts'
import * as queries from './queries.ts'
import * as recountQueries from './recount-queries.ts'
import {
  DEFAULT_LOCATION,
  type InventoryDetail,
  isLocationId,
  type Location,
  type Movement,
  type NewLocation,
  type Settings,
} from './schema.ts'
import { listLimited } from './stock-queries.ts'

/**
 * Returns how many units of each variant can be sold. Null means no limit: the variant is not
 * tracked, or backorders are allowed.
 */
export async function available(
  db: Db,
  variant_ids: readonly string[],
): Promise<Map<string, number | null>> {
  const limited = await listLimited(db, variant_ids)
  const counts = new Map(limited.map((each) => [each.variant_id, each.available]))
  return new Map(variant_ids.map((id) => [id, counts.get(id) ?? null]))
}

/** Reads the stock of products that shoppers may see. */
export const publicStock = listPublicStock
export const readStockVersion = readPublicStockVersion

/** Lists every variant on sale with its stock, by SKU. */
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
    await queries.putSettings(tx, variant_id, settings).catch((error) => {
      throw isViolationOf(error, 'inventory_settings_gift_card') ? isGiftCard() : error
    })
    await audit.record(tx, actor, {
      action: 'inventory.settings_changed',
      entity: `variant:${variant_id}`,
      after: settings,
    })
    return get(tx, variant_id)
  })
}

const isGiftCard = () => invalidBody('track_inventory', 'must be false: a gift card has no stock')

/**
 * Returns the locations among these that are in use, and locks them: none can be
 * archived until the transaction ends.
 */
export async function lockLocations(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  if (ids.includes(DEFAULT_LOCATION)) await queries.ensureDefaultLocation(tx)
  const found = await queries.lockLocationsShared(tx, [...new Set(ids.filter(isLocationId))])
  return new Set(found.map(({ id }) => id))
}

export async function requireLocations(tx: Tx, ...ids: string[]): Promise<void> {
  const found = await lockLocations(tx, ids)
  if (ids.some((id) => !found.has(id))) throw new ApiError('location_not_found')
}

/** The SKUs of variants that the store has and has not archived, by id. */
export async function listSkus(
  db: Db,
  variant_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await queries.listVariants(db, variant_ids.filter(isUuid))
  return new Map(
    found.filter(({ archived }) => !archived).map(({ variant_id, sku }) => [variant_id, sku]),
  )
}

/** Lists how the costs of a variant's stock have changed, newest first. */
export async function listCosts(db: Db, variant_id: string, page: Page) {
  await get(db, variant_id)
  const { rows, shown } = await queries.listCostEntries(db, variant_id, page)
  return { entries: rows, ...shown }
}

/** Lists the counters that the recount found to be wrong. */
export async function listDiscrepancies(db: Db, page: Page) {
  const { rows, shown } = await recountQueries.listDiscrepancies(db, page)
  return { discrepancies: rows, ...shown }
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
    const location = await mapViolations(
      queries.insertLocation(tx, request),
      {
        inventory_locations_pkey: 'location_exists',
      },
      refuse,
    )
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
    if (after === null) throw refuse('location_in_use')
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
