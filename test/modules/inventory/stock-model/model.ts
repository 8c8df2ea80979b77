import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../../../harness/app.ts'
import type { CheckoutApp, Shop } from '../../checkout/setup.ts'
import type { Pair } from './sequences.ts'

/**
 * A model of the stock and of the orders that reserve it. Random steps of shoppers, merchants and
 * gateways run against the API and against the model, and both must agree after every step.
 */

export interface Variant {
  id: string
  product_id: string
  isTracked: boolean
  mayBackorder: boolean
  isArchived: boolean
  /** At the default location, and at the other. */
  on_hand: Pair
}

export interface Order {
  id: string
  /** The order items by variant; undefined where the variant was not ordered. */
  items: (string | undefined)[]
  wanted: number[]
  held: number[]
  refunded: number[]
  stage: 'waiting' | 'authorized' | 'paid' | 'failed' | 'cancelled'
  isOnHold: boolean
  /** Each charge of its shopper is held for review, also that of an edit. */
  isSuspect: boolean
  /** Whether the payment of unknown outcome was charged. */
  isCharged: boolean
  /** The quantities of an edit and the units reserved for it, while its payment is unknown. */
  edit: { wanted: number[]; taken: number[] } | null
}

/** Takes effect with an edit that was charged: a suspect's order is held again. */
export const holdIfSuspect = (order: Order): void => {
  if (order.isSuspect) order.isOnHold = true
}

export interface Model {
  app: CheckoutApp
  shop: Shop
  variants: Variant[]
  orders: Order[]
  /** The id of the other location. */
  other: string
  isOtherOpen: boolean
}

export const BOTH = [0, 1] as const
export const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
export const hasEnded = ({ stage }: Order) => stage === 'failed' || stage === 'cancelled'
export const isBusy = ({ stage, edit }: Order) => stage === 'waiting' || edit !== null
export const isAllRefunded = ({ wanted, refunded }: Order) => sum(wanted) === sum(refunded)
export const isEditable = (order: Order) =>
  order.stage === 'paid' && !isBusy(order) && sum(order.refunded) === 0

/** The price of both variants, so that exchanging one for the other costs nothing. */
export const PRICE = 1_000

export const keyed = () => ({ 'idempotency-key': randomUUID() })

export const variantAt = ({ variants }: Model, at: number): Variant => {
  const found = variants[at]
  assert.ok(found)
  return found
}

/** The units of a variant that can be sold. */
export function availableOf(model: Model, at: number): number {
  const { isTracked, mayBackorder, on_hand } = variantAt(model, at)
  if (!isTracked || mayBackorder) return Infinity
  const held = model.orders.map(({ held, edit }) => (held[at] ?? 0) + (edit?.taken[at] ?? 0))
  return Math.max(0, sum(on_hand) - sum(held))
}

export const isShort = (model: Model, more: readonly number[]) =>
  more.some((units, at) => units > 0 && units > availableOf(model, at))

/** The units that an order reserves: none of a variant that is not tracked. */
export const reservedBy = (model: Model, more: readonly number[]) =>
  more.map((units, at) => (variantAt(model, at).isTracked ? Math.max(0, units) : 0))

export const codeOf = ({ status, body }: Answer): string =>
  status < 300 ? 'done' : body.error.code

/** Asserts that the reservations and levels in the database are those of the model. */
export async function assertModelMatches({ app, orders, variants, other }: Model): Promise<void> {
  const ids = variants.map(({ id }) => id)
  const [levels, holds] = await Promise.all([
    app.superuser.query(
      `select variant_id,
              coalesce(sum(on_hand) filter (where location_id = 'default'), 0)::int as here,
              coalesce(sum(on_hand) filter (where location_id = $2), 0)::int as there,
              sum(allocated)::int as allocated, sum(reserved)::int as reserved
         from inventory_levels where variant_id = any ($1) group by variant_id`,
      [ids, other],
    ),
    app.superuser.query(
      `select order_id, variant_id, sum(allocated)::int as allocated, sum(reserved)::int as reserved
         from inventory_reservations where variant_id = any ($1) group by order_id, variant_id`,
      [ids],
    ),
  ])
  for (const [at, { id, on_hand }] of variants.entries()) {
    const expected = orders.map((order) => expectedOf(order, at))
    const held = holds.rows.filter(({ variant_id }) => variant_id === id)
    const rows = orders.map((order) => held.find(({ order_id }) => order_id === order.id))
    assert.deepEqual(
      rows.map((hold) => [hold?.allocated ?? 0, hold?.reserved ?? 0]),
      expected,
      'the reservations of the orders',
    )
    assert.equal(rows.filter(Boolean).length, held.length, 'no other order has reservations')
    const level = levels.rows.find(({ variant_id }) => variant_id === id)
    assert.deepEqual(
      [level.here, level.there, level.allocated, level.reserved],
      [
        ...on_hand,
        sum(expected.map(([allocated]) => allocated)),
        sum(expected.map(([, units]) => units)),
      ],
      'the counters of the levels',
    )
  }
}

/** The allocated and the reserved units of an order. */
function expectedOf({ stage, held, wanted, edit }: Order, at: number): Pair {
  const units = held[at] ?? 0
  assert.ok(units <= (wanted[at] ?? 0))
  return stage === 'paid' ? [units, edit?.taken[at] ?? 0] : [0, units]
}
