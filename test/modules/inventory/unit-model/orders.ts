import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer } from '../../../harness/app.ts'
import { cart, checkout } from '../../checkout/setup.ts'
import {
  ALL_VARIANTS,
  chosen,
  codeOf,
  freeOf,
  keyed,
  levelAt,
  living,
  type Order,
  type Parcel,
  PLACES,
  sum,
  type UnitModel,
  upTo,
} from './model.ts'

/** Steps of orders and their parcels. */

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

export async function buy(model: UnitModel): Promise<void> {
  const wanted = ALL_VARIANTS.map((variant) => ({ variant, quantity: upTo(model, 3) })).filter(
    ({ quantity }) => quantity > 0,
  )
  if (wanted.length === 0) return
  const items = wanted.map(({ variant, quantity }) => ({
    variant_id: model.variants[variant],
    quantity,
  }))
  const key = randomUUID()
  const answer = await model.settle(() =>
    checkout(model.app, model.shop, { ...cart(undefined), items }, key),
  )
  // Its process was killed before the gateway got the charge.
  if (model.paymentsMayFail && answer.status === 402) return
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

export async function pack(model: UnitModel): Promise<void> {
  const order = chosen(
    model,
    living(model).filter(({ held }) => sum([...held.values()].map(openOf)) > 0),
  )
  if (order === undefined) return
  const only = upTo(model, 3) === 0 ? upTo(model, 2) : null
  const body = only === null ? {} : { location_id: PLACES[only] }
  const url = `/v1/merchant/orders/${order.id}`
  const answer = await model.settle(
    () => model.shop.merchant.post(`${url}/fulfillments`, body),
    async () => findNewParcels(order, await model.shop.merchant.get(url)),
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

/** The parcels of an order that the model does not know: those of a request whose answer was lost. */
function findNewParcels(order: Order, read: Answer): Answer | null {
  if (read.status !== 200) throw new Error(read.text)
  const known = order.parcels.map(({ id }) => id)
  const fulfillments = read.body.fulfillments.filter(
    ({ id }: { id: string }) => !known.includes(id),
  )
  return fulfillments.length === 0 ? null : { ...read, body: { fulfillments } }
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

const cancelParcel = ({ shop, settle }: UnitModel, { id }: Parcel, body: object = {}) => {
  const url = `/v1/merchant/fulfillments/${id}`
  return settle(
    () => shop.merchant.post(`${url}/cancel`, body),
    async () => {
      const read = await shop.merchant.get(url)
      if (read.status !== 200) throw new Error(read.text)
      return read.body.fulfillment.status === 'cancelled' ? read : null
    },
  )
}

export async function ship(model: UnitModel): Promise<void> {
  const found = chosen(model, parcelsIn(model, 'pending'))
  if (found === undefined) return
  const { order, parcel } = found
  const key = keyed()
  const url = `/v1/merchant/fulfillments/${parcel.id}/ship`
  const answer = await model.settle(() => model.shop.merchant.post(url, {}, key))
  assert.equal(answer.status, 200, answer.text)
  parcel.state = 'shipped'
  movePacked(model, order, parcel, -1)
  moveUnits(model, order, parcel, { on_hand: -1, allocated: -1 })
}

export async function unpack(model: UnitModel): Promise<void> {
  const found = chosen(model, parcelsIn(model, 'pending'))
  if (found === undefined) return
  const answer = await cancelParcel(model, found.parcel)
  assert.equal(answer.status, 200, answer.text)
  found.parcel.state = 'ended'
  movePacked(model, found.order, found.parcel, -1)
}

export async function recall(model: UnitModel): Promise<void> {
  const found = chosen(model, parcelsIn(model, 'shipped'))
  if (found === undefined) return
  const { order, parcel } = found
  const reason = upTo(model, 1) === 0 ? 'lost' : 'returned_to_sender'
  const answer = await cancelParcel(model, parcel, { reason })
  assert.equal(answer.status, 200, answer.text)
  parcel.state = 'ended'
  moveUnits(model, order, parcel, { on_hand: reason === 'lost' ? 0 : 1, allocated: 1 })
}

export async function cancelOrder(model: UnitModel): Promise<void> {
  const order = chosen(model, living(model))
  if (order === undefined) return
  const restock = upTo(model, 2) > 0
  const url = `/v1/merchant/orders/${order.id}/cancel`
  const key = keyed()
  const answer = await model.settle(() =>
    model.shop.merchant.post(url, { reason: 'other', restock }, key),
  )
  // Its process was killed when the refund was about to be sent: it counts as failed, and nothing has changed.
  if (model.paymentsMayFail && codeOf(answer) === 'refund_failed') return
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
