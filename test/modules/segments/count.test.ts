import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import { advance } from '../../../src/modules/segments/count.ts'
import { countingQueue } from '../../../src/modules/segments/count-queries.ts'
import { countPeople, onNewLinks } from '../../../src/modules/segments/jobs.ts'
import { inParallel } from '../../harness/in-parallel.ts'
import { share } from '../../harness/scope.ts'
import type { Shop } from '../checkout/setup.ts'
import { openSegmentApp, type SegmentApp } from './setup.ts'

const keyed = () => ({ 'idempotency-key': randomUUID() })

const shared = share(openSegmentApp)
let stores = 0

/** The next store. Its test counts all that it has ordered: a check looks at all stores. */
async function openStore() {
  const app = shared.current
  return { app, shop: await app.newShop(`acme-${++stores}`) }
}

async function personOf({ superuser }: SegmentApp, { tenant }: Shop, email: string) {
  const { rows } = await superuser.query(
    'select * from segment_people where tenant_ref = $1 and email_folded = $2',
    [tenant, email],
  )
  return rows[0]
}

describe('what people have ordered', () => {
  test('follows refunds, test flags, and orders under another spelling of the address', async () => {
    const { app, shop } = await openStore()
    const first = await app.buy(shop, 'ann@x.example')
    const second = await app.buy(shop, 'Ann@X.example', { customer_ref: 'other' })
    await app.count()
    const counted = await personOf(app, shop, 'ann@x.example')
    assert.deepEqual(
      [counted.orders_count, Number(counted.total_spent_cents), counted.customer_ref],
      [2, 2_000, 'other'],
    )
    const refund = `/v1/merchant/orders/${first.id}/refunds`
    assert.equal((await shop.merchant.post(refund, { amount_cents: 300 }, keyed())).status, 201)
    await app.count()
    assert.equal(Number((await personOf(app, shop, 'ann@x.example')).refunded_cents), 300)
    const flag = (id: string, is_test: boolean) =>
      app.operator.post(`/v1/stores/${shop.tenant}/orders/${id}/test-flag`, { is_test })
    assert.equal((await flag(second.id, true)).status, 200)
    assert.equal((await personOf(app, shop, 'ann@x.example')).orders_count, 1, 'at once')
    await flag(first.id, true)
    assert.equal(await personOf(app, shop, 'ann@x.example'), undefined, 'nothing is left of her')
    await flag(first.id, false)
    assert.equal((await personOf(app, shop, 'ann@x.example')).orders_count, 1)
    await app.check()
  })

  test('does not count orders that were not paid, or have no address', async () => {
    const { app, shop } = await openStore()
    const declined = { ccnumber: '4000000000000002', ccexp: '10/40', cvv: '999' }
    const cart = { items: [{ variant_id: shop.variants[1_000], quantity: 1 }], customer_ref: 'ann' }
    const body = { ...cart, card: declined, email: 'ann@x.example' }
    const url = `/v1/tenants/${shop.tenant}/checkout`
    assert.equal((await app.storefront.post(url, body, keyed())).status, 402)
    await app.buy(shop, 'bob@x.example', { email: undefined })
    await app.count()
    const { rows } = await app.superuser.query(
      'select email_folded from segment_people where tenant_ref = $1',
      [shop.tenant],
    )
    assert.equal(rows.length, 0)
    await app.check()
  })

  test('keeps a newsletter reader who has no order any more, and drops people without either', async () => {
    const { app, shop } = await openStore()
    const consents = [{ email: 'ann@x.example', given_at: '2025-01-01T00:00:00Z', text: 'Yes.' }]
    await shop.merchant.post('/v1/merchant/marketing/consents/import', { consents })
    const orders = [await app.buy(shop, 'ann@x.example'), await app.buy(shop, 'bob@x.example')]
    await app.count()
    for (const { id } of orders) {
      await app.operator.post(`/v1/stores/${shop.tenant}/orders/${id}/test-flag`, { is_test: true })
    }
    const { rows } = await app.superuser.query(
      `select email_folded, orders_count, customer_ref, consent
         from segment_people where tenant_ref = $1`,
      [shop.tenant],
    )
    assert.deepEqual(rows, [
      { email_folded: 'ann@x.example', orders_count: 0, customer_ref: null, consent: 'given' },
    ])
    await app.check()
  })

  test('is counted once by many workers, and never by one that has lost its lease', async (t) => {
    const app = await openSegmentApp(t)
    const shop = await app.newShop('acme')
    const { workerDatabase } = app.runtime
    await app.buy(shop, 'ann@x.example')
    while ((await chainNewJournals(workerDatabase, { onLinks: onNewLinks })) > 0);
    const worker = workerDatabase.tenant('acme')
    const [late] = await countingQueue.claim(worker, 1)
    assert.ok(late)
    assert.equal(await countPeople(workerDatabase), 0, 'it is another worker’s')
    await app.superuser.query(`update segment_positions set lease_until = now() - interval '1 s'`)
    await Promise.all(Array.from({ length: 4 }, () => countPeople(workerDatabase)))
    const again = await worker.transaction('late', (tx) => advance(tx, late))
    assert.equal(again, 0)
    assert.equal((await personOf(app, shop, 'ann@x.example')).orders_count, 1)
    await app.check()
  })

  test('is counted also if a worker was killed within a step', async () => {
    const { app, shop } = await openStore()
    const { workerDatabase } = app.runtime
    await app.buy(shop, 'ann@x.example')
    while ((await chainNewJournals(workerDatabase, { onLinks: onNewLinks })) > 0);
    const worker = workerDatabase.tenant(shop.tenant)
    const [lease] = await countingQueue.claim(worker, 1)
    assert.ok(lease)
    const killed = worker.transaction('killed', async (tx) => {
      await advance(tx, lease)
      throw new Error('killed')
    })
    await assert.rejects(killed, /killed/)
    assert.equal(await personOf(app, shop, 'ann@x.example'), undefined)
    await app.superuser.query(
      `update segment_positions set lease_until = now() - interval '1 s' where tenant_ref = $1`,
      [shop.tenant],
    )
    await app.count()
    await app.check()
    assert.equal((await personOf(app, shop, 'ann@x.example')).orders_count, 1)
  })

  test('is not restored by a count that runs beside the erasure', async () => {
    const { app, shop } = await openStore()
    const erase = async (customer_ref: string) => {
      const url = '/v1/my/privacy/erase'
      const { body } = await shop.merchant.post(url, { customer_ref })
      return shop.merchant.post(url, { customer_ref, confirm: body.confirm }, keyed())
    }
    const emails = Array.from({ length: 6 }, (_, n) => `p${n}@x.example`)
    for (const email of emails) {
      await app.buy(shop, email)
      const [erased] = await Promise.all([erase(`ref of ${email}`), app.count()])
      assert.equal(erased.status, 200, erased.text)
    }
    await app.count()
    const { rows } = await app.superuser.query(
      'select email_folded from segment_people where tenant_ref = $1',
      [shop.tenant],
    )
    assert.deepEqual(rows, [])
    await app.check()
  })

  test('equals a count of all orders after a random history', async () => {
    const { app, shop: one } = await openStore()
    const { shop: other } = await openStore()
    const shops = [one, other]
    const pick = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)] as T
    const orders: { tenant: string; id: string }[] = []
    await inParallel(3, 60, async (n) => {
      const shop = pick(shops)
      const { tenant, merchant } = shop
      const order = orders.length === 0 ? undefined : pick(orders)
      const dice = Math.random()
      if (n < 6 || dice < 0.5) {
        const price = pick([1_000, 2_500])
        const items = [{ variant_id: shop.variants[price], quantity: 1 }]
        const email = `p${Math.floor(Math.random() * 5)}@x.example`
        orders.push({ tenant, id: (await app.buy(shop, email, { items })).id })
      } else if (dice < 0.65 && order?.tenant === tenant) {
        const url = `/v1/merchant/orders/${order.id}/refunds`
        await merchant.post(url, { amount_cents: 100 }, keyed())
      } else if (dice < 0.75 && order !== undefined) {
        const url = `/v1/stores/${order.tenant}/orders/${order.id}/test-flag`
        await app.operator.post(url, { is_test: Math.random() < 0.5 })
      } else if (dice < 0.85) {
        const email = `p${Math.floor(Math.random() * 7)}@x.example`
        await merchant.post('/v1/merchant/marketing/consents/withdraw', { email })
      } else await app.count()
    })
    await app.count()
    await app.check()
  })
})
