import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  allowedActions,
  deriveStatus,
  type OrderFacts,
  type Wait,
} from '../../../src/modules/orders/status.ts'
import { ACTIONS } from '../../../src/modules/orders/status-schema.ts'
import { facts, paid } from './facts.ts'

const at = '2026-03-01T12:00:00.000Z'

describe('the first rule that holds decides', () => {
  const cases: [rule: number, status: string, facts: OrderFacts][] = [
    [1, 'cancelled', facts({ cancelled_at: at })],
    [1, 'cancelled', paid({ cancelled_at: at, refunded_cents: 1_000 })],
    [2, 'payment_failed', facts({ payment: 'failed' })],
    [2, 'payment_failed', facts({ payment: 'failed', live_hold: true })],
    [3, 'on_hold', facts({ payment: 'authorized', live_hold: true })],
    [3, 'on_hold', facts({ total_cents: 0, payment: 'none', live_hold: true })],
    [4, 'pending_payment', facts()],
    [4, 'pending_payment', facts({ payment: 'unknown' })],
    [4, 'pending_payment', facts({ total_cents: 0, payment: 'none' })],
    [5, 'refunded', paid({ refunded_cents: 1_000 })],
    [5, 'refunded', paid({ refunded_cents: 1_000, q_shipped: 4, q_delivered: 4 })],
    [6, 'on_hold', paid({ live_hold: true })],
    [6, 'on_hold', paid({ live_hold: true, refunded_cents: 1, q_shipped: 3 })],
    [7, 'partially_refunded', paid({ refunded_cents: 1 })],
    [7, 'partially_refunded', paid({ refunded_cents: 1, q_shipped: 4, live_hold: true })],
    [8, 'delivered', paid({ q_shipped: 4, q_delivered: 4 })],
    [8, 'delivered', paid({ q_cancelled: 1, q_shipped: 3, q_delivered: 3 })],
    [9, 'shipped', paid({ q_shipped: 4, q_delivered: 3 })],
    [9, 'shipped', paid({ q_cancelled: 2, q_shipped: 2 })],
    [10, 'partially_shipped', paid({ q_shipped: 1, q_packed: 1 })],
    [10, 'partially_shipped', paid({ q_shipped: 1, q_delivered: 1 })],
    [11, 'processing', paid({ q_packed: 1 })],
    [11, 'processing', paid({ processing_at: at })],
    [12, 'placed', paid()],
    [12, 'placed', facts({ total_cents: 0, placed_at: at, payment: 'none' })],
  ]
  for (const [rule, status, given] of cases) {
    test(`rule ${rule}: ${status}, from ${difference(given)}`, () => {
      const derived = deriveStatus(given)
      assert.deepEqual([derived.rule, derived.status], [rule, status])
    })
  }
})

/** The facts that differ from those of a new order, as text. */
function difference(given: OrderFacts): string {
  const plain = Object.entries(facts())
  const changed = plain.filter(([name, value]) => given[name as keyof OrderFacts] !== value)
  return JSON.stringify(
    Object.fromEntries(changed.map(([name]) => [name, given[name as keyof OrderFacts]])),
  )
}

describe('the payment status and the fulfilment status are shown beside it', () => {
  const payments: [payment_status: string, facts: OrderFacts][] = [
    ['pending', facts()],
    ['pending', facts({ payment: 'none' })],
    ['authorized', facts({ payment: 'authorized', live_hold: true })],
    ['unknown', facts({ payment: 'unknown' })],
    ['failed', facts({ payment: 'failed' })],
    ['voided', facts({ payment: 'authorized', cancelled_at: at })],
    ['voided', facts({ total_cents: 0, placed_at: at, cancelled_at: at })],
    ['paid', paid()],
    ['paid', facts({ total_cents: 0, placed_at: at })],
    ['partially_refunded', paid({ refunded_cents: 999 })],
    ['refunded', paid({ refunded_cents: 1_000 })],
    ['refunded', paid({ refunded_cents: 1_000, cancelled_at: at })],
    ['disputed', paid({ disputed: true, live_hold: true })],
  ]
  for (const [payment_status, given] of payments) {
    test(`${payment_status}, from ${difference(given)}`, () =>
      assert.equal(deriveStatus(given).payment_status, payment_status))
  }

  const goods: [fulfillment_status: string, facts: OrderFacts][] = [
    ['unfulfilled', facts()],
    ['unfulfilled', paid({ refunded_cents: 1_000 })],
    ['processing', paid({ q_packed: 2, refunded_cents: 1 })],
    ['partially_shipped', paid({ q_shipped: 2, live_hold: true })],
    ['shipped', paid({ q_shipped: 4, refunded_cents: 1_000 })],
    ['delivered', paid({ q_shipped: 4, q_delivered: 4, refunded_cents: 5 })],
    ['cancelled', paid({ cancelled_at: at })],
    ['cancelled', paid({ q_cancelled: 4 })],
  ]
  for (const [fulfillment_status, given] of goods) {
    test(`${fulfillment_status}, from ${difference(given)}`, () =>
      assert.equal(deriveStatus(given).fulfillment_status, fulfillment_status))
  }
})

describe('an adjustment lowers the captured amount, and is no refund', () => {
  test('so that the order keeps its status', () => {
    const { status } = deriveStatus(paid({ total_cents: 750, captured_cents: 750, q_cancelled: 1 }))
    assert.equal(status, 'placed')
  })
})

describe('an order of gift cards', () => {
  const alone = { q_ordered: 0, q_gift_cards: 2 }

  test('alone is delivered once it is paid, and never waits for packing', () => {
    const waiting = deriveStatus(facts(alone))
    assert.deepEqual(
      [waiting.status, waiting.fulfillment_status],
      ['pending_payment', 'unfulfilled'],
    )
    const placed = deriveStatus(paid(alone))
    assert.deepEqual(
      [placed.status, placed.fulfillment_status, placed.has_work],
      ['delivered', 'delivered', false],
    )
    assert.deepEqual(allowedActions(paid(alone)).allowed, ['cancel', 'correct', 'refund'])
  })

  test('an order of gift cards and goods follows its goods', () => {
    const mixed = { q_gift_cards: 1 }
    assert.equal(deriveStatus(paid(mixed)).status, 'placed')
    assert.equal(deriveStatus(paid({ ...mixed, q_shipped: 4 })).status, 'shipped')
    const edited = deriveStatus(paid({ ...mixed, q_cancelled: 4 }))
    assert.deepEqual([edited.status, edited.fulfillment_status], ['delivered', 'delivered'])
  })
})

describe('the allowed actions', () => {
  const cases: [name: string, facts: OrderFacts, allowed: string[]][] = [
    ['waiting for its payment', facts(), ['cancel']],
    [
      'under review',
      facts({ payment: 'authorized', live_hold: true }),
      ['release', 'reject', 'cancel', 'correct'],
    ],
    [
      'placed',
      paid(),
      ['hold', 'process', 'fulfill', 'ship', 'cancel', 'edit', 'correct', 'refund'],
    ],
    [
      'processing',
      paid({ q_packed: 1 }),
      ['hold', 'fulfill', 'ship', 'cancel_fulfillment', 'cancel', 'edit', 'correct', 'refund'],
    ],
    [
      'partially shipped',
      paid({ q_shipped: 1 }),
      ['hold', 'fulfill', 'ship', 'deliver', 'recall', 'cancel_remaining', 'refund', 'return'],
    ],
    ['shipped', paid({ q_shipped: 4 }), ['deliver', 'recall', 'refund', 'return']],
    ['delivered', paid({ q_shipped: 4, q_delivered: 4 }), ['refund', 'return']],
    [
      'partially refunded and unshipped',
      paid({ refunded_cents: 1 }),
      ['hold', 'process', 'fulfill', 'ship', 'cancel', 'correct', 'refund'],
    ],
    [
      'partially refunded and delivered',
      paid({ refunded_cents: 1, q_shipped: 4, q_delivered: 4 }),
      ['refund', 'return'],
    ],
    [
      'held after it was paid',
      paid({ live_hold: true }),
      ['release', 'reject', 'cancel', 'edit', 'correct', 'refund'],
    ],
    [
      'free of charge',
      facts({ total_cents: 0, placed_at: at }),
      ['hold', 'process', 'fulfill', 'ship', 'cancel', 'edit', 'correct'],
    ],
    ['refunded and unshipped', paid({ refunded_cents: 1_000 }), ['cancel']],
    ['refunded on its way', paid({ refunded_cents: 1_000, q_shipped: 4 }), ['deliver', 'return']],
    [
      'back in all its units',
      paid({ q_shipped: 4, q_delivered: 4, q_returned: 3, q_returning: 1 }),
      ['refund'],
    ],
    [
      'held after a part of it was shipped',
      paid({ live_hold: true, q_shipped: 1, q_delivered: 1 }),
      ['release', 'refund', 'return'],
    ],
    ['cancelled', paid({ cancelled_at: at, refunded_cents: 1_000 }), []],
    ['cancelled, and has got money back since', paid({ cancelled_at: at }), ['refund']],
    ['not paid for', facts({ payment: 'failed' }), []],
  ]
  for (const [name, given, allowed] of cases) {
    test(`the allowed actions of an order that is ${name}`, () =>
      assert.deepEqual(allowedActions(given).allowed, allowed))
  }

  const reasons: [action: string, reason: string, facts: OrderFacts][] = [
    ['cancel', 'already_shipped', paid({ q_shipped: 1, live_hold: true })],
    ['cancel', 'already_shipped', paid({ q_shipped: 1, refunded_cents: 1_000 })],
    ['cancel', 'order_partially_shipped', paid({ q_shipped: 1 })],
    ['cancel', 'order_cancelled', paid({ cancelled_at: at })],
    ['edit', 'already_shipped', paid({ q_shipped: 1, live_hold: true })],
    ['edit', 'already_refunded', paid({ refunded_cents: 1, live_hold: true })],
    ['edit', 'already_refunded', paid({ q_refunded: 1 })],
    ['edit', 'not_captured', facts({ payment: 'authorized', live_hold: true })],
    ['edit', 'payment_requested', paid({ payment: 'requested', live_hold: true })],
    ['refund', 'payment_requested', paid({ payment: 'requested', live_hold: true })],
    ['correct', 'payment_requested', paid({ payment: 'requested', live_hold: true })],
    ['correct', 'already_shipped', paid({ q_shipped: 1, live_hold: true })],
    ['ship', 'order_on_hold', paid({ live_hold: true })],
    ['ship', 'order_pending_payment', facts()],
    ['ship', 'order_cancelled', paid({ cancelled_at: at })],
    ['ship', 'nothing_unshipped', paid({ refunded_cents: 1, q_shipped: 4 })],
    ['refund', 'order_pending_payment', facts()],
    ['refund', 'order_cancelled', paid({ cancelled_at: at, refunded_cents: 1_000 })],
    ['refund', 'not_captured', facts({ payment: 'authorized', live_hold: true })],
    ['refund', 'not_captured', facts({ total_cents: 0, placed_at: at })],
    ['refund', 'order_refunded', paid({ refunded_cents: 1_000 })],
    ['release', 'payment_unconfirmed', facts({ payment: 'unknown', live_hold: true })],
    ['release', 'order_placed', paid()],
    ['process', 'already_processing', paid({ processing_at: at, refunded_cents: 1 })],
    ['return', 'nothing_shipped', paid({ refunded_cents: 1 })],
    ['return', 'nothing_to_return', paid({ q_shipped: 2, q_returning: 1, q_returned: 1 })],
    ['cancel_fulfillment', 'no_open_fulfillment', paid({ processing_at: at })],
    ['deliver', 'nothing_to_deliver', paid({ refunded_cents: 1 })],
    ['recall', 'nothing_to_recall', paid({ q_shipped: 2, q_delivered: 2 })],
  ]
  for (const [action, reason, given] of reasons) {
    test(`not ${action}: ${reason}`, () => {
      const { refused } = allowedActions(given)
      assert.equal(refused.find((each) => each.action === action)?.reason, reason)
    })
  }

  const waits: [wait: Wait, refused: string[]][] = [
    ['payment', ['cancel', 'edit', 'correct']],
    ['operation', ['hold', 'process', 'fulfill', 'ship', 'cancel', 'edit', 'correct', 'refund']],
    ['refund', ['cancel', 'edit', 'correct']],
    ['last_refund', ['refund']],
  ]
  for (const [wait, refused] of waits) {
    test(`are fewer while this is in progress: ${wait}`, () => {
      const all = allowedActions(paid()).allowed
      const { allowed } = allowedActions(paid(), [wait])
      assert.deepEqual(
        all.filter((action) => !allowed.includes(action)),
        refused,
      )
    })
  }

  test('each action is either allowed or refused', () => {
    const { allowed, refused } = allowedActions(paid({ q_shipped: 1 }))
    const all = [...allowed, ...refused.map(({ action }) => action)]
    assert.deepEqual(all.sort(), [...ACTIONS].sort())
  })
})
