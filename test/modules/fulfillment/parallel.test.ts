import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../harness/app.ts'
import { assertBooks } from '../../harness/books.ts'
import { countStatuses } from '../../harness/refusals.ts'
import { openWitness } from '../../harness/witness.ts'
import { giveBalances, openOrderStore } from '../orders/setup.ts'
import { ok, receipt, returnsOf } from '../returns/setup.ts'

const ROUNDS = 6
const UNITS = 6

/** Refusals of a request because another one has just done the same. Any other would be a fault. */
const BEATEN = [
  'invalid_transition',
  'quantity_exceeds_open',
  'quantity_exceeds_returnable',
  'quantity_exceeds_expected',
  'order_busy',
  'not_refundable',
  'amount_exceeds_refundable',
]

test('packing, shipping, recalling, returning, refunding and cancelling one order at once leaves all books right', async (t) => {
  const store = await openOrderStore(t)
  await openWitness(store.superuser)
  const { merchant } = store.shop
  const { code } = await giveBalances(store, 100_000, 100_000)
  const returns = returnsOf(store)
  const done = { pack: 0, ship: 0, recall: 0, return: 0, receive: 0, rest: 0, refund: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const variants = [await returns.tracked(UNITS), await returns.tracked(UNITS, 333)]
    const { order, items } = await store.place({
      items: variants.map((variant_id) => ({ variant_id, quantity: UNITS })),
      ...(round % 2 === 0 && { apply_store_credit: true, gift_card_code: code }),
    })
    const path = `/v1/merchant/orders/${order.id}/fulfillments`
    const line = (quantity: number, at = 0) => ({ order_item_id: items[at].id, quantity })
    const packed: string[] = []
    for (const part of [line(2), line(1, 1), line(1)]) {
      packed.push(ok(await merchant.post(path, { items: [part] }), 201).fulfillment.id)
    }
    const act = (id: string | undefined, verb: string, body?: object) =>
      merchant.post(`/v1/merchant/fulfillments/${id}/${verb}`, body)
    ok(await act(packed[0], 'ship'))
    const made = ok(await returns.create(order.id, [line(1)]), 201).return
    const refund = { items: [line(1, 1)] }
    const calls: Call[] = [
      ['pack', () => merchant.post(path, { items: [line(1), line(1, 1)] })],
      ['ship', () => act(packed[1], 'ship')],
      ['ship', () => act(packed[2], 'ship')],
      ['recall', () => act(packed[0], 'cancel', { reason: 'error' })],
      ['return', () => returns.create(order.id, [line(1)])],
      ['receive', () => returns.receive(made.id, receipt(made, 1))],
      ['rest', () => store.merchant(order.id, 'cancel-remaining', { reason: 'inventory' })],
      ['refund', () => store.merchant(order.id, 'refunds', refund)],
      ['rest', () => store.merchant(order.id, 'cancel', { reason: 'customer' })],
    ]
    // A store's calls begin in the order they came: each round begins with others, so that all win at times.
    const first = (round * 6) % calls.length
    const sent = [...calls.slice(first), ...calls.slice(0, first)]
    const asked = await Promise.all(sent.flatMap(both))
    for (const [what, answer] of asked) {
      if (answer.status < 300) done[what]++
      else assert.ok(BEATEN.includes(answer.body.error.code), `${what}: ${answer.text}`)
    }
    const received = asked.filter(([what]) => what === 'receive').map(([, answer]) => answer)
    assert.ok((countStatuses(received)[200] ?? 0) <= 1, 'a unit is received once')
    await assertBooks(store.app, store.superuser, merchant)
  }
  for (const [what, times] of Object.entries(done)) {
    if (what !== 'recall') assert.ok(times > 0, `${what} has never succeeded`)
  }

  type What = keyof typeof done
  type Call = [What, () => Promise<Answer>]
  /** The same request twice. */
  function both([what, send]: Call): Promise<[What, Answer]>[] {
    return [0, 1].map(async (): Promise<[What, Answer]> => [what, await send()])
  }
})
