import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { assertRefused, countStatuses, times } from '../../harness/refusals.ts'
import { suiteScope } from '../../harness/scope.ts'
import { cart, checkout, enable, issueGiftCard } from '../checkout/setup.ts'
import { CLOCK, type ClockApp, inDays, openClockApp } from './setup.ts'

const held = {} as { app: ClockApp }

describe('the test clock', () => {
  const scope = suiteScope()
  before(async () => {
    held.app = await openClockApp(scope)
  })

  test('belongs to sandbox stores alone', async () => {
    const merchant = await held.app.merchant('no-sandbox')
    for (const [method, body] of [['POST', { advance: 'P1D' }], ['DELETE']] as const) {
      const answer = await merchant.send(method, CLOCK, body)
      assert.deepEqual([answer.status, answer.body.error?.code], [409, 'not_sandbox'], method)
    }
    const { body } = await merchant.get(CLOCK)
    assert.deepEqual([body.state, body.ran, body.total], ['ready', [], 0])
    assert.ok(Math.abs(Date.parse(body.now) - Date.now()) < 60_000, 'any store can read its time')
  })

  test('needs the scopes of the store', async () => {
    const { app } = held
    await app.openSandbox('scopes')
    const reader = await app.merchant('scopes', 'read:own_store')
    assert.equal((await reader.get(CLOCK)).status, 200)
    for (const [method, body] of [['POST', { advance: 'P1D' }], ['DELETE']] as const) {
      assert.equal((await reader.send(method, CLOCK, body)).body.error.code, 'forbidden')
    }
    const other = await app.merchant('scopes', 'manage:own_orders')
    assert.equal((await other.get(CLOCK)).body.error.code, 'forbidden')
  })

  test('the test clock of one store is not moved, read or reset by the key of another', async () => {
    const { app } = held
    const { merchant } = await app.openSandbox('mine')
    const stranger = (await app.openSandbox('theirs')).merchant
    await app.advance(stranger, { advance: 'P1D' })
    const { body } = await merchant.get(CLOCK)
    assert.ok(Date.parse(body.now) < Date.now() + 60_000)
    assert.equal((await merchant.send('DELETE', CLOCK)).status, 200)
    assert.ok(Date.parse((await stranger.get(CLOCK)).body.now) > Date.now() + 80_000_000)
  })

  test('refuses an invalid move, one that leads back and one that leads too far', async () => {
    const { merchant } = await held.app.openSandbox('strict')
    await assertRefused(
      [
        ['nothing', {}, 'invalid_body', 'advance'],
        ['both', { advance: 'P1D', set: inDays(1) }, 'invalid_body', 'set'],
        ['no duration', { advance: 'a month' }, 'invalid_body', 'advance'],
        ['a fraction', { advance: 'P0.5D' }, 'invalid_body', 'advance'],
        ['no time', { advance: 'PT0S' }, 'invalid_body', 'advance'],
        ['a negative duration', { advance: '-P1D' }, 'invalid_body', 'advance'],
        ['a number', { advance: 30 }, 'invalid_body', 'advance'],
        ['a long text', { advance: `P${'0'.repeat(50)}1D` }, 'invalid_body', 'advance'],
        ['more than two years', { advance: 'P2Y1M' }, 'invalid_body', 'advance'],
        ['a million years', { advance: 'P999999Y' }, 'invalid_body', 'advance'],
        ['the past', { set: inDays(-1) }, 'invalid_body', 'set'],
        ['the far future', { set: inDays(1_000) }, 'invalid_body', 'set'],
        ['a day', { set: '2030-01-01' }, 'invalid_body', 'set'],
        ['a time without a zone', { set: '2030-01-01T00:00:00' }, 'invalid_body', 'set'],
        ['no time at all', { set: 'soon' }, 'invalid_body', 'set'],
        ['no object', [], 'invalid_body'],
      ],
      (body) => merchant.post(CLOCK, body),
    )
    const { rows } = await held.app.superuser.query(
      `select from test_clocks where tenant_ref = 'strict'`,
    )
    assert.equal(rows.length, 0, 'a refused move leaves no trace')
  })

  test('is not ahead of real time by more than ten years', async () => {
    const { app } = held
    const { merchant } = await app.openSandbox('decade')
    for (const _ of [1, 2, 3, 4, 5])
      await app.advance(merchant, { set: await inTwoYears(merchant) })
    const beyond = await merchant.post(CLOCK, { advance: 'P5D' })
    assert.match(beyond.body.issues?.[0].message, /ten years/, beyond.text)
  })

  const inTwoYears = async (merchant: Awaited<ReturnType<TestApp['merchant']>>) =>
    inDays(730, (await merchant.get(CLOCK)).body.now)

  test('is moved once when ten requests come at the same time', async () => {
    const { app } = held
    const { merchant } = await app.openSandbox('ten')
    const start = Date.now()
    const answers = await times(10, () => merchant.post(CLOCK, { advance: 'P1D' }))
    assert.deepEqual(countStatuses(answers), { 202: 1, 409: 9 })
    const refused = answers.find(({ status }) => status === 409)
    assert.deepEqual(
      [refused?.body.error.code, refused?.body.state],
      ['clock_advancing', 'advancing'],
    )
    assert.equal((await merchant.send('DELETE', CLOCK)).body.error.code, 'clock_advancing')
    assert.equal(await app.finish(merchant), 'ready')
    const { now } = (await merchant.get(CLOCK)).body
    assert.ok(Date.parse(now) - start < DAY_MS + 60_000, 'by one day, not by two')
  })

  test('is reset only while the store has no orders', async () => {
    const { app } = held
    const shop = await app.openSandbox('reset')
    await app.advance(shop.merchant, { advance: 'P10D' })
    const reset = await shop.merchant.send('DELETE', CLOCK)
    assert.deepEqual([reset.status, reset.body.state], [200, 'ready'])
    assert.ok(Math.abs(Date.parse(reset.body.now) - Date.now()) < 60_000)
    await enable(shop.merchant, 'gift_cards')
    const { gift_card } = await issueGiftCard(shop.merchant, 100)
    const { body } = await shop.merchant.get(`/v1/merchant/gift-cards/${gift_card.id}`)
    assert.ok(Math.abs(Date.parse(body.gift_card.created_at) - Date.now()) < 60_000)
    assert.equal((await checkout(app, shop, cart(shop.variants[1_000]))).status, 201)
    const refused = await shop.merchant.send('DELETE', CLOCK)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'clock_has_orders'])
  })

  test('writes each move and reset to the audit log, by real time', async () => {
    const { app } = held
    const { merchant } = await app.openSandbox('audited')
    await app.advance(merchant, { advance: 'P30D' })
    await merchant.send('DELETE', CLOCK)
    const { body } = await merchant.get('/v1/my/audit?limit=3')
    const [reset, moved, made] = body.entries
    assert.deepEqual(
      [reset.action, moved.action, made.action],
      ['test_clock.reset', 'test_clock.moved', 'store.sandbox_changed'],
    )
    assert.ok(Date.parse(moved.after.now) > Date.now() + 29 * DAY_MS)
    for (const { created_at } of [reset, moved]) {
      assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000, created_at)
    }
  })
})

const NMI = { gateway: 'nmi', credentials: { security_key: 'k'.repeat(32) } }
const put = (app: TestApp, tenant: string, sandbox: unknown) =>
  app.operator.put(`/v1/stores/${tenant}/sandbox`, { sandbox })

describe('a sandbox store', () => {
  test('is made at its creation or by the operator, and says so', async (t) => {
    const app = await openTestApp(t)
    const wanted = { tenant_ref: 'born', display_name: 'Born', sandbox: true }
    const born = await app.operator.post('/v1/stores', wanted)
    assert.deepEqual([born.status, born.body.store.sandbox], [201, true])
    const merchant = await app.merchant('grown')
    assert.equal((await merchant.get('/v1/my/store')).body.store.sandbox, false)
    assert.equal((await put(app, 'grown', true)).body.store.sandbox, true)
    assert.equal((await put(app, 'grown', true)).status, 200, 'once more changes nothing')
    assert.equal((await merchant.get('/v1/my/store')).body.store.sandbox, true)
    assert.equal((await put(app, 'grown', false)).body.store.sandbox, false)
    assert.equal((await put(app, 'nobody', true)).body.error.code, 'unknown_tenant')
    await assertRefused([['no truth', 'yes', 'invalid_body', 'sandbox']], (value) =>
      put(app, 'grown', value),
    )
    const asked = await merchant.patch('/v1/my/store', { sandbox: true })
    assert.notEqual(asked.body.store?.sandbox, true, 'a merchant cannot make it one')
  })

  test('stays one once its time was moved', async (t) => {
    const app = await openClockApp(t)
    const { merchant } = await app.openSandbox('fixed')
    await app.advance(merchant, { advance: 'PT1S' })
    const refused = await put(app, 'fixed', false)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'sandbox_fixed'])
    await merchant.send('DELETE', CLOCK)
    assert.equal((await put(app, 'fixed', false)).body.error.code, 'sandbox_fixed')
  })

  test('never gets a real gateway, and a store with one never becomes a sandbox', async (t) => {
    const app = await openClockApp(t)
    await app.openSandbox('toy')
    const gatewayOf = (tenant: string) => `/v1/stores/${tenant}/payments`
    const refused = await app.operator.put(gatewayOf('toy'), NMI)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'sandbox_store'])
    assert.equal((await app.operator.get(gatewayOf('toy'))).body.payments.gateway, 'simulated')

    await app.store('real')
    assert.equal((await app.operator.put(gatewayOf('real'), NMI)).status, 200)
    assert.equal((await put(app, 'real', true)).body.error.code, 'real_gateway')
    await app.operator.put(gatewayOf('real'), { gateway: 'simulated' })
    const former = await put(app, 'real', true)
    assert.equal(former.body.error.code, 'real_gateway', 'refunds of its payments would go there')
  })

  test('gets no real gateway by two concurrent calls', async (t) => {
    const app = await openTestApp(t)
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const tenant = `race-${n}`
      await app.store(tenant)
      const calls = [
        () => put(app, tenant, true),
        () => app.operator.put(`/v1/stores/${tenant}/payments`, NMI),
      ]
      // Whichever is sent first mostly wins.
      if (n % 2 === 0) calls.reverse()
      const answers = await Promise.all(calls.map((call) => call()))
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
    }
  })

  test('pays with the simulated gateway even if the installation has a real one', async (t) => {
    const app = await openClockApp(t, {
      env: {
        PAYMENT_GATEWAY: 'nmi',
        NMI_SECURITY_KEY: 'k'.repeat(32),
        NMI_URL: 'http://127.0.0.1:9',
      },
    })
    const shop = await app.openSandbox('safe')
    const sold = await checkout(app, shop, cart(shop.variants[1_000]))
    assert.equal(sold.status, 201, sold.text)
    const { rows } = await app.superuser.query(`select distinct gateway from payment_attempts`)
    assert.deepEqual(rows, [{ gateway: 'simulated' }])
    const wanted = { tenant_ref: 'born', display_name: 'Born', sandbox: true }
    await app.operator.post('/v1/stores', wanted)
    const { body } = await app.operator.get('/v1/stores/born/payments')
    assert.equal(body.payments.gateway, 'simulated')
  })
})
