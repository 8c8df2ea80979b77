import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEFAULT_RULES, scoreRisk } from '../../../src/modules/fraud/score.ts'
import { DEFAULT_SETTINGS, rulesOf } from '../../../src/modules/fraud/settings.ts'
import { share } from '../../harness/scope.ts'
import { APPROVED, cardOf, cart, checkout, openCheckoutApp, openShop } from '../checkout/setup.ts'

const SETTINGS = '/v1/merchant/fraud/settings'

const shared = share((scope) =>
  openCheckoutApp(scope, { env: { CHECKOUT_VELOCITY_PER_MINUTE: '20' } }),
)
let stores = 0

/** The next store, with the add-on unless the test says otherwise. */
async function open(state = 'allow') {
  const app = shared.current
  const tenant = `tuned-${++stores}`
  const shop = await openShop(app, tenant)
  const rule = (to: string) =>
    app.operator.put(`/v1/entitlements/tenants/${tenant}/features/advanced_fraud`, { state: to })
  if (state !== 'none') assert.equal((await rule(state)).status, 200)
  const { merchant } = shop
  let shoppers = 0
  return {
    app,
    shop,
    merchant,
    rule,
    set: async (body: object) => {
      const answer = await merchant.put(SETTINGS, body)
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    },
    buy: (more: object = {}) =>
      checkout(
        app,
        shop,
        cart(shop.variants[1_000], { customer_ref: `${tenant}-${++shoppers}`, ...more }),
      ),
  }
}

/** The simulated gateway finds any security code but 999 wrong. */
const WRONG_CODE = { card: { ...APPROVED, cvv: '123' } }

const refusal = ({ status, body }: { status: number; body: { error: { code: string } } }) => [
  status,
  body.error.code,
]

describe('the settings of the fraud check', () => {
  test('are the defaults at first, which score like the platform', async () => {
    const { merchant } = await open('none')
    const { body } = await merchant.get(SETTINGS)
    assert.deepEqual(body, {
      settings: DEFAULT_SETTINGS,
      defaults: DEFAULT_SETTINGS,
      in_use: false,
      attempts_per_minute_max: 20,
      updated_at: null,
    })
    const seen = { avs: 'N', cvv: 'N', velocity: 0.6, fraud_signal: true, ban: 'review' } as const
    for (const name of Object.keys(seen)) {
      const one = { [name]: seen[name as keyof typeof seen] }
      assert.deepEqual(scoreRisk(one, rulesOf(DEFAULT_SETTINGS)), scoreRisk(one, DEFAULT_RULES))
    }
  })

  test('cannot be set without the add-on, after a denial or by a lesser key, and can be read by all', async () => {
    const { app, merchant, shop, rule } = await open('none')
    const body = { review_from: 50 }
    assert.deepEqual(refusal(await merchant.put(SETTINGS, body)), [403, 'feature_not_enabled'])
    await rule('deny')
    assert.deepEqual(refusal(await merchant.put(SETTINGS, body)), [403, 'operator_restricted'])
    assert.equal((await merchant.get(SETTINGS)).status, 200)
    const lesser = await app.merchant(shop.tenant, 'manage:own_orders')
    assert.deepEqual(refusal(await lesser.get(SETTINGS)), [403, 'forbidden'])
  })

  test('are replaced as a whole: a member that the body leaves out gets its default', async () => {
    const { set, merchant, shop, app } = await open()
    const made = await set({ review_from: 40, signals: { cvv_mismatch: { action: 'hold' } } })
    assert.equal(made.in_use, true)
    assert.deepEqual(made.settings, {
      ...DEFAULT_SETTINGS,
      review_from: 40,
      signals: { ...DEFAULT_SETTINGS.signals, cvv_mismatch: { points: 30, action: 'hold' } },
    })
    assert.deepEqual((await merchant.get(SETTINGS)).body, made)
    const other = await open()
    assert.deepEqual((await other.merchant.get(SETTINGS)).body.settings, DEFAULT_SETTINGS)
    assert.deepEqual((await set({})).settings, DEFAULT_SETTINGS)
    const audit = await app.operator.get(
      `/v1/audit?tenant_ref=${shop.tenant}&action=fraud.settings_changed`,
    )
    assert.equal(audit.body.entries.length, 2)
    assert.equal(audit.body.entries[0].before.settings.review_from, 40)
  })

  test('the settings of the fraud check that contradict each other, or go beyond a limit, are refused', async () => {
    const { merchant } = await open()
    const bad = [
      { review_from: 200 },
      { review_from: 100, reject_from: 99 },
      { review_from: 0 },
      { reject_from: 1_001 },
      { signals: { velocity: { from_percent: 0 } } },
      { signals: { cvv_mismatch: { points: -1 } } },
      { signals: { cvv_mismatch: { action: 'ask' } } },
      { attempts_per_minute: 21 },
      { attempts_per_minute: 0 },
    ]
    for (const body of bad) {
      const answer = await merchant.put(SETTINGS, body)
      assert.deepEqual(refusal(answer), [400, 'invalid_body'], JSON.stringify(body))
    }
  })

  test('decide at the checkout which orders are held and refused', async () => {
    const { set, buy, merchant } = await open()
    assert.equal((await buy(WRONG_CODE)).status, 201, 'the defaults accept it')
    await set({ signals: { cvv_mismatch: { action: 'hold' } } })
    const held = await buy(WRONG_CODE)
    assert.deepEqual([held.status, held.body.order.hold?.reason], [202, 'fraud_review'], held.text)
    await set({ signals: { cvv_mismatch: { action: 'refuse' } } })
    assert.deepEqual(refusal(await buy(WRONG_CODE)), [403, 'fraud_rejected'])
    await set({ review_from: 5, reject_from: 30, signals: { cvv_mismatch: { points: 29 } } })
    assert.equal((await buy(WRONG_CODE)).status, 202)
    await set({ reject_from: 100, review_from: 100 })
    const { body } = await merchant.get('/v1/merchant/fraud/decisions')
    assert.equal(body.decisions[0].score, 29)
    assert.equal((await buy(WRONG_CODE)).status, 201)
  })

  test('never let a banned shopper pass whom a ban holds', async () => {
    const { set, buy, merchant } = await open()
    await set({ review_from: 900, reject_from: 1_000 })
    const ban = { kind: 'customer_ref', value: 'odd', action: 'review' }
    await merchant.post('/v1/merchant/fraud/bans', ban)
    assert.equal((await buy({ customer_ref: 'odd' })).status, 202)
  })

  test("can limit a shopper's attempts to less than the platform does", async () => {
    const { set, buy } = await open()
    await set({ attempts_per_minute: 2 })
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) {
      const card = cardOf(['4242424242424242', '5555555555554444'][n % 2] ?? '')
      statuses.push((await buy({ customer_ref: 'hasty', card })).status)
    }
    assert.deepEqual(statuses, [201, 201, 429, 429])
    assert.equal((await buy({ card: cardOf('4012888888881881') })).status, 201)
  })

  test('apply only while the store has the add-on', async () => {
    const { set, buy, rule, merchant } = await open()
    await set({ signals: { cvv_mismatch: { action: 'refuse' } } })
    assert.equal((await buy(WRONG_CODE)).status, 403)
    await rule('deny')
    assert.equal((await buy(WRONG_CODE)).status, 201)
    assert.equal((await merchant.get(SETTINGS)).body.in_use, false)
    await rule('allow')
    assert.equal((await buy(WRONG_CODE)).status, 403)
  })
})
