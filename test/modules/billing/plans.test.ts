import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Answer } from '../../harness/app.ts'
import { assertRefused, times } from '../../harness/refusals.ts'
import { ok, openTimedApp } from '../analytics/setup.ts'
import { openShop } from '../checkout/setup.ts'
import { keyed } from '../orders/setup.ts'
import { amountsOf, type BillingApp, ISSUER, invoiceOf, PRO, shareBilling, URL } from './setup.ts'

const shared = shareBilling()
let app: BillingApp

const open = () => {
  app = shared.current
}

const codeOf = ({ status, body }: Answer) => [status, body.error?.code]

const addPlan = async (more: object) =>
  ok(await app.operator.post('/v1/billing/plans', { ...PRO, ...more }), 201).plan

describe('POST /v1/billing/plans', () => {
  before(open)

  test('adds a version, and stores keep the version that they have', async () => {
    const first = await addPlan({ plan_key: 'kept', base_cents: 100 })
    const { merchant } = await app.shopAt('keeps', '2032-01-01T09:00:00Z')
    ok(await app.setPlan('keeps', 'kept'))
    const second = await addPlan({ plan_key: 'kept', base_cents: 900 })
    assert.deepEqual([first.version, second.version], [1, 2])
    const { plan } = ok(await merchant.get(`${URL}/plan`))
    assert.deepEqual([plan.version, plan.base_cents], [1, 100])
    const { plans } = ok(await app.operator.get('/v1/billing/plans?limit=100'))
    const kept = plans.filter((each: { plan_key: string }) => each.plan_key === 'kept')
    assert.deepEqual(kept, [second, first])
  })

  test('never changes a version, not even for the owner of the database', async () => {
    for (const statement of [
      `update billing_plans set base_cents = 1`,
      `delete from billing_plans`,
      `update billing_store_plans set plan_version = 2`,
    ]) {
      await assert.rejects(app.superuser.query(statement), { code: 'FD002' }, statement)
    }
  })

  test('gives two plans that are added at once two versions, or asks one caller to try again', async () => {
    const send = () => app.operator.post('/v1/billing/plans', { ...PRO, plan_key: 'at-once' })
    const answers = await times(6, send)
    const made = answers.filter(({ status }) => status === 201)
    const versions = made.map(({ body }) => body.plan.version).toSorted((a, b) => a - b)
    assert.deepEqual(
      versions,
      versions.map((_, n) => n + 1),
    )
    const refused = answers.filter(({ status }) => status !== 201).map(codeOf)
    for (const code of refused) assert.deepEqual(code, [409, 'plan_changed'])
  })

  test('names all impossible prices at once', async () => {
    const tiers = [
      { up_to: 5, price_cents: 9, per: 1 },
      { up_to: 5, price_cents: 9, per: 1 },
    ]
    const meters = { orders: { included: 5, tiers }, gross_volume: { included: 0, tiers } }
    const plan = { ...PRO, plan_key: 'wrong', currency: 'ABC', meters }
    const { body } = await app.operator.post('/v1/billing/plans', plan)
    assert.deepEqual(
      body.issues.map(({ path }: { path: string }) => path),
      [
        'currency',
        'meters.orders.tiers[0].up_to',
        'meters.orders.tiers[1].up_to',
        'meters.gross_volume.tiers[0].price_cents',
        'meters.gross_volume.tiers[1].up_to',
        'meters.gross_volume.tiers[1].price_cents',
      ],
    )
  })

  test('refuses impossible prices', async () => {
    const orders = (tiers: object[], included = 0) => ({
      ...PRO,
      meters: { orders: { included, tiers } },
    })
    const last = { up_to: null, price_cents: 1, per: 1 }
    await assertRefused(
      [
        ['no key', { ...PRO, plan_key: undefined }, 'invalid_body', 'plan_key'],
        ['a strange key', { ...PRO, plan_key: 'A b' }, 'invalid_body', 'plan_key'],
        ['an unknown tier', { ...PRO, tier: 'gold' }, 'invalid_body', 'tier'],
        ['an unknown currency', { ...PRO, currency: 'ABC' }, 'invalid_body', 'currency'],
        ['a negative base', { ...PRO, base_cents: -1 }, 'invalid_body', 'base_cents'],
        ['no tier of a meter', orders([]), 'invalid_body', 'meters.orders.tiers'],
        ['no end', orders([{ ...last, up_to: 5 }]), 'invalid_body', 'meters.orders.tiers[0].up_to'],
        ['two ends', orders([last, last]), 'invalid_body', 'meters.orders.tiers[0].up_to'],
        [
          'tiers that do not grow',
          orders([{ ...last, up_to: 5 }, { ...last, up_to: 5 }, last]),
          'invalid_body',
          'meters.orders.tiers[1].up_to',
        ],
        [
          'a tier of what is included',
          orders([{ ...last, up_to: 5 }, last], 5),
          'invalid_body',
          'meters.orders.tiers[0].up_to',
        ],
        [
          'more than the volume',
          {
            ...PRO,
            meters: {
              gross_volume: { included: 0, tiers: [{ ...last, price_cents: 101, per: 100 }] },
            },
          },
          'invalid_body',
          'meters.gross_volume.tiers[0].price_cents',
        ],
        [
          'a price for a byte',
          { ...PRO, meters: { media_bytes: { included: 0, tiers: [last] } } },
          'invalid_body',
          'meters.media_bytes.tiers[0].per',
        ],
      ],
      (body) => app.operator.post('/v1/billing/plans', body),
    )
  })
})

describe('PUT /v1/stores/{tenant}/billing/plan', () => {
  before(open)

  test('gives the plan from today on, sets the tier, and writes the history and the audit log', async () => {
    const { merchant } = await app.shopAt('upgraded', '2032-01-11T23:30:00Z')
    const before = ok(await merchant.get(`${URL}/plan`))
    assert.deepEqual(
      [before.tier, before.status, before.plan.plan_key, before.since, before.history],
      ['standard', 'active', 'default', null, []],
    )
    assert.deepEqual([before.period_start, before.period_end], ['2032-01-01', '2032-01-31'])
    const given = ok(await app.setPlan('upgraded', 'pro'))
    assert.deepEqual(given, ok(await merchant.get(`${URL}/plan`)))
    assert.deepEqual(ok(await app.operator.get('/v1/stores/upgraded/billing/plan')), given)
    assert.deepEqual(
      [given.tier, given.plan.plan_key, given.since],
      ['growth', 'pro', '2032-01-11'],
    )
    assert.deepEqual(
      given.history.map(({ plan_key, from_day }: Record<string, unknown>) => [plan_key, from_day]),
      [['pro', '2032-01-11']],
    )
    const { entries } = ok(await app.operator.get('/v1/stores/upgraded/audit'))
    const [set] = entries.filter(({ action }: { action: string }) => action === 'billing.plan_set')
    assert.deepEqual(
      [set.actor, set.before.plan_key, set.after.plan_key],
      ['operator', 'default', 'pro'],
    )
  })

  test('bills the days of each plan, and the usage by the last one', async () => {
    await addPlan({ plan_key: 'small', base_cents: 3_100, meters: {} })
    const shop = await app.shopAt('changing', '2032-01-01T09:00:00Z')
    ok(await app.setPlan('changing', 'small'))
    await app.place(shop)
    app.setTime('changing', '2032-01-21T12:00:00Z')
    ok(await app.setPlan('changing', 'pro'))
    await app.place(shop)
    app.setTime('changing', '2032-02-02T12:00:00Z')
    // Too late for January.
    ok(await app.setPlan('changing', 'small'))
    app.setTime('changing', '2032-02-03T12:00:00Z')
    await app.work()
    assert.deepEqual(amountsOf(await invoiceOf(shop.merchant, '2032-01')), [
      ['plan', null, 2_000],
      ['plan', null, 1_065],
      ['orders', 2, 50],
      ['gross_volume', 4_000, 40],
    ])
  })

  test('takes a version by its number, and a free plan in any currency', async () => {
    await addPlan({ plan_key: 'versions', base_cents: 1 })
    await addPlan({ plan_key: 'versions', base_cents: 2 })
    await app.shopAt('chooses', '2032-01-11T09:00:00Z')
    const put = (body: object) => app.operator.put('/v1/stores/chooses/billing/plan', body)
    assert.equal(ok(await put({ plan_key: 'versions' })).plan.base_cents, 2)
    assert.equal(ok(await put({ plan_key: 'versions', version: 1 })).plan.base_cents, 1)
    await addPlan({ plan_key: 'gratis', base_cents: 0, currency: 'EUR', meters: {} })
    assert.equal(ok(await put({ plan_key: 'gratis' })).plan.plan_key, 'gratis')
  })

  test('refuses unknown plans, and plans in another currency than the store is billed in', async () => {
    await addPlan({ plan_key: 'euros', currency: 'EUR', meters: {} })
    await app.shopAt('dollars', '2032-01-11T09:00:00Z')
    ok(await app.setPlan('dollars', 'pro'))
    const put = (body: unknown) => app.operator.put('/v1/stores/dollars/billing/plan', body)
    await assertRefused(
      [
        ['nothing', {}, 'invalid_body', 'plan_key'],
        ['an unknown plan', { plan_key: 'nothing' }, 'plan_not_found'],
        ['an unknown version', { plan_key: 'pro', version: 77 }, 'plan_not_found'],
        ['no version', { plan_key: 'pro', version: 0 }, 'invalid_body', 'version'],
        ['another currency', { plan_key: 'euros' }, 'plan_currency'],
      ],
      put,
    )
    const nowhere = await app.operator.put('/v1/stores/no-such-store/billing/plan', {
      plan_key: 'pro',
    })
    assert.deepEqual(codeOf(nowhere), [404, 'unknown_tenant'])
  })

  test('refuses a share of a volume in another currency', async () => {
    const share = { gross_volume: PRO.meters.gross_volume }
    await addPlan({ plan_key: 'euro-share', currency: 'EUR', meters: share })
    await app.shopAt('share', '2032-01-11T09:00:00Z')
    const answer = await app.setPlan('share', 'euro-share')
    assert.deepEqual([...codeOf(answer), answer.body.currency], [409, 'plan_currency', 'USD'])
  })
})

describe('the issuer', () => {
  before(open)

  test('must be set before anything is billed', async (t) => {
    const bare = await openTimedApp(t)
    await openShop(bare, 'bare')
    assert.deepEqual(ok(await bare.operator.get('/v1/billing/issuer')), { issuer: null })
    ok(await bare.operator.post('/v1/billing/plans', PRO), 201)
    const put = () => bare.operator.put('/v1/stores/bare/billing/plan', { plan_key: 'pro' })
    assert.deepEqual(codeOf(await put()), [409, 'issuer_missing'])
    const key = keyed()
    const charge = () =>
      bare.operator.post(
        '/v1/stores/bare/billing/charges',
        { description: 'x', amount_cents: 1 },
        key,
      )
    assert.deepEqual(codeOf(await charge()), [409, 'issuer_missing'])
    ok(await bare.operator.put('/v1/billing/issuer', { name: 'Somebody', lines: [] }))
    ok(await put())
    ok(await charge(), 201)
    const { issuer } = ok(await bare.operator.get('/v1/billing/issuer'))
    assert.deepEqual(
      [issuer.invoice_prefix, issuer.credit_prefix, issuer.payment_days, issuer.reminders.length],
      ['INV-', 'CN-', 14, 3],
    )
  })

  test('keeps absent members, and its invoice numbers', async () => {
    const before = ok(await app.operator.get('/v1/billing/issuer')).issuer
    const change = { name: before.name, lines: ['Moved'] }
    const { issuer } = ok(await app.operator.put('/v1/billing/issuer', change))
    assert.deepEqual([issuer.note, issuer.reminders], [before.note, before.reminders])
    ok(await app.operator.put('/v1/billing/issuer', ISSUER))
  })

  test('is refused with bad input', async () => {
    const [first, second] = ISSUER.reminders
    await assertRefused(
      [
        ['no name', { ...ISSUER, name: '' }, 'invalid_body', 'name'],
        ['no lines', { name: 'x' }, 'invalid_body', 'lines'],
        [
          'a strange prefix',
          { ...ISSUER, invoice_prefix: 'a b' },
          'invalid_body',
          'invoice_prefix',
        ],
        [
          'one prefix for both',
          { ...ISSUER, credit_prefix: 'INV-' },
          'invalid_body',
          'credit_prefix',
        ],
        ['a year to pay', { ...ISSUER, payment_days: 365 }, 'invalid_body', 'payment_days'],
        ['no order', { ...ISSUER, reminders: [second, first] }, 'invalid_body', 'reminders'],
        ['twice a day', { ...ISSUER, reminders: [first, first] }, 'invalid_body', 'reminders'],
      ],
      (body) => app.operator.put('/v1/billing/issuer', body),
    )
  })
})

describe('GET /v1/merchant/billing/preview', () => {
  before(open)

  test('shows the cost of the month at the present rate of use, and with another plan', async () => {
    await addPlan({ plan_key: 'flat', base_cents: 5_000, meters: {} })
    const shop = await app.shopAt('previews', '2032-01-01T00:00:00Z')
    ok(await app.setPlan('previews', 'pro'))
    await app.place(shop)
    await app.place(shop)
    ok(await app.charge('previews', 700), 201)
    app.setTime('previews', '2032-01-16T12:00:00Z')
    await app.work()
    const preview = ok(await shop.merchant.get(`${URL}/preview?plan=flat`))
    assert.deepEqual([preview.period, preview.current.plan_key], ['2032-01', 'pro'])
    const { orders, gross_volume } = preview.projected_usage
    assert.deepEqual([orders, gross_volume], [4, 8_000])
    assert.equal(preview.to_date_cents, 3_000 + 50 + 40 + 700)
    assert.equal(preview.current.total_cents, 3_000 + 120 + 80 + 700)
    assert.deepEqual([preview.other.plan_key, preview.other.total_cents], ['flat', 5_700])
    assert.equal(preview.difference_cents, 5_700 - 3_900)
    assert.equal(ok(await shop.merchant.get(`${URL}/preview`)).other, null)
    assert.equal((await invoiceOf(shop.merchant, '2032-01')).total_cents, 700, 'nothing is written')
  })

  test('compares nothing between two currencies', async () => {
    await addPlan({ plan_key: 'other-money', currency: 'EUR', meters: {} })
    const { merchant } = await app.shopAt('two-moneys', '2032-01-05T00:00:00Z')
    ok(await app.setPlan('two-moneys', 'pro'))
    const { other, difference_cents } = ok(await merchant.get(`${URL}/preview?plan=other-money`))
    assert.deepEqual([other.currency, difference_cents], ['EUR', null])
  })

  test("shows offered plans, and of the others only the store's own", async () => {
    await addPlan({ plan_key: 'deal', is_public: false })
    const own = await app.shopAt('dealt', '2032-01-05T00:00:00Z')
    const other = await app.shopAt('undealt', '2032-01-05T00:00:00Z')
    ok(await app.setPlan('dealt', 'deal'))
    ok(await own.merchant.get(`${URL}/preview?plan=deal`))
    for (const query of ['plan=deal', 'plan=nothing', 'plan=pro&version=99', 'plan=A%20b']) {
      const answer = await other.merchant.get(`${URL}/preview?${query}`)
      assert.deepEqual(codeOf(answer), [404, 'plan_not_found'], query)
    }
    const { plans } = ok(await other.merchant.get(`${URL}/plans`))
    const keys = plans.map((plan: { plan_key: string }) => plan.plan_key)
    assert.ok(keys.includes('pro') && !keys.includes('deal'), keys.join())
  })
})
