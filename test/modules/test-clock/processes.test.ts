import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startWorker } from '../../../src/compose/worker.ts'
import { DAY_MS } from '../../../src/kernel/time.ts'
import * as giftCards from '../../../src/modules/gift-cards/jobs.ts'
import { moveClocks } from '../../../src/modules/test-clock/jobs.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { openTestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { cart, checkout, enable, issueGiftCard } from '../checkout/setup.ts'
import { assertJustAfter, CLOCK, inDays, openClockApp } from './setup.ts'

const SIGNAL = new AbortController().signal

describe('beside other processes', () => {
  test('a moved clock is the time of all processes when the move has ended', async (t) => {
    const first = await openClockApp(t, { clockPollMs: 400 })
    const second = await openTestApp(t, { database: first.database })
    await second.runtime.clocks.start(second.runtime.database.due)
    const shop = await first.openSandbox('shared')
    const as = { authorization: `Bearer ${await first.key('shared')}` }
    await first.advance(shop.merchant, { advance: 'P40D' })
    const sold = await checkout(second, shop, cart(shop.variants[1_000]))
    assert.equal(sold.status, 201, sold.text)
    assertJustAfter(sold.body.order.created_at, inDays(40, Date.now() - 60_000), 'the order')
    assertJustAfter(
      (await second.as(as).get(CLOCK)).body.now,
      inDays(40, Date.now() - 60_000),
      'the clock there',
    )
    await second.as(as).post(CLOCK, { advance: 'P1D' })
    assert.equal(first.runtime.clocks.moving().size, 0)
    await first.runtime.clocks.read(first.runtime.database.due)
    assert.deepEqual([...first.runtime.clocks.moving()], ['shared'])
  })

  test('a process that starts later knows the time at once', async (t) => {
    const first = await openClockApp(t)
    const { merchant } = await first.openSandbox('before')
    await first.advance(merchant, { advance: 'P40D' })
    const later = await openTestApp(t, { database: first.database, clockPollMs: 60_000 })
    await later.runtime.clocks.start(later.runtime.database.due)
    const offsetMs = later.runtime.clocks.offsetMs('before')
    assert.ok(Math.abs(offsetMs - 40 * DAY_MS) < 60_000)
    assert.equal(later.runtime.clocks.offsetMs('another'), 0)
  })

  test('loops leave a store alone while its clock is moved, and serve it afterwards', async (t) => {
    const app = await openClockApp(t)
    const shop = await app.openSandbox('left-alone')
    await enable(shop.merchant, 'gift_cards')
    const { workerDatabase } = app.runtime
    await issueGiftCard(shop.merchant, 100, { expires_at: inDays(1) })
    await app.superuser.query(`update gift_cards set expires_at = now() - interval '1 minute'`)
    await checkout(app, shop, cart(shop.variants[1_000]))
    await shop.merchant.post(CLOCK, { advance: 'P10D' })
    assert.equal(await giftCards.expireDue(workerDatabase), 0)
    assert.equal(await numberNewEvents(workerDatabase), 0)
    assert.equal(await app.finish(shop.merchant), 'ready')

    await issueGiftCard(shop.merchant, 100, { expires_at: inDays(12) })
    assert.equal(await giftCards.expireDue(workerDatabase), 0, 'not before its time')
    await app.superuser.query(
      `update gift_cards set expires_at = now() + interval '9 days' where expired_at is null`,
    )
    assert.equal(await giftCards.expireDue(workerDatabase), 1, 'due by the clock of the store')
    await checkout(app, shop, cart(shop.variants[1_000]))
    assert.ok((await numberNewEvents(workerDatabase)) > 0)
  })

  test('two workers move one clock without doing anything twice', async (t) => {
    const app = await openClockApp(t)
    const { merchant } = await app.openSandbox('twice')
    await enable(merchant, 'gift_cards')
    for (let day = 1; day <= 12; day++) {
      await issueGiftCard(merchant, 100, { expires_at: inDays(day) })
    }
    await merchant.post(CLOCK, { advance: 'P13D' })
    const isMoving = async () => (await merchant.get(CLOCK)).body.state === 'advancing'
    while (await isMoving()) {
      await Promise.all([moveClocks(app.mover(), SIGNAL), moveClocks(app.mover(), SIGNAL)])
    }
    const { rows } = await app.superuser.query(
      `select count(*)::int as expired from ledger_journals where kind = 'gift_card.expired'`,
    )
    assert.deepEqual(rows, [{ expired: 12 }])
    const { body } = await merchant.get(`${CLOCK}?limit=100`)
    assert.equal(
      body.ran.filter((run: { kind: string }) => run.kind === 'gift_card_expiry').length,
      12,
    )
  })

  test('a running worker moves the clock by itself, while checkouts go on', async (t) => {
    const app = await openClockApp(t)
    const shop = await app.openSandbox('busy')
    const other = await app.openSandbox('next-door')
    await enable(shop.merchant, 'gift_cards')
    const { gift_card } = await issueGiftCard(shop.merchant, 100, { expires_at: inDays(5) })
    const worker = await startWorker(app.runtime)
    t.after(() => worker.stop())
    await shop.merchant.post(CLOCK, { advance: 'P10D' })
    const answers: { status: number; created_at: string }[] = []
    const buy = async ({ tenant, variants }: typeof shop) => {
      const { status, body } = await checkout(app, { tenant }, cart(variants[1_000]))
      return { status, created_at: body.order?.created_at as string }
    }
    await until('the move', async () => {
      answers.push(await buy(shop))
      const there = await buy(other)
      assert.ok(Math.abs(Date.parse(there.created_at) - Date.now()) < 60_000, 'next door')
      return (await shop.merchant.get(CLOCK)).body.state === 'ready'
    })
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
    const times = answers.map(({ created_at }) => created_at)
    assert.deepEqual(times, times.toSorted(), 'time never goes back')
    const last = await buy(shop)
    assertJustAfter(last.created_at, inDays(10, Date.now() - 60_000), 'the order after it')
    const { body } = await shop.merchant.get(`/v1/merchant/gift-cards/${gift_card.id}`)
    assert.equal(body.gift_card.status, 'expired')
  })
})

describe('what is not the business of a store', () => {
  test('leases, limits, keys of callers and the audit log keep real time', async (t) => {
    const app = await openClockApp(t)
    const shop = await app.openSandbox('real-time')
    const wanted = { label: 'short', scopes: ['read:own_store'], expires_at: inDays(1) }
    const { body: made } = await shop.merchant.post('/v1/my/credentials', wanted)
    const short = app.as({ authorization: `Bearer ${made.credential.key}` })
    await app.advance(shop.merchant, { advance: 'P1Y' })
    assert.equal((await short.get('/v1/my/store')).status, 200, 'a key does not expire earlier')
    const sold = await checkout(app, shop, cart(shop.variants[1_000], { ip: '192.0.2.7' }))
    assert.ok(Date.parse(sold.body.order.created_at) > Date.now() + 364 * DAY_MS, 'an order does')
    const { rows } = await app.superuser.query(`
      select max(created_at) < now() + interval '1 minute' as log,
             (select max(created_at) < now() + interval '1 minute' from idempotency_keys) as keys,
             (select max(created_at) < now() + interval '1 minute' from credentials) as credentials,
             (select max(window_start) < now() + interval '1 minute' from limit_counters) as limits
        from audit_log`)
    assert.deepEqual(rows, [{ log: true, keys: true, credentials: true, limits: true }])
  })
})
