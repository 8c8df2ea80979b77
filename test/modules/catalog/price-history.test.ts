import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { createProduct, createVariant, openLiveStore, PRODUCTS, publicUrl } from './setup.ts'

let app: TestApp
let superuser: pg.Client

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  superuser = await openSuperuser(scope, app.database)
  // Past prices are never changed; this connection moves their time all the same.
  await superuser.query('set session_replication_role = replica')
})

/** A variant on sale in a live store, and what can be done with it. */
async function sell(tenant: string, body: object, open = openLiveStore) {
  const merchant = await open(app, tenant)
  const { id: productId } = await createProduct(merchant, 'scarf')
  const { id } = await createVariant(merchant, productId, { sku: 'SCARF', ...body })
  return {
    merchant,
    id,
    async change(patch: object) {
      const answer = await merchant.patch(`${PRODUCTS}/${productId}/variants/${id}`, patch)
      assert.equal(answer.status, 200, answer.text)
      return answer.body.variant.lowest_price_30_days_cents as number | null
    },
    /** Lets days pass, for the past prices. */
    pass: (days: number) =>
      superuser.query(
        'update past_prices set until_at = until_at - make_interval(days => $2) where variant_id = $1',
        [id, days],
      ),
    async shown() {
      const { body } = await app.anyone.get(publicUrl(tenant, 'products/scarf'))
      const [variant] = body.product.variants
      return [variant.compare_at_price_cents, variant.lowest_price_30_days_cents]
    },
  }
}

const countPrices = async (id: string) => {
  const { rows } = await superuser.query(
    'select price_cents::int as cents from past_prices where variant_id = $1 order by until_at',
    [id],
  )
  return rows.map(({ cents }) => cents)
}

const draftStore = async (_app: TestApp, tenant: string): Promise<Caller> => app.merchant(tenant)

describe('the lowest price of the 30 days before a reduction', () => {
  test('is the price of the time before, and public reads show it beside the price before', async () => {
    const scarf = await sell('fallen', { price_cents: 5_000 })
    assert.deepEqual(await scarf.shown(), [null, null])
    assert.equal(await scarf.change({ price_cents: 4_000, compare_at_price_cents: 5_000 }), 5_000)
    assert.deepEqual(await scarf.shown(), [5_000, 5_000])
    assert.equal(await scarf.change({ label: 'Wool' }), 5_000, 'another change leaves it')
    assert.equal(await scarf.change({ compare_at_price_cents: 5_500 }), 5_000)
    assert.equal(await scarf.change({ price_cents: 5_000, compare_at_price_cents: null }), null)
    assert.deepEqual(await scarf.shown(), [null, null])
  })

  test('counts a lower price in between, until it is 30 days old', async () => {
    const scarf = await sell('dipped', { price_cents: 5_000 })
    await scarf.change({ price_cents: 3_000 })
    await scarf.change({ price_cents: 5_000 })
    const reduced = { price_cents: 4_000, compare_at_price_cents: 5_000 }
    const whole = { price_cents: 5_000, compare_at_price_cents: null }
    assert.equal(await scarf.change(reduced), 3_000)
    await scarf.pass(31)
    await scarf.change(whole)
    // Only the price of the first reduction is younger.
    assert.equal(await scarf.change(reduced), 4_000)
    await scarf.pass(31)
    await scarf.change(whole)
    await scarf.pass(31)
    assert.equal(await scarf.change(reduced), 5_000)
  })

  test('is the price itself if only the price before was set', async () => {
    const scarf = await sell('made-up', { price_cents: 4_000 })
    assert.equal(await scarf.change({ compare_at_price_cents: 9_000 }), 4_000)
    assert.deepEqual(await scarf.shown(), [9_000, 4_000])
    // A sale that goes on does not count its own price against itself.
    assert.equal(await scarf.change({ price_cents: 3_500 }), 4_000)
    assert.equal(await scarf.change({ price_cents: 3_000 }), 3_500)
  })

  test('is unknown if nothing was sold before: for a new variant, a draft and a closed store', async () => {
    const fresh = await sell('fresh', { price_cents: 100, compare_at_price_cents: 200 })
    assert.deepEqual(await fresh.shown(), [200, null])
    const closed = await sell('closed', { price_cents: 100 }, draftStore)
    assert.equal(await closed.change({ price_cents: 90, compare_at_price_cents: 100 }), null)
    assert.deepEqual(await countPrices(closed.id), [])
    const merchant = await openLiveStore(app, 'drafts')
    const { id } = await createProduct(merchant, 'later', { status: 'draft' })
    const variant = await createVariant(merchant, id, { sku: 'LATER', price_cents: 500 })
    const patch = { price_cents: 400, compare_at_price_cents: 500 }
    const answer = await merchant.patch(`${PRODUCTS}/${id}/variants/${variant.id}`, patch)
    assert.equal(answer.body.variant.lowest_price_30_days_cents, null)
  })

  test('does not compare prices of two currencies', async () => {
    const scarf = await sell('moved', { price_cents: 5_000 })
    const patch = { price_cents: 4_000, compare_at_price_cents: 5_000, currency: 'EUR' }
    assert.equal(await scarf.change(patch), null)
  })

  test('keeps one row for each price that has ended, for good, and cannot be set', async () => {
    const scarf = await sell('history', { price_cents: 5_000 })
    assert.equal(await scarf.change({ lowest_price_30_days_cents: 1 }), null)
    for (const price_cents of [4_000, 4_000, 4_500]) await scarf.change({ price_cents })
    await scarf.change({ label: 'x' })
    assert.deepEqual(await countPrices(scarf.id), [5_000, 4_000])
    const other = await openSuperuser(scope, app.database)
    for (const change of ['update past_prices set price_cents = 1', 'delete from past_prices']) {
      await assert.rejects(other.query(change), { code: 'FD002' })
    }
  })
})
