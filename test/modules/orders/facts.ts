import type { OrderFacts } from '../../../src/modules/orders/status.ts'
import type { Trigger } from './transitions.ts'

/** An order of four units for 1,000, not paid yet. */
export const facts = (over: Partial<OrderFacts> = {}): OrderFacts => ({
  total_cents: 1_000,
  captured_cents: 0,
  refunded_cents: 0,
  placed_at: null,
  cancelled_at: null,
  processing_at: null,
  live_hold: false,
  disputed: false,
  payment: 'pending',
  q_ordered: 4,
  q_gift_cards: 0,
  q_cancelled: 0,
  q_shipped: 0,
  q_delivered: 0,
  q_packed: 0,
  q_returning: 0,
  q_returned: 0,
  q_refunded: 0,
  ...over,
})

const NOW = '2026-03-01T12:00:00.000Z'

/** The same order, paid. */
export const paid = (over: Partial<OrderFacts> = {}): OrderFacts =>
  facts({ captured_cents: 1_000, placed_at: NOW, payment: 'captured', ...over })

/** The units and the amount that a caller chooses for a trigger. */
export interface Choice {
  units: number
  cents: number
}

const open = (f: OrderFacts) => f.q_ordered - f.q_cancelled
const upTo = (wanted: number, most: number) => Math.max(1, Math.min(wanted, most))

const settle = (f: OrderFacts): OrderFacts => ({
  ...f,
  captured_cents: f.total_cents,
  placed_at: f.placed_at ?? NOW,
  payment: 'captured',
})

const cancelled = (f: OrderFacts): OrderFacts => ({
  ...f,
  cancelled_at: NOW,
  live_hold: false,
  refunded_cents: f.captured_cents,
  q_packed: 0,
})

/** Cancels units of an order, and refunds them as an adjustment. */
function cancelUnits(f: OrderFacts, units: number): OrderFacts {
  const share = Math.floor((f.total_cents * units) / Math.max(1, open(f)))
  return {
    ...f,
    q_cancelled: f.q_cancelled + units,
    total_cents: f.total_cents - share,
    captured_cents: Math.max(f.refunded_cents, f.captured_cents - share),
  }
}

const addRefund = (f: OrderFacts, cents: number): OrderFacts => ({
  ...f,
  refunded_cents: Math.min(f.captured_cents, f.refunded_cents + Math.max(1, cents)),
})

type Change = (f: OrderFacts, choice: Choice) => OrderFacts

/** What each trigger does to the facts, as the modules that act on orders do it. */
export const CHANGES: Record<Exclude<Trigger, 'checkout'>, Change> = {
  approve: settle,
  find_approved: settle,
  decline: (f) => ({ ...f, payment: 'failed' }),
  find_nothing: (f) => ({ ...f, payment: 'failed' }),
  find_late: (f) => f,
  time_out: (f) => ({ ...f, payment: 'unknown' }),
  review: (f) => ({ ...f, payment: 'authorized', live_hold: true }),
  release: (f) => ({ ...(f.placed_at === null ? settle(f) : f), live_hold: false }),
  reject: cancelled,
  expire_authorization: cancelled,
  hold: (f) => ({ ...f, live_hold: true }),
  process: (f) => ({ ...f, processing_at: NOW }),
  fulfill: (f, { units }) => ({
    ...f,
    q_packed: f.q_packed + upTo(units, open(f) - f.q_shipped - f.q_packed),
  }),
  cancel_fulfillment: (f, { units }) => ({ ...f, q_packed: f.q_packed - upTo(units, f.q_packed) }),
  ship: (f, { units }) => {
    const shipped = upTo(units, open(f) - f.q_shipped)
    return {
      ...f,
      q_packed: Math.max(0, f.q_packed - shipped),
      q_shipped: f.q_shipped + shipped,
    }
  },
  deliver: (f, { units }) => ({
    ...f,
    q_delivered: f.q_delivered + upTo(units, f.q_shipped - f.q_delivered),
  }),
  recall: (f, { units }) => ({
    ...f,
    q_shipped: f.q_shipped - upTo(units, f.q_shipped - f.q_delivered),
  }),
  cancel: cancelled,
  cancel_remaining: (f) => ({ ...cancelUnits(f, open(f) - f.q_shipped), q_packed: 0 }),
  // Gift cards stay, so that an edit of the goods leaves something.
  edit: (f, { units }) =>
    units >= open(f) && f.q_gift_cards === 0
      ? cancelled(f)
      : cancelUnits(f, Math.min(units, open(f))),
  refund: (f, { cents }) => addRefund(f, cents),
  request_payment: (f) => ({ ...f, payment: 'requested', live_hold: true }),
  pay: (f) => ({ ...settle(f), live_hold: false }),
  end_request: (f) => ({ ...f, payment: 'captured', live_hold: false }),
  correct: (f) => f,
  release_exchange: (f) => ({ ...f, refunded_cents: 0 }),
  return: (f, { cents }) => (cents === 0 ? f : addRefund(f, cents)),
  dispute: (f) => ({ ...f, disputed: true, live_hold: true }),
  win_dispute: (f) => ({ ...f, disputed: false, live_hold: false }),
  lose_dispute: (f, { cents }) => ({
    ...addRefund(f, cents),
    disputed: false,
    live_hold: false,
  }),
}
