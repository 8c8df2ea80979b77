import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import pg from 'pg'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { assertOrdersAddUp } from '../../harness/order-oracles.ts'
import { assertRefused, times } from '../../harness/refusals.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { cart, checkout, DECLINED, openShop, preview, type Shop } from '../checkout/setup.ts'
import { URL as COUPONS, createCoupon } from '../marketing/setup.ts'
import {
  act,
  type CampaignApp,
  createCampaign,
  readCampaign,
  shareCampaignApp,
  URL,
} from './setup.ts'

const shared = shareCampaignApp()
let app: CampaignApp
let shop: Shop

before(() => {
  app = shared.current
})

const at = (ms: number) => new Date(Date.now() + ms).toISOString()

/** A running campaign, and a coupon of it that takes 250 of 1,000 cents off. */
async function running(campaign: object = {}, coupon: object = {}) {
  const { id } = await createCampaign(shop.merchant, campaign)
  await act(shop.merchant, id, 'schedule', {})
  const terms = { type: 'fixed', percent_bps: undefined, amount_cents: 250, ...coupon }
  return { id, coupon: await createCoupon(shop.merchant, { campaign_id: id, ...terms }) }
}

const buy = (code: string, more: object = {}) =>
  checkout(
    app,
    shop,
    cart(shop.variants[1_000], { customer_ref: randomUUID(), coupon_code: code, ...more }),
  )

/** The reason for which a coupon is refused, by the checkout and by its preview alike. */
async function refusalOf(code: string): Promise<string> {
  const body = { customer_ref: 'ann', coupon_code: code }
  const shown = await preview(app, shop, cart(shop.variants[1_000], body))
  const bought = await buy(code, body)
  assert.deepEqual([bought.status, bought.body.error?.code], [422, 'coupon_invalid'], bought.text)
  assert.deepEqual(
    [shown.body.coupon.applied, shown.body.coupon.reason],
    [false, bought.body.reason],
  )
  return bought.body.reason
}

const usedOf = async (id: string) => (await readCampaign(shop.merchant, id)).budget.used

describe('the budget of a campaign', () => {
  before(async () => {
    shop = await openShop(app, 'acme', [1_000])
  })

  test('is never exceeded by concurrent checkouts, and is used up: an amount of money', async (t) => {
    const { id, coupon } = await running({ budget: { type: 'spend', limit: 1_100 } })
    const answers = await times(12, () => buy(coupon.code))
    const placed = answers.filter(({ status }) => status === 201)
    assert.equal(placed.length, 4, 'four times 250 fit into 1,100')
    for (const { status, body } of answers) {
      if (status !== 201) assert.deepEqual([status, body.reason], [422, 'exhausted'])
    }
    assert.equal(await usedOf(id), 1_000)
    assert.equal(await refusalOf(coupon.code), 'exhausted')
    await assertOrdersAddUp(await openSuperuser(t, app.database))
  })

  test('is never exceeded by concurrent checkouts, with several coupons: a number of uses', async (t) => {
    const { id, coupon } = await running({ budget: { type: 'uses', limit: 5 } })
    const others = await times(2, () => createCoupon(shop.merchant, { campaign_id: id }))
    const codes = [coupon, ...others].map(({ code }) => code)
    const answers = await times(15, (n) => buy(codes[n % codes.length]))
    assert.equal(answers.filter(({ status }) => status === 201).length, 5)
    assert.equal(await usedOf(id), 5)
    for (const code of codes) assert.equal(await refusalOf(code), 'exhausted')
    await assertOrdersAddUp(await openSuperuser(t, app.database))
  })

  test('gets its amount back once when an order fails or is cancelled', async (t) => {
    const { id, coupon } = await running({ budget: { type: 'spend', limit: 250 } })
    const declined = await buy(coupon.code, { card: DECLINED })
    assert.equal(declined.status, 402)
    assert.equal(await usedOf(id), 0)
    const bought = await buy(coupon.code)
    assert.equal(bought.status, 201, bought.text)
    assert.equal(await usedOf(id), 250)
    assert.equal(await refusalOf(coupon.code), 'exhausted')
    const cancel = `/v1/merchant/orders/${bought.body.order.id}/cancel`
    const headers = () => ({ 'idempotency-key': randomUUID() })
    const answers = await times(3, () => shop.merchant.post(cancel, { reason: 'other' }, headers()))
    assert.ok(
      answers.some(({ status }) => status === 200),
      answers[0]?.text,
    )
    assert.equal(await usedOf(id), 0)
    assert.equal((await buy(coupon.code)).status, 201)
    await assertOrdersAddUp(await openSuperuser(t, app.database))
  })

  test('lets an order pass whose discount fits what is left, and refuses a greater one', async () => {
    const { id, coupon } = await running(
      { budget: { type: 'spend', limit: 300 } },
      { type: 'percent', amount_cents: undefined, percent_bps: 2_000 },
    )
    const items = (quantity: number) => [{ variant_id: shop.variants[1_000], quantity }]
    const large = await buy(coupon.code, { items: items(2) })
    assert.deepEqual([large.status, large.body.reason], [422, 'exhausted'])
    assert.equal((await buy(coupon.code, { items: items(1) })).status, 201)
    assert.equal(await usedOf(id), 200)
  })

  test('can be raised while it is in use, and keeps its type', async () => {
    const { id, coupon } = await running({ budget: { type: 'uses', limit: 1 } })
    assert.equal((await buy(coupon.code)).status, 201)
    await assertRefused(
      [
        ['another type', { budget: { type: 'spend', limit: 9 } }, 'invalid_body', 'budget.type'],
        ['none', { budget: null }, 'invalid_body', 'budget.type'],
      ],
      (body) => shop.merchant.patch(`${URL}/${id}`, body),
    )
    const raised = await shop.merchant.patch(`${URL}/${id}`, { budget: { type: 'uses', limit: 2 } })
    assert.deepEqual(raised.body.campaign.budget, { type: 'uses', limit: 2, used: 1 })
    assert.equal((await buy(coupon.code)).status, 201)
  })
})

describe('the coupons of a campaign', () => {
  before(async () => {
    shop = await openShop(app, 'globex', [1_000])
  })

  test('can be used while the campaign is active, and not before, after or while it is paused', async () => {
    const { id } = await createCampaign(shop.merchant)
    const { code } = await createCoupon(shop.merchant, { campaign_id: id })
    assert.equal(await refusalOf(code), 'unknown', 'a draft')
    await act(shop.merchant, id, 'schedule', { starts_at: at(HOUR_MS) })
    assert.equal(await refusalOf(code), 'not_started')
    await act(shop.merchant, id, 'schedule', { starts_at: null })
    const other = await running()
    assert.equal((await buy(other.coupon.code)).status, 201)
    await act(shop.merchant, other.id, 'pause')
    assert.equal(await refusalOf(other.coupon.code), 'unknown')
    await act(shop.merchant, other.id, 'resume')
    assert.equal((await buy(other.coupon.code)).status, 201)
    await act(shop.merchant, other.id, 'cancel')
    assert.equal(await refusalOf(other.coupon.code), 'expired')
  })

  test('stop at the end of the campaign, also before the worker has ended it', async () => {
    const { id, coupon } = await running({ ends_at: at(HOUR_MS) })
    await app.sql(
      `update campaigns set starts_at = now() - interval '1 hour', ends_at = now() where id = $1`,
      [id],
    )
    assert.equal(await refusalOf(coupon.code), 'expired')
  })

  test('take no lock on the budget if there is none, for any number of orders', async () => {
    const { id, coupon } = await running()
    const held = await app.database.openAdmin()
    await held.query('begin')
    await held.query('select from campaigns where id = $1 for update', [id])
    try {
      assert.equal((await buy(coupon.code)).status, 201)
    } finally {
      await held.query('rollback')
    }
  })

  test('can only be added to a campaign of the same store that is not over', async () => {
    const other = await app.newStore()
    const foreign = await createCampaign(other.merchant)
    const over = await createCampaign(shop.merchant)
    await act(shop.merchant, over.id, 'cancel')
    const coupon = { type: 'percent', percent_bps: 1_000 }
    await assertRefused(
      [
        ['another store', { ...coupon, campaign_id: foreign.id }, 'campaign_not_found'],
        ['no id', { ...coupon, campaign_id: 'x' }, 'campaign_not_found'],
        ['one that is over', { ...coupon, campaign_id: over.id }, 'invalid_transition'],
      ],
      (body) => shop.merchant.post(COUPONS, { code: randomUUID(), ...(body as object) }),
    )
  })

  test('can move to another campaign until they are used, and are counted in their campaign', async () => {
    const [from, to] = [await createCampaign(shop.merchant), await running()]
    const coupon = await createCoupon(shop.merchant, { campaign_id: from.id })
    assert.equal((await readCampaign(shop.merchant, from.id)).coupon_count, 1)
    const kept = await shop.merchant.send('DELETE', `${URL}/${from.id}`)
    assert.deepEqual([kept.status, kept.body.allowed], [409, ['cancel']])
    const moved = await shop.merchant.patch(`${COUPONS}/${coupon.id}`, { campaign_id: to.id })
    assert.equal(moved.body.coupon?.campaign_id, to.id, moved.text)
    assert.equal((await readCampaign(shop.merchant, from.id)).coupon_count, 0)
    assert.equal((await readCampaign(shop.merchant, to.id)).coupon_count, 2)
    const listed = await shop.merchant.get(`${COUPONS}?campaign_id=${to.id}`)
    assert.equal(listed.body.total, 2)
    assert.equal((await shop.merchant.get(`${COUPONS}?campaign_id=x`)).body.total, 0)

    const bought = await buy(coupon.code)
    assert.equal(bought.status, 201)
    const refused = await shop.merchant.patch(`${COUPONS}/${coupon.id}`, { campaign_id: null })
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'coupon_used'])
    const same = await shop.merchant.patch(`${COUPONS}/${coupon.id}`, { campaign_id: to.id })
    assert.equal(same.status, 200, 'the same campaign is no change')
  })

  test('are at most a hundred', async () => {
    const { id } = await createCampaign(shop.merchant)
    await app.sql('update campaigns set coupon_count = 100 where id = $1', [id])
    const body = { code: randomUUID(), type: 'free_shipping', campaign_id: id }
    const refused = await shop.merchant.post(COUPONS, body)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'limit_reached'])
    await app.sql('update campaigns set coupon_count = 0 where id = $1', [id])
  })
})

/** What the driver gets: one statement, or several that are sent together. */
interface Sent {
  text?: string
  statements?: readonly { text: string }[]
}

test('an order without a coupon sends no statement about coupons or campaigns', async (t) => {
  const store = await openShop(app, 'initech', [1_000])
  const coupon = await createCoupon(store.merchant)
  const texts: string[] = []
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    const sent = args[0] as Sent
    texts.push(...(sent.statements?.map(({ text }) => text) ?? [sent.text ?? String(sent)]))
    return query.apply(this, args)
  })
  const aboutCoupons = async (more: object) => {
    texts.length = 0
    const placed = await checkout(app, store, cart(store.variants[1_000], more))
    assert.equal(placed.status, 201, placed.text)
    return texts.filter((text) =>
      /\b(coupons|coupon_codes|coupon_redemptions|campaigns)\b/.test(text),
    )
  }
  assert.deepEqual(await aboutCoupons({}), [])
  const withCoupon = await aboutCoupons({ customer_ref: 'bob', coupon_code: coupon.code })
  assert.ok(withCoupon.length > 0, 'they are seen')
  assert.ok(!withCoupon.some((text) => /\bcampaigns\b/.test(text)), 'a coupon of no campaign')
})
