import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { loadEvents } from '../../../src/compose/events.ts'
import { type HappenedEvent, listCaused } from '../../../src/modules/shopper-mail/causes.ts'

const order_id = randomUUID()

const event = (type: string, data: object): HappenedEvent => ({
  id: randomUUID(),
  type: `commerce.${type}.v1`,
  data: JSON.stringify(data),
  order_id,
  customer_ref: 'ann',
})

describe('the events that cause a mail', () => {
  test('the mails of a return name its units and its refund, once for each receipt', () => {
    const [id, order_item_id, refund_id] = [randomUUID(), randomUUID(), randomUUID()]
    const line = { order_item_id, quantity: 2, received_quantity: 1, reason: 'too small' }
    const returned = { id, lines: [line], instructions: 'Pack it well' }
    const refund = { refund_id, amount_cents: 500 }
    const events = [
      event('return.requested', { return: returned }),
      event('return.approved', { return: returned }),
      event('order.refunded', { refund }),
      event('return.received', { return: returned, refund }),
      event('return.received', { return: returned, refund: null }),
    ]
    const mails = listCaused(events)
    assert.deepEqual(
      mails.map(({ kind, about_id }) => [kind, about_id]),
      [
        ['return_approved', id],
        ['return_received', events[3]?.id],
        ['return_received', events[4]?.id],
      ],
    )
    const lines = [{ order_item_id, quantity: 2, received_quantity: 1 }]
    assert.deepEqual(mails[0]?.details, { return_id: id, refunded_cents: 0, lines })
    assert.equal(mails[1]?.details?.refunded_cents, 500)
  })

  test('the mails of an exchange ask for each payment, and do not call moved money a refund', () => {
    const refund = { refund_id: randomUUID(), amount_cents: 500, method: 'exchange' }
    const request = { amount_cents: 100, status: 'open' }
    const events = [
      event('order.refunded', { refund }),
      event('order.refunded', { refund: { ...refund, method: 'original' } }),
      event('order.payment_requested', { payment_request: request }),
      event('order.payment_requested', { payment_request: request }),
      event('return.exchanged', {}),
    ]
    assert.deepEqual(
      listCaused(events).map(({ kind, about_id }) => [kind, about_id]),
      [
        ['order_refunded', refund.refund_id],
        ['payment_request', events[2]?.id],
        ['payment_request', events[3]?.id],
      ],
    )
  })

  test('the mail of a cancellation replaces the mails of the refunds that it names, and no others', () => {
    const [inside, outside] = [randomUUID(), randomUUID()]
    const refund = (refund_id: string) => event('order.refunded', { refund: { refund_id } })
    const refunds = [
      { refund_id: inside, amount_cents: 300 },
      { refund_id: randomUUID(), amount_cents: 200 },
    ]
    const mails = listCaused([
      refund(inside),
      refund(outside),
      event('order.cancelled', { refunds }),
    ])
    assert.deepEqual(
      mails.map(({ kind, about_id }) => [kind, about_id]),
      [
        ['order_refunded', outside],
        ['order_cancelled', order_id],
      ],
    )
    assert.deepEqual(mails[1]?.details, { refunded_cents: 500 })
  })

  test('the mail of a gift card may name the day on which it is sent', () => {
    const card = { id: randomUUID(), has_recipient: true }
    const at = (send_at: unknown) =>
      listCaused([event('giftcard.issued', { gift_card: { ...card, send_at } })])[0]?.send_at
    assert.equal(at('2030-12-24T07:00:00.000Z'), '2030-12-24T07:00:00.000Z')
    for (const none of [undefined, null]) assert.equal(at(none), null)
  })

  test('an event of another release may lack any member: it causes no error', async () => {
    for (const type of (await loadEvents()).keys()) {
      const lacking = { ...event('', {}), type }
      for (const mail of listCaused([lacking])) {
        assert.ok([order_id, lacking.id].includes(mail.about_id), type)
      }
    }
    const cancelled = event('order.cancelled', { refunds: [{}] })
    const refunded = event('order.refunded', { refund: {} })
    const returned = event('return.received', { return: { lines: [{}] }, refund: {} })
    assert.deepEqual(
      listCaused([refunded, cancelled, returned]).map(({ kind, details }) => [kind, details]),
      [
        ['order_cancelled', { refunded_cents: 0 }],
        [
          'return_received',
          {
            return_id: null,
            refunded_cents: 0,
            lines: [{ order_item_id: null, quantity: 0, received_quantity: 0 }],
          },
        ],
      ],
    )
  })

  test('are only those that shoppers need to know', () => {
    const types = ['order.released', 'inventory.low', 'dispute.opened', 'subscription.renewed']
    assert.deepEqual(listCaused(types.map((type) => event(type, {}))), [])
    assert.deepEqual(listCaused([event('constructor', {}), event('__proto__', {})]), [])
  })
})
