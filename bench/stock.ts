import pg from 'pg'
import { compare, figure, many, openShop, STORES, storeOf, warmUp } from './checkout.ts'
import type { Offer } from './checkout-load.ts'
import type { Figure } from './figure.ts'
import { THIS_TREE } from './trees.ts'

const LINES = 5
const BUYERS = 200

/** Measures what counting units costs checkouts, and what it costs when all buyers want the same variant. */
export async function stock(dataDir: string): Promise<Figure[]> {
  const shop = await openShop(dataDir, THIS_TREE)
  try {
    const variants = await seedVariants(shop.url)
    await warmUp(shop, async () => {})
    const cart = (kind: Kind) => (): Offer => {
      const tenant = storeOf(many())
      return { tenant, variants: variants(tenant, kind) }
    }
    const hot = (kind: Kind): Offer => ({
      tenant: storeOf(0),
      variants: variants(storeOf(0), kind).slice(0, 1),
    })
    const lines = await compare(
      () => shop.buy(cart('untracked')),
      () => shop.buy(cart('tracked')),
    )
    const rush = await compare(
      () => shop.buy(() => hot('untracked'), BUYERS),
      () => shop.buy(() => hot('tracked'), BUYERS),
    )
    return [
      figure(`checkouts of ${LINES} tracked lines`, lines, 'the same untracked', 0.6),
      figure(`checkouts of one variant by ${BUYERS} buyers`, rush, 'the same untracked', 0.25),
    ]
  } finally {
    await shop.close()
  }
}

type Kind = 'tracked' | 'untracked'

/** Five variants of each kind in every store; those that are tracked have units enough. */
async function seedVariants(url: string): Promise<(tenant: string, kind: Kind) => string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    insert into variants (tenant_ref, product_id, sku, price_cents, currency)
    select p.tenant_ref, p.id, kind || '-' || n, 1000, 'USD'
      from products p, unnest(array['tracked', 'untracked']) as kind, generate_series(1, ${LINES}) as n;
    insert into inventory_locations (tenant_ref, id, name)
    select tenant_ref, 'main', 'Main' from stores
        on conflict do nothing;
    insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand)
    select tenant_ref, id, 'main', 1000000 from variants where sku like 'tracked%';
    insert into inventory_settings (tenant_ref, variant_id, track_inventory)
    select tenant_ref, id, true from variants where sku like 'tracked%';
    analyze variants, inventory_levels, inventory_settings`)
  const { rows } = await client.query<{ tenant_ref: string; kind: Kind; ids: string[] }>(
    `select tenant_ref, split_part(sku, '-', 1) as kind, array_agg(id::text) as ids
       from variants where sku like '%tracked%' group by 1, 2`,
  )
  await client.end()
  if (rows.length !== 2 * STORES) throw new Error('a store lacks its variants')
  const found = new Map(rows.map(({ tenant_ref, kind, ids }) => [`${tenant_ref} ${kind}`, ids]))
  return (tenant, kind) => found.get(`${tenant} ${kind}`) ?? []
}
