import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { HOUR_MS } from '../../../../src/kernel/time.ts'
import { unreachable } from '../../../../src/modules/payments/adapters/results.ts'
import type { Answer } from '../../../harness/app.ts'
import { type CheckoutApp, checkout } from '../../checkout/setup.ts'
import {
  codeOf,
  hasEnded,
  holdIfSuspect,
  isAllRefunded,
  isBusy,
  isEditable,
  isShort,
  keyed,
  type Model,
  type Order,
  reservedBy,
  sum,
  variantAt,
} from './model.ts'
import { CARDS, type Card, type Pair, type Step, SUSPECT } from './sequences.ts'

/** Steps of orders, and of the gateways that answer for them. */

export async function change(model: Model, order: Order, step: Extract<Step, { order: number }>) {
  const { app, shop } = model
  const act = (verb: string, body: object = {}) =>
    shop.merchant.post(`/v1/merchant/orders/${order.id}/${verb}`, body, keyed())
  if (step.do === 'edit') return edit(model, order, step)
  if (step.do === 'cancel') return cancel(model, order, act, step.restock)
  if (step.do === 'refund') return refund(order, act, step.variant)
  if (step.do === 'expire') return expire(app, order)
  const isOpen = !hasEnded(order) && !isBusy(order) && !isAllRefunded(order)
  const isAllowed = isOpen && (step.do === 'hold' ? !order.isOnHold : order.isOnHold)
  const answer = await (step.do === 'reject'
    ? shop.merchant.post(`/v1/merchant/fraud/reviews/${order.id}/reject`, {}, keyed())
    : act(step.do))
  const again = step.do === 'reject' && order.stage === 'cancelled' && answer.status < 300
  assert.ok(answer.status < 300 === isAllowed || again, answer.text)
  if (!isAllowed) return
  order.isOnHold = step.do === 'hold'
  if (step.do === 'release') order.stage = 'paid'
  if (step.do === 'reject') end(order, 'cancelled')
}

function end(order: Order, stage: 'failed' | 'cancelled'): void {
  order.stage = stage
  order.isOnHold = false
  order.held = [0, 0]
}

export async function place(
  model: Model,
  { quantities, card, isSuspect }: Omit<Extract<Step, { do: 'place' }>, 'do'>,
): Promise<void> {
  const wanted = sum(quantities) === 0 ? [1, 0] : quantities
  // A payment whose answer was lost is not held for review.
  const isInReview = isSuspect && card === 'approved'
  const answer = await checkOut(model, wanted, card, isInReview)
  const isArchived = wanted.some((units, at) => units > 0 && variantAt(model, at).isArchived)
  const paid = { approved: 'done', declined: 'payment_declined' }
  const outcome = card in paid ? paid[card as keyof typeof paid] : 'payment_unconfirmed'
  const refusal = isShort(model, wanted) ? 'insufficient_stock' : outcome
  assert.equal(codeOf(answer), isArchived ? 'variant_not_found' : refusal, answer.text)
  if (isArchived || refusal === 'insufficient_stock') return
  await add(model, answer, { wanted, card, isOnHold: isInReview })
}

export const checkOut = (
  { app, shop, variants }: Model,
  wanted: number[],
  card: Card,
  isSuspect: boolean,
) =>
  checkout(app, shop, {
    customer_ref: randomUUID(),
    items: variants
      .map(({ id: variant_id }, at) => ({ variant_id, quantity: wanted[at] ?? 0 }))
      .filter(({ quantity }) => quantity > 0),
    card: CARDS[card],
    ...(isSuspect && { email: SUSPECT }),
  })

/** Adds an order to the model, in the state that the checkout has left it in. */
export async function add(
  model: Model,
  { body }: Answer,
  { wanted, card, isOnHold }: { wanted: number[]; card: Card; isOnHold: boolean },
): Promise<void> {
  const { rows } = await model.app.superuser.query(
    `select id, variant_id from order_items where order_id = $1`,
    [body.order.id],
  )
  const stages = { approved: isOnHold ? 'authorized' : 'paid', declined: 'failed' } as const
  const stage = card in stages ? stages[card as keyof typeof stages] : 'waiting'
  model.orders.push({
    id: body.order.id,
    items: model.variants.map(({ id }) => rows.find((row) => row.variant_id === id)?.id),
    wanted,
    held: stage === 'failed' ? [0, 0] : reservedBy(model, wanted),
    refunded: [0, 0],
    stage,
    isOnHold,
    // Only an order that was held at its checkout has the suspect's address.
    isSuspect: isOnHold,
    isCharged: card === 'unanswered',
    edit: null,
  })
}

export const sendEdit = (
  { app, shop }: Model,
  order: Order,
  wanted: readonly number[],
  card: Card,
) => {
  const edits = order.items
    .map((order_item_id, at) => ({ order_item_id, quantity: wanted[at] }))
    .filter(({ order_item_id }) => order_item_id !== undefined)
  const url = `/v1/tenants/${shop.tenant}/orders/${order.id}/edit`
  return app.storefront.post(url, { edits, card: CARDS[card] }, keyed())
}

async function edit(
  model: Model,
  order: Order,
  { quantities, card }: { quantities: Pair; card: Card },
): Promise<void> {
  const wanted = quantities.map((units, at) => (order.items[at] === undefined ? 0 : units))
  const more = wanted.map((units, at) => units - (order.wanted[at] ?? 0))
  const taken = reservedBy(model, more)
  const answer = await sendEdit(model, order, wanted, card)
  const code = codeOf(answer)
  if (sum(wanted) === 0) {
    const isAllowed = order.stage === 'authorized' ? !isBusy(order) : isEditable(order)
    assert.equal(code === 'done', isAllowed || order.stage === 'cancelled', answer.text)
    if (isAllowed) end(order, 'cancelled')
    return
  }
  if (!isEditable(order)) return assert.equal(answer.status, 409, answer.text)
  if (isShort(model, more)) return assert.equal(code, 'insufficient_stock', answer.text)
  if (sum(more) <= 0 || card === 'approved') {
    assert.equal(code, 'done', answer.text)
    if (sum(more) > 0) holdIfSuspect(order)
    return apply(order, wanted, taken)
  }
  assert.equal(code, card === 'declined' ? 'payment_declined' : 'payment_unconfirmed', answer.text)
  if (card === 'declined') return
  order.edit = { wanted, taken }
  order.isCharged = card === 'unanswered'
}

/** An order holds at most the units it wants, and releases none that it still wants. */
export function apply(order: Order, wanted: number[], taken: readonly number[]): void {
  order.held = order.held.map((units, at) => Math.min(units + (taken[at] ?? 0), wanted[at] ?? 0))
  order.wanted = wanted
}

type Act = (verb: string, body?: object) => Promise<Answer>

async function cancel({ app, variants, other }: Model, order: Order, act: Act, restock: boolean) {
  const isAllowed = !hasEnded(order) && !isBusy(order)
  const { rows } = await app.superuser.query(
    `select variant_id, location_id, allocated::int from inventory_reservations where order_id = $1`,
    [order.id],
  )
  const answer = await act('cancel', { reason: 'other', restock })
  assert.equal(answer.status < 300, isAllowed || order.stage === 'cancelled', answer.text)
  if (!isAllowed) return
  end(order, 'cancelled')
  if (restock) return
  for (const { variant_id, location_id, allocated } of rows) {
    const on_hand = variants.find(({ id }) => id === variant_id)?.on_hand
    const at = location_id === other ? 1 : 0
    if (on_hand !== undefined) on_hand[at] -= Math.min(allocated, Math.max(0, on_hand[at]))
  }
}

/**
 * A refund moves money only: the refunded units stay allocated, since they are still to be sent.
 */
async function refund(order: Order, act: Act, at: number): Promise<void> {
  const order_item_id = order.items[at]
  if (order_item_id === undefined) return
  const answer = await act('refunds', { items: [{ order_item_id, quantity: 1 }] })
  const isLeft = (order.refunded[at] ?? 0) < (order.wanted[at] ?? 0)
  const isAllowed = order.stage === 'paid' && !isBusy(order) && isLeft
  assert.equal(answer.status < 300, isAllowed, answer.text)
  if (isAllowed) order.refunded[at] = (order.refunded[at] ?? 0) + 1
}

/** An order in review whose authorisation expires is cancelled. */
async function expire(app: CheckoutApp, order: Order): Promise<void> {
  if (order.stage !== 'authorized') return
  await app.superuser.query(`update charges set authorized_until = now() where order_id = $1`, [
    order.id,
  ])
  await app.expire()
  end(order, 'cancelled')
}

/** A payment of unknown outcome stays as it is, however long the gateway is unreachable. */
export async function passHours({ app }: Model): Promise<void> {
  app.clock.advance(4 * HOUR_MS)
  await app.expireClaims()
  await app.reconcile({ gateway: () => ({ lookup: async () => unreachable() }) })
}

/**
 * After this time, a gateway without a record of an attempt counts as one that never received it.
 */
const LATER_MS = 11_000

export async function resolveOutcomes({ app, orders }: Model): Promise<void> {
  app.clock.advance(LATER_MS)
  do await app.expireClaims()
  while ((await app.reconcile()) > 0)
  for (const order of orders) {
    if (order.edit !== null && order.isCharged) {
      apply(order, order.edit.wanted, order.edit.taken)
      holdIfSuspect(order)
    }
    order.edit = null
    if (order.stage !== 'waiting') continue
    if (order.isCharged) order.stage = 'paid'
    else end(order, 'failed')
  }
}
