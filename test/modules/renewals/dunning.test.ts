import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { refused, resultOf } from '../../../src/modules/payments/adapters/results.ts'
import * as cycles from '../../../src/modules/subscriptions/cycles.ts'
import { CARDS, type RenewalApp, type RenewalShop, shareRenewalApp } from './setup.ts'

describe('a declined renewal', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })

  /** A subscription that began on 10 January, at the moment of its first renewal. */
  const due = async (card: object, settings: object = {}) => {
    const shop = await app.newShop({ settings })
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const { id } = await app.subscribe(shop, { card })
    app.setTime(shop, '2027-02-10T06:01:00Z')
    return { shop, id }
  }
  const charges = async (shop: RenewalShop) => {
    const { rows } = await app.superuser.query(
      'select count(*)::int as n from sim_charges where tenant_ref = $1 and charged_vault_id is not null',
      [shop.tenant],
    )
    return rows[0].n
  }
  /** Runs the store each hour from one moment to another, and answers the days of its charges. */
  const runTo = async (shop: RenewalShop, from: string, to: string) => {
    const days: string[] = []
    for (let at = Date.parse(from); at <= Date.parse(to); at += 6 * HOUR_MS) {
      app.setTime(shop, new Date(at).toISOString())
      for (const step of await app.run(shop)) {
        if (step === 'charge') days.push(new Date(at).toISOString().slice(0, 10))
      }
    }
    return days
  }

  test('is tried again by the ladder of its store, and then the subscription ends unpaid', async () => {
    const { shop, id } = await due(CARDS.alwaysDeclined, { dunning_delays_days: [1, 3, 5] })
    const days = await runTo(shop, '2027-02-10T06:01:00Z', '2027-03-10T06:01:00Z')
    assert.deepEqual(days, ['2027-02-10', '2027-02-11', '2027-02-14', '2027-02-19'])
    assert.equal(await charges(shop), 4)
    const { status, due_at, next_charge_at, cancel_reason } = await app.row(id)
    assert.deepEqual(
      [status, due_at, next_charge_at, cancel_reason],
      ['unpaid_cancelled', null, null, 'unpaid'],
    )
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 failed unpaid'])
    const orders = await app.orders(id)
    assert.deepEqual(
      orders.map((order) => [order.idempotency_key, order.status]),
      ['', ':1', ':2', ':3'].map((n) => [`sub:${id}:2${n}`, 'payment_failed']),
    )
    assert.deepEqual(await app.events(id), [
      'payment_failed',
      'past_due',
      'payment_failed',
      'payment_failed',
      'cancelled',
    ])
    assert.deepEqual(await app.told(shop, id), ['cancelled system unpaid'])
  })

  test("waits as long as the card network asks for, and the merchant sees the network's advice", async () => {
    const settings = { dunning_delays_days: [1, 1, 1, 1] }
    const { shop, id } = await due(CARDS.waitFourDays, settings)
    const days = await runTo(shop, '2027-02-10T06:01:00Z', '2027-02-20T06:01:00Z')
    assert.deepEqual(days, ['2027-02-10', '2027-02-15'], 'on a payday, four days later or more')
    const { cycles: shown } = (await shop.merchant.get(`/v1/merchant/subscriptions/${id}/cycles`))
      .body
    const [failed] = await app.orders(id)
    const [{ declined_at, ...decline }] = shown[0].declines
    assert.equal(declined_at.slice(0, 10), '2027-02-10')
    assert.deepEqual(decline, {
      order_id: failed.id,
      amount_cents: 1_000,
      currency: 'USD',
      code: '202',
      network_code: '51',
      advice_code: '27',
      class: 'funds',
    })
    assert.deepEqual([shown[0].state, shown[0].declines.length], ['paid', 1])
    assert.deepEqual(shown[1].declines, [], 'those of another cycle')
    const { rows } = await app.superuser.query(
      `select code, network_code, advice_code from payment_attempts where order_id = $1`,
      [failed.id],
    )
    assert.deepEqual(rows, [{ code: '202', network_code: '51', advice_code: '27' }])
    const { customer_ref } = await app.row(id)
    const path = `/v1/tenants/${shop.tenant}/subscriptions/${id}/cycles`
    const own = await app.storefront.get(`${path}?customer_ref=${customer_ref}`)
    assert.equal(own.body.cycles.length, 2)
    assert.doesNotMatch(own.text, /declines|network_code|advice_code/)
  })

  test("pauses the subscription in the end, if the store's settings say so", async () => {
    const settings = { dunning_delays_days: [1], on_exhausted: 'pause' }
    const { shop, id } = await due(CARDS.alwaysDeclined, settings)
    await runTo(shop, '2027-02-10T06:01:00Z', '2027-02-13T06:01:00Z')
    const { status, due_at, dunning_attempt } = await app.row(id)
    assert.deepEqual([status, due_at, dunning_attempt], ['paused', null, 0])
    assert.deepEqual(await app.told(shop, id), ['paused system unpaid'])
    assert.equal(await charges(shop), 2)
  })

  test('without a ladder is the last attempt', async () => {
    const { shop, id } = await due(CARDS.alwaysDeclined, { dunning_delays_days: [] })
    await app.run(shop)
    assert.equal((await app.row(id)).status, 'unpaid_cancelled')
  })

  test('a declined renewal that is paid at last places one order, and skips the cycles that became due meanwhile', async () => {
    const { shop, id } = await due(CARDS.twiceDeclined, { dunning_delays_days: [20, 20] })
    await runTo(shop, '2027-02-10T06:01:00Z', '2027-03-25T06:01:00Z')
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid', '3 skipped overdue'])
    const placed = (await app.orders(id)).filter(({ status }) => status === 'placed')
    assert.equal(placed.length, 1)
    const { status, dunning_attempt, dunning_reason, next_charge_at } = await app.row(id)
    assert.deepEqual(
      [status, dunning_attempt, dunning_reason, next_charge_at.toISOString()],
      ['active', 0, null, '2027-04-10T04:00:00.000Z'],
    )
    assert.deepEqual((await app.events(id)).slice(-2), ['renewed', 'recovered'])
  })

  test('is tried from 06:00 to 10:00 in the time zone of the store, each subscription at its own minute', async () => {
    const minutes = new Set<string>()
    for (let n = 0; n < 4; n++) {
      const { shop, id } = await due(CARDS.alwaysDeclined)
      await app.run(shop)
      const { dunning_next_at } = await app.row(id)
      const hour = dunning_next_at.getUTCHours() + 1
      assert.ok(hour >= 6 && hour < 10, dunning_next_at.toISOString())
      minutes.add(dunning_next_at.toISOString().slice(11, 16))
    }
    assert.ok(minutes.size > 1)
  })

  test('a hard decline is never tried again with that card, in any subscription of the store', async () => {
    const { shop, id } = await due(CARDS.hardDeclined)
    const other = await (async () => {
      app.setTime(shop, '2027-01-20T12:00:00Z')
      return app.subscribe(shop, { card: CARDS.hardDeclined })
    })()
    const stranger = await app.subscribe(shop)
    const days = await runTo(shop, '2027-02-10T06:01:00Z', '2027-02-24T06:01:00Z')
    assert.deepEqual(days, ['2027-02-10', '2027-02-20'], 'the second is that of another card')
    assert.deepEqual(await app.cycles(stranger.id), ['1 paid', '2 paid'])
    const { status, card_blocked, dunning_next_at } = await app.row(id)
    assert.deepEqual([status, card_blocked, dunning_next_at], ['past_due', true, null])
    const second = await app.row(other.id)
    assert.deepEqual([second.status, second.card_blocked], ['past_due', true])
    await runTo(shop, '2027-02-24T06:01:00Z', '2027-03-09T06:01:00Z')
    assert.equal((await app.row(id)).status, 'unpaid_cancelled')
    assert.equal(await charges(shop), 2)
  })

  test('a hard decline asks for another card at once, and plans no attempt with the declined one', async () => {
    const { shop, id } = await due(CARDS.hardDeclined)
    await app.run(shop)
    const { status, card_blocked, dunning_next_at, dunning_ends_at } = await app.row(id)
    assert.deepEqual([status, card_blocked, dunning_next_at], ['past_due', true, null])
    assert.ok(dunning_ends_at > new Date('2027-02-11'), 'it is waited for')
    assert.deepEqual(await app.events(id), ['payment_failed', 'past_due'])
  })

  test('is retried at once with another card, and only that once', async () => {
    const { shop, id } = await due(CARDS.hardDeclined)
    await app.run(shop)
    const { vault_id } = await app.row((await app.subscribe(shop)).id)
    await app.runtime.database.tenant(shop.tenant).transaction('a new card', async (tx) => {
      await app.superuser.query(
        `update subscriptions set vault_id = $2, card_fingerprint = 'another' where id = $1`,
        [id, vault_id],
      )
      await cycles.retryNow(tx, id)
    })
    assert.deepEqual(await app.run(shop), ['charge'])
    assert.deepEqual(await app.run(shop), [])
    const { status, card_blocked, next_charge_at } = await app.row(id)
    assert.deepEqual(
      [status, card_blocked, next_charge_at.toISOString()],
      ['active', false, '2027-03-10T05:00:00.000Z'],
    )
    assert.deepEqual((await app.events(id)).slice(-2), ['renewed', 'recovered'])
  })

  test('a renewal that is declined because the agreement has ended ends the subscription at once', async () => {
    const { shop, id } = await due(CARDS.stop)
    app.setTime(shop, '2027-01-20T12:00:00Z')
    const other = await app.subscribe(shop, { card: CARDS.stop })
    app.setTime(shop, '2027-02-10T06:01:00Z')
    await app.run(shop)
    const { status, cancel_reason } = await app.row(id)
    assert.deepEqual([status, cancel_reason], ['cancelled', 'stopped_by_bank'])
    assert.equal((await app.row(other.id)).status, 'active', 'only this one')
    assert.deepEqual(await app.events(id), ['cancelled'])
  })

  test('a renewal that is declined because all agreements have ended ends every subscription on the card', async () => {
    const { shop, id } = await due(CARDS.stopAll)
    app.setTime(shop, '2027-01-20T12:00:00Z')
    const same = await app.subscribe(shop, { card: CARDS.stopAll })
    const stranger = await app.subscribe(shop)
    app.setTime(shop, '2027-02-10T06:01:00Z')
    await app.run(shop)
    const statuses = await Promise.all([id, same.id, stranger.id].map((each) => app.row(each)))
    assert.deepEqual(
      statuses.map(({ status }) => status),
      ['cancelled', 'cancelled', 'active'],
    )
  })

  test('a declined renewal that the bank wants to see again in some days is not tried before', async () => {
    const { shop, id } = await due(CARDS.wait)
    await app.run(shop)
    assert.match((await app.row(id)).dunning_next_at.toISOString(), /^2027-02-13T/)
  })

  test('a renewal that is declined for lack of funds is tried on the next payday, if that is near', async () => {
    const { shop, id } = await due(CARDS.approved, { dunning_delays_days: [3] })
    const gateway = () => ({
      authorize: async () => resultOf('insufficient_funds', { code: '202' }),
    })
    await app.run(shop, { gateway })
    assert.match((await app.row(id)).dunning_next_at.toISOString(), /^2027-02-15T/)
  })

  test('waits for new card data that the bank has, and is tried when the card updater brings them', async () => {
    const { shop, id } = await due(CARDS.update)
    await app.run(shop)
    const { status, dunning_next_at, card_blocked } = await app.row(id)
    assert.deepEqual([status, dunning_next_at, card_blocked], ['past_due', null, false])
    const card = { brand: null, last4: '4242', exp_month: 12, exp_year: 2033 }
    await app.runtime.database
      .tenant(shop.tenant)
      .transaction('an updated card', (tx) => cycles.updateCard(tx, id, card))
    const updated = await app.row(id)
    assert.deepEqual(
      [updated.card_last4, updated.card_exp_year, updated.card_brand, updated.card_fingerprint],
      ['4242', 2033, 'visa', null],
    )
    assert.deepEqual(await app.run(shop), ['charge'])
  })

  test('is no decline if no bank was asked: it is sent again soon, and no mail is sent', async () => {
    const { shop, id } = await due(CARDS.approved)
    const gateway = () => ({ authorize: async () => refused('processing_error', { code: '400' }) })
    await app.run(shop, { gateway })
    const { status, dunning_attempt, retry_at } = await app.row(id)
    assert.deepEqual(
      [status, dunning_attempt, retry_at.toISOString().slice(0, 13)],
      ['active', 0, '2027-02-10T07'],
    )
    assert.deepEqual(await app.events(id), [])
    app.setTime(shop, '2027-02-10T07:10:00Z')
    assert.deepEqual(await app.run(shop), ['charge'])
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
  })

  test('counts as a decline after five attempts that reached no bank', async () => {
    const { shop, id } = await due(CARDS.approved)
    const gateway = () => ({ authorize: async () => refused('processing_error', { code: '400' }) })
    for (let n = 0; n < 6; n++) {
      app.setTime(shop, new Date(Date.parse('2027-02-10T06:01:00Z') + n * 4_000_000).toISOString())
      assert.deepEqual(await app.run(shop, { gateway }), ['charge'])
    }
    const { status, dunning_attempt } = await app.row(id)
    assert.deepEqual([status, dunning_attempt], ['past_due', 1])
  })

  test('is not tried more often than the network of the card allows, over all subscriptions', async () => {
    const { shop, id } = await due(CARDS.alwaysDeclined)
    const { card_fingerprint } = await app.row(id)
    const decline = (n: number, amount_cents: number) =>
      app.superuser.query(
        `insert into subscription_declines (tenant_ref, subscription_id, cycle, order_id, card, amount_cents,
                                            currency, class, declined_at)
         select $1, $2, 2, gen_random_uuid(), $3, $5, 'USD', 'soft',
                '2027-02-05T12:00:00Z'::timestamptz + n * interval '1 hour' from generate_series(1, $4::int) n`,
        [shop.tenant, id, card_fingerprint, n, amount_cents],
      )
    await decline(30, 999)
    await decline(19, 1_000)
    await app.run(shop)
    assert.equal(await charges(shop), 1, 'the twentieth of that amount')
    app.setTime(shop, '2027-02-12T12:00:00Z')
    await app.run(shop)
    assert.equal(await charges(shop), 1)
    const { dunning_next_at, status } = await app.row(id)
    assert.deepEqual(
      [status, dunning_next_at.toISOString()],
      ['past_due', '2027-03-07T13:00:00.000Z'],
      'until the oldest is 30 days old',
    )
  })
})
