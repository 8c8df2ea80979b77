import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { VARIANT } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { makeVariant as plantVariant } from '../../harness/variants.ts'
import { putVariant } from './setup.ts'

export async function newVariant(_merchant: Caller, app: TestApp) {
  return { variant_id: await putVariant(await app.database.openAdmin()) }
}

async function createLocation(merchant: Caller) {
  const body = { id: `l-${randomUUID()}`, name: 'a canary' }
  const made = await merchant.post('/v1/merchant/inventory/locations', body)
  assert.ok(made.body.location, made.text)
  return { id: made.body.location.id as string }
}

/** A count of one variant, at a location of its own: a level is counted once at a time. */
async function beginCount(merchant: Caller, app: TestApp) {
  await plantVariant(await app.store('acme'), VARIANT)
  const { id: location_id } = await createLocation(merchant)
  const body = { location_id, variant_ids: [VARIANT] }
  const made = await merchant.post('/v1/merchant/inventory/counts', body)
  assert.ok(made.body.count, made.text)
  return { id: made.body.count.id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/inventory/:variant_id': newVariant,
    'PUT /v1/merchant/inventory/:variant_id': newVariant,
    'POST /v1/merchant/inventory/:variant_id/adjust': newVariant,
    'GET /v1/merchant/inventory/:variant_id/costs': newVariant,
    'GET /v1/merchant/inventory/counts/:id': beginCount,
    'PUT /v1/merchant/inventory/counts/:id/lines': async (merchant, app) => {
      await plantVariant(await app.store('acme'), VARIANT)
      return beginCount(merchant, app)
    },
    'POST /v1/merchant/inventory/counts/:id/post': beginCount,
    'POST /v1/merchant/inventory/counts/:id/cancel': beginCount,
    'GET /v1/merchant/inventory/locations/:id': createLocation,
    'PATCH /v1/merchant/inventory/locations/:id': createLocation,
    'DELETE /v1/merchant/inventory/locations/:id': createLocation,
  },
  bodies: {
    'PUT /v1/merchant/inventory/:variant_id': { track_inventory: true },
    'POST /v1/merchant/inventory/:variant_id/adjust': { delta: 1, reason: 'a canary' },
    'PUT /v1/merchant/inventory/counts/:id/lines': {
      lines: [{ variant_id: VARIANT, counted: 1, reason: 'a canary' }],
    },
    'PATCH /v1/merchant/inventory/locations/:id': { name: 'a canary' },
  },
  texts: (canary) => [['POST', '/v1/merchant/inventory/locations', { id: canary, name: canary }]],
  rows: {
    inventory_levels: `
    with product as (insert into products (tenant_ref, slug, name)
                     values ($1, 'counted', 'Counted') returning id),
         variant as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                     select $1, id, 'counted', 100, 'USD' from product returning id),
         place as (insert into inventory_locations (tenant_ref, id, name)
                   values ($1, 'shelf', 'Shelf')),
         setting as (insert into inventory_settings (tenant_ref, variant_id)
                     select $1, id from variant),
         movement as (insert into inventory_movements (tenant_ref, variant_id, location_id, kind,
                             quantity, on_hand_after, allocated_after, actor)
                      select $1, id, 'shelf', 'received', 1, 1, 0, 'test' from variant),
         hold as (insert into inventory_reservations
                         (tenant_ref, order_id, variant_id, location_id)
                  select $1, gen_random_uuid(), id, 'shelf' from variant),
         change as (insert into inventory_order_changes (tenant_ref, order_id, change_id)
                    values ($1, gen_random_uuid(), gen_random_uuid())),
         wrong as (insert into inventory_discrepancies
                          (tenant_ref, variant_id, location_id, counter, kept, counted)
                   select $1, id, 'shelf', 'held', 1, 0 from variant),
         count as (insert into inventory_counts (tenant_ref, variant_id, location_id, seq, on_hand,
                          allocated, again_at)
                   select $1, id, 'shelf', 1, 1, 0, now() from variant),
         recount as (insert into inventory_recounts (tenant_ref, due_at) values ($1, now())),
         cost as (insert into inventory_costs (tenant_ref, variant_id, units, value_cents, last_units,
                         last_value_cents)
                  select $1, id, 1, 100, 1, 100 from variant),
         entry as (insert into inventory_cost_entries (tenant_ref, variant_id, kind, units,
                          value_cents, units_after, value_after_cents)
                   select $1, id, 'opening', 1, 100, 1, 100 from variant),
         stocktake as (insert into stock_counts (tenant_ref, location_id, created_by)
                       values ($1, 'shelf', 'x') returning id),
         counted as (insert into stock_count_lines (tenant_ref, count_id, variant_id, location_id,
                            expected)
                     select $1, stocktake.id, variant.id, 'shelf', 1 from stocktake, variant)
    insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand)
    select $1, id, 'shelf', 1 from variant`,
  },
  beyond: {
    locations: (merchant) =>
      merchant.post('/v1/merchant/inventory/locations', { id: 'top', name: 'Top' }),
    stock_counts: (merchant) =>
      merchant.post('/v1/merchant/inventory/counts', { location_id: 'default' }),
  },
  scale: {
    // Their number follows that of the products. They found nothing missing.
    fill: [
      [
        'cycle counts',
        `
    insert into stock_counts (tenant_ref, id, location_id, status, created_by, created_at, posted_at)
    select tenant_ref, scale.id('count', tenant_ref, n), 'default', 'posted', 'merchant_key:scale',
           now() - n * interval '1 hour', now()
      from scale.plan p, generate_series(1, 1 + p.products / 10) as n;
    insert into stock_count_lines (tenant_ref, count_id, variant_id, location_id, expected, counted,
                                   is_open)
    select tenant_ref, scale.id('count', tenant_ref, n),
           scale.id('variant', tenant_ref, 1 + n % p.products), 'default', 5, 5, false
      from scale.plan p, generate_series(1, 1 + p.products / 10) as n`,
      ],
    ],
    targets: {
      count_id: 'select id from stock_counts where tenant_ref = $1 order by created_at limit 1',
    },
    paths: { '/v1/merchant/inventory/counts/': 'count_id' },
  },
}
