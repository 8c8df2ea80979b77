import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'
import { withCart } from './setup.ts'

test('a shop whose shipping policy cannot be read shows its goods, takes no order, and says so', async (t) => {
  const shop = await openTestShop(t)
  const merchant = await shop.merchant('demo')
  const { active } = (await merchant.get('/v1/my/site')).body
  const { manifest } = active
  const shipping = { ...manifest.behavior.shipping, flat_rate_cents: '500' }
  const broken = { ...manifest, behavior: { ...manifest.behavior, shipping } }
  // As an older release had stored it, before any page was read.
  const superuser = await openSuperuser(t, shop.database)
  await superuser.query(
    `insert into site_versions
            (tenant_ref, version, manifest, row_hash, brand_name, rules_version, created_by)
     values ('demo', $1, $2, repeat('0', 64), null, '1', 'test')`,
    [active.version + 1, JSON.stringify(broken)],
  )
  await superuser.query(`update stores set active_version = $1 where tenant_ref = 'demo'`, [
    active.version + 1,
  ])
  const shopper = await withCart(shop, 'cedar-candle')
  assert.equal((await shopper.get('/products/cedar-candle')).status, 200)
  const cart = await shopper.get('/cart')
  assert.equal(cart.status, 200)
  assert.match(cart.text, /The store cannot take orders at the moment/)
  assert.match(cart.text, /Cedar/)
  assert.equal((await shopper.get('/checkout')).headers.location, '/cart')
})
