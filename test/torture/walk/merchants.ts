import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { disputeOrder, exchangeOrder, exchangeUnit, moveGoods } from './after-sale.ts'
import type { KeyedCall, Received } from './calls.ts'
import { correctOrder } from './corrections.ts'
import { changeOrder } from './order-changes.ts'
import { type Actor, placeOrder } from './shoppers.ts'
import type { WalkStore } from './store.ts'

/** Manages the stores until the walk is over. */
export async function manage(actor: Actor): Promise<void> {
  const { stores, random, isOver } = actor
  while (!isOver()) {
    const act = random.weigh(ACTS)
    await act(actor, random.pick(stores))
    await delay(random.int(0, 200))
  }
}

type Act = (actor: Actor, store: WalkStore) => Promise<unknown>

const changeAny: Act = async (actor, store) => {
  if (store.orders.length > 0) await changeOrder(actor, store, actor.random.pick(store.orders))
}

const moveAny: Act = async (actor, store) => {
  if (store.orders.length > 0) await moveGoods(actor, store, actor.random.pick(store.orders))
}

const exchangeAny: Act = async (actor, store) => {
  if (store.orders.length > 0) await exchangeOrder(actor, store, actor.random.pick(store.orders))
}

const correctAny: Act = async (actor, store) => {
  if (store.orders.length > 0) await correctOrder(actor, store, actor.random.pick(store.orders))
}

/** Corrects one of the last orders, which has seldom shipped yet. */
const correctNew: Act = async (actor, store) => {
  const last = store.orders.slice(-20)
  if (last.length > 0) await correctOrder(actor, store, actor.random.pick(last))
}

/** Finds orders whose checkout was not answered. */
const listOrders: Act = async ({ calls }, store) => {
  const path = '/v1/merchant/orders?limit=50'
  const received = await calls.send({ method: 'GET', path, credential: store.merchant })
  if (received?.status !== 200) return
  for (const { id } of JSON.parse(received.text).orders) store.orders.push(id)
}

const giveCredit: Act = ({ calls, random }, store) => {
  const customer = random.pick(store.customers)
  const ends = Date.now() + random.int(2, 400) * DAY_MS
  const date = random.happens(50) ? { expires_at: new Date(ends).toISOString() } : {}
  return calls.settle(
    callOf(store, {
      operation: 'store_credit_credit',
      path: `/v1/merchant/store-credit/${customer}/credit`,
      body: { amount_cents: random.int(100, 5_000), currency: 'USD', reason: 'thanks', ...date },
      customer,
    }),
    random.int(1, 3),
  )
}

const issueGiftCard: Act = async ({ calls, random }, store) => {
  const received = await calls.settle(
    callOf(store, {
      operation: 'gift_card_issue',
      path: '/v1/merchant/gift-cards',
      body: { initial_balance_cents: random.int(500, 9_000) },
      customer: null,
    }),
    random.int(1, 3),
  )
  if (received?.status === 201) store.giftCardCodes.push(JSON.parse(received.text).code)
}

/** Declines a commission that is pending, of an order that may have been exchanged or will be. */
const declineCommission: Act = async ({ calls, random }, { merchant: credential }) => {
  const path = '/v1/merchant/affiliates/commissions'
  const query = `${path}?status=pending&limit=50`
  const received = await calls.send({ method: 'GET', path: query, credential })
  if (received?.status !== 200) return
  const { commissions } = JSON.parse(received.text)
  if (commissions.length === 0) return
  const { id } = random.pick<{ id: string }>(commissions)
  await calls.send({ method: 'POST', path: `${path}/${id}/decline`, credential, body: {} })
}

/** Erases a customer, who may well order again. */
const erase: Act = async ({ calls, random }, store) => {
  const customer_ref = random.pick(store.customers)
  const path = '/v1/my/privacy/erase'
  const body = { customer_ref }
  const shown = await calls.send({ method: 'POST', path, credential: store.merchant, body })
  if (shown?.status !== 202) return
  const { confirm } = JSON.parse(shown.text)
  await calls.settle(
    callOf(store, {
      operation: 'privacy_erase',
      path,
      body: { customer_ref, confirm },
      customer: customer_ref,
    }),
    random.int(1, 4),
  )
}

const ACTS: readonly (readonly [number, Act])[] = [
  [12, changeAny],
  [16, moveAny],
  [8, exchangeAny],
  [4, correctAny],
  [12, correctNew],
  [1, listOrders],
  [4, giveCredit],
  [2, issueGiftCard],
  [2, declineCommission],
  [4, erase],
]

const CHAINS = 3
/** Many orders are declined, or exchanged for what is dearer or sold out. */
const TRIES = 40

/**
 * Exchanges some orders, and what they were exchanged for, before anything is disturbed: on a busy machine the walk
 * itself seldom comes so far. What happens to these chains is left to the walk.
 */
export async function openChains(actor: Actor, store: WalkStore): Promise<void> {
  for (let credit = 0; credit < store.customers.length; credit++) await giveCredit(actor, store)
  for (let card = 0; card < CHAINS; card++) await issueGiftCard(actor, store)
  for (let made = 0, tries = 0; made < CHAINS && tries < TRIES; tries++) {
    const order = await placeOrder(actor, store)
    const first = order && (await exchangeUnit(actor, store, order))
    const second = first && (await exchangeUnit(actor, store, first))
    if (second !== null) made += 1
  }
}

const DISPUTES = 12

/** Lets banks dispute any orders of chains, once nothing is disturbed any more. */
export async function disputeChains(actor: Actor, store: WalkStore): Promise<void> {
  for (let n = 0; n < DISPUTES && store.exchanged.length > 0; n++)
    await disputeOrder(actor, store, actor.random.pick(store.exchanged))
}

const callOf = (
  { tenant, merchant }: WalkStore,
  what: Pick<KeyedCall, 'operation' | 'path' | 'body' | 'customer'>,
): KeyedCall => ({
  ...what,
  key: randomUUID(),
  tenant,
  credential: merchant,
  mark: null,
  first: null,
})

/** Reads a store's feed from where it stopped, as a program of the merchant does. */
export async function readFeed({ calls, isOver }: Actor, store: WalkStore): Promise<void> {
  while (!isOver()) {
    const path = `/v1/merchant/events?after=${store.feed.size}&limit=200`
    const received = await calls.send({ method: 'GET', path, credential: store.merchant })
    if (received?.status === 200) rememberEvents(store, received)
    await delay(300)
  }
}

/** Remembers a page of the feed. Throws where a number is missing or has changed its event. */
export function rememberEvents({ tenant, feed }: WalkStore, { text }: Received): number {
  const { events } = JSON.parse(text)
  for (const { id, data } of events) {
    const { sequence } = data
    if (sequence !== feed.size + 1) {
      throw new Error(`the feed of ${tenant} has ${sequence} after ${feed.size}`)
    }
    feed.set(sequence, id)
  }
  return events.length
}
