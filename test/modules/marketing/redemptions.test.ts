import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { isOutage } from '../../../src/db/constraints.ts'
import { ApiError } from '../../../src/errors.ts'
import * as redemptions from '../../../src/modules/marketing/redemptions.ts'
import * as marketing from '../../../src/modules/marketing/service.ts'
import { openTestApp } from '../../harness/app.ts'
import { times } from '../../harness/refusals.ts'
import { createCoupon, URL } from './setup.ts'

test('the redemptions of a coupon', async (t) => {
  const app = await openTestApp(t)
  const acme = await app.merchant('acme')
  const db = await app.store('acme')

  interface Request {
    coupon_id: string
    code_id?: string | null
    customer_ref?: string
    order_id?: string
  }

  /** Reserves a use: `claimed`, or the reason why not. */
  async function claim(request: Request): Promise<string> {
    const use = { customer_ref: 'ana', order_id: randomUUID(), ...request }
    try {
      await db.transaction('claim', (tx) => redemptions.reserve(tx, use))
      return 'claimed'
    } catch (error) {
      // Waiting for a connection has a limit. On a busy machine the last callers try again.
      if (isOutage(error)) return claim(use)
      assert.ok(error instanceof ApiError && error.code === 'coupon_invalid', String(error))
      return String(error.body.reason)
    }
  }

  const release = (order_id: string) =>
    db.transaction('release', (tx) => redemptions.release(tx, { order_id }))
  const confirm = (order_id: string) =>
    db.transaction('confirm', (tx) => redemptions.confirm(tx, { order_id }))

  const count = (answers: readonly string[], wanted: string) =>
    answers.filter((answer) => answer === wanted).length

  const read = async (id: string) => (await acme.get(`${URL}/${id}`)).body.coupon

  await t.test(
    '200 redemptions at once of a coupon with one use give exactly one use',
    async () => {
      const { id: coupon_id } = await createCoupon(acme, { usage_limit: 1 })
      const answers = await times(200, (i) => claim({ coupon_id, customer_ref: `customer ${i}` }))
      assert.deepEqual([count(answers, 'claimed'), count(answers, 'exhausted')], [1, 199])
      const { used_count, status } = await read(coupon_id)
      assert.deepEqual([used_count, status], [1, 'exhausted'])
      assert.equal((await acme.get(`${URL}/${coupon_id}/redemptions`)).body.total, 1)
    },
  )

  await t.test(
    'never exceed the limit per customer, however many at once, and leave other customers their uses',
    async () => {
      const { id: coupon_id } = await createCoupon(acme, {
        usage_limit: 50,
        usage_limit_per_customer: 2,
      })
      const answers = await times(60, (i) =>
        claim({ coupon_id, customer_ref: `customer ${i % 3}` }),
      )
      assert.deepEqual([count(answers, 'claimed'), count(answers, 'per_customer')], [6, 54])
      assert.equal((await read(coupon_id)).used_count, 6)
    },
  )

  await t.test('allow a customer one coupon for a first order at a time', async () => {
    const made = await Promise.all(
      Array.from({ length: 5 }, () => createCoupon(acme, { first_order_only: true })),
    )
    const customer_ref = 'first'
    const answers = await times(40, (i) =>
      claim({ coupon_id: made[i % 5]?.id, customer_ref: i % 2 ? customer_ref : 'second' }),
    )
    assert.deepEqual([count(answers, 'claimed'), count(answers, 'per_customer')], [2, 38])
    const [one, other] = await Promise.all([
      createCoupon(acme, { first_order_only: true }),
      createCoupon(acme, { first_order_only: true }),
    ])
    const order_id = randomUUID()
    const again = { customer_ref: 'comes back' }
    assert.equal(await claim({ coupon_id: one.id, order_id, ...again }), 'claimed')
    assert.equal(await claim({ coupon_id: other.id, ...again }), 'per_customer')
    assert.equal(await claim({ coupon_id: (await createCoupon(acme)).id, ...again }), 'claimed')
    await release(order_id)
    assert.equal(
      await claim({ coupon_id: other.id, ...again }),
      'claimed',
      'the first use was released',
    )
  })

  await t.test('use a single-use code once, however many redemptions come at once', async () => {
    const { id: coupon_id } = await createCoupon(acme)
    const [code] = (await acme.post(`${URL}/${coupon_id}/codes`, { count: 1 })).body.codes
    const found = await marketing.findForCheckout(db, code.toLowerCase(), 'ana')
    const { code_id } = found ?? assert.fail()
    assert.deepEqual([found?.code, found?.status], [code, 'active'])
    const order_id = randomUUID()
    assert.equal(await claim({ coupon_id, code_id, order_id }), 'claimed')
    const answers = await times(30, () => claim({ coupon_id, code_id }))
    assert.equal(count(answers, 'exhausted'), 30)
    assert.equal((await read(coupon_id)).used_count, 1, 'a refused claim leaves nothing')
    assert.equal((await marketing.findForCheckout(db, code))?.status, 'exhausted')
    await release(order_id)
    assert.equal((await marketing.findForCheckout(db, code))?.status, 'active')
    assert.equal(await claim({ coupon_id, code_id }), 'claimed')
  })

  await t.test('refuse a code of another coupon without counting a use', async () => {
    const [one, other] = [await createCoupon(acme), await createCoupon(acme)]
    const [code] = (await acme.post(`${URL}/${other.id}/codes`, { count: 1 })).body.codes
    const found = await marketing.findForCheckout(db, code)
    const { code_id } = found ?? assert.fail()
    assert.equal(await claim({ coupon_id: one.id, code_id }), 'exhausted')
    assert.equal((await read(one.id)).used_count, 0)
  })

  await t.test('release a use once, whether it is confirmed or not', async () => {
    const { id: coupon_id } = await createCoupon(acme, {
      usage_limit: 2,
      usage_limit_per_customer: 1,
    })
    const [first, second] = [randomUUID(), randomUUID()]
    await claim({ coupon_id, order_id: first })
    await claim({ coupon_id, order_id: second, customer_ref: 'ben' })
    await confirm(first)
    assert.equal(await claim({ coupon_id, customer_ref: 'cem' }), 'exhausted')
    await Promise.all([release(first), release(first), release(first), release(second)])
    await release(randomUUID())
    assert.equal((await read(coupon_id)).used_count, 0)
    await confirm(first)
    const { body } = await acme.get(`${URL}/${coupon_id}/redemptions`)
    const states = body.redemptions.map((each: { state: string }) => each.state)
    assert.deepEqual(states, ['released', 'released'])
    assert.equal(await claim({ coupon_id, customer_ref: 'ana' }), 'claimed')
  })

  await t.test(
    'count exactly the remaining uses after concurrent claims and releases',
    async () => {
      const { id: coupon_id } = await createCoupon(acme, { usage_limit: 10 })
      const answers = await times(40, async (i) => {
        const order_id = randomUUID()
        const answer = await claim({ coupon_id, order_id, customer_ref: `customer ${i}` })
        if (answer === 'claimed' && i % 2 === 0) await release(order_id)
        return answer
      })
      assert.ok(count(answers, 'claimed') >= 10)
      const { redemptions: listed } = (await acme.get(`${URL}/${coupon_id}/redemptions?limit=100`))
        .body
      const standing = listed.filter((each: { state: string }) => each.state === 'claimed')
      assert.equal((await read(coupon_id)).used_count, standing.length)
      assert.ok(standing.length <= 10)
    },
  )

  await t.test('allow one coupon per order', async () => {
    const { id: coupon_id } = await createCoupon(acme)
    const order_id = randomUUID()
    assert.equal(await claim({ coupon_id, order_id }), 'claimed')
    await assert.rejects(claim({ coupon_id, order_id }))
    assert.equal((await read(coupon_id)).used_count, 1)
    assert.equal((await marketing.findOfOrder(db, order_id))?.id, coupon_id)
    await release(order_id)
    assert.equal(await marketing.findOfOrder(db, order_id), null)
  })

  await t.test('name the order, the customer and the code', async () => {
    const coupon = await createCoupon(acme)
    const order_id = randomUUID()
    await claim({ coupon_id: coupon.id, order_id, customer_ref: 'Ана 𝒜' })
    await confirm(order_id)
    const { body } = await acme.get(`${URL}/${coupon.id}/redemptions`)
    const { created_at, updated_at, ...rest } = body.redemptions[0]
    assert.deepEqual(rest, {
      order_id,
      code: coupon.code,
      customer_ref: 'Ана 𝒜',
      state: 'confirmed',
    })
  })
})

describe('a checkout finds a coupon', () => {
  test("a checkout finds a coupon by its code in any spelling, in its own store, with the customer's number of uses", async (t) => {
    const app = await openTestApp(t)
    const acme = await app.merchant('acme')
    const other = await app.store('other')
    const db = await app.store('acme')
    const { id } = await createCoupon(acme, { code: 'Été-10', usage_limit: 3 })
    for (const code of ['Été-10', ' ÉTÉ-10 ', 'e\u0301te\u0301-10']) {
      const found = await marketing.findForCheckout(db, code, 'ana')
      assert.deepEqual([found?.id, found?.customer_used, found?.code_id], [id, 0, null], code)
    }
    const use = { coupon_id: id, customer_ref: 'ana', order_id: randomUUID() }
    await db.transaction('claim', (tx) => redemptions.reserve(tx, use))
    assert.equal((await marketing.findForCheckout(db, 'Été-10', 'ana'))?.customer_used, 1)
    assert.equal((await marketing.findForCheckout(db, 'Été-10', 'ben'))?.customer_used, 0)
    assert.equal((await marketing.findForCheckout(db, 'Été-10'))?.customer_used, 0)
    for (const code of ['', '   ', 'Ete-10', 'x'.repeat(5_000)]) {
      assert.equal(await marketing.findForCheckout(db, code), null, code)
    }
    assert.equal(await marketing.findForCheckout(other, 'Été-10'), null)
  })
})
