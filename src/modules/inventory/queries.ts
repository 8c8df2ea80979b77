import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import {
  CostEntry,
  DEFAULT_LOCATION,
  InventoryDetail,
  InventoryItem,
  Level,
  type LevelKey,
  Location,
  Movement,
  type MovementKind,
  type NewLocation,
  type Settings,
} from './schema.ts'

const ofVariant = (db: Db, variant_id: string) =>
  sql`tenant_ref = ${db.tenant} and variant_id = ${variant_id}`

const itemColumns = sql`
  v.id as variant_id, v.product_id, v.sku,
  coalesce(s.track_inventory, false) as track_inventory,
  coalesce(s.allow_backorder, false) as allow_backorder, s.low_stock_threshold,
  l.on_hand, l.allocated, l.reserved, l.incoming, l.on_hand - l.allocated - l.reserved as available,
  v.is_low as low`

/** The joins that add the settings and the stock of a variant, tracked or not. */
const itsStock = sql`
  left join inventory_settings s on s.tenant_ref = v.tenant_ref and s.variant_id = v.id
 cross join lateral (
       select coalesce(sum(on_hand), 0)::bigint as on_hand,
              coalesce(sum(allocated), 0)::bigint as allocated,
              coalesce(sum(reserved), 0)::bigint as reserved,
              coalesce(sum(incoming), 0)::bigint as incoming
         from inventory_levels
        where tenant_ref = v.tenant_ref and variant_id = v.id) l`

export interface ItemFilters {
  sku: string | undefined
  low: boolean | undefined
}

/** The conditions of a list of items. Triggers of the stock and of its settings write `is_low` (decision 0031). */
const itemsWhere = ({ sku, low }: ItemFilters) => [
  sql`v.archived_at is null`,
  ...(sku === undefined ? [] : [sql`v.sku = ${sku}`]),
  ...(low === undefined ? [] : [low ? sql`v.is_low` : sql`not v.is_low`]),
]

/**
 * Lists the variants on sale, by SKU. This reads the catalog's table, because a page of variants
 * filtered by stock cannot be read in two steps.
 */
export const listItems = (db: Db, filters: ItemFilters, page: Page) =>
  readList(
    db,
    {
      shape: InventoryItem,
      table: sql`variants`,
      as: sql`v`,
      scope: sql`v.tenant_ref = ${db.tenant}`,
      filters: itemsWhere(filters),
      key: [{ name: sql`sku`, type: 'text' }],
      descending: false,
      columns: itemColumns,
      joins: itsStock,
    },
    page,
  )

const levelJson = sql`
  json_build_object('location_id', location_id, 'on_hand', on_hand, 'allocated', allocated,
                    'reserved', reserved, 'incoming', incoming,
                    'available', on_hand - allocated - reserved)`

export const findItem = (db: Db, variant_id: string) =>
  db.maybe(
    InventoryDetail,
    sql`
    select ${itemColumns},
           coalesce((select json_agg(${levelJson} order by location_id) from inventory_levels
                      where ${ofVariant(db, variant_id)}), '[]') as levels,
           (select json_build_object('units', units, 'value_cents', value_cents, 'unit_cost_cents',
                                     round(last_value_cents::numeric / last_units))
              from inventory_costs where ${ofVariant(db, variant_id)}) as cost
      from variants v ${itsStock}
     where v.tenant_ref = ${db.tenant} and v.id = ${variant_id}`,
  )

export const putSettings = (tx: Tx, variant_id: string, settings: Required<Settings>) =>
  tx.run(sql`
    insert into inventory_settings
           (tenant_ref, variant_id, track_inventory, allow_backorder, low_stock_threshold)
    values (${tx.tenant}, ${variant_id}, ${settings.track_inventory}, ${settings.allow_backorder},
            ${settings.low_stock_threshold})
        on conflict (tenant_ref, variant_id) do update
       set track_inventory = excluded.track_inventory, allow_backorder = excluded.allow_backorder,
           low_stock_threshold = excluded.low_stock_threshold, updated_at = fd_now()`)

/** Creates the default location on first use. All others are created by the merchant. */
export const ensureDefaultLocation = (tx: Tx) =>
  tx.run(sql`
    insert into inventory_locations (tenant_ref, id, name)
    values (${tx.tenant}, ${DEFAULT_LOCATION}, 'Default')
        on conflict do nothing`)

export const ensureLevel = (tx: Tx, variant_id: string, location_id: string) =>
  ensureLevels(tx, [{ variant_id, location_id }])

/** Creates the levels that do not exist yet, in the order in which levels are locked. */
export const ensureLevels = (tx: Tx, places: readonly LevelKey[]) =>
  tx.run(sql`
    insert into inventory_levels (tenant_ref, variant_id, location_id)
    select ${tx.tenant}, * from unnest(${variantsOf(places)}::uuid[], ${locationsOf(places)}::text[])
     order by 2, 3
        on conflict do nothing`)

const variantsOf = (places: readonly LevelKey[]) => places.map(({ variant_id }) => variant_id)
const locationsOf = (places: readonly LevelKey[]) => places.map(({ location_id }) => location_id)

const PlacedLevel = Type.Object({ ...Level.properties, variant_id: Id })
export type PlacedLevel = Static<typeof PlacedLevel>

const levelColumns = sql`
  l.variant_id, l.location_id, l.on_hand, l.allocated, l.reserved, l.incoming,
  l.on_hand - l.allocated - l.reserved as available`

/** Locks levels, in the same order as every transaction. */
export const lockLevels = (tx: Tx, places: readonly LevelKey[]) =>
  tx.many(
    PlacedLevel,
    sql`
    select ${levelColumns}
      from inventory_levels l
     where l.tenant_ref = ${tx.tenant}
       and (l.variant_id, l.location_id) in (
           select * from unnest(${variantsOf(places)}::uuid[], ${locationsOf(places)}::text[]))
     order by l.variant_id, l.location_id
       for no key update`,
  )

/** Locks the levels of variants at all locations. */
export const lockLevelsOf = (tx: Tx, variant_ids: readonly string[]) =>
  tx.many(
    PlacedLevel,
    sql`
    select ${levelColumns}
      from inventory_levels l
     where l.tenant_ref = ${tx.tenant} and l.variant_id = any (${variant_ids}::uuid[])
     order by l.variant_id, l.location_id
       for no key update`,
  )

const KnownVariant = Type.Object({ variant_id: Id, sku: Type.String(), archived: Type.Boolean() })

/** Lists the variants of these ids that the store has. */
export const listVariants = (db: Db, variant_ids: readonly string[]) =>
  db.many(
    KnownVariant,
    sql`
    select id as variant_id, sku, archived_at is not null as archived
      from variants
     where tenant_ref = ${db.tenant} and id = any (${variant_ids}::uuid[])`,
  )

export interface MovementFilters {
  variant_id: string | undefined
  kind: MovementKind | undefined
}

/** The conditions of a list of movements, as the index has them: `inventory_movements_of_kind` has all but sales. */
const movementsWhere = ({ variant_id, kind }: MovementFilters) => [
  ...(variant_id === undefined ? [] : [sql`m.variant_id = ${variant_id}`]),
  ...(kind === undefined ? [] : [sql`m.kind = ${kind}`]),
  ...(kind === undefined || kind === 'allocated' ? [] : [sql`m.kind <> 'allocated'`]),
]

const movementColumns = sql`
  m.id, m.variant_id, m.location_id, m.kind, m.quantity, m.on_hand_after, m.allocated_after,
  m.order_id, m.fulfillment_id, m.return_id, m.purchase_order_id,
  m.transfer_id, m.count_id, m.actor, m.reason, m.created_at`

export const listMovementsByIds = (db: Db, ids: readonly string[]) =>
  db.many(
    Movement,
    sql`
    select ${movementColumns}
      from inventory_movements m
     where m.tenant_ref = ${db.tenant} and m.id = any (${ids}::uuid[])
     order by m.seq`,
  )

/**
 * Divides the movements of a variant by location. The index of a variant has its movements location
 * by location, and those of each location in the order of the list. Every movement has a level, so
 * the levels name all locations.
 */
const partsOfVariant = async (db: Db, variant_id: string): Promise<Sql[]> => {
  const levels = await db.many(
    Type.Object({ location_id: Type.String() }),
    sql`
    select location_id from inventory_levels
     where tenant_ref = ${db.tenant} and variant_id = ${variant_id}`,
  )
  const parts = levels.map(({ location_id }) => sql`m.location_id = ${location_id}`)
  return parts.length === 0 ? [sql`false`] : parts
}

/** Lists the stock movements, newest first. */
export async function listMovements(db: Db, filters: MovementFilters, page: Page) {
  const { variant_id } = filters
  return readList(
    db,
    {
      shape: Movement,
      table: sql`inventory_movements`,
      as: sql`m`,
      scope: sql`m.tenant_ref = ${db.tenant}`,
      filters: movementsWhere(filters),
      ...(variant_id !== undefined && { parts: await partsOfVariant(db, variant_id) }),
      key: [{ name: sql`seq`, type: 'integer' }],
      descending: true,
      columns: movementColumns,
    },
    page,
  )
}

const locationColumns = sql`inventory_locations.id, name, created_at, updated_at, archived_at`

export const listLocations = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: Location,
      table: sql`inventory_locations`,
      as: sql`inventory_locations`,
      scope: sql`inventory_locations.tenant_ref = ${db.tenant}`,
      filters: [sql`archived_at is null`],
      key: [{ name: sql`id`, type: 'text' }],
      descending: false,
      columns: locationColumns,
    },
    page,
  )

export const findLocation = (db: Db, id: string) =>
  db.maybe(
    Location,
    sql`
    select ${locationColumns} from inventory_locations
     where tenant_ref = ${db.tenant} and id = ${id}`,
  )

/** Locks locations so that none can be archived while stock is added to it. */
export const lockLocationsShared = (tx: Tx, ids: readonly string[]) =>
  tx.many(
    Location,
    sql`
    select ${locationColumns} from inventory_locations
     where tenant_ref = ${tx.tenant} and id = any (${ids}::text[]) and archived_at is null
     order by id
       for share`,
  )

/** Lists the changes of the cost of a variant's units, newest first. */
export const listCostEntries = (db: Db, variant_id: string, page: Page) =>
  readList(
    db,
    {
      shape: CostEntry,
      table: sql`inventory_cost_entries`,
      as: sql`e`,
      scope: sql`e.tenant_ref = ${db.tenant}`,
      filters: [sql`e.variant_id = ${variant_id}`],
      key: [{ name: sql`seq`, type: 'integer' }],
      descending: true,
      columns: sql`e.id, e.variant_id, e.kind, e.units, e.cost_cents, e.value_cents, e.sold_cents,
                   e.units_after, e.value_after_cents, e.movement_id, e.order_id,
                   e.purchase_order_id, e.created_at`,
    },
    page,
  )

/** Locks a location against all other changes, after those that add stock to it have ended. */
export const lockLocation = (tx: Tx, id: string) =>
  tx.maybe(
    Location,
    sql`
    select ${locationColumns} from inventory_locations
     where tenant_ref = ${tx.tenant} and id = ${id}
       for no key update`,
  )

export const insertLocation = (tx: Tx, { id, name }: NewLocation) =>
  tx.one(
    Location,
    sql`
    insert into inventory_locations (tenant_ref, id, name)
    values (${tx.tenant}, ${id}, ${name})
    returning ${locationColumns}`,
  )

export const renameLocation = (tx: Tx, id: string, name: string) =>
  tx.one(
    Location,
    sql`
    update inventory_locations set name = ${name}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${locationColumns}`,
  )

/** Archives a location. Returns null if it has units on hand, allocated, reserved or incoming. */
export const archiveLocation = (tx: Tx, id: string) =>
  tx.maybe(
    Location,
    sql`
    update inventory_locations set archived_at = fd_now(), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
       and not exists (select from inventory_levels
                        where tenant_ref = ${tx.tenant} and location_id = ${id}
                          and (on_hand <> 0 or allocated > 0 or reserved > 0 or incoming > 0))
    returning ${locationColumns}`,
  )
