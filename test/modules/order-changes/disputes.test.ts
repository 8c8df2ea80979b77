import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareDay } from '../../../src/modules/payments/compare.ts'
import { APPROVED, giveBalances, shareOrderStore } from '../orders/setup.ts'

const held = shareOrderStore()

const dispute = (id: string, body: object) =>
  held.current.app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, body)

const shownStatus = async (id: string) => {
  const { order, payment_status = order.payment_status } = await held.current.read(id)
  return [order.status, payment_status, order.hold?.reason ?? null]
}

const eventsOf = async (id: string) => {
  const { rows } = await held.current.superuser.query(
    'select type from webhook_events where order_id = $1 order by emitted_at',
    [id],
  )
  return rows.map(({ type }) => type.replace(/^commerce\.|\.v1$/g, ''))
}

const timelineOf = async (id: string) => {
  const { shop } = held.current
  const { body } = await shop.merchant.get(`/v1/merchant/orders/${id}/timeline`)
  const entries: { type: string; actor: string }[] = body.events ?? body.timeline
  return entries.filter(({ type }) => /disput/.test(type)).map(({ type }) => type)
}

/** An order whose dispute an operator opened, as for a provider that names no transaction. */
async function openDisputed(more?: object) {
  const { order } = await held.current.place(more)
  const opened = await dispute(order.id, { outcome: 'opened' })
  assert.equal(opened.status, 200, opened.text)
  return order as { id: string; total_cents: number }
}

test('a won dispute leaves the order as it was before', async () => {
  const { id } = await openDisputed()
  assert.deepEqual(await shownStatus(id), ['on_hold', 'disputed', 'dispute'])
  const won = await dispute(id, { outcome: 'won' })
  assert.equal(won.body.order.status, 'placed')
  assert.deepEqual(await shownStatus(id), ['placed', 'paid', null])
  assert.deepEqual(await eventsOf(id), [
    'order.placed',
    'dispute.opened',
    'order.held',
    'order.released',
  ])
  assert.deepEqual((await timelineOf(id)).toSorted(), ['dispute_won', 'disputed'])
  assert.equal((await dispute(id, { outcome: 'won' })).body.error.code, 'invalid_transition')
})

test('a lost dispute counts as a refund, and no gateway is asked for it', async () => {
  const { superuser, read, net } = held.current
  const { id, total_cents } = await openDisputed()
  const before = await net(id)
  const lost = await dispute(id, { outcome: 'lost' })
  assert.equal(lost.status, 200, lost.text)
  assert.deepEqual(await shownStatus(id), ['refunded', 'refunded', null])
  const { refunds } = await read(id)
  assert.deepEqual(
    refunds.map((each: Record<string, unknown>) => [each.amount_cents, each.status, each.kind]),
    [[total_cents, 'succeeded', 'refund']],
  )
  assert.equal(await net(id), before, 'the bank took the money; the gateway refunded nothing')
  const attempts = await superuser.query(
    `select 1 from payment_attempts where order_id = $1 and kind = 'refund'`,
    [id],
  )
  assert.equal(attempts.rows.length, 0)
  const ledger = await superuser.query(
    `select e.account, sum(e.amount_cents)::int as cents
       from ledger_journals as j
       join ledger_entries as e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
      where j.order_id = $1 and e.account in ('card_clearing', 'refund')
      group by 1 order by 1`,
    [id],
  )
  assert.equal(ledger.rows[0].account, 'card_clearing')
  assert.equal(ledger.rows[0].cents, 0)
  assert.ok((await eventsOf(id)).includes('order.refunded'))
  const { payments, workerDatabase } = held.current.app.runtime
  const today = new Date().toISOString().slice(0, 10)
  const differences = await compareDay(payments, workerDatabase.tenant('acme'), today)
  assert.equal(differences, 0, 'both records of the day still agree')
  const again = await dispute(id, { outcome: 'lost' })
  assert.deepEqual([again.status, again.body.error.code], [409, 'invalid_transition'])
  const refused = await held.current.merchant(id, 'refunds')
  assert.equal(refused.body.error.code, 'not_refundable')
})

test('a lost dispute takes no more than the card paid', async () => {
  const gift = await giveBalances(held.current, 0, 500)
  const { id, total_cents } = await openDisputed({ gift_card_code: gift.code })
  const card = total_cents - 500
  const more = await dispute(id, { outcome: 'lost', amount_cents: card + 1 })
  assert.deepEqual([more.status, more.body.error.code], [422, 'amount_exceeds_refundable'])
  assert.equal(more.body.refundable_cents, card)
  assert.deepEqual(await shownStatus(id), ['on_hold', 'disputed', 'dispute'])
  const lost = await dispute(id, { outcome: 'lost', amount_cents: card })
  assert.equal(lost.body.order.status, 'partially_refunded')
  assert.equal(lost.body.order.refunded_cents, card)
})

/** The balance of an account in the journals of an order. */
const bookedOn = async (id: string, account: string): Promise<number> => {
  const { rows } = await held.current.superuser.query(
    `select coalesce(sum(e.amount_cents), 0)::int as cents
       from ledger_journals as j
       join ledger_entries as e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
      where j.order_id = $1 and e.account = $2`,
    [id, account],
  )
  return rows[0].cents
}

test('a lost dispute after a full refund books what the bank took a second time', async () => {
  const { order } = await held.current.place()
  assert.equal((await held.current.merchant(order.id, 'refunds')).status, 201)
  assert.equal((await dispute(order.id, { outcome: 'opened' })).status, 200)
  const silent = await dispute(order.id, { outcome: 'lost' })
  assert.deepEqual([silent.status, silent.body.issues[0].path], [400, 'amount_cents'], silent.text)
  const { total_cents } = order
  const more = await dispute(order.id, { outcome: 'lost', amount_cents: total_cents + 1 })
  assert.deepEqual([more.status, more.body.refundable_cents], [422, total_cents], more.text)
  const lost = await dispute(order.id, { outcome: 'lost', amount_cents: total_cents })
  assert.equal(lost.status, 200, lost.text)
  const { status, payment_status, refunded_cents } = lost.body.order
  assert.deepEqual(
    [status, payment_status, refunded_cents],
    ['refunded', 'refunded', total_cents],
    'the shopper was refunded once',
  )
  assert.equal(await bookedOn(order.id, 'dispute_loss'), total_cents)
  assert.equal(await bookedOn(order.id, 'card_clearing'), -total_cents)
  const { timeline, refunds } = await held.current.read(order.id)
  const entry = timeline.find(({ type }: { type: string }) => type === 'dispute_lost')
  assert.deepEqual(entry.data, { amount_cents: total_cents, lost_twice_cents: total_cents })
  assert.equal(refunds.length, 1)
  await held.current.check()
})

test('a lost dispute after a partial refund refunds the rest, and books the refunded part as a loss', async () => {
  const { order } = await held.current.place()
  assert.equal(
    (await held.current.merchant(order.id, 'refunds', { amount_cents: 300 })).status,
    201,
  )
  assert.equal((await dispute(order.id, { outcome: 'opened' })).status, 200)
  const lost = await dispute(order.id, { outcome: 'lost', amount_cents: order.total_cents })
  assert.deepEqual([lost.status, lost.body.order.status], [200, 'refunded'], lost.text)
  assert.equal(await bookedOn(order.id, 'dispute_loss'), 300)
  assert.equal(await bookedOn(order.id, 'card_clearing'), -300)
  await held.current.check()
})

test('a lost dispute in which the bank took nothing books nothing', async () => {
  const { id } = await openDisputed()
  const lost = await dispute(id, { outcome: 'lost', amount_cents: 0 })
  assert.deepEqual([lost.status, lost.body.order.status], [200, 'placed'], lost.text)
  assert.equal(await bookedOn(id, 'dispute_loss'), 0)
})

test('no card money is refunded while its dispute is open, by whatever route', async () => {
  const { shop, merchant, shopper, read } = held.current
  const { id } = await openDisputed()
  const { items, charges } = await read(id)
  const less = { edits: [{ order_item_id: items[0].id, quantity: 1 }] }
  const none = { edits: [{ order_item_id: items[0].id, quantity: 0 }] }
  const answers = await Promise.all([
    merchant(id, 'refunds'),
    merchant(id, 'refunds', { amount_cents: 1 }),
    merchant(id, 'refunds', { method: 'store_credit' }),
    merchant(id, 'refunds/preview'),
    merchant(id, 'cancel', { reason: 'staff' }),
    merchant(id, 'edit', less),
    merchant(id, 'edit', none),
    shopper(id, 'refund', { charge_id: charges[0].charge_id }),
    shopper(id, 'cancel', {}),
    shopper(id, 'edit', less),
    shop.merchant.post(
      `/v1/merchant/fraud/reviews/${id}/reject`,
      {},
      { 'idempotency-key': `reject-${id}` },
    ),
  ])
  for (const { status, body, text } of answers) {
    assert.deepEqual([status, body.error?.code], [409, 'disputed'], text)
    assert.deepEqual([body.current_status, body.allowed.includes('refund')], ['on_hold', false])
  }
  const explained = (await shop.merchant.get(`/v1/merchant/orders/${id}/explain`)).body
  assert.equal(explained.busy, false)
  for (const action of ['refund', 'cancel', 'reject']) {
    const refused = explained.refused.find((each: { action: string }) => each.action === action)
    assert.equal(refused?.reason, 'disputed', action)
  }
  const more = { edits: [{ order_item_id: items[0].id, quantity: 3 }], card: APPROVED }
  assert.equal((await shopper(id, 'edit', more)).status, 200, 'a charge returns nothing')
  assert.equal((await read(id)).refunds.length, 0)
  assert.equal((await dispute(id, { outcome: 'won' })).status, 200)
  assert.equal((await merchant(id, 'cancel', { reason: 'staff' })).status, 200)
  await held.current.check()
})

test('what other tenders paid is refunded while a dispute is open, and a refunded order can be cancelled', async () => {
  const { merchant, shopper, read } = held.current
  const gift = await giveBalances(held.current, 0, 500)
  const { order } = await held.current.place({ gift_card_code: gift.code })
  const { charges } = await read(order.id)
  const idOf = (tender: string) =>
    charges.find((each: { tender: string }) => each.tender === tender).charge_id
  await shopper(order.id, 'refund', { charge_id: idOf('card'), amount_cents: 100 })
  assert.equal((await dispute(order.id, { outcome: 'opened' })).status, 200)
  const ofGift = await shopper(order.id, 'refund', { charge_id: idOf('gift_card') })
  assert.deepEqual([ofGift.status, ofGift.body.refund?.amount_cents], [200, 500], ofGift.text)
  assert.equal((await dispute(order.id, { outcome: 'won' })).status, 200)
  assert.equal((await merchant(order.id, 'refunds')).status, 201)
  assert.equal((await dispute(order.id, { outcome: 'opened' })).status, 200)
  const cancelled = await merchant(order.id, 'cancel', { reason: 'staff' })
  assert.equal(cancelled.status, 200, cancelled.text)
  await held.current.check()
})

test("a merchant's own hold outlives the dispute", async () => {
  const { order } = await held.current.place()
  await held.current.merchant(order.id, 'hold', { reason: 'a call to make' })
  await dispute(order.id, { outcome: 'opened' })
  await dispute(order.id, { outcome: 'won' })
  assert.deepEqual(await shownStatus(order.id), ['on_hold', 'paid', 'a call to make'])
})

test("a merchant's own hold outlives the dispute, even with the dispute's reason", async () => {
  const { order } = await held.current.place()
  const reason = 'dispute'
  assert.equal((await held.current.merchant(order.id, 'hold', { reason })).status, 200)
  assert.equal((await dispute(order.id, { outcome: 'opened' })).status, 200)
  assert.equal((await dispute(order.id, { outcome: 'won' })).status, 200)
  assert.deepEqual(await shownStatus(order.id), ['on_hold', 'paid', 'dispute'])
})

test('an order under review stays held after the dispute', async () => {
  const { shop, place, shopper } = held.current
  const value = 'disputed@edit.example'
  const { order, items } = await place({ email: value })
  const ban = { kind: 'email', value, action: 'review' }
  assert.equal((await shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  assert.equal((await dispute(order.id, { outcome: 'opened' })).status, 200)
  const edits = [{ order_item_id: items[0].id, quantity: 3 }]
  const edited = await shopper(order.id, 'edit', { edits, card: APPROVED })
  assert.equal(edited.status, 200, edited.text)
  assert.equal((await dispute(order.id, { outcome: 'won' })).status, 200)
  assert.deepEqual(await shownStatus(order.id), ['on_hold', 'paid', 'fraud_review'])
})

test('two reports at once that a dispute is lost count once', async () => {
  const { id } = await openDisputed()
  const answers = await Promise.all([1, 2].map(() => dispute(id, { outcome: 'lost' })))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
  assert.equal((await held.current.read(id)).refunds.length, 1)
})

test('the end of a dispute is refused if none is open, or nothing was captured', async () => {
  const { order } = await held.current.place()
  const codeOf = async (id: string, body: object) => (await dispute(id, body)).body.error.code
  assert.equal(await codeOf(order.id, { outcome: 'won' }), 'invalid_transition')
  assert.equal(await codeOf(order.id, { outcome: 'lost' }), 'invalid_transition')
  assert.equal(await codeOf(order.id, { outcome: 'drawn' }), 'invalid_body')
  assert.equal(await codeOf(order.id, { outcome: 'lost', amount_cents: -1 }), 'invalid_body')
  assert.equal(await codeOf('x', { outcome: 'won' }), 'order_not_found')
  const { operator } = held.current.app
  const nowhere = await operator.post(`/v1/stores/nowhere/orders/${order.id}/dispute`, {
    outcome: 'won',
  })
  assert.deepEqual([nowhere.status, nowhere.body.error.code], [404, 'unknown_tenant'])
  await dispute(order.id, { outcome: 'opened' })
  assert.equal(await codeOf(order.id, { outcome: 'opened' }), 'invalid_transition')
})

test('an order that no card paid cannot be disputed', async () => {
  const gift = await giveBalances(held.current, 0, 5_000)
  const { order } = await held.current.place({ gift_card_code: gift.code, card: undefined })
  const opened = await dispute(order.id, { outcome: 'opened' })
  assert.deepEqual([opened.status, opened.body.error?.code], [409, 'invalid_transition'])
  assert.deepEqual(await shownStatus(order.id), ['placed', 'paid', null])
  assert.deepEqual(await eventsOf(order.id), ['order.placed'])
})

test('the audit log names the actor of a dispute', async () => {
  const { id } = await openDisputed()
  await dispute(id, { outcome: 'lost' })
  const { body } = await held.current.app.operator.get(
    `/v1/stores/acme/audit?action=order.dispute_lost&limit=1`,
  )
  assert.equal(body.entries[0].entity, `order:${id}`)
  assert.deepEqual(body.entries[0].after, { status: 'refunded', payment_status: 'refunded' })
})

test("an order of another store, a merchant's key and bad input change nothing, even many at once", async () => {
  const { app, shop } = held.current
  const { id } = await openDisputed()
  await app.store('globex')
  const url = (tenant: string) => `/v1/stores/${tenant}/orders/${id}/dispute`
  const tries = [
    ...Array.from({ length: 17 }, () => app.operator.post(url('globex'), { outcome: 'lost' })),
    ...Array.from({ length: 17 }, () => shop.merchant.post(url('acme'), { outcome: 'lost' })),
    ...[null, [], '', 1, { outcome: 'LOST' }, { outcome: 'lost', amount_cents: -1 }].map((body) =>
      app.operator.post(url('acme'), body),
    ),
    ...Array.from({ length: 10 }, () =>
      app.operator.post(url('acme'), { outcome: 'lost', amount_cents: 1e16 }),
    ),
  ]
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  assert.deepEqual([...new Set(statuses)].sort(), [400, 401, 404])
  assert.deepEqual(await shownStatus(id), ['on_hold', 'disputed', 'dispute'])
})
