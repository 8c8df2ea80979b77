import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { DEADLINE_MS } from '../../../src/platform/rate-limits-store.ts'
import {
  addVariant,
  cart,
  checkout,
  enable,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  stock,
} from './setup.ts'

/** `LONG=1` runs the long form. */
const LONG = process.env.LONG === '1'
const CALLS = LONG ? 500 : 40
const REDEMPTIONS = LONG ? 200 : 24

const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

const tally = (answers: { status: number; body: { error?: { code: string } } }[]) => {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = `${status} ${body.error?.code ?? ''}`.trim()
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

test('many checkouts at once', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000])
  const { merchant } = shop
  await enable(merchant, 'gift_cards', 'store_credit')
  const thousand = shop.variants[1_000]
  const net = async (orderIds: string[]) => {
    const { rows } = await app.superuser.query(
      `select count(*)::int as count from sim_charges s join charges c on c.txn_id = s.txn_id::text
        where c.order_id = any($1) and s.captured_at is not null`,
      [orderIds],
    )
    return rows[0].count
  }
  t.afterEach(() => app.assertAddsUp())

  await t.test(`${CALLS} calls with one key are one order, one charge, one answer`, async () => {
    const body = cart(thousand)
    const answers = await times(CALLS, () => checkout(app, shop, body, 'one'))
    assert.deepEqual(tally(answers), { 201: CALLS })
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    const first = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
    assert.equal(first.length, 1)
    assert.equal(await net([answers[0]?.body.order.id]), 1)
    const { rows } = await app.superuser.query('select count(*)::int as count from orders')
    assert.equal(rows[0].count, 1)
  })

  await t.test('k units are sold k times, and the refused checkouts reserve nothing', async () => {
    const scarce = await addVariant(merchant, 500)
    await stock(merchant, scarce, 7)
    const answers = await times(30, (n) =>
      checkout(app, shop, cart(scarce, { customer_ref: `c${n}` })),
    )
    assert.deepEqual(tally(answers), { 201: 7, '409 insufficient_stock': 23 })
    const { rows } = await app.superuser.query(
      `select on_hand::int, allocated::int, reserved::int from inventory_levels where variant_id = $1`,
      [scarce],
    )
    assert.deepEqual(rows, [{ on_hand: 7, allocated: 7, reserved: 0 }])
  })

  await t.test("a coupon for a customer's first order is used for one order", async () => {
    const coupon = { code: 'FIRST', type: 'percent', percent_bps: 5_000, first_order_only: true }
    const made = await merchant.post('/v1/merchant/marketing/coupons', coupon)
    assert.equal(made.status, 201, made.text)
    const body = cart(thousand, { customer_ref: 'new here', coupon_code: 'FIRST' })
    const answers = await times(8, () => checkout(app, shop, body))
    assert.deepEqual(tally(answers), { 201: 1, '422 coupon_invalid': 7 })
  })

  await t.test('a customer uses one of several coupons for a first order', async () => {
    const codes = ['HELLO', 'WELCOME', 'ALOHA', 'SERVUS']
    for (const code of codes) {
      const coupon = { code, type: 'percent', percent_bps: 5_000, first_order_only: true }
      assert.equal((await merchant.post('/v1/merchant/marketing/coupons', coupon)).status, 201)
    }
    for (const customer_ref of ['new too', 'new as well']) {
      const answers = await times(8, (n) =>
        checkout(app, shop, cart(thousand, { customer_ref, coupon_code: codes[n % 4] })),
      )
      assert.deepEqual(tally(answers), { 201: 1, '422 coupon_invalid': 7 }, customer_ref)
      for (const { body } of answers.filter(({ status }) => status === 422)) {
        assert.ok(['per_customer', 'not_applicable'].includes(body.reason), body.reason)
      }
    }
  })

  await t.test('carts with the same variants in any order cause no deadlock', async () => {
    const variants = await times(4, async () => {
      const variant = await addVariant(merchant, 100)
      await stock(merchant, variant, 1_000)
      return variant
    })
    const answers = await times(30, (n) => {
      const items = variants.map((_, i) => ({
        variant_id: variants[(i * 3 + n) % 4],
        quantity: 1 + (n % 2),
      }))
      return checkout(app, shop, cart(undefined, { items, customer_ref: `v${n}` }))
    })
    assert.deepEqual(tally(answers), { 201: 30 })
  })

  await t.test(
    `${REDEMPTIONS} uses of one coupon, gift card and credit account at once never overdraw them`,
    async () => {
      const limits = { type: 'fixed', amount_cents: 100, usage_limit: 5 }
      const coupon = { code: 'FIVE', ...limits }
      const made = await merchant.post('/v1/merchant/marketing/coupons', coupon)
      assert.equal(made.status, 201, made.text)
      const { code, gift_card } = await issueGiftCard(merchant, 3_300)
      await giveCredit(merchant, 'rich', 2_500)
      const [byCoupon, byCard, byCredit] = await Promise.all([
        times(REDEMPTIONS, (n) =>
          checkout(app, shop, cart(thousand, { coupon_code: 'FIVE', customer_ref: `k${n}` })),
        ),
        times(REDEMPTIONS, (n) =>
          checkout(app, shop, {
            ...cart(thousand, { gift_card_code: code, customer_ref: `g${n}` }),
            card: null,
          }),
        ),
        times(REDEMPTIONS, () =>
          checkout(app, shop, {
            ...cart(thousand, { apply_store_credit: true, customer_ref: 'rich' }),
            card: null,
          }),
        ),
      ])
      assert.deepEqual(tally(byCoupon), { 201: 5, '422 coupon_invalid': REDEMPTIONS - 5 })
      assert.deepEqual(tally(byCard), { 201: 3, '402 card_required': REDEMPTIONS - 3 })
      assert.deepEqual(tally(byCredit), { 201: 2, '402 card_required': REDEMPTIONS - 2 })
      const left = await merchant.get(`/v1/merchant/gift-cards/${gift_card.id}`)
      assert.equal(left.body.gift_card.balance_cents, 300)
    },
  )

  await t.test('all tenders in any mix end without a deadlock', async () => {
    const { code } = await issueGiftCard(merchant, 40_000)
    await giveCredit(merchant, 'mix', 40_000)
    const counted = await addVariant(merchant, 700)
    await stock(merchant, counted, 10_000)
    const answers = await times(40, (n) =>
      checkout(
        app,
        shop,
        cart(counted, {
          customer_ref: 'mix',
          items: [{ variant_id: counted, quantity: 1 + (n % 5) }],
          ...(n % 2 ? { apply_store_credit: true } : {}),
          ...(n % 3 ? { gift_card_code: code } : {}),
        }),
        randomUUID(),
      ),
    )
    assert.deepEqual(tally(answers), { 201: 40 })
  })
})

/** A machine that others use may spoil a round; hits that wait for each other would spoil each. */
const ROUNDS = 20

test('a hundred checkouts at once are all counted within the deadline that the limiter has in production', async (t) => {
  const app = await openCheckoutApp(t, { limiterDeadlineMs: DEADLINE_MS })
  const shop = await openShop(app, 'acme', [1_000])
  const buy = (n: number) =>
    checkout(app, shop, cart(shop.variants[1_000], { customer_ref: `customer ${n}` }))
  // The first ones open connections and compile what they run.
  for (let n = 0; n < 5; n++) await times(n * 5, buy)
  const seen: object[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const counts = tally(await times(100, buy))
    if (counts[201] === 100) return
    seen.push(counts)
  }
  assert.fail(`rounds: ${JSON.stringify(seen)}`)
})
