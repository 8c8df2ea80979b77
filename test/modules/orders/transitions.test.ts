import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  allowedActions,
  deriveStatus,
  type OrderFacts,
} from '../../../src/modules/orders/status.ts'
import {
  ACTIONS,
  ORDER_STATUSES,
  type OrderStatus,
} from '../../../src/modules/orders/status-schema.ts'
import { CHANGES, type Choice, facts, paid } from './facts.ts'
import { permits, TERMINAL, TRANSITIONS, type Trigger } from './transitions.ts'

const at = '2026-03-01T12:00:00.000Z'
const some: Choice = { units: 1, cents: 100 }
const all: Choice = { units: 99, cents: 1_000 }

const held = facts({ payment: 'authorized', live_hold: true })
const disputed = paid({ disputed: true, live_hold: true })

type Case = [row: number, trigger: Trigger, from: OrderFacts, choice: Choice, to: OrderStatus]

/** An order of gift cards alone. */
const GIFT_CARDS = { q_ordered: 0, q_gift_cards: 2 }

/** Each row of the table with facts for each of its triggers. */
const CASES: Case[] = [
  [2, 'approve', facts(), all, 'placed'],
  [3, 'decline', facts(), all, 'payment_failed'],
  [4, 'review', facts(), all, 'on_hold'],
  [5, 'time_out', facts(), all, 'pending_payment'],
  [6, 'find_approved', facts({ payment: 'unknown' }), all, 'placed'],
  [7, 'find_nothing', facts({ payment: 'unknown' }), all, 'payment_failed'],
  [8, 'find_late', facts({ payment: 'failed' }), all, 'payment_failed'],
  [9, 'release', held, all, 'placed'],
  [9, 'release', paid({ live_hold: true, processing_at: at }), all, 'processing'],
  [9, 'release', paid({ live_hold: true, q_shipped: 1 }), all, 'partially_shipped'],
  [9, 'release', paid({ live_hold: true, refunded_cents: 1 }), all, 'partially_refunded'],
  [10, 'reject', held, all, 'cancelled'],
  [10, 'reject', paid({ live_hold: true }), all, 'cancelled'],
  [10, 'expire_authorization', held, all, 'cancelled'],
  [11, 'hold', paid(), all, 'on_hold'],
  [11, 'hold', paid({ processing_at: at }), all, 'on_hold'],
  [11, 'hold', paid({ q_shipped: 1 }), all, 'on_hold'],
  [11, 'hold', paid({ refunded_cents: 1 }), all, 'on_hold'],
  [12, 'process', paid(), all, 'processing'],
  [12, 'fulfill', paid(), all, 'processing'],
  [13, 'cancel_fulfillment', paid({ q_packed: 1 }), all, 'placed'],
  [14, 'ship', paid(), some, 'partially_shipped'],
  [14, 'ship', paid({ q_packed: 1 }), some, 'partially_shipped'],
  [15, 'ship', paid(), all, 'shipped'],
  [15, 'ship', paid({ q_packed: 1 }), all, 'shipped'],
  [15, 'ship', paid({ q_shipped: 1 }), all, 'shipped'],
  [16, 'deliver', paid({ q_shipped: 4 }), all, 'delivered'],
  [17, 'cancel_remaining', paid({ q_shipped: 1 }), all, 'shipped'],
  [17, 'cancel_remaining', paid({ q_shipped: 1, q_delivered: 1 }), all, 'delivered'],
  [17, 'cancel_remaining', paid({ q_shipped: 2, refunded_cents: 500 }), all, 'refunded'],
  [18, 'cancel', paid(), all, 'cancelled'],
  [27, 'approve', facts(GIFT_CARDS), all, 'delivered'],
  [27, 'find_approved', facts(GIFT_CARDS), all, 'delivered'],
  [
    27,
    'release',
    facts({ ...GIFT_CARDS, payment: 'authorized', live_hold: true }),
    all,
    'delivered',
  ],
  [27, 'edit', paid({ q_gift_cards: 1 }), all, 'delivered'],
  [27, 'cancel', paid(GIFT_CARDS), all, 'cancelled'],
  [18, 'cancel', paid({ processing_at: at }), all, 'cancelled'],
  [18, 'cancel', held, all, 'cancelled'],
  [18, 'cancel', facts(), all, 'cancelled'],
  [18, 'cancel', paid({ refunded_cents: 1 }), all, 'cancelled'],
  [18, 'cancel', paid({ refunded_cents: 1_000 }), all, 'cancelled'],
  [19, 'edit', paid(), all, 'cancelled'],
  [19, 'edit', paid({ processing_at: at }), all, 'cancelled'],
  [19, 'edit', paid({ live_hold: true }), all, 'cancelled'],
  [20, 'edit', paid(), some, 'placed'],
  [20, 'edit', paid({ processing_at: at }), some, 'processing'],
  [20, 'edit', paid({ live_hold: true }), some, 'on_hold'],
  [21, 'refund', paid(), some, 'partially_refunded'],
  [21, 'refund', paid({ q_shipped: 4, q_delivered: 4 }), some, 'partially_refunded'],
  [21, 'refund', paid({ refunded_cents: 100 }), some, 'partially_refunded'],
  [22, 'refund', paid({ q_shipped: 1 }), all, 'refunded'],
  [22, 'refund', paid({ live_hold: true }), all, 'refunded'],
  [22, 'refund', paid({ refunded_cents: 100 }), all, 'refunded'],
  [23, 'return', paid({ q_shipped: 4 }), some, 'partially_refunded'],
  [23, 'return', paid({ q_shipped: 4, q_delivered: 4 }), all, 'refunded'],
  [23, 'return', paid({ q_shipped: 1 }), some, 'partially_refunded'],
  [23, 'return', paid({ q_shipped: 4, refunded_cents: 1 }), all, 'refunded'],
  [23, 'return', paid({ q_shipped: 1, live_hold: true }), all, 'refunded'],
  [24, 'dispute', paid(), all, 'on_hold'],
  [24, 'dispute', paid({ refunded_cents: 1 }), all, 'on_hold'],
  [24, 'dispute', paid({ q_shipped: 4 }), all, 'shipped'],
  [24, 'dispute', paid({ q_shipped: 4, q_delivered: 4 }), all, 'delivered'],
  [25, 'win_dispute', disputed, all, 'placed'],
  [25, 'win_dispute', { ...disputed, processing_at: at }, all, 'processing'],
  [25, 'lose_dispute', disputed, all, 'refunded'],
  [25, 'lose_dispute', { ...disputed, q_shipped: 4, q_delivered: 4 }, all, 'refunded'],
  [25, 'lose_dispute', { ...disputed, q_shipped: 4 }, some, 'partially_refunded'],
  [26, 'recall', paid({ q_shipped: 4 }), all, 'placed'],
  [26, 'recall', paid({ q_shipped: 4 }), some, 'partially_shipped'],
  [26, 'recall', paid({ q_shipped: 1, q_packed: 1 }), all, 'processing'],
  [26, 'recall', { ...disputed, q_shipped: 4 }, all, 'on_hold'],
  [28, 'request_payment', facts(), all, 'on_hold'],
  [28, 'pay', facts({ payment: 'requested', live_hold: true }), all, 'placed'],
  [30, 'request_payment', paid(), all, 'on_hold'],
  [30, 'request_payment', paid({ processing_at: at }), all, 'on_hold'],
  [30, 'pay', paid({ payment: 'requested', live_hold: true }), all, 'placed'],
  [30, 'end_request', paid({ payment: 'requested', live_hold: true }), all, 'placed'],
  [30, 'correct', paid({ refunded_cents: 1 }), all, 'partially_refunded'],
  [29, 'release_exchange', paid({ q_shipped: 4, refunded_cents: 1_000 }), all, 'shipped'],
  [29, 'release_exchange', paid({ q_shipped: 1, refunded_cents: 1 }), all, 'partially_shipped'],
]

const isAction = (trigger: Trigger) => (ACTIONS as readonly string[]).includes(trigger)

const apply = (trigger: Trigger, before: OrderFacts, choice: Choice) =>
  trigger === 'checkout' ? facts() : CHANGES[trigger](before, choice)

describe('every row of the table of transitions follows from facts', () => {
  test('row 1: checkout makes an order that waits for its payment', () =>
    assert.equal(deriveStatus(apply('checkout', facts(), all)).status, 'pending_payment'))

  for (const [row, trigger, before, choice, to] of CASES) {
    const from = deriveStatus(before).status
    test(`row ${row}: ${from}, ${trigger}: ${to}`, () => {
      if (isAction(trigger)) {
        assert.ok((allowedActions(before).allowed as string[]).includes(trigger), 'not allowed')
      }
      assert.equal(deriveStatus(apply(trigger, before, choice)).status, to)
      const known = TRANSITIONS.some(
        (each) =>
          each.row === row &&
          each.trigger === trigger &&
          each.from.includes(from) &&
          (each.to === 'same' ? from === to : each.to.includes(to)),
      )
      assert.ok(known, 'the table does not have it')
    })
  }

  test('every row is covered', () => {
    const gone = new Set([1, ...CASES.map(([row]) => row)])
    assert.deepEqual(gone, new Set(TRANSITIONS.map(({ row }) => row)))
  })
})

/** Possible facts: no more is delivered than shipped, and no more shipped than ordered. */
const anyFacts: fc.Arbitrary<OrderFacts> = fc
  .record({
    total: fc.constantFrom(0, 1, 999, 1_000),
    isPaid: fc.boolean(),
    refunded: fc.constantFrom(0, 0, 0.5, 1),
    cancelled_at: fc.constantFrom(null, null, null, at),
    processing_at: fc.constantFrom(null, null, at),
    live_hold: fc.constantFrom(false, false, true),
    payment: fc.constantFrom('none', 'pending', 'requested', 'unknown', 'authorized', 'failed'),
    parts: fc.array(fc.constantFrom(0, 0, 1, 5), { minLength: 4, maxLength: 4 }),
    packed: fc.constantFrom(0, 0, 1),
    giftCards: fc.constantFrom(0, 0, 2),
  })
  .map(({ total, isPaid, refunded, payment, parts, packed, giftCards, ...rest }) => {
    const [delivered = 0, shipped = 0, open = 0, cancelled = 0] = parts
    const inHand = isPaid ? {} : { processing_at: null }
    return {
      ...rest,
      ...inHand,
      disputed: false,
      total_cents: total,
      captured_cents: isPaid ? total : 0,
      refunded_cents: isPaid ? Math.floor(total * refunded) : 0,
      placed_at: isPaid ? at : null,
      payment: isPaid ? ('captured' as const) : (payment as OrderFacts['payment']),
      q_delivered: isPaid ? delivered : 0,
      q_shipped: isPaid ? delivered + shipped : 0,
      q_packed: isPaid ? Math.min(packed, open) : 0,
      q_returning: 0,
      q_returned: 0,
      q_refunded: 0,
      q_cancelled: cancelled,
      q_gift_cards: giftCards,
      q_ordered: cancelled + Math.max(giftCards > 0 ? 0 : 1, delivered + shipped + open),
    }
  })

const choices: fc.Arbitrary<Choice> = fc.record({
  units: fc.integer({ min: 0, max: 20 }),
  cents: fc.integer({ min: 0, max: 1_200 }),
})

const NEWS_WHEN: Partial<Record<Trigger, (f: OrderFacts) => boolean>> = {
  approve: (f) => deriveStatus(f).status === 'pending_payment',
  decline: (f) => deriveStatus(f).status === 'pending_payment',
  review: (f) => deriveStatus(f).status === 'pending_payment',
  time_out: (f) => deriveStatus(f).status === 'pending_payment',
  find_approved: (f) => deriveStatus(f).status === 'pending_payment',
  find_nothing: (f) => deriveStatus(f).status === 'pending_payment',
  find_late: (f) => deriveStatus(f).status === 'payment_failed',
  expire_authorization: (f) => deriveStatus(f).rule === 3,
  dispute: (f) => f.captured_cents > 0 && !f.disputed,
  win_dispute: (f) => f.disputed,
  lose_dispute: (f) => f.disputed,
}

/** The triggers that are possible for an order now. */
function listPossible(f: OrderFacts): Trigger[] {
  const news = Object.entries(NEWS_WHEN).filter(([, when]) => when(f))
  return [...allowedActions(f).allowed, ...news.map(([trigger]) => trigger as Trigger)]
}

describe('for any facts', () => {
  test('the status is the one of the rule that decided', () => {
    const seen = new Set<OrderStatus>()
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { status, rule } = deriveStatus(given)
        assert.ok(ORDER_STATUSES.includes(status) && rule >= 1 && rule <= 12)
        seen.add(status)
      }),
      { numRuns: 2_000 },
    )
    assert.deepEqual(seen, new Set(ORDER_STATUSES))
  })

  test('every allowed action leads to a status that the table permits', () => {
    const gone = new Set<Trigger>()
    fc.assert(
      fc.property(anyFacts, choices, (given, choice) => {
        const from = deriveStatus(given).status
        for (const trigger of listPossible(given)) {
          const to = deriveStatus(apply(trigger, given, choice)).status
          assert.ok(permits(from, trigger, to), `${from}, ${trigger}: ${to}`)
          gone.add(trigger)
        }
      }),
      { numRuns: 2_000 },
    )
    for (const action of ACTIONS) assert.ok(gone.has(action), `${action} was never allowed`)
  })

  test('an order with a final status keeps it', () => {
    const steps = fc.array(fc.tuple(fc.nat(), choices), { maxLength: 25 })
    const ended = new Set<OrderStatus>()
    fc.assert(
      fc.property(steps, (taken) => {
        let now = facts()
        for (const [pick, choice] of taken) {
          const possible = listPossible(now)
          const trigger = possible[pick % Math.max(1, possible.length)]
          if (trigger === undefined) return
          const before = deriveStatus(now).status
          now = apply(trigger, now, choice)
          const after = deriveStatus(now).status
          assert.ok(permits(before, trigger, after), `${before}, ${trigger}: ${after}`)
          // A refunded order can still be cancelled, and becomes nothing else.
          if (before === 'refunded') assert.ok(after === before || trigger === 'cancel', trigger)
          if (!TERMINAL.includes(before)) continue
          ended.add(before)
          assert.equal(after, before, trigger)
        }
      }),
      { numRuns: 2_000 },
    )
    assert.deepEqual(ended, new Set(TERMINAL))
  })
})
