import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Db } from '../../../src/db/database.ts'
import type { Page } from '../../../src/kernel/page.ts'
import * as customers from '../../../src/modules/customers/service.ts'
import { listCustomers } from '../../../src/modules/privacy/customers.ts'
import { openTestApp } from '../../harness/app.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { cart, checkout, DECLINED, openShop } from '../checkout/setup.ts'
import { ADDRESS, giveCredit, issueCard } from './setup.ts'

/** Lists a page, and counts its statements. */
async function countStatements(db: Db, page: Page) {
  let statements = 0
  const count =
    <A extends unknown[], R>(ask: (...args: A) => R) =>
    (...args: A) => {
      statements++
      return ask(...args)
    }
  const counting = {
    tenant: db.tenant,
    many: count(db.many.bind(db)),
    maybe: count(db.maybe.bind(db)),
    one: count(db.one.bind(db)),
  } as unknown as Db
  const { customers: rows, total } = await listCustomers(counting, {}, page)
  return { statements, rows: rows.length, total }
}

const URL = '/v1/merchant/customers'

describe('the customers of a store', () => {
  test('are listed with the sums of their orders, and shown one by one', async (t) => {
    const app = await openTestApp(t)
    const superuser = await openSuperuser(t, app.database)
    const shop = await openShop(app, 'acme', [1_000, 2_500])
    const { merchant, variants } = shop
    const buy = async (price: number, more: object) => {
      const answer = await checkout(app, shop, cart(variants[price], more))
      assert.ok(answer.status === 201 || answer.status === 402, answer.text)
      return answer
    }
    const list = async (query = '') => (await merchant.get(`${URL}${query}`)).body
    const refsOf = ({ customers: rows }: { customers: { customer_ref: string }[] }) =>
      rows.map((row) => row.customer_ref)

    const ann = { customer_ref: 'ann/1', email: 'Ann@Example.com', shipping_address: ADDRESS }
    await buy(1_000, ann)
    await buy(2_500, ann)
    await buy(2_500, { ...ann, card: DECLINED })
    await buy(1_000, { customer_ref: 'bob', email: 'bob@example.com' })

    await t.test('are listed with sums, dates, credit and groups', async () => {
      await giveCredit(merchant, 'ann/1', 700)
      await app.operator.put('/v1/entitlements/tenants/acme/features/pricing_groups', {
        state: 'allow',
      })
      const group = await merchant.post('/v1/merchant/pricing-groups', { name: 'Clubs' })
      const { id } = group.body.pricing_group
      await merchant.post(`/v1/merchant/pricing-groups/${id}/members`, { customer_ref: 'ann/1' })
      await superuser.query(`update orders set refunded_cents = 500 where total_cents = 2500
                              and captured_cents = 2500`)
      const body = await list()
      assert.deepEqual(refsOf(body), ['bob', 'ann/1'])
      const { first_order_at, last_order_at, name, ...row } = body.customers[1]
      assert.deepEqual(row, {
        customer_ref: 'ann/1',
        person_id: null,
        email: 'Ann@Example.com',
        orders_count: 2,
        total_spent_cents: 3_500,
        refunded_cents: 500,
        currency: 'USD',
        store_credit_cents: 700,
        active_subscriptions: 0,
        pricing_groups: [{ id, name: 'Clubs' }],
        tags: [],
      })
      assert.ok(first_order_at < last_order_at)
      assert.equal(name, ADDRESS.name)
      assert.equal(body.total, 2)
    })

    await t.test(
      "show the name from the checkout, or from the address, never the address's label",
      async () => {
        const named = await openShop(app, 'named')
        const nameOf = async (customer_ref: string, more: object) => {
          const order = cart(named.variants[1_000], { customer_ref, ...more })
          const answer = await checkout(app, named, order)
          assert.equal(answer.status, 201, answer.text)
          return (await named.merchant.get(`${URL}/${customer_ref}`)).body.customer.name
        }
        const { name: _, ...unnamed } = ADDRESS
        assert.equal(await nameOf('typed', { name: ' Zoe ', shipping_address: ADDRESS }), 'Zoe')
        assert.equal(await nameOf('addressed', { shipping_address: ADDRESS }), ADDRESS.name)
        assert.equal(await nameOf('labelled', { shipping_address: unnamed }), null)
        assert.equal(await nameOf('blank', { name: ' ', shipping_address: unnamed }), null)
        for (const name of ['', 7, 'x'.repeat(301)]) {
          const odd = await checkout(app, named, cart(named.variants[1_000], { name }))
          assert.equal(odd.status, 400, String(name))
        }
      },
    )

    await t.test('are summed without test orders and other currencies', async () => {
      await superuser.query(`update orders set is_test = true where customer_ref = 'bob'`)
      const [bob] = (await list('?q=bob')).customers
      assert.equal(bob.orders_count, 0)
      assert.equal(bob.total_spent_cents, 0)
      assert.equal(bob.first_order_at, null)
    })

    await t.test(
      'are listed in pages, by parts of their names, newest or oldest first',
      async () => {
        assert.deepEqual(refsOf(await list('?limit=1&offset=1')), ['ann/1'])
        assert.deepEqual(refsOf(await list('?sort=oldest')), ['ann/1', 'bob'])
        assert.equal((await list('?sort=spent')).error.code, 'validation_error')
        assert.deepEqual(refsOf(await list('?q=ANN%40ex')), ['ann/1'])
        assert.equal((await list('?q=nobody')).total, 0)
        const { customers } = await list('?q=ann')
        const [{ customer_ref, name }] = customers
        const across = `${customer_ref.slice(-1)} ${name.slice(0, 2)}`
        assert.equal((await list(`?q=${encodeURIComponent(across)}`)).total, 0, 'of one of them')
        assert.deepEqual(refsOf(await list(`?q=${encodeURIComponent(` ${name} `)}`)), ['ann/1'])
        const odd = await list('?limit=1000&offset=-3')
        assert.deepEqual([odd.limit, odd.offset], [100, 0])
        const zero = await list('?limit=x&offset=y')
        assert.deepEqual([zero.limit, zero.offset], [25, 0])
      },
    )

    await t.test('are read with addresses, latest orders and gift cards', async () => {
      const code = await issueCard(merchant, 400)
      await buy(1_000, { ...ann, gift_card_code: code })
      const { body } = await merchant.get(`${URL}/ann%2F1`)
      const { orders, addresses, returns, affiliate, gift_cards_used } = body.customer
      assert.equal(orders.length, 4)
      assert.deepEqual(
        orders.map((order: { total_cents: number }) => order.total_cents),
        [1_000, 2_500, 2_500, 1_000],
      )
      assert.equal(addresses.length, 1)
      assert.equal(addresses[0].address.line1, ADDRESS.line1)
      assert.deepEqual([returns, affiliate], [[], null])
      assert.equal(gift_cards_used.length, 1)
      assert.equal(gift_cards_used[0].amount_cents, 400)
      assert.equal(gift_cards_used[0].gift_card_last4, code.slice(-4))
      assert.equal(body.customer.total_spent_cents, 4_500)
    })

    await t.test('are not found when unknown, malformed or erased', async () => {
      const db = await app.store('acme')
      const key = app.runtime.key('customers')
      await db.transaction('erase', (tx) => customers.erase(tx, key, 'bob'))
      for (const ref of ['nobody', '%07', 'bob', 'x'.repeat(500)]) {
        const answer = await merchant.get(`${URL}/${ref}`)
        assert.equal(answer.status, 404, answer.text)
        assert.equal(answer.body.error.code, 'customer_not_found')
      }
    })

    await t.test('take as many statements for a full page as for one customer', async () => {
      await superuser.query(`
        insert into customers (tenant_ref, ref_hash, customer_ref)
        select 'acme', sha256(n::text::bytea), 'many ' || n from generate_series(1, 150) n`)
      const full = await countStatements(await app.store('acme'), { limit: 100, offset: 0 })
      const short = await countStatements(await app.store('acme'), { limit: 1, offset: 0 })
      assert.deepEqual([full.rows, full.total], [100, 151])
      assert.equal(short.rows, 1)
      assert.equal(full.statements, short.statements)
    })
  })
})
