import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { openHandlers } from '../../../src/compose/handlers.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { stock } from '../checkout/setup.ts'
import { deliverNmi, register } from '../provider-events/setup.ts'
import { CARDS, type RenewalApp, shareRenewalApp } from './setup.ts'

describe('POST /v1/merchant/subscriptions/{id}/charge', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })
  const subscribed = async (more: object = {}) => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-31T12:00:00Z')
    const { id } = await app.subscribe(shop, more)
    return { shop, id }
  }

  test('charges the next cycle now, and keeps the dates after it', async () => {
    const { shop, id } = await subscribed()
    app.setTime(shop, '2027-02-10T12:00:00Z')
    const key = randomUUID()
    const answer = await app.charge(shop, id, key)
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.order.status, 'placed')
    assert.deepEqual(answer.body.subscriptions, [])
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-03-31T04:00:00.000Z')
    const again = await app.charge(shop, id, key)
    assert.deepEqual([again.status, again.text], [201, answer.text])
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.equal((await app.orders(id)).length, 1)
    const { rows } = await app.superuser.query(
      `select actor, after ->> 'cycle' as cycle from audit_log where action = 'subscription.charged' and entity = $1`,
      [`subscription:${id}`],
    )
    assert.equal(rows.length, 1)
    assert.match(rows[0].actor, /^merchant_key:/)
  })

  test('shows a lost answer under its key, to callers who may charge', async () => {
    const { shop, id } = await subscribed()
    const key = randomUUID()
    const answer = await app.charge(shop, id, key)
    const url = `/v1/merchant/idempotency/renewal/${key}`
    const found = await shop.merchant.get(url)
    assert.deepEqual([found.body.status, found.body.answer], [201, answer.body])
    const lesser = await app.merchant(shop.tenant, 'manage:own_orders')
    assert.equal((await lesser.get(url)).status, 403)
  })

  test('tries a declined charge again', async () => {
    const { shop, id } = await subscribed({ card: CARDS.twiceDeclined })
    const first = await app.charge(shop, id)
    assert.deepEqual([first.status, first.body.error.code], [402, 'payment_declined'])
    assert.equal((await app.row(id)).status, 'past_due')
    assert.equal((await app.charge(shop, id)).status, 402)
    const third = await app.charge(shop, id)
    assert.equal(third.status, 201, third.text)
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    assert.equal((await app.row(id)).status, 'active')
  })

  test('charges one cycle before its date, and no other until that date has come', async () => {
    const { shop, id } = await subscribed()
    assert.equal((await app.charge(shop, id)).status, 201)
    const { status, body } = await app.charge(shop, id)
    assert.deepEqual([status, body.error.code], [409, 'cycle_not_chargeable'])
    assert.deepEqual(
      [body.cycle, body.chargeable_cycle, body.next_charge_at],
      [3, null, '2027-03-31T04:00:00.000Z'],
    )
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    app.setTime(shop, '2027-02-28T12:00:00Z')
    assert.equal((await app.charge(shop, id)).status, 201)
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid', '3 paid'])
  })

  test('charges the cycle that the body names, and never the next one in its place', async () => {
    const { shop, id } = await subscribed()
    app.setTime(shop, '2027-03-01T12:00:00Z')
    const charge = (cycle: unknown) => app.charge(shop, id, randomUUID(), { cycle })
    for (const cycle of [1, 0, -2, 2.5, '2', null]) {
      const { status, body } = await charge(cycle)
      assert.deepEqual([status, body.error.code], [400, 'invalid_body'], `${cycle}`)
    }
    const early = await charge(3)
    assert.deepEqual([early.status, early.body.chargeable_cycle], [409, 2], early.text)
    const clicks = await Promise.all([charge(2), charge(2), charge(2)])
    const statuses = clicks.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [201, 409, 409])
    const late = await charge(2)
    assert.deepEqual([late.status, late.body.error.code], [409, 'cycle_not_chargeable'])
    assert.deepEqual([late.body.cycle, late.body.chargeable_cycle], [2, 3])
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    assert.equal((await charge(3)).status, 201, 'one cycle ahead')
    assert.equal((await charge(4)).status, 409)
  })

  test('may skip a cycle and charge the one after it, but only that one', async () => {
    const { shop, id } = await subscribed()
    const url = `/v1/merchant/subscriptions/${id}/skip`
    const skipped = await shop.merchant.post(url, {}, { 'idempotency-key': randomUUID() })
    assert.equal(skipped.status, 200, skipped.text)
    assert.equal((await app.charge(shop, id)).status, 201)
    assert.equal((await app.charge(shop, id)).body.error.code, 'cycle_not_chargeable')
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 skipped merchant', '3 paid'])
  })

  test('charges once when many calls come at once', async () => {
    const { shop, id } = await subscribed()
    // As its message asks, a 503 of a busy machine is sent again with the same key.
    const charge = async (key = randomUUID()): ReturnType<typeof app.charge> => {
      const answer = await app.charge(shop, id, key)
      return answer.status === 503 ? charge(key) : answer
    }
    const answers = await Promise.all(Array.from({ length: 6 }, () => charge()))
    const placed = answers.filter(({ status }) => status === 201).length
    for (const { status, body, text } of answers) {
      const codes = ['charge_in_progress', 'cycle_not_chargeable']
      assert.ok(status === 201 || codes.includes(body.error.code), text)
    }
    assert.equal(placed, 1)
    assert.equal((await app.orders(id)).length, 1)
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
  })

  test('refuses a subscription that cannot be charged, and says why', async () => {
    const refusal = async (id: string, of: Awaited<ReturnType<typeof subscribed>>['shop']) => {
      const { status, body } = await app.charge(of, id)
      return `${status} ${body.error.code}`
    }
    const { shop, id } = await subscribed()
    assert.equal(await refusal(randomUUID(), shop), '404 subscription_not_found')
    assert.equal(await refusal('nothing', shop), '404 subscription_not_found')
    const other = await app.newShop()
    assert.equal(await refusal(id, other), '404 subscription_not_found')
    const set = (text: string) =>
      app.superuser.query(`update subscriptions set ${text} where id = $1`, [id])
    await set(`status = 'paused', next_charge_at = null`)
    assert.equal(await refusal(id, shop), '409 invalid_transition')
    await set(`status = 'active', next_charge_at = '2027-02-28T05:00:00Z', card_blocked = true`)
    assert.equal(await refusal(id, shop), '409 card_unusable')
    await set('card_blocked = false')
    await stock(shop.merchant, shop.tea, 0)
    assert.equal(await refusal(id, shop), '409 insufficient_stock')
    await app.superuser.query('update variants set archived_at = now() where id = $1', [shop.tea])
    assert.equal(await refusal(id, shop), '404 variant_not_found')
    assert.deepEqual(await app.orders(id), [])
    const keyless = await shop.merchant.post(`/v1/merchant/subscriptions/${id}/charge`)
    assert.equal(keyless.body.error.code, 'idempotency_key_required')
  })

  test("refuses a card that has reached its network's limit of attempts", async () => {
    const { shop, id } = await subscribed()
    await app.superuser.query(
      `insert into subscription_declines (tenant_ref, subscription_id, cycle, order_id, card, amount_cents, currency,
                                          class, declined_at)
       select tenant_ref, id, 2, gen_random_uuid(), card_fingerprint, 1000, 'USD', 'soft', '2027-01-30T12:00:00Z'
         from subscriptions, generate_series(1, 20) where id = $1`,
      [id],
    )
    const { status, body } = await app.charge(shop, id)
    assert.deepEqual(
      [status, body.error.code, body.next_attempt_at],
      [409, 'card_tries_exhausted', '2027-03-01T12:00:00.000Z'],
    )
  })

  test('is charged again after the card updater has replaced the card, and not with a closed account', async () => {
    // By the machine's time, which the worker of events goes by.
    const shop = await app.newShop()
    const { id } = await app.subscribe(shop, { card: CARDS.update })
    assert.equal((await app.charge(shop, id)).status, 402)
    const { vault_id } = await app.row(id)
    const path = await register(app, shop.tenant, { provider: 'nmi', account: shop.tenant })
    const send = async (type: string, card: object) => {
      const event_id = randomUUID()
      const event = { event_id, event_type: `acu.summary.${type}`, event_body: { cards: [card] } }
      const received = await deliverNmi(app, path, Buffer.from(JSON.stringify(event)))
      assert.equal(received.status, 200, received.text)
      while (
        (await deliverDue(app.runtime.workerDatabase, await openHandlers(app.runtime), {
          slots: 20,
        })) > 0
      );
      const { body } = await app.operator.get(`${path}/events/${event_id}`)
      return `${body.event.status}: ${body.event.reason}`
    }
    const card = { customer_vault_id: vault_id, cc_number: '4xxxxxxxxxxx4242', cc_exp: '1232' }
    assert.equal(await send('automaticallyupdated', card), 'applied: card_updated')
    const { card_last4, card_exp_month, card_exp_year, dunning_next_at } = await app.row(id)
    assert.deepEqual([card_last4, card_exp_month, card_exp_year], ['4242', 12, 2032])
    assert.ok(dunning_next_at !== null)
    assert.deepEqual(await app.run(shop), ['charge'], 'at once')
    assert.equal(await send('closedaccount', card), 'applied: card_updated')
    assert.equal((await app.row(id)).card_blocked, true)
    assert.equal((await app.charge(shop, id)).body.error.code, 'card_unusable')
    const stranger = { ...card, customer_vault_id: randomUUID() }
    assert.equal(await send('automaticallyupdated', stranger), 'ignored: no_card_of_ours')
    assert.equal(await send('contactcustomer', card), 'ignored: other_type')
  })
})
