import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { unreachable } from '../../../src/modules/payments/gateway.ts'
import type { Answer } from '../../harness/app.ts'
import {
  APPROVED,
  addVariant,
  type CheckoutApp,
  checkout,
  DECLINED,
  LOST_AFTER_CHARGE,
  LOST_BEFORE_CHARGE,
  type Shop,
} from '../checkout/setup.ts'

/**
 * A model of the stock and of the orders that reserve it. Random steps of shoppers, merchants and
 * gateways run against the API and against the model, and both must agree after every step.
 */

const CARDS = {
  approved: APPROVED,
  declined: DECLINED,
  lost: LOST_BEFORE_CHARGE,
  unanswered: LOST_AFTER_CHARGE,
}
type Card = keyof typeof CARDS

/** Orders with this e-mail address are held for review. */
export const SUSPECT = 'odd@example.com'

/** A number for the first and for the second variant. */
type Pair = [number, number]

export type Step =
  | { do: 'place'; quantities: Pair; card: Card; isSuspect: boolean }
  | { do: 'edit'; order: number; quantities: Pair; card: Card }
  | { do: 'cancel'; order: number; restock: boolean }
  | { do: 'hold' | 'release' | 'reject' | 'expire'; order: number }
  | { do: 'refund'; order: number; variant: number }
  | { do: 'hours pass' | 'outcomes are known' | 'close the other location' }
  | { do: 'count'; variant: number; track: boolean; backorder: boolean }
  | { do: 'adjust'; variant: number; isOther: boolean; by: 'delta' | 'set_on_hand'; units: number }
  | { do: 'archive'; variant: number }
  | { do: 'rush'; variant: number; shoppers: number }

/** An index among the orders that have not ended, newest first. */
const order = fc.nat(2)
const variant = fc.nat(1)
const mostly = <V>(often: V, ...others: V[]) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(often) }, fc.constantFrom(...others))
const card = mostly<Card>('approved', 'declined', 'lost', 'unanswered')

const step = <D extends Step['do'], F extends object>(
  weight: number,
  name: D,
  fields: { [K in keyof F]: fc.Arbitrary<F[K]> },
) => ({ weight, arbitrary: fc.record<F>(fields).map((rest) => ({ do: name, ...rest })) })

const STEPS = [
  step(6, 'place', {
    quantities: fc.tuple(fc.nat(3), fc.nat(3)),
    card,
    isSuspect: mostly(false, true),
  }),
  step(16, 'edit', { order, quantities: fc.tuple(fc.nat(5), fc.nat(5)), card }),
  step(10, 'count', { variant, track: fc.boolean(), backorder: mostly(false, true) }),
  step(6, 'adjust', {
    variant,
    isOther: fc.boolean(),
    by: fc.constantFrom('delta' as const, 'set_on_hand' as const),
    units: fc.integer({ min: -4, max: 8 }),
  }),
  step(3, 'outcomes are known', {}),
  step(1, 'hours pass', {}),
  step(2, 'cancel', { order, restock: fc.boolean() }),
  step(1, 'hold', { order }),
  step(2, 'release', { order }),
  step(1, 'reject', { order }),
  step(1, 'expire', { order }),
  step(1, 'refund', { order, variant }),
  step(1, 'close the other location', {}),
  step(1, 'archive', { variant }),
  step(2, 'rush', { variant, shoppers: fc.integer({ min: 1, max: 3 }) }),
]

export const sequences: fc.Arbitrary<Step[]> = fc.array(fc.oneof(...STEPS), {
  minLength: 25,
  maxLength: 40,
  size: 'max',
})

interface Variant {
  id: string
  product_id: string
  isTracked: boolean
  mayBackorder: boolean
  isArchived: boolean
  /** At the default location, and at the other. */
  on_hand: Pair
}

interface Order {
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
const holdIfSuspect = (order: Order): void => {
  if (order.isSuspect) order.isOnHold = true
}

interface Model {
  app: CheckoutApp
  shop: Shop
  variants: Variant[]
  orders: Order[]
  /** The id of the other location. */
  other: string
  isOtherOpen: boolean
}

const BOTH = [0, 1] as const
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
const hasEnded = ({ stage }: Order) => stage === 'failed' || stage === 'cancelled'
const isBusy = ({ stage, edit }: Order) => stage === 'waiting' || edit !== null
const isAllRefunded = ({ wanted, refunded }: Order) => sum(wanted) === sum(refunded)
const isEditable = (order: Order) =>
  order.stage === 'paid' && !isBusy(order) && sum(order.refunded) === 0

/** The first variant is tracked at two locations; the second is not tracked. */
export async function openModel(app: CheckoutApp, shop: Shop): Promise<Model> {
  app.clock.reset()
  const { merchant } = shop
  const other = `l-${randomUUID()}`
  assert.equal(
    (await merchant.post('/v1/merchant/inventory/locations', { id: other, name: 'Other' })).status,
    201,
  )
  const model: Model = { app, shop, variants: [], orders: [], other, isOtherOpen: true }
  for (const at of BOTH) {
    const id = await addVariant(merchant, PRICE)
    const { product_id } = (await merchant.get(`/v1/merchant/inventory/${id}`)).body.item
    const state = { isTracked: false, mayBackorder: false, isArchived: false }
    model.variants.push({ id, product_id, ...state, on_hand: [0, 0] })
    await adjust(model, { variant: at, isOther: false, by: 'delta', units: 4 })
  }
  await adjust(model, { variant: 0, isOther: true, by: 'delta', units: 3 })
  await count(model, { variant: 0, track: true, backorder: false })
  return model
}

/** The price of both variants, so that exchanging one for the other costs nothing. */
const PRICE = 1_000

const keyed = () => ({ 'idempotency-key': randomUUID() })

const variantAt = ({ variants }: Model, at: number): Variant => {
  const found = variants[at]
  assert.ok(found)
  return found
}

/** The units of a variant that can be sold. */
function availableOf(model: Model, at: number): number {
  const { isTracked, mayBackorder, on_hand } = variantAt(model, at)
  if (!isTracked || mayBackorder) return Infinity
  const held = model.orders.map(({ held, edit }) => (held[at] ?? 0) + (edit?.taken[at] ?? 0))
  return Math.max(0, sum(on_hand) - sum(held))
}

const isShort = (model: Model, more: readonly number[]) =>
  more.some((units, at) => units > 0 && units > availableOf(model, at))

/** The units that an order reserves: none of a variant that is not tracked. */
const reservedBy = (model: Model, more: readonly number[]) =>
  more.map((units, at) => (variantAt(model, at).isTracked ? Math.max(0, units) : 0))

const codeOf = ({ status, body }: Answer): string => (status < 300 ? 'done' : body.error.code)

export async function runStep(model: Model, step: Step): Promise<void> {
  switch (step.do) {
    case 'place':
      return place(model, step)
    case 'count':
      return count(model, step)
    case 'adjust':
      return adjust(model, step)
    case 'archive':
      return archive(model, step.variant)
    case 'rush':
      return rush(model, step)
    case 'hours pass':
      return passHours(model)
    case 'outcomes are known':
      return resolveOutcomes(model)
    case 'close the other location':
      return closeOther(model)
    default: {
      const newest = model.orders.toReversed()
      const chosen = newest.filter((order) => !hasEnded(order))[step.order] ?? newest[step.order]
      return chosen && change(model, chosen, step)
    }
  }
}

async function change(model: Model, order: Order, step: Extract<Step, { order: number }>) {
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

async function place(
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

const checkOut = (
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
async function add(
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

const sendEdit = ({ app, shop }: Model, order: Order, wanted: readonly number[], card: Card) => {
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
function apply(order: Order, wanted: number[], taken: readonly number[]): void {
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
async function passHours({ app }: Model): Promise<void> {
  app.clock.advance(4 * 3_600_000)
  await app.expireClaims()
  await app.reconcile({ gateway: () => ({ lookup: async () => unreachable() }) })
}

/**
 * After this time, a gateway without a record of an attempt counts as one that never received it.
 */
const LATER_MS = 11_000

async function resolveOutcomes({ app, orders }: Model): Promise<void> {
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

async function count(
  model: Model,
  step: { variant: number; track: boolean; backorder: boolean },
): Promise<void> {
  const chosen = variantAt(model, step.variant)
  chosen.isTracked = step.track
  chosen.mayBackorder = step.backorder
  const settings = { track_inventory: step.track, allow_backorder: step.backorder }
  const answer = await model.shop.merchant.put(`/v1/merchant/inventory/${chosen.id}`, settings)
  assert.equal(answer.status, 200, answer.text)
}

async function adjust(
  model: Model,
  step: Omit<Extract<Step, { do: 'adjust' }>, 'do'>,
): Promise<void> {
  const { id, on_hand } = variantAt(model, step.variant)
  const at = step.isOther ? 1 : 0
  const units = step.by === 'delta' ? step.units : Math.abs(step.units)
  const after = step.by === 'delta' ? on_hand[at] + units : units
  const answer = await model.shop.merchant.post(`/v1/merchant/inventory/${id}/adjust`, {
    reason: 'counted',
    [step.by]: units,
    ...(step.isOther && { location_id: model.other }),
  })
  const isClosed = step.isOther && !model.isOtherOpen
  const refusal = after < 0 ? 'stock_below_zero' : 'done'
  assert.equal(codeOf(answer), isClosed ? 'location_not_found' : refusal, answer.text)
  if (answer.status < 300) on_hand[at] = after
}

async function archive(model: Model, at: number): Promise<void> {
  const chosen = variantAt(model, at)
  const url = `/v1/merchant/catalog/products/${chosen.product_id}/variants/${chosen.id}/archive`
  const answer = await model.shop.merchant.post(url)
  assert.equal(answer.status, 200, answer.text)
  chosen.isArchived = true
}

async function closeOther(model: Model): Promise<void> {
  const { rows } = await model.app.superuser.query(
    `select from inventory_levels
      where location_id = $1 and (on_hand <> 0 or allocated > 0 or reserved > 0)`,
    [model.other],
  )
  const url = `/v1/merchant/inventory/locations/${model.other}`
  const answer = await model.shop.merchant.send('DELETE', url)
  assert.equal(codeOf(answer), rows.length > 0 ? 'location_in_use' : 'done', answer.text)
  if (rows.length === 0) model.isOtherOpen = false
}

/**
 * New shoppers and editors of open orders want one more unit at once: as many get it as are
 * available.
 */
async function rush(
  model: Model,
  { variant: at, shoppers }: { variant: number; shoppers: number },
) {
  const one = BOTH.map((each) => (each === at ? 1 : 0))
  const canGrow = (order: Order) => isEditable(order) && order.items[at] !== undefined
  const editors = model.orders.filter(canGrow).slice(-2)
  const edited = editors.map((order) => order.wanted.map((units, each) => units + (one[each] ?? 0)))
  const available = availableOf(model, at)
  const { isArchived } = variantAt(model, at)
  const [answers, edits] = await Promise.all([
    Promise.all(Array.from({ length: shoppers }, () => checkOut(model, one, 'approved', false))),
    Promise.all(editors.map((order, n) => sendEdit(model, order, edited[n] ?? [], 'approved'))),
  ])
  const won = [...answers, ...edits].filter(({ status }) => status < 300)
  const asking = editors.length + (isArchived ? 0 : shoppers)
  assert.equal(won.length, Math.min(asking, available), `${won.length} won`)
  for (const answer of answers) {
    if (answer.status < 300) {
      await add(model, answer, { wanted: one, card: 'approved', isOnHold: false })
    } else assert.equal(codeOf(answer), isArchived ? 'variant_not_found' : 'insufficient_stock')
  }
  for (const [n, answer] of edits.entries()) {
    const [order, wanted] = [editors[n], edited[n]]
    if (answer.status < 300 && order && wanted) {
      apply(order, wanted, reservedBy(model, one))
      holdIfSuspect(order)
    } else assert.equal(codeOf(answer), 'insufficient_stock', answer.text)
  }
}

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
