import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
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
  test('of a return name its units, its instructions and its label', () => {
    const id = randomUUID()
    const lines = [{ order_item_id: randomUUID(), quantity: 2, reason: 'too small' }]
    const approved = {
      return: { id, lines, instructions: 'Pack it\0 well', label_url: 'https://label.example/1' },
    }
    const received = { return: { id, items: lines, refunded_cents: 500 } }
    const mails = listCaused([
      event('return.approved', approved),
      event('return.received', received),
      event('return.requested', received),
    ])
    assert.deepEqual(
      mails.map(({ kind, about_id }) => [kind, about_id]),
      [
        ['return_approved', id],
        ['return_received', id],
      ],
    )
    const units = [{ order_item_id: lines[0]?.order_item_id, quantity: 2 }]
    assert.deepEqual(mails[0]?.details, {
      instructions: 'Pack it well',
      label_url: 'https://label.example/1',
      refunded_cents: 0,
      lines: units,
    })
    assert.equal(mails[1]?.details?.refunded_cents, 500)
  })

  test('of a cancellation leave out the mails of the refunds that it names, and no others', () => {
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

  test('of a gift card may name the day on which it is sent', () => {
    const card = { id: randomUUID(), has_recipient: true }
    const at = (send_at: unknown) =>
      listCaused([event('giftcard.issued', { gift_card: { ...card, send_at } })])[0]?.send_at
    assert.equal(at('2030-12-24T08:00:00+01:00'), '2030-12-24T07:00:00.000Z')
    for (const none of [undefined, null, 'soon', 7]) assert.equal(at(none), null)
  })

  test('are those that are for shoppers alone', () => {
    const types = ['order.released', 'inventory.low', 'dispute.opened', 'subscription.renewed']
    assert.deepEqual(listCaused(types.map((type) => event(type, {}))), [])
    assert.deepEqual(listCaused([event('constructor', {}), event('__proto__', {})]), [])
  })
})
