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
 * Stock and the orders that hold it, through whatever shoppers, merchants and gateways do in turn, beside
 * a model of what each order should hold. The two must agree after every step.
 */

const CARDS = {
  approved: APPROVED,
  declined: DECLINED,
  lost: LOST_BEFORE_CHARGE,
  unanswered: LOST_AFTER_CHARGE,
}
type Card = keyof typeof CARDS

/** Who orders under this address is looked at. */
export const SUSPECT = 'odd@example.com'

/** Of the first and the second variant. */
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

/** The newest that has not ended is 0. */
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
  mayBeOwed: boolean
  isArchived: boolean
  /** At the default location, and at the other. */
  on_hand: Pair
}

interface Order {
  id: string
  /** None of a variant that was not ordered. */
  items: (string | undefined)[]
  wanted: number[]
  held: number[]
  refunded: number[]
  stage: 'waiting' | 'authorized' | 'paid' | 'failed' | 'cancelled'
  isOnHold: boolean
  /** Whether what is not known yet was charged. */
  isCharged: boolean
  /** What is to be, and what is reserved for it, while nobody knows whether it was paid. */
  edit: { wanted: number[]; taken: number[] } | null
}

interface World {
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
const isEditable = (it: Order) => it.stage === 'paid' && !isBusy(it) && sum(it.refunded) === 0

/** Some of the first variant are counted at two locations; the second is not counted. */
export async function openWorld(app: CheckoutApp, shop: Shop): Promise<World> {
  app.clock.reset()
  const { merchant } = shop
  const other = `l-${randomUUID()}`
  assert.equal(
    (await merchant.post('/v1/merchant/inventory/locations', { id: other, name: 'Other' })).status,
    201,
  )
  const world: World = { app, shop, variants: [], orders: [], other, isOtherOpen: true }
  for (const at of BOTH) {
    const id = await addVariant(merchant, PRICE)
    const { product_id } = (await merchant.get(`/v1/merchant/inventory/${id}`)).body.item
    const state = { isTracked: false, mayBeOwed: false, isArchived: false }
    world.variants.push({ id, product_id, ...state, on_hand: [0, 0] })
    await adjust(world, { variant: at, isOther: false, by: 'delta', units: 4 })
  }
  await adjust(world, { variant: 0, isOther: true, by: 'delta', units: 3 })
  await count(world, { variant: 0, track: true, backorder: false })
  return world
}

/** Of both, so that what is exchanged costs nothing. */
const PRICE = 1_000

const keyed = () => ({ 'idempotency-key': randomUUID() })

const variantAt = ({ variants }: World, at: number): Variant => {
  const found = variants[at]
  assert.ok(found)
  return found
}

/** What may be sold of a variant. */
function availableOf(world: World, at: number): number {
  const { isTracked, mayBeOwed, on_hand } = variantAt(world, at)
  if (!isTracked || mayBeOwed) return Infinity
  const held = world.orders.map(({ held, edit }) => (held[at] ?? 0) + (edit?.taken[at] ?? 0))
  return Math.max(0, sum(on_hand) - sum(held))
}

const isShort = (world: World, more: readonly number[]) =>
  more.some((units, at) => units > 0 && units > availableOf(world, at))

/** What is not counted is not held. */
const takenOf = (world: World, more: readonly number[]) =>
  more.map((units, at) => (variantAt(world, at).isTracked ? Math.max(0, units) : 0))

const codeOf = ({ status, body }: Answer): string => (status < 300 ? 'done' : body.error.code)

export async function take(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case 'place':
      return place(world, step)
    case 'count':
      return count(world, step)
    case 'adjust':
      return adjust(world, step)
    case 'archive':
      return archive(world, step.variant)
    case 'rush':
      return rush(world, step)
    case 'hours pass':
      return passHours(world)
    case 'outcomes are known':
      return learn(world)
    case 'close the other location':
      return closeOther(world)
    default: {
      const newest = world.orders.toReversed()
      const chosen = newest.filter((it) => !hasEnded(it))[step.order] ?? newest[step.order]
      return chosen && change(world, chosen, step)
    }
  }
}

async function change(world: World, it: Order, step: Extract<Step, { order: number }>) {
  const { app, shop } = world
  const act = (verb: string, body: object = {}) =>
    shop.merchant.post(`/v1/merchant/orders/${it.id}/${verb}`, body, keyed())
  if (step.do === 'edit') return edit(world, it, step)
  if (step.do === 'cancel') return cancel(world, it, act, step.restock)
  if (step.do === 'refund') return refund(it, act, step.variant)
  if (step.do === 'expire') return expire(app, it)
  const isOpen = !hasEnded(it) && !isBusy(it) && !isAllRefunded(it)
  const isAllowed = isOpen && (step.do === 'hold' ? !it.isOnHold : it.isOnHold)
  const answer = await (step.do === 'reject'
    ? shop.merchant.post(`/v1/merchant/fraud/reviews/${it.id}/reject`, {}, keyed())
    : act(step.do))
  const again = step.do === 'reject' && it.stage === 'cancelled' && answer.status < 300
  assert.ok(answer.status < 300 === isAllowed || again, answer.text)
  if (!isAllowed) return
  it.isOnHold = step.do === 'hold'
  if (step.do === 'release') it.stage = 'paid'
  if (step.do === 'reject') end(it, 'cancelled')
}

function end(it: Order, stage: 'failed' | 'cancelled'): void {
  it.stage = stage
  it.isOnHold = false
  it.held = [0, 0]
}

async function place(
  world: World,
  { quantities: named, card, isSuspect }: Omit<Extract<Step, { do: 'place' }>, 'do'>,
): Promise<void> {
  const wanted = sum(named) === 0 ? [1, 0] : named
  // What was lost is looked at by the gateway alone.
  const isLookedAt = isSuspect && card === 'approved'
  const answer = await checkOut(world, wanted, card, isLookedAt)
  const isGone = wanted.some((units, at) => units > 0 && variantAt(world, at).isArchived)
  const paid = { approved: 'done', declined: 'payment_declined' }
  const outcome = card in paid ? paid[card as keyof typeof paid] : 'payment_unconfirmed'
  const refusal = isShort(world, wanted) ? 'insufficient_stock' : outcome
  assert.equal(codeOf(answer), isGone ? 'variant_not_found' : refusal, answer.text)
  if (isGone || refusal === 'insufficient_stock') return
  await add(world, answer, wanted, card, isLookedAt)
}

const checkOut = (
  { app, shop, variants }: World,
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

/** As the checkout has left it. */
async function add(
  world: World,
  { body }: Answer,
  wanted: number[],
  card: Card,
  isOnHold: boolean,
): Promise<void> {
  const { rows } = await world.app.superuser.query(
    `select id, variant_id from order_items where order_id = $1`,
    [body.order.id],
  )
  const stages = { approved: isOnHold ? 'authorized' : 'paid', declined: 'failed' } as const
  const stage = card in stages ? stages[card as keyof typeof stages] : 'waiting'
  world.orders.push({
    id: body.order.id,
    items: world.variants.map(({ id }) => rows.find((row) => row.variant_id === id)?.id),
    wanted,
    held: stage === 'failed' ? [0, 0] : takenOf(world, wanted),
    refunded: [0, 0],
    ...{ stage, isOnHold, isCharged: card === 'unanswered', edit: null },
  })
}

const sendEdit = ({ app, shop }: World, it: Order, wanted: readonly number[], card: Card) => {
  const edits = it.items
    .map((order_item_id, at) => ({ order_item_id, quantity: wanted[at] }))
    .filter(({ order_item_id }) => order_item_id !== undefined)
  const url = `/v1/tenants/${shop.tenant}/orders/${it.id}/edit`
  return app.storefront.post(url, { edits, card: CARDS[card] }, keyed())
}

async function edit(
  world: World,
  it: Order,
  { quantities: named, card }: { quantities: Pair; card: Card },
): Promise<void> {
  const wanted = named.map((units, at) => (it.items[at] === undefined ? 0 : units))
  const more = wanted.map((units, at) => units - (it.wanted[at] ?? 0))
  const taken = takenOf(world, more)
  const answer = await sendEdit(world, it, wanted, card)
  const code = codeOf(answer)
  if (sum(wanted) === 0) {
    const isAllowed = it.stage === 'authorized' ? !isBusy(it) : isEditable(it)
    assert.equal(code === 'done', isAllowed || it.stage === 'cancelled', answer.text)
    if (isAllowed) end(it, 'cancelled')
    return
  }
  if (!isEditable(it)) return assert.equal(answer.status, 409, answer.text)
  if (isShort(world, more)) return assert.equal(code, 'insufficient_stock', answer.text)
  if (sum(more) <= 0 || card === 'approved') {
    assert.equal(code, 'done', answer.text)
    return apply(it, wanted, taken)
  }
  assert.equal(code, card === 'declined' ? 'payment_declined' : 'payment_unconfirmed', answer.text)
  if (card === 'declined') return
  it.edit = { wanted, taken }
  it.isCharged = card === 'unanswered'
}

/** An order never holds more than it wants, and gives nothing back that it still wants. */
function apply(it: Order, wanted: number[], taken: readonly number[]): void {
  it.held = it.held.map((units, at) => Math.min(units + (taken[at] ?? 0), wanted[at] ?? 0))
  it.wanted = wanted
}

type Act = (verb: string, body?: object) => Promise<Answer>

async function cancel({ app, variants, other }: World, it: Order, act: Act, restock: boolean) {
  const isAllowed = !hasEnded(it) && !isBusy(it)
  const { rows } = await app.superuser.query(
    `select variant_id, location_id, allocated::int from inventory_reservations where order_id = $1`,
    [it.id],
  )
  const answer = await act('cancel', { reason: 'other', restock })
  assert.equal(answer.status < 300, isAllowed || it.stage === 'cancelled', answer.text)
  if (!isAllowed) return
  end(it, 'cancelled')
  if (restock) return
  for (const { variant_id, location_id, allocated } of rows) {
    const on_hand = variants.find(({ id }) => id === variant_id)?.on_hand
    const at = location_id === other ? 1 : 0
    if (on_hand !== undefined) on_hand[at] -= Math.min(allocated, Math.max(0, on_hand[at]))
  }
}

/** Money alone: what was refunded and not cancelled is still to be sent. */
async function refund(it: Order, act: Act, at: number): Promise<void> {
  const order_item_id = it.items[at]
  if (order_item_id === undefined) return
  const answer = await act('refunds', { items: [{ order_item_id, quantity: 1 }] })
  const isLeft = (it.refunded[at] ?? 0) < (it.wanted[at] ?? 0)
  const isAllowed = it.stage === 'paid' && !isBusy(it) && isLeft
  assert.equal(answer.status < 300, isAllowed, answer.text)
  if (isAllowed) it.refunded[at] = (it.refunded[at] ?? 0) + 1
}

/** Nobody has looked at it while its authorisation lasted. */
async function expire(app: CheckoutApp, it: Order): Promise<void> {
  if (it.stage !== 'authorized') return
  await app.superuser.query(`update charges set authorized_until = now() where order_id = $1`, [
    it.id,
  ])
  await app.expire()
  end(it, 'cancelled')
}

/** What nobody knows stays as it is, for however long. */
async function passHours({ app }: World): Promise<void> {
  app.clock.advance(4 * 3_600_000)
  await app.expireClaims()
  await app.reconcile({ gateway: () => ({ lookup: async () => unreachable() }) })
}

/** So much later a gateway that knows nothing has never heard of it. */
const LATER_MS = 11_000

async function learn({ app, orders }: World): Promise<void> {
  app.clock.advance(LATER_MS)
  do await app.expireClaims()
  while ((await app.reconcile()) > 0)
  for (const it of orders) {
    if (it.edit !== null && it.isCharged) apply(it, it.edit.wanted, it.edit.taken)
    it.edit = null
    if (it.stage !== 'waiting') continue
    if (it.isCharged) it.stage = 'paid'
    else end(it, 'failed')
  }
}

async function count(
  world: World,
  wish: { variant: number; track: boolean; backorder: boolean },
): Promise<void> {
  const it = variantAt(world, wish.variant)
  it.isTracked = wish.track
  it.mayBeOwed = wish.backorder
  const settings = { track_inventory: wish.track, allow_backorder: wish.backorder }
  const answer = await world.shop.merchant.put(`/v1/merchant/inventory/${it.id}`, settings)
  assert.equal(answer.status, 200, answer.text)
}

async function adjust(
  world: World,
  wish: Omit<Extract<Step, { do: 'adjust' }>, 'do'>,
): Promise<void> {
  const { id, on_hand } = variantAt(world, wish.variant)
  const at = wish.isOther ? 1 : 0
  const units = wish.by === 'delta' ? wish.units : Math.abs(wish.units)
  const after = wish.by === 'delta' ? on_hand[at] + units : units
  const answer = await world.shop.merchant.post(`/v1/merchant/inventory/${id}/adjust`, {
    ...{ reason: 'counted', [wish.by]: units },
    ...(wish.isOther && { location_id: world.other }),
  })
  const isClosed = wish.isOther && !world.isOtherOpen
  const refusal = after < 0 ? 'stock_below_zero' : 'done'
  assert.equal(codeOf(answer), isClosed ? 'location_not_found' : refusal, answer.text)
  if (answer.status < 300) on_hand[at] = after
}

async function archive(world: World, at: number): Promise<void> {
  const it = variantAt(world, at)
  const url = `/v1/merchant/catalog/products/${it.product_id}/variants/${it.id}/archive`
  const answer = await world.shop.merchant.post(url)
  assert.equal(answer.status, 200, answer.text)
  it.isArchived = true
}

async function closeOther(world: World): Promise<void> {
  const { rows } = await world.app.superuser.query(
    `select from inventory_levels
      where location_id = $1 and (on_hand <> 0 or allocated > 0 or reserved > 0)`,
    [world.other],
  )
  const url = `/v1/merchant/inventory/locations/${world.other}`
  const answer = await world.shop.merchant.send('DELETE', url)
  assert.equal(codeOf(answer), rows.length > 0 ? 'location_in_use' : 'done', answer.text)
  if (rows.length === 0) world.isOtherOpen = false
}

/** All at once want one more: new shoppers, and those whose order can have it. As many get it as there are. */
async function rush(
  world: World,
  { variant: at, shoppers }: { variant: number; shoppers: number },
) {
  const one = BOTH.map((each) => (each === at ? 1 : 0))
  const couldHave = (it: Order) => isEditable(it) && it.items[at] !== undefined
  const editors = world.orders.filter(couldHave).slice(-2)
  const wishes = editors.map((it) => it.wanted.map((units, each) => units + (one[each] ?? 0)))
  const available = availableOf(world, at)
  const { isArchived } = variantAt(world, at)
  const [answers, edits] = await Promise.all([
    Promise.all(Array.from({ length: shoppers }, () => checkOut(world, one, 'approved', false))),
    Promise.all(editors.map((it, n) => sendEdit(world, it, wishes[n] ?? [], 'approved'))),
  ])
  const won = [...answers, ...edits].filter(({ status }) => status < 300)
  const asking = editors.length + (isArchived ? 0 : shoppers)
  assert.equal(won.length, Math.min(asking, available), `${won.length} won`)
  for (const answer of answers) {
    if (answer.status < 300) await add(world, answer, one, 'approved', false)
    else assert.equal(codeOf(answer), isArchived ? 'variant_not_found' : 'insufficient_stock')
  }
  for (const [n, answer] of edits.entries()) {
    const [it, wanted] = [editors[n], wishes[n]]
    if (answer.status < 300 && it && wanted) apply(it, wanted, takenOf(world, one))
    else assert.equal(codeOf(answer), 'insufficient_stock', answer.text)
  }
}

/** What each order holds and each level counts is what the model says. */
export async function agree({ app, orders, variants, other }: World): Promise<void> {
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
    const due = orders.map((it) => dueOf(it, at))
    const held = holds.rows.filter(({ variant_id }) => variant_id === id)
    const kept = orders.map((it) => held.find(({ order_id }) => order_id === it.id))
    assert.deepEqual(
      kept.map((hold) => [hold?.allocated ?? 0, hold?.reserved ?? 0]),
      due,
      'what orders hold',
    )
    assert.equal(kept.filter(Boolean).length, held.length, 'nobody else holds any')
    const level = levels.rows.find(({ variant_id }) => variant_id === id)
    assert.deepEqual(
      [level.here, level.there, level.allocated, level.reserved],
      [...on_hand, sum(due.map(([allocated]) => allocated)), sum(due.map(([, units]) => units))],
      'what is counted',
    )
  }
}

/** Bought, and reserved. */
function dueOf({ stage, held, wanted, edit }: Order, at: number): Pair {
  const units = held[at] ?? 0
  assert.ok(units <= (wanted[at] ?? 0))
  return stage === 'paid' ? [units, edit?.taken[at] ?? 0] : [0, units]
}
