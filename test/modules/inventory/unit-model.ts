import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../../harness/app.ts'
import { addVariant, type CheckoutApp, cart, checkout, type Shop } from '../checkout/setup.ts'
import { newVendor, ORDERS, receive } from '../purchasing/setup.ts'

/**
 * A plain model of where units are: at three locations, in parcels, with shoppers and on their way
 * from vendors. Random steps run against the API and against the model, and both agree after each.
 * Beside `stock-model.ts`, which is about what orders hold while their money moves.
 */

/** The default location comes first, as checkouts take it. */
const PLACES = ['default', 'east', 'west'] as const
const ALL_VARIANTS = [0, 1, 2] as const

interface Level {
  on_hand: number
  allocated: number
  packed: number
  incoming: number
}

interface Parcel {
  id: string
  place: number
  state: 'pending' | 'shipped' | 'ended'
  units: Map<number, number>
}

interface Order {
  id: string
  isCancelled: boolean
  /** By `variant place`: the units that it has allocated, and those of them in pending parcels. */
  held: Map<string, { allocated: number; packed: number }>
  parcels: Parcel[]
}

interface Purchase {
  id: string
  place: number
  isOpen: boolean
  lines: { id: string; variant: number; quantity: number; received: number; rejected: number }[]
}

export interface UnitModel {
  app: CheckoutApp
  shop: Shop
  vendor: string
  variants: string[]
  /** By variant and place. */
  levels: Level[][]
  /** The last variant can be bought while there is none. */
  orders: Order[]
  purchases: Purchase[]
  random: () => number
}

/** The same seed chooses the same steps. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export async function openUnitModel(
  app: CheckoutApp,
  shop: Shop,
  random: () => number,
): Promise<UnitModel> {
  const { merchant } = shop
  for (const id of PLACES.slice(1)) {
    const made = await merchant.post('/v1/merchant/inventory/locations', { id, name: id })
    assert.equal(made.status, 201, made.text)
  }
  const variants: string[] = []
  for (const at of ALL_VARIANTS) {
    const id = await addVariant(merchant, 1_000)
    const settings = { track_inventory: true, allow_backorder: at === 2 }
    const set = await merchant.put(`/v1/merchant/inventory/${id}`, settings)
    assert.equal(set.status, 200, set.text)
    variants.push(id)
  }
  const { id: vendor } = await newVendor(merchant)
  const empty = () => ({ on_hand: 0, allocated: 0, packed: 0, incoming: 0 })
  const levels = variants.map(() => PLACES.map(empty))
  return { app, shop, vendor, variants, levels, orders: [], purchases: [], random }
}

const upTo = ({ random }: UnitModel, max: number) => Math.floor(random() * (max + 1))
const chosen = <T>(model: UnitModel, all: readonly T[]): T | undefined =>
  all[Math.floor(model.random() * all.length)]
const levelAt = ({ levels }: UnitModel, variant: number, place: number): Level =>
  levels[variant]?.[place] as Level
const codeOf = ({ status, body }: Answer): string => (status < 300 ? 'done' : body.error.code)
const freeOf = ({ on_hand, allocated }: Level) => on_hand - allocated
const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0)

type Step = (model: UnitModel) => Promise<void>

/** How often each step is taken, in relation to the others. */
const STEPS: readonly (readonly [weight: number, step: Step])[] = [
  [14, buy],
  [12, pack],
  [12, ship],
  [4, unpack],
  [4, recall],
  [4, cancelOrder],
  [8, adjust],
  [9, transfer],
  [6, count],
  [5, purchase],
  [10, receiveSome],
  [1, endPurchase],
]

export async function takeStep(model: UnitModel): Promise<string> {
  let left = model.random() * sum(STEPS.map(([weight]) => weight))
  const found = STEPS.find(([weight]) => {
    left -= weight
    return left < 0
  })
  const [, step] = found as (typeof STEPS)[number]
  await step(model)
  return step.name
}

/** Takes units from one place if it has them all, else from one after the other; the rest is owed. */
function spread(model: UnitModel, variant: number, quantity: number): number[] {
  const free = PLACES.map((_, place) => freeOf(levelAt(model, variant, place)))
  const whole = free.findIndex((units) => units >= quantity)
  if (whole >= 0) return PLACES.map((_, place) => (place === whole ? quantity : 0))
  let left = quantity
  const taken = free.map((units) => {
    const part = Math.min(left, Math.max(0, units))
    left -= part
    return part
  })
  taken[0] = (taken[0] ?? 0) + left
  return taken
}

async function buy(model: UnitModel): Promise<void> {
  const wanted = ALL_VARIANTS.map((variant) => ({ variant, quantity: upTo(model, 3) })).filter(
    ({ quantity }) => quantity > 0,
  )
  if (wanted.length === 0) return
  const items = wanted.map(({ variant, quantity }) => ({
    variant_id: model.variants[variant],
    quantity,
  }))
  const answer = await checkout(model.app, model.shop, { ...cart(undefined), items })
  const isShort = wanted.some(({ variant, quantity }) => {
    const free = sum(PLACES.map((_, place) => freeOf(levelAt(model, variant, place))))
    return variant !== 2 && Math.max(0, free) < quantity
  })
  assert.equal(codeOf(answer), isShort ? 'insufficient_stock' : 'done', answer.text)
  if (isShort) return
  const held: Order['held'] = new Map()
  for (const { variant, quantity } of wanted) {
    for (const [place, units] of spread(model, variant, quantity).entries()) {
      if (units === 0) continue
      held.set(`${variant} ${place}`, { allocated: units, packed: 0 })
      levelAt(model, variant, place).allocated += units
    }
  }
  model.orders.push({ id: answer.body.order.id, isCancelled: false, held, parcels: [] })
}

const openOf = ({ allocated, packed }: { allocated: number; packed: number }) => allocated - packed

/** What an order can pack at a level: what is there and not packed, less what older orders wait for. */
function readyOf(model: UnitModel, order: Order, key: string): number {
  const [variant, place] = key.split(' ').map(Number) as [number, number]
  const own = order.held.get(key)
  if (own === undefined) return 0
  const older = model.orders.filter((other) => !other.isCancelled && other.id < order.id)
  const waiting = sum(
    older.map((other) => openOf(other.held.get(key) ?? { allocated: 0, packed: 0 })),
  )
  const { on_hand, packed } = levelAt(model, variant, place)
  return Math.min(openOf(own), Math.max(0, on_hand - packed - waiting))
}

const living = ({ orders }: UnitModel) => orders.filter(({ isCancelled }) => !isCancelled)

async function pack(model: UnitModel): Promise<void> {
  const order = chosen(
    model,
    living(model).filter(({ held }) => sum([...held.values()].map(openOf)) > 0),
  )
  if (order === undefined) return
  const only = upTo(model, 3) === 0 ? upTo(model, 2) : null
  const body = only === null ? {} : { location_id: PLACES[only] }
  const answer = await model.shop.merchant.post(
    `/v1/merchant/orders/${order.id}/fulfillments`,
    body,
  )
  const ready = [...order.held.keys()]
    .map((key) => {
      const [variant, place] = key.split(' ').map(Number) as [number, number]
      return { key, variant, place, units: readyOf(model, order, key) }
    })
    .filter(({ place, units }) => units > 0 && (only === null || place === only))
  assert.equal(codeOf(answer), ready.length > 0 ? 'done' : 'quantity_exceeds_open', answer.text)
  if (ready.length === 0) return
  for (const parcel of answer.body.fulfillments) {
    const place = PLACES.indexOf(parcel.location_id)
    const expected = ready.filter((each) => each.place === place)
    const units = new Map(
      parcel.items.map(({ variant_id, quantity }: { variant_id: string; quantity: number }) => [
        model.variants.indexOf(variant_id),
        quantity,
      ]),
    ) as Map<number, number>
    assert.deepEqual(units, new Map(expected.map((each) => [each.variant, each.units] as const)))
    movePacked(model, order, { place, units }, 1)
    order.parcels.push({ id: parcel.id, place, state: 'pending', units })
  }
  const places = new Set(ready.map(({ place }) => place))
  assert.equal(answer.body.fulfillments.length, places.size, 'a parcel for each place')
}

/** Changes what is packed at the levels of a parcel and of its order. */
function movePacked(
  model: UnitModel,
  order: Order,
  { place, units }: Pick<Parcel, 'place' | 'units'>,
  sign: 1 | -1,
): void {
  for (const [variant, quantity] of units) {
    levelAt(model, variant, place).packed += sign * quantity
    const held = order.held.get(`${variant} ${place}`)
    assert.ok(held)
    held.packed += sign * quantity
  }
}

/** Changes what is on hand and allocated at the levels of a parcel and of its order. */
function moveUnits(
  model: UnitModel,
  order: Order,
  { place, units }: Parcel,
  sign: { on_hand: number; allocated: number },
): void {
  for (const [variant, quantity] of units) {
    const level = levelAt(model, variant, place)
    const held = order.held.get(`${variant} ${place}`)
    assert.ok(held)
    level.on_hand += sign.on_hand * quantity
    level.allocated += sign.allocated * quantity
    held.allocated += sign.allocated * quantity
  }
}

const parcelsIn = (model: UnitModel, state: Parcel['state']) =>
  living(model).flatMap((order) =>
    order.parcels.filter((parcel) => parcel.state === state).map((parcel) => ({ order, parcel })),
  )

const actOn = ({ shop }: UnitModel, { id }: Parcel, verb: string, body: object = {}) =>
  shop.merchant.post(`/v1/merchant/fulfillments/${id}/${verb}`, body)

async function ship(model: UnitModel): Promise<void> {
  const found = chosen(model, parcelsIn(model, 'pending'))
  if (found === undefined) return
  const { order, parcel } = found
  const answer = await actOn(model, parcel, 'ship')
  assert.equal(answer.status, 200, answer.text)
  parcel.state = 'shipped'
  movePacked(model, order, parcel, -1)
  moveUnits(model, order, parcel, { on_hand: -1, allocated: -1 })
}

async function unpack(model: UnitModel): Promise<void> {
  const found = chosen(model, parcelsIn(model, 'pending'))
  if (found === undefined) return
  const answer = await actOn(model, found.parcel, 'cancel')
  assert.equal(answer.status, 200, answer.text)
  found.parcel.state = 'ended'
  movePacked(model, found.order, found.parcel, -1)
}

async function recall(model: UnitModel): Promise<void> {
  const found = chosen(model, parcelsIn(model, 'shipped'))
  if (found === undefined) return
  const { order, parcel } = found
  const reason = upTo(model, 1) === 0 ? 'lost' : 'returned_to_sender'
  const answer = await actOn(model, parcel, 'cancel', { reason })
  assert.equal(answer.status, 200, answer.text)
  parcel.state = 'ended'
  moveUnits(model, order, parcel, { on_hand: reason === 'lost' ? 0 : 1, allocated: 1 })
}

async function cancelOrder(model: UnitModel): Promise<void> {
  const order = chosen(model, living(model))
  if (order === undefined) return
  const restock = upTo(model, 2) > 0
  const url = `/v1/merchant/orders/${order.id}/cancel`
  const headers = { 'idempotency-key': randomUUID() }
  const answer = await model.shop.merchant.post(url, { reason: 'other', restock }, headers)
  const isShipped = order.parcels.some(({ state }) => state === 'shipped')
  assert.equal(codeOf(answer), isShipped ? 'invalid_transition' : 'done', answer.text)
  if (isShipped) return
  for (const parcel of order.parcels.filter(({ state }) => state === 'pending')) {
    parcel.state = 'ended'
    movePacked(model, order, parcel, -1)
  }
  for (const [key, { allocated }] of order.held) {
    const [variant, place] = key.split(' ').map(Number) as [number, number]
    const level = levelAt(model, variant, place)
    level.allocated -= allocated
    if (!restock) level.on_hand -= Math.min(allocated, Math.max(0, level.on_hand))
  }
  order.isCancelled = true
}

async function adjust(model: UnitModel): Promise<void> {
  const [variant, place] = [upTo(model, 2), upTo(model, 2)]
  const level = levelAt(model, variant, place)
  const isSet = upTo(model, 1) === 0
  const delta = isSet ? upTo(model, 12) - level.on_hand : upTo(model, 12) - 4
  const change = isSet ? { set_on_hand: level.on_hand + delta } : { delta }
  const answer = await model.shop.merchant.post(
    `/v1/merchant/inventory/${model.variants[variant]}/adjust`,
    { ...change, location_id: PLACES[place], reason: 'any' },
  )
  const isBelow = delta < 0 && level.on_hand + delta < 0
  assert.equal(codeOf(answer), isBelow ? 'stock_below_zero' : 'done', answer.text)
  if (!isBelow) level.on_hand += delta
}

async function transfer(model: UnitModel): Promise<void> {
  const [variant, from] = [upTo(model, 2), upTo(model, 2)]
  const to = (from + 1 + upTo(model, 1)) % PLACES.length
  const quantity = 1 + upTo(model, 4)
  const answer = await model.shop.merchant.post('/v1/merchant/inventory/transfers', {
    variant_id: model.variants[variant],
    from_location_id: PLACES[from],
    to_location_id: PLACES[to],
    quantity,
    reason: 'any',
  })
  const isFree = freeOf(levelAt(model, variant, from)) >= quantity
  assert.equal(codeOf(answer), isFree ? 'done' : 'insufficient_stock', answer.text)
  if (!isFree) return
  levelAt(model, variant, from).on_hand -= quantity
  levelAt(model, variant, to).on_hand += quantity
}

/** Counts two variants at a place, and ships a parcel before and after the numbers are entered. */
async function count(model: UnitModel): Promise<void> {
  const place = upTo(model, 2)
  const variants = upTo(model, 1) === 0 ? [0, 1] : [1, 2]
  const url = '/v1/merchant/inventory/counts'
  const { merchant } = model.shop
  const begun = await merchant.post(url, {
    location_id: PLACES[place],
    variant_ids: variants.map((variant) => model.variants[variant]),
  })
  assert.equal(begun.status, 201, begun.text)
  const frozen = variants.map((variant) => levelAt(model, variant, place).on_hand)
  if (upTo(model, 2) === 0) await ship(model)
  const asOfNow = upTo(model, 1) === 0
  const basis = asOfNow ? variants.map((variant) => levelAt(model, variant, place).on_hand) : frozen
  const found = basis.map((units) => Math.max(0, units + upTo(model, 4) - 2))
  const entered = await merchant.put(`${url}/${begun.body.count.id}/lines`, {
    lines: variants.map((variant, at) => ({
      variant_id: model.variants[variant],
      counted: found[at],
      as_of: asOfNow ? 'now' : 'beginning',
    })),
  })
  assert.equal(entered.status, 200, entered.text)
  if (upTo(model, 2) === 0) await ship(model)
  const differences = found.map((units, at) => units - (basis[at] ?? 0))
  const isBelow = variants.some((variant, at) => {
    const by = differences[at] ?? 0
    return by < 0 && levelAt(model, variant, place).on_hand + by < 0
  })
  const posted = await merchant.post(`${url}/${begun.body.count.id}/post`)
  assert.equal(codeOf(posted), isBelow ? 'stock_below_zero' : 'done', posted.text)
  if (isBelow) {
    const cancelled = await merchant.post(`${url}/${begun.body.count.id}/cancel`)
    return assert.equal(cancelled.status, 200, cancelled.text)
  }
  for (const [at, variant] of variants.entries()) {
    levelAt(model, variant, place).on_hand += differences[at] ?? 0
  }
}

async function purchase(model: UnitModel): Promise<void> {
  const place = upTo(model, 2)
  const wanted = ALL_VARIANTS.map((variant) => ({ variant, quantity: upTo(model, 8) })).filter(
    ({ quantity }) => quantity > 0,
  )
  if (wanted.length === 0) return
  const made = await model.shop.merchant.post(ORDERS, {
    vendor_id: model.vendor,
    location_id: PLACES[place],
    lines: wanted.map(({ variant, quantity }) => ({
      variant_id: model.variants[variant],
      quantity,
      unit_cost_cents: upTo(model, 900),
    })),
  })
  assert.equal(made.status, 201, made.text)
  const { id, lines } = made.body.purchase_order
  const ordered = await model.shop.merchant.post(`${ORDERS}/${id}/order`)
  assert.equal(ordered.status, 200, ordered.text)
  for (const { variant, quantity } of wanted) levelAt(model, variant, place).incoming += quantity
  model.purchases.push({
    id,
    place,
    isOpen: true,
    lines: wanted.map((each, at) => ({ ...each, id: lines[at].id, received: 0, rejected: 0 })),
  })
}

const expectedOf = ({ quantity, received, rejected }: Purchase['lines'][number]) =>
  quantity - received - rejected

async function receiveSome(model: UnitModel): Promise<void> {
  const found = chosen(
    model,
    model.purchases.filter(({ isOpen }) => isOpen),
  )
  if (found === undefined) return
  const totals = found.lines.map((line) => ({
    line,
    received: line.received + upTo(model, 5) - (upTo(model, 20) === 0 ? 1 : 0),
    rejected: line.rejected + (upTo(model, 5) === 0 ? 1 : 0),
  }))
  const isBack = totals.some(({ line, received }) => received < line.received)
  const isOver = totals.some(({ line, received, rejected }) => received + rejected > line.quantity)
  const answer = await receive(
    model.shop.merchant,
    found.id,
    totals.map(({ line, received, rejected }) => ({
      line_id: line.id,
      quantity: Math.max(0, received),
      rejected_quantity: rejected,
    })),
  )
  const isNegative = totals.some(({ received }) => received < 0)
  const refusal = isBack && !isNegative ? 'receipt_decreased' : isOver ? 'exceeds_ordered' : 'done'
  assert.equal(codeOf(answer), refusal, answer.text)
  if (refusal !== 'done') return
  for (const { line, received, rejected } of totals) {
    const level = levelAt(model, line.variant, found.place)
    const before = expectedOf(line)
    level.on_hand += Math.max(0, received) - line.received
    line.received = Math.max(0, received)
    line.rejected = rejected
    level.incoming += expectedOf(line) - before
  }
  const isDone = found.lines.every((line) => expectedOf(line) === 0)
  if (isDone) found.isOpen = false
}

async function endPurchase(model: UnitModel): Promise<void> {
  const found = chosen(
    model,
    model.purchases.filter(({ isOpen }) => isOpen),
  )
  if (found === undefined) return
  const hasCome = found.lines.some(({ received, rejected }) => received + rejected > 0)
  const verb = hasCome || upTo(model, 1) === 0 ? 'close' : 'cancel'
  const answer = await model.shop.merchant.post(`${ORDERS}/${found.id}/${verb}`)
  assert.equal(answer.status, 200, answer.text)
  found.isOpen = false
  for (const line of found.lines) {
    levelAt(model, line.variant, found.place).incoming -= expectedOf(line)
  }
}

/** Asserts that the levels and reservations in the database are those of the model. */
export async function assertUnitsMatch(model: UnitModel): Promise<void> {
  const { app, variants } = model
  const [levels, held] = await Promise.all([
    app.superuser.query(
      `select variant_id, location_id, on_hand::int, allocated::int, packed::int, incoming::int,
              reserved::int
         from inventory_levels where variant_id = any ($1)`,
      [variants],
    ),
    app.superuser.query(
      `select order_id, variant_id, location_id, allocated::int, packed::int
         from inventory_reservations where variant_id = any ($1) and (allocated > 0 or packed > 0)`,
      [variants],
    ),
  ])
  for (const [variant, places] of model.levels.entries()) {
    for (const [place, expected] of places.entries()) {
      const row = levels.rows.find(
        (each) => each.variant_id === variants[variant] && each.location_id === PLACES[place],
      )
      const { variant_id: _, location_id: __, ...found } = row ?? { ...expected, reserved: 0 }
      assert.deepEqual(
        found,
        { ...expected, reserved: 0 },
        `variant ${variant} at ${PLACES[place]}`,
      )
    }
  }
  const expected = living(model).flatMap(({ id, held: own }) =>
    [...own]
      .filter(([, { allocated }]) => allocated > 0)
      .map(([key, { allocated, packed }]) => `${id} ${key} ${allocated} ${packed}`),
  )
  const found = held.rows.map(
    (row) =>
      `${row.order_id} ${variants.indexOf(row.variant_id)} ${PLACES.indexOf(row.location_id)} ${row.allocated} ${row.packed}`,
  )
  assert.deepEqual(found.toSorted(), expected.toSorted(), 'what orders have')
}
