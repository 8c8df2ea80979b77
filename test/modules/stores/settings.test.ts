import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type Answer, type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { assertRefused, keysOf, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import {
  cart,
  checkout,
  DECLINED,
  enable,
  giveCredit,
  issueGiftCard,
  openShop,
} from '../checkout/setup.ts'

const URL = '/v1/my/store'

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next store, and its merchant. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  return { app, tenant, acme: await app.merchant(tenant) }
}

describe("a store's settings", () => {
  test('change one by one; others stay', async () => {
    const { app, tenant, acme } = await openStore()
    const before = (await app.operator.get(`/v1/stores/${tenant}`)).body.store
    const steps: [object, object][] = [
      [{ display_name: 'Acme & Sons' }, { display_name: 'Acme & Sons' }],
      [{ currency: 'JPY' }, { currency: 'JPY' }],
      [{ language: 'zh-hant' }, { language: 'zh-Hant' }],
      [{ time_zone: 'Europe/Berlin' }, { time_zone: 'Europe/Berlin' }],
      [{}, {}],
      [{ unknown: 1 }, {}],
    ]
    let expected = before
    for (const [patch, change] of steps) {
      const { status, body, text } = await acme.patch(URL, patch)
      assert.equal(status, 200, text)
      expected = { ...expected, ...change }
      for (const name of ['display_name', 'currency', 'language', 'time_zone', 'status']) {
        assert.equal(body.store[name], expected[name], name)
      }
      assert.ok(body.store.updated_at >= expected.updated_at)
    }
    assert.deepEqual((await acme.get(URL)).body.store.display_name, 'Acme & Sons')
  })

  test('are the only members that a merchant can change', async () => {
    const { acme } = await openStore()
    const ignored = {
      status: 'live',
      owner_email: 'thief@else.example',
      tenant_ref: 'globex',
      store_number: 1,
      activeVersion: 9,
      primary_hostname: 'bank.example',
      tier: 'scale',
    }
    const { body: before } = await acme.get(URL)
    assert.equal((await acme.patch(URL, ignored)).status, 200)
    const { body: after } = await acme.get(URL)
    assert.deepEqual({ ...after.store, updated_at: '' }, { ...before.store, updated_at: '' })
  })

  test('stay as they are if no known setting is sent, and nothing is audited', async () => {
    const { acme } = await openStore()
    const before = (await acme.get('/v1/my/store')).body.store
    const entries = (await acme.get('/v1/my/audit')).body.total
    for (const body of [{}, { name: 'a typo' }]) {
      const answer = await acme.patch('/v1/my/store', body)
      assert.deepEqual([answer.status, answer.body.store.updated_at], [200, before.updated_at])
    }
    assert.equal((await acme.get('/v1/my/audit')).body.total, entries)
  })

  test('are all refused if one is invalid', async () => {
    const { tenant, acme } = await openStore()
    const display_name = 'Half done'
    const bad = [
      ['nothing', undefined, 'invalid_body', ''],
      ['a list', [], 'invalid_body', ''],
      ['an empty name', { display_name: '' }, 'invalid_body', 'display_name'],
      ['a name of null', { display_name: null }, 'invalid_body', 'display_name'],
      ['no currency', { display_name, currency: 'ABC' }, 'invalid_body', 'currency'],
      ['no language', { display_name, language: '??' }, 'invalid_body', 'language'],
      ['no time zone', { display_name, time_zone: 'Utopia' }, 'invalid_body', 'time_zone'],
    ] as const
    await assertRefused(bad, (body) => acme.patch(URL, body))
    assert.equal((await acme.get(URL)).body.store.display_name, `The ${tenant} store`)
    assert.equal((await acme.get('/v1/my/audit?action=store.settings_changed')).body.total, 0)
  })

  test('changed fifty times at once leave fifty audited steps, each starting from the previous one', async () => {
    const { app, tenant, acme } = await openStore()
    const answers = await times(50, (i) => acme.patch(URL, { display_name: `Name ${i}` }))
    assert.ok(answers.every(({ status }) => status === 200))
    const { entries } = (
      await app.operator.get(`/v1/stores/${tenant}/audit?action=store.settings_changed&limit=100`)
    ).body
    assert.equal(entries.length, 50)
    const steps = entries.map(
      ({ before, after }: { before: { display_name: string }; after: { display_name: string } }) =>
        [before.display_name, after.display_name] as const,
    )
    const nextOf = new Map<string, string>(steps)
    let name = `The ${tenant} store`
    for (let step = 0; step < 50; step++) name = nextOf.get(name) ?? `nothing follows ${name}`
    assert.equal((await acme.get(URL)).body.store.display_name, name)
  })
})

test('a key without write:own_store can read the settings and not change them', async () => {
  const { app, tenant } = await openStore()
  const reader = await app.merchant(tenant, 'read:own_store')
  const { status, body } = await reader.get(URL)
  assert.equal(status, 200)
  assert.deepEqual(keysOf(body), ['store'])
  assert.equal((await reader.patch(URL, { display_name: 'x' })).status, 403)
})

describe("a store's currency", () => {
  test('can change before the first order, gift card or credit, and leaves prices as they are', async () => {
    const { app, tenant } = await openStore()
    const shop = await openShop(app, tenant)
    assert.equal((await shop.merchant.patch(URL, { currency: 'JPY' })).status, 200)
    const { body } = await app.anyone.get(`/v1/tenants/${tenant}/catalog/products`)
    assert.equal(body.products[0].variants[0].currency, 'USD')
  })

  test('cannot change after an order, a gift card or store credit, and then no other setting changes', async () => {
    const app = shared.current
    const money: Record<string, () => Promise<unknown>> = {
      sells: async () => {
        const shop = await openShop(app, 'sells')
        return checkout(app, shop, cart(shop.variants[1_000]))
      },
      declined: async () => {
        const shop = await openShop(app, 'declined')
        return checkout(app, shop, cart(shop.variants[1_000], { card: DECLINED }))
      },
      cards: async () => {
        const merchant = await app.merchant('cards')
        await enable(merchant, 'gift_cards')
        return issueGiftCard(merchant, 500)
      },
      credits: async () => {
        const merchant = await app.merchant('credits')
        await enable(merchant, 'store_credit')
        return giveCredit(merchant, 'ann', 500)
      },
    }
    for (const [tenant, move] of Object.entries(money)) {
      await move()
      const merchant = await app.merchant(tenant)
      const refused = await merchant.patch(URL, { display_name: 'Half done', currency: 'JPY' })
      assert.deepEqual([refused.status, refused.body.error?.code], [409, 'currency_fixed'], tenant)
      const kept = await merchant.patch(URL, { language: 'de', currency: 'USD' })
      const { currency, language, display_name } = kept.body.store
      assert.deepEqual([kept.status, currency, language], [200, 'USD', 'de'], tenant)
      assert.notEqual(display_name, 'Half done')
    }
  })

  test('waits for a first order that is being written, and then cannot change', async (t) => {
    const app = await openTestApp(t)
    const shop = await openShop(app)
    // The order is written and its transaction stays open until its payment may be written.
    const { first, change } = await changeDuring(t, app, shop.merchant, 'payment_attempts', () =>
      checkout(app, shop, cart(shop.variants[1_000])),
    )
    assert.equal(first.status, 201)
    assert.deepEqual([change.status, change.body.error?.code], [409, 'currency_fixed'])
  })

  test('waits for a first gift card that is being issued, and then cannot change', async (t) => {
    const app = await openTestApp(t)
    const merchant = await app.merchant('acme')
    await enable(merchant, 'gift_cards')
    const { first, change } = await changeDuring(t, app, merchant, 'gift_cards', () =>
      merchant.post(
        '/v1/merchant/gift-cards',
        { initial_balance_cents: 500 },
        { 'idempotency-key': 'first' },
      ),
    )
    assert.equal(first.body.gift_card.currency, 'USD')
    assert.deepEqual([change.status, change.body.error?.code], [409, 'currency_fixed'])
  })
})

/** Changes the currency while `work` waits for a lock on the table. */
async function changeDuring(
  t: TestContext,
  app: TestApp,
  merchant: Caller,
  table: string,
  work: () => Promise<Answer>,
) {
  const [holder, watcher] = [
    await openSuperuser(t, app.database),
    await openSuperuser(t, app.database),
  ]
  const waits = (statement: string) => async () => {
    const { rowCount } = await watcher.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ~ $1`,
      [statement],
    )
    return rowCount === 1
  }
  await holder.query('begin')
  await holder.query(`lock table ${table} in share mode`)
  const first = work()
  await until('it is being written', waits(`insert into ${table}`))
  const change = merchant.patch(URL, { currency: 'JPY' })
  await until('the change waits', waits('from stores .* for update'))
  await holder.query('rollback')
  return { first: await first, change: await change }
}
