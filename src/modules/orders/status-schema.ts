import { OPERATIONS } from '../operations/table.ts'

/** The statuses of an order and the actions on it. `status.ts` derives them from its facts. */

export const ORDER_STATUSES = [
  'pending_payment',
  'placed',
  'processing',
  'on_hold',
  'shipped',
  'partially_shipped',
  'delivered',
  'cancelled',
  'refunded',
  'partially_refunded',
  'payment_failed',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const PAYMENT_STATUSES = [
  'pending',
  'authorized',
  'paid',
  'partially_refunded',
  'refunded',
  'failed',
  'voided',
  'unknown',
  'disputed',
] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

export const FULFILLMENT_STATUSES = [
  'unfulfilled',
  'processing',
  'partially_shipped',
  'shipped',
  'delivered',
  'cancelled',
] as const
export type FulfillmentStatus = (typeof FULFILLMENT_STATUSES)[number]

export interface Derived {
  status: OrderStatus
  /** The rule that decided, from 1 to 12, for `explain`. */
  rule: number
  payment_status: PaymentStatus
  fulfillment_status: FulfillmentStatus
  /** The order is in the pick queue: it has units to pack, and nothing holds it. */
  has_work: boolean
}

/** Actions that move no money. Those that do are named by their operations. */
const WITHOUT_MONEY = [
  'hold',
  'process',
  'fulfill',
  'ship',
  'deliver',
  'cancel_fulfillment',
  'recall',
] as const

const OPERATION_ACTIONS = Object.values(OPERATIONS).flatMap(({ actions }) => [...actions])

export const ACTIONS = [...WITHOUT_MONEY, ...OPERATION_ACTIONS]
export type Action = (typeof ACTIONS)[number]
