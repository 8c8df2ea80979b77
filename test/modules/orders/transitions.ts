import type { Action, OrderStatus } from '../../../src/modules/orders/status-schema.ts'

/** The events that change an order without an action: replies of gateways, disputes, time. */
export type OrderEvent =
  | 'checkout'
  | 'request_payment'
  | 'end_request'
  | 'release_exchange'
  | 'approve'
  | 'decline'
  | 'review'
  | 'time_out'
  | 'find_approved'
  | 'find_nothing'
  | 'find_late'
  | 'expire_authorization'
  | 'dispute'
  | 'win_dispute'
  | 'lose_dispute'

export type Trigger = Action | OrderEvent

export interface Transition {
  /** The number of the row. Rows with the same number belong together. */
  row: number
  /** The statuses before the change. Empty if the order does not exist yet. */
  from: readonly OrderStatus[]
  trigger: Trigger
  to: readonly OrderStatus[] | 'same'
}

const HELD_FROM: readonly OrderStatus[] = [
  'placed',
  'processing',
  'partially_shipped',
  'partially_refunded',
]
const CAPTURED: readonly OrderStatus[] = [...HELD_FROM, 'on_hold', 'shipped', 'delivered']
const REFUNDS: readonly OrderStatus[] = ['partially_refunded', 'refunded']

/**
 * Every change of status that is allowed. The status is derived; tests compare it with this table.
 */
export const TRANSITIONS: readonly Transition[] = [
  { row: 1, from: [], trigger: 'checkout', to: ['pending_payment'] },
  { row: 2, from: ['pending_payment'], trigger: 'approve', to: ['placed'] },
  { row: 3, from: ['pending_payment'], trigger: 'decline', to: ['payment_failed'] },
  { row: 4, from: ['pending_payment'], trigger: 'review', to: ['on_hold'] },
  { row: 5, from: ['pending_payment'], trigger: 'time_out', to: 'same' },
  { row: 6, from: ['pending_payment'], trigger: 'find_approved', to: ['placed'] },
  { row: 7, from: ['pending_payment'], trigger: 'find_nothing', to: ['payment_failed'] },
  { row: 8, from: ['payment_failed'], trigger: 'find_late', to: 'same' },
  // A released order returns to the status it was held in.
  { row: 9, from: ['on_hold'], trigger: 'release', to: HELD_FROM },
  { row: 10, from: ['on_hold'], trigger: 'reject', to: ['cancelled'] },
  { row: 10, from: ['on_hold'], trigger: 'expire_authorization', to: ['cancelled'] },
  { row: 11, from: HELD_FROM, trigger: 'hold', to: ['on_hold'] },
  { row: 12, from: ['placed'], trigger: 'process', to: ['processing'] },
  { row: 12, from: ['placed'], trigger: 'fulfill', to: ['processing'] },
  { row: 13, from: ['processing'], trigger: 'cancel_fulfillment', to: ['placed'] },
  { row: 14, from: ['placed', 'processing'], trigger: 'ship', to: ['partially_shipped'] },
  {
    row: 15,
    from: ['placed', 'processing', 'partially_shipped'],
    trigger: 'ship',
    to: ['shipped'],
  },
  { row: 16, from: ['shipped', 'partially_shipped'], trigger: 'deliver', to: ['delivered'] },
  // The parcels that were sent may have arrived already.
  {
    row: 17,
    from: ['partially_shipped'],
    trigger: 'cancel_remaining',
    to: ['shipped', 'delivered'],
  },
  // The cancelled rest may be all that was not refunded.
  { row: 17, from: ['partially_refunded'], trigger: 'cancel_remaining', to: ['refunded'] },
  {
    row: 18,
    from: ['placed', 'processing', 'on_hold', 'pending_payment', ...REFUNDS],
    trigger: 'cancel',
    to: ['cancelled'],
  },
  { row: 19, from: ['placed', 'processing', 'on_hold'], trigger: 'edit', to: ['cancelled'] },
  { row: 20, from: ['placed', 'processing', 'on_hold'], trigger: 'edit', to: 'same' },
  // A held order stays held while it is refunded in part.
  { row: 21, from: CAPTURED, trigger: 'refund', to: ['partially_refunded'] },
  { row: 22, from: CAPTURED, trigger: 'refund', to: ['refunded'] },
  // A held order of which some units have shipped stays held, unless everything is refunded.
  {
    row: 23,
    from: ['shipped', 'delivered', 'partially_shipped', 'partially_refunded', 'on_hold'],
    trigger: 'return',
    to: REFUNDS,
  },
  { row: 24, from: HELD_FROM, trigger: 'dispute', to: ['on_hold'] },
  { row: 24, from: ['shipped', 'delivered'], trigger: 'dispute', to: 'same' },
  { row: 25, from: ['on_hold'], trigger: 'win_dispute', to: HELD_FROM },
  { row: 25, from: CAPTURED, trigger: 'lose_dispute', to: REFUNDS },
  // Beyond the 25: a parcel that was lost or recalled is unshipped again, and a hold that came
  // after shipping takes effect again.
  {
    row: 26,
    from: ['shipped', 'partially_shipped'],
    trigger: 'recall',
    to: ['partially_shipped', 'processing', 'placed', 'on_hold'],
  },
  { row: 26, from: ['partially_refunded'], trigger: 'recall', to: ['on_hold'] },
  // An order of gift cards alone is delivered when it is placed, and can be cancelled after that.
  { row: 27, from: ['pending_payment'], trigger: 'approve', to: ['delivered'] },
  { row: 27, from: ['pending_payment'], trigger: 'find_approved', to: ['delivered'] },
  { row: 27, from: ['on_hold'], trigger: 'release', to: ['delivered'] },
  { row: 27, from: ['placed', 'processing', 'on_hold'], trigger: 'edit', to: ['delivered'] },
  { row: 27, from: ['delivered'], trigger: 'cancel', to: ['cancelled'] },
  // A correction that costs more waits for the shopper's payment. Without one, the order is as it was.
  { row: 30, from: [...HELD_FROM, 'on_hold', 'delivered'], trigger: 'correct', to: 'same' },
  { row: 30, from: ['placed', 'processing'], trigger: 'request_payment', to: ['on_hold'] },
  { row: 30, from: ['on_hold'], trigger: 'pay', to: ['placed', 'processing'] },
  { row: 30, from: ['on_hold'], trigger: 'end_request', to: ['placed', 'processing'] },
  // An exchange that costs more than the return's refund waits for the shopper's payment.
  { row: 28, from: ['pending_payment'], trigger: 'request_payment', to: ['on_hold'] },
  // A ban with the decision `review` holds the order once it is paid.
  { row: 28, from: ['on_hold'], trigger: 'pay', to: ['placed', 'delivered'] },
  // A cancelled exchange moves the money back to the return, and none of it counts as refunded any more.
  {
    row: 29,
    from: REFUNDS,
    trigger: 'release_exchange',
    to: ['shipped', 'delivered', 'partially_shipped', 'partially_refunded', 'on_hold'],
  },
]

/**
 * The terminal statuses: no action and no event leads out of them. A refunded order can still be cancelled,
 * and a cancelled one be refunded what an exchange gives back to it.
 */
export const TERMINAL: readonly OrderStatus[] = ['cancelled', 'payment_failed']

/** Whether the table allows the change. Keeping the status is always allowed. */
export function permits(from: OrderStatus, trigger: Trigger, to: OrderStatus): boolean {
  if (from === to) return true
  return TRANSITIONS.some(
    (row) =>
      row.trigger === trigger &&
      row.from.includes(from) &&
      row.to !== 'same' &&
      row.to.includes(to),
  )
}
