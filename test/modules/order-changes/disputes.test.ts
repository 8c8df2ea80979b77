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

test("a lost dispute takes no more than is left of the card's charge", async () => {
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

test('a lost dispute of a refunded charge takes nothing more', async () => {
  const { id } = await openDisputed()
  await held.current.merchant(id, 'refunds')
  const lost = await dispute(id, { outcome: 'lost' })
  assert.equal(lost.status, 200, lost.text)
  assert.equal(lost.body.order.status, 'refunded')
  assert.equal((await held.current.read(id)).refunds.length, 1)
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

test('a dispute is refused where none is open, or nothing was captured', async () => {
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
