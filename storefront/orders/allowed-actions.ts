import type { Charge, OrderDetail } from '../api/types.ts'

/**
 * The actions that a shopper may take with an order now. The platform decides, and reports them to merchants only. So
 * its conditions (`src/modules/orders/status.ts`) are repeated here, for the data of a shopper's order. That data does
 * not show whether another change to the order is in progress: the platform then refuses with `order_busy`.
 */
export interface AllowedActions {
  edit: boolean
  cancel: boolean
  /** The charges that can still be refunded, at least in part. Empty if no refund is possible. */
  refund: readonly Charge[]
}

const EDITABLE = ['placed', 'processing', 'on_hold']

const CANCELLABLE = [
  'pending_payment',
  'placed',
  'processing',
  'on_hold',
  'partially_refunded',
  'refunded',
  // An order of gift cards alone: nothing has shipped.
  'delivered',
]

const REFUNDABLE = [
  'placed',
  'processing',
  'partially_shipped',
  'partially_refunded',
  'on_hold',
  'shipped',
  'delivered',
]

export function allowedActions(detail: OrderDetail): AllowedActions {
  const { order, items, charges, refunds } = detail
  const nothingShipped = items.every(({ shipped_quantity }) => shipped_quantity === 0)
  const isSettled = !isPaying(detail) && refunds.every(({ status }) => status !== 'pending')
  const canChange = nothingShipped && isSettled
  // While a dispute is open, no card payment is refunded: the bank may take the money.
  const isDisputed = order.payment_status === 'disputed'
  const isAtRisk = (charge: Charge) => isDisputed && charge.tender === 'card'
  const left = charges.filter((charge) => refundableCents(charge) > 0)
  return {
    // A payment that is authorised and not captured can be captured or voided, and not changed.
    edit:
      canChange &&
      EDITABLE.includes(order.status) &&
      order.placed_at !== null &&
      !hasRefund(detail),
    cancel: canChange && CANCELLABLE.includes(order.status) && !left.some(isAtRisk),
    refund: REFUNDABLE.includes(order.status) ? left.filter((charge) => !isAtRisk(charge)) : [],
  }
}

/** Whether the outcome of the payment is still open. */
const isPaying = ({ order }: OrderDetail): boolean =>
  order.status === 'pending_payment' && ['pending', 'unknown'].includes(order.payment_status)

/**
 * Whether money was refunded. A dispute hides that from `payment_status`, and the refunds show it.
 */
const hasRefund = ({ order, refunds }: OrderDetail): boolean =>
  ['partially_refunded', 'refunded'].includes(order.payment_status) ||
  refunds.some(({ kind, status }) => kind === 'refund' && status === 'succeeded')

export const refundableCents = ({ captured_cents, refunded_cents }: Charge): number =>
  captured_cents - refunded_cents
