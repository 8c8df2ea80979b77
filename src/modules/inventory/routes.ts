import { Type } from 'typebox'
import { onceIfKeyed } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readId, readOneOf, readText } from '../../kernel/query.ts'
import { Id, PageOf, Params, ref } from '../../kernel/schema.ts'
import { adjust, adjustBulk } from './adjust.ts'
import { countRoutes } from './count-routes.ts'
import {
  Adjustment,
  BulkAdjustment,
  BulkResult,
  CostEntry,
  InventoryDetail,
  InventoryItem,
  Level,
  Location,
  LocationChange,
  MOVEMENT_KINDS,
  Movement,
  MovementKind,
  NewLocation,
  NewTransfer,
  SeenDiscrepancy,
  Settings,
  Transfer,
} from './schema.ts'
import * as inventory from './service.ts'
import { transfer } from './transfer.ts'

export interface InventoryDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

const scope = 'manage:own_inventory'
const tags = ['merchant-ops']
const OneItem = Type.Object({ item: ref(InventoryDetail) })
const OneLocation = Type.Object({ location: ref(Location) })

const readLow = (query: unknown) => {
  const text = readOneOf(query, 'low', ['true', 'false'])
  return text === undefined ? undefined : text === 'true'
}

const stockRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/inventory',
    {
      config: { scope, query: { sku: Type.String(), low: Type.Boolean(), ...PAGE_QUERY } },
      schema: {
        operationId: 'listInventory',
        tags,
        summary: 'List every variant with its stock, sorted by SKU.',
        response: { 200: PageOf('items', ref(InventoryItem)) },
      },
    },
    ({ db, query }) => {
      // SKUs are stored in Unicode form C.
      const filters = { sku: readText(query, 'sku')?.normalize('NFC'), low: readLow(query) }
      return inventory.list(db, filters, readPage(query))
    },
  )

  app.get(
    '/v1/merchant/inventory/movements',
    {
      config: { scope, query: { variant_id: Id, kind: MovementKind, ...PAGE_QUERY } },
      schema: {
        operationId: 'listInventoryMovements',
        tags,
        summary: 'List the stock movements, newest first.',
        response: { 200: PageOf('movements', ref(Movement)) },
      },
    },
    ({ db, query }) => {
      const kind = readOneOf(query, 'kind', MOVEMENT_KINDS)
      return inventory.listMovements(
        db,
        { variant_id: readId(query, 'variant_id'), kind },
        readPage(query),
      )
    },
  )

  app.get(
    '/v1/merchant/inventory/discrepancies',
    {
      config: { scope, query: PAGE_QUERY },
      schema: {
        operationId: 'listInventoryDiscrepancies',
        tags,
        summary:
          'List the stock counters that the daily recount found to be wrong. They are never corrected automatically.',
        response: { 200: PageOf('discrepancies', ref(SeenDiscrepancy)) },
      },
    },
    ({ db, query }) => inventory.listDiscrepancies(db, readPage(query)),
  )

  app.get(
    '/v1/merchant/inventory/:variant_id',
    {
      config: { scope, failures: ['variant_not_found'] },
      schema: {
        operationId: 'readInventory',
        tags,
        summary: 'Read the stock of a variant at each location.',
        params: Params('variant_id'),
        response: { 200: OneItem },
      },
    },
    async ({ db, params }) => ({ item: await inventory.get(db, params.variant_id) }),
  )

  app.put(
    '/v1/merchant/inventory/:variant_id',
    {
      config: { scope, failures: ['variant_not_found'] },
      schema: {
        operationId: 'setInventorySettings',
        tags,
        summary:
          "Set whether a variant's stock is tracked, whether it can be backordered, and when it is low.",
        params: Params('variant_id'),
        body: Settings,
        response: { 200: OneItem },
      },
    },
    async ({ db, actor, params, body }) => ({
      item: await inventory.putSettings(db, actor, params.variant_id, body),
    }),
  )

  app.get(
    '/v1/merchant/inventory/:variant_id/costs',
    {
      config: { scope, query: PAGE_QUERY, failures: ['variant_not_found'] },
      schema: {
        operationId: 'listInventoryCosts',
        tags,
        summary: "List how the cost of a variant's stock has changed, newest first.",
        params: Params('variant_id'),
        response: { 200: PageOf('entries', ref(CostEntry)) },
      },
    },
    ({ db, params, query }) => inventory.listCosts(db, params.variant_id, readPage(query)),
  )
}

const changeRoutes =
  ({ idempotencyKey: secret }: InventoryDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/inventory/:variant_id/adjust',
      {
        config: {
          scope,
          idempotent: 'optional',
          failures: [
            'variant_not_found',
            'location_not_found',
            'stale_level',
            'stock_below_zero',
            'limit_reached',
          ],
        },
        schema: {
          operationId: 'adjustInventory',
          tags,
          summary: 'Adjust the units on hand, by a difference or to a number.',
          params: Params('variant_id'),
          body: Adjustment,
          response: { 200: Type.Object({ level: Level }) },
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = { operation: 'inventory_adjust', secret, target: params.variant_id }
        return onceIfKeyed(request, reply, options, async (keep) => ({
          level: await adjust(db, { actor, keep }, params.variant_id, body),
        }))
      },
    )

    app.post(
      '/v1/merchant/inventory/adjust-bulk',
      {
        config: { scope, idempotent: 'optional', failures: ['limit_reached'] },
        schema: {
          operationId: 'adjustInventoryBulk',
          tags,
          summary: 'Adjust many stock levels. A row that is refused does not affect the others.',
          body: BulkAdjustment,
          response: { 200: Type.Object({ results: Type.Array(BulkResult) }) },
        },
      },
      (request, reply) => {
        const { db, actor, body } = request
        const options = { operation: 'inventory_adjust_bulk', secret }
        return onceIfKeyed(request, reply, options, async (keep) => ({
          results: await adjustBulk(db, { actor, keep }, body),
        }))
      },
    )

    app.post(
      '/v1/merchant/inventory/transfers',
      {
        config: {
          scope,
          idempotent: 'optional',
          failures: ['variant_not_found', 'location_not_found', 'insufficient_stock'],
        },
        schema: {
          operationId: 'transferInventory',
          tags,
          summary:
            'Move units from one location to another. Units that orders have reserved or allocated stay.',
          body: NewTransfer,
          response: { 201: Type.Object({ transfer: Transfer }) },
        },
      },
      (request, reply) => {
        const { db, actor, body } = request
        const options = { operation: 'inventory_transfer', secret, status: 201 }
        return onceIfKeyed(request, reply, options, async (keep) => ({
          transfer: await transfer(db, { actor, keep }, body),
        }))
      },
    )
  }

const locationRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/inventory/locations',
    {
      config: { scope, query: PAGE_QUERY },
      schema: {
        operationId: 'listInventoryLocations',
        tags,
        summary: 'List the locations of the stock.',
        response: { 200: PageOf('locations', ref(Location)) },
      },
    },
    ({ db, query }) => inventory.listLocations(db, readPage(query)),
  )

  app.post(
    '/v1/merchant/inventory/locations',
    {
      config: { scope, failures: ['location_exists', 'limit_reached'] },
      schema: {
        operationId: 'createInventoryLocation',
        tags,
        summary: 'Create a location.',
        body: NewLocation,
        response: { 201: OneLocation },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ location: await inventory.createLocation(db, actor, body) }),
  )

  app.get(
    '/v1/merchant/inventory/locations/:id',
    {
      config: { scope, failures: ['location_not_found'] },
      schema: {
        operationId: 'readInventoryLocation',
        tags,
        summary: 'Read a location, also an archived one.',
        params: Params('id'),
        response: { 200: OneLocation },
      },
    },
    async ({ db, params }) => ({ location: await inventory.getLocation(db, params.id) }),
  )

  app.patch(
    '/v1/merchant/inventory/locations/:id',
    {
      config: { scope, failures: ['location_not_found'] },
      schema: {
        operationId: 'renameInventoryLocation',
        tags,
        summary: 'Rename a location.',
        params: Params('id'),
        body: LocationChange,
        response: { 200: OneLocation },
      },
    },
    async ({ db, actor, params, body }) => ({
      location: await inventory.renameLocation(db, actor, params.id, body.name),
    }),
  )

  app.delete(
    '/v1/merchant/inventory/locations/:id',
    {
      config: { scope, failures: ['location_not_found', 'location_in_use'] },
      schema: {
        operationId: 'archiveInventoryLocation',
        tags,
        summary: 'Archive an empty location. Its movements stay on record.',
        params: Params('id'),
        response: { 200: OneLocation },
      },
    },
    async ({ db, actor, params }) => ({
      location: await inventory.archiveLocation(db, actor, params.id),
    }),
  )
}

export const merchantRoutes =
  (deps: InventoryDeps): Routes =>
  async (app) => {
    await stockRoutes(app)
    await changeRoutes(deps)(app)
    await locationRoutes(app)
    await countRoutes(deps)(app)
  }
