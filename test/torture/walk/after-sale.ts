import { randomUUID } from 'node:crypto'
import { APPROVED } from '../../modules/checkout/setup.ts'
import { asStorefront, type KeyedCall } from './calls.ts'
import { OPERATOR } from './installation.ts'
import { changeOrder } from './order-changes.ts'
import type { Random } from './random.ts'
import type { Actor } from './shoppers.ts'
import type { WalkStore } from './store.ts'

/** An order as the merchant reads it, as far as its goods need it. */
interface ReadGoods {
  order: { id: string; customer_ref: string; total_cents: number }
  payment_request: { status: string } | null
  items: { id: string; quantity: number; shipped_quantity: number }[]
  fulfillments: { id: string; status: string }[]
  returns: ReadReturn[]
}

interface ReadReturn {
  id: string
  status: string
  lines: {
    id: string
    quantity: number
    received_quantity: number
    missing_quantity: number
    quarantined_quantity: number
  }[]
}

/** A request that the goods of an order allow, with or without a key. */
interface Step {
  path: string
  body: object
  /** Set: it is sent under a key of this operation. */
  operation?: string
  isShoppers?: boolean
  isOperators?: boolean
}

/** Reads an order and moves its goods: packs, ships, delivers, recalls, returns, or cancels the rest. */
export async function moveGoods(
  { calls, random }: Actor,
  store: WalkStore,
  id: string,
): Promise<void> {
  const path = `/v1/merchant/orders/${id}`
  const read = await calls.send({ method: 'GET', path, credential: store.merchant })
  if (read?.status !== 200) return
  const found: ReadGoods = JSON.parse(read.text)
  const step = random.weigh<MakeStep>(STEPS)(found, random, store)
  if (step === null) return
  if (step.operation === undefined) {
    const { path: to, body, isOperators = false } = step
    const credential = isOperators ? OPERATOR : store.merchant
    await calls.send({ method: 'POST', path: to, credential, body })
    return
  }
  const call = toCall(store, found, step as KeyedStep)
  const received = await calls.settle(call, random.int(1, 4))
  // The order of an exchange may be returned and exchanged in its turn.
  if (step.operation === 'exchange' && received?.status === 201)
    store.orders.push(JSON.parse(received.text).order.id)
}

async function read({ calls }: Actor, store: WalkStore, id: string): Promise<ReadGoods | null> {
  const path = `/v1/merchant/orders/${id}`
  const answer = await calls.send({ method: 'GET', path, credential: store.merchant })
  return answer?.status === 200 ? JSON.parse(answer.text) : null
}

/** Takes an order the whole way to an exchange, and then lets banks dispute both orders. */
export async function exchangeOrder(actor: Actor, store: WalkStore, id: string): Promise<void> {
  const { calls, random } = actor
  const made = await exchangeUnit(actor, store, id)
  if (made === null) return
  for (const each of random.happens(50) ? [id, made] : [made, id]) {
    const found = await read(actor, store, each)
    if (found === null) continue
    const { path, body } = dispute(found, random, store)
    await calls.send({ method: 'POST', path, credential: OPERATOR, body })
  }
}

/** Lets a bank dispute an order of an exchange chain. Meanwhile it is changed, and then the dispute ends. */
export async function disputeOrder(actor: Actor, store: WalkStore, id: string): Promise<void> {
  const { calls, random } = actor
  const path = `/v1/stores/${store.tenant}/orders/${id}/dispute`
  const tell = (outcome: string) =>
    calls.send({ method: 'POST', path, credential: OPERATOR, body: { outcome } })
  await tell('opened')
  await changeOrder(actor, store, id)
  await tell(random.pick(['won', 'lost', 'lost']))
  await changeOrder(actor, store, id)
}

/**
 * Takes an order the whole way to an exchange, which random steps seldom reach: packs and ships it, returns a unit, and
 * exchanges it. Returns the order of the exchange, which may be taken the same way, so that chains grow.
 */
export async function exchangeUnit(
  actor: Actor,
  store: WalkStore,
  id: string,
): Promise<string | null> {
  const { calls, random } = actor
  const path = `/v1/merchant/orders/${id}`
  const { merchant: credential } = store
  const readNow = () => read(actor, store, id)
  const post = (to: string, body: object) =>
    calls.send({ method: 'POST', path: to, credential, body })
  const settle = (found: ReadGoods, step: Step | null) =>
    step === null ? null : calls.settle(toCall(store, found, step as KeyedStep))
  const before = await readNow()
  if (before === null) return null
  await settle(before, payExchange(before))
  await post(`${path}/fulfillments`, {})
  const packed = await readNow()
  if (packed !== null) await settle(packed, ship(packed, random))
  const shipped = (await readNow()) ?? before
  const item = pick(
    random,
    shipped.items.filter(({ shipped_quantity }) => shipped_quantity > 0),
  )
  if (item === null) return null
  const lines = [{ order_item_id: item.id, quantity: 1 }]
  await post('/v1/merchant/returns', { order_id: id, lines })
  const returned = await readNow()
  const received = returned && (await settle(returned, exchange(returned, random, store)))
  if (received?.status !== 201) return null
  const made: string = JSON.parse(received.text).order.id
  store.orders.push(made)
  store.exchanged.push(id, made)
  return made
}

const pick = <T>(random: Random, all: readonly T[]): T | null =>
  all.length === 0 ? null : random.pick(all)

type MakeStep = (found: ReadGoods, random: Random, store: WalkStore) => Step | null

const STEPS: readonly (readonly [number, MakeStep])[] = [
  [8, pack],
  [10, ship],
  [5, deliver],
  [3, cancelParcel],
  [5, makeReturn],
  [3, decideReturn],
  [8, receive],
  [2, resolve],
  [2, cancelRest],
  [6, exchange],
  [6, payExchange],
  [1, withdrawExchange],
  [4, dispute],
]

function pack({ order, items }: ReadGoods, random: Random): Step {
  const one = [{ order_item_id: random.pick(items).id, quantity: 1 }]
  const body = random.happens(50) ? {} : { items: one }
  return { path: `/v1/merchant/orders/${order.id}/fulfillments`, body }
}

const parcelIn = ({ fulfillments }: ReadGoods, random: Random, states: readonly string[]) =>
  pick(
    random,
    fulfillments.filter(({ status }) => states.includes(status)),
  )

const parcelPath = (id: string, verb: string) => `/v1/merchant/fulfillments/${id}/${verb}`

function ship(found: ReadGoods, random: Random): Step | null {
  const parcel = parcelIn(found, random, ['pending'])
  if (parcel === null) return null
  return { path: parcelPath(parcel.id, 'ship'), body: {}, operation: 'fulfillment_ship' }
}

function deliver(found: ReadGoods, random: Random): Step | null {
  const parcel = parcelIn(found, random, ['shipped'])
  return parcel && { path: parcelPath(parcel.id, 'deliver'), body: {} }
}

/** Cancels a parcel, never as lost: a scarce variant would then be rightly oversold, which the books do not show. */
function cancelParcel(found: ReadGoods, random: Random): Step | null {
  const parcel = parcelIn(found, random, ['pending', 'shipped'])
  const reason = random.pick(['returned_to_sender', 'error'])
  return parcel && { path: parcelPath(parcel.id, 'cancel'), body: { reason } }
}

function makeReturn({ order, items }: ReadGoods, random: Random): Step | null {
  const item = pick(
    random,
    items.filter(({ shipped_quantity }) => shipped_quantity > 0),
  )
  if (item === null) return null
  const lines = [{ order_item_id: item.id, quantity: random.int(1, item.shipped_quantity) }]
  if (random.happens(50)) {
    return { path: '/v1/merchant/returns', body: { order_id: order.id, lines } }
  }
  return {
    path: `orders/${order.id}/returns`,
    body: { customer_ref: order.customer_ref, lines },
    operation: 'return_request',
    isShoppers: true,
  }
}

const returnPath = (id: string, verb: string) => `/v1/merchant/returns/${id}/${verb}`

function decideReturn({ returns }: ReadGoods, random: Random): Step | null {
  const returned = pick(random, returns)
  if (returned === null) return null
  const verb = random.pick(['approve', 'approve', 'decline', 'cancel', 'close'])
  const body = verb === 'decline' ? { reason: 'it is worn' } : {}
  return { path: returnPath(returned.id, verb), body }
}

const DISPOSITIONS = ['restock', 'restock', 'damaged', 'quarantine', 'missing']

function receive({ returns }: ReadGoods, random: Random): Step | null {
  const open = returns.filter(({ status }) => ['approved', 'partially_received'].includes(status))
  const returned = pick(random, open)
  if (returned === null) return null
  const lines = returned.lines.flatMap(({ id, quantity, received_quantity, missing_quantity }) => {
    const expected = quantity - received_quantity - missing_quantity
    if (expected === 0) return []
    const units = random.int(1, expected)
    return [
      {
        return_line_id: id,
        received_quantity: units,
        disposition: random.pick(DISPOSITIONS),
      },
    ]
  })
  if (lines.length === 0) return null
  const method = random.pick(['original', 'original', 'store_credit', 'none'])
  return {
    path: returnPath(returned.id, 'receive'),
    body: { lines, refund: { method } },
    operation: 'return_receive',
  }
}

function resolve({ returns }: ReadGoods, random: Random): Step | null {
  const aside = returns.flatMap(({ id, lines }) =>
    lines.filter((line) => line.quarantined_quantity > 0).map((line) => ({ id, line })),
  )
  const found = pick(random, aside)
  if (found === null) return null
  const disposition = random.pick(['restock', 'damaged'])
  const lines = [{ return_line_id: found.line.id, quantity: 1, disposition }]
  return { path: returnPath(found.id, 'resolve'), body: { lines } }
}

function cancelRest({ order }: ReadGoods, random: Random): Step {
  return {
    path: `/v1/merchant/orders/${order.id}/cancel-remaining`,
    body: { reason: 'inventory', restock: random.happens(80) },
    operation: 'cancel_remaining',
  }
}

const EXCHANGED = ['approved', 'partially_received', 'received', 'closed']

function exchange({ returns }: ReadGoods, random: Random, { variants }: WalkStore): Step | null {
  const found = returns.filter(({ status }) => EXCHANGED.includes(status))
  const returned = pick(random, found)
  if (returned === null) return null
  const items = [{ variant_id: random.pick(variants), quantity: random.int(1, 2) }]
  return {
    path: returnPath(returned.id, 'exchange'),
    body: { items, advance: random.happens(80) },
    operation: 'exchange',
  }
}

function payExchange({ order, payment_request }: ReadGoods): Step | null {
  if (payment_request?.status !== 'open') return null
  return {
    path: `orders/${order.id}/pay`,
    body: { customer_ref: order.customer_ref, card: APPROVED },
    operation: 'pay',
    isShoppers: true,
  }
}

function withdrawExchange({ order, payment_request }: ReadGoods): Step | null {
  if (payment_request?.status !== 'open') return null
  const path = `/v1/merchant/orders/${order.id}/payment-request/withdraw`
  return { path, body: {}, operation: 'cancel' }
}

/** An operator learns of a dispute of any order of a chain, or how it ended. */
function dispute({ order }: ReadGoods, random: Random, { tenant }: WalkStore): Step {
  const outcome = random.pick(['opened', 'won', 'lost', 'lost'])
  const amount_cents = random.int(1, Math.max(1, order.total_cents))
  return {
    path: `/v1/stores/${tenant}/orders/${order.id}/dispute`,
    body: { outcome, ...(outcome === 'lost' && random.happens(40) && { amount_cents }) },
    isOperators: true,
  }
}

type KeyedStep = Step & { operation: string }

function toCall(
  { tenant, merchant }: WalkStore,
  { order }: ReadGoods,
  { operation, path, body, isShoppers = false }: KeyedStep,
): KeyedCall {
  return {
    operation,
    key: randomUUID(),
    tenant,
    path: isShoppers ? `/v1/tenants/${tenant}/${path}` : path,
    credential: isShoppers ? asStorefront : merchant,
    body,
    customer: order.customer_ref,
    mark: null,
    first: null,
  }
}
