import { randomUUID } from 'node:crypto'
import { APPROVED } from '../../modules/checkout/setup.ts'
import { asStorefront, type Calls, type KeyedCall } from './calls.ts'
import { changeOrder } from './order-changes.ts'
import type { Random } from './random.ts'
import { REVIEWED_IP, type WalkStore } from './store.ts'

export interface Actor {
  calls: Calls
  stores: readonly WalkStore[]
  random: Random
  isOver: () => boolean
}

/** Places orders until the walk is over, and sometimes changes one of them. */
export async function shop(actor: Actor): Promise<void> {
  const { stores, random, isOver } = actor
  while (!isOver()) {
    const store = random.pick(stores)
    const id = await placeOrder(actor, store)
    if (id !== null && random.happens(15)) await changeOrder(actor, store, id)
  }
}

/** Places an order. Returns null where that was refused or not answered. */
export async function placeOrder(
  { calls, random }: Actor,
  store: WalkStore,
): Promise<string | null> {
  const received = await calls.settle(checkoutOf(store, random), random.int(1, 4))
  if (received === null || received.status >= 300) return null
  const id: string = JSON.parse(received.text).order.id
  store.orders.push(id)
  return id
}

export const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 499,
  expedited_rate_cents: 900,
  max_cents: 900,
}

function checkoutOf(store: WalkStore, random: Random): KeyedCall {
  const customer_ref = random.pick(store.customers)
  // Begins with a letter that no other random text begins with.
  const mark = `w${random.mark()}`
  const subscribe = random.happens(20)
  const items = [
    { variant_id: random.pick(store.variants), quantity: random.int(1, 3) },
    ...(subscribe ? [{ variant_id: store.subscribed, quantity: 1 }] : []),
    ...(random.happens(15) ? [giftCardsOf(store, random)] : []),
  ]
  const { giftCardCodes } = store
  const body = {
    customer_ref,
    items,
    card: APPROVED,
    email: `${mark}@walk.example`,
    name: `Name ${mark}`,
    ip: random.happens(15) ? REVIEWED_IP : '198.51.100.4',
    ...(random.happens(50) && { shipping_address: addressOf(mark) }),
    ...(subscribe && { subscribe }),
    ...(random.happens(40) && { apply_store_credit: true }),
    ...(giftCardCodes.length > 0 &&
      random.happens(25) && { gift_card_code: random.pick(giftCardCodes) }),
    ...(random.happens(20) && { coupon_code: random.pick(store.coupons) }),
    ...(random.happens(40) && { shipping: SHIPPING }),
    ...(random.happens(30) && { referral_code: random.pick(store.referralCodes) }),
    ...(random.happens(40) && { tax: { provider: 'flat_rate', rate_bps: 777 } }),
  }
  return {
    operation: 'checkout',
    key: randomUUID(),
    tenant: store.tenant,
    path: `/v1/tenants/${store.tenant}/checkout`,
    credential: asStorefront,
    body,
    customer: customer_ref,
    mark,
    first: null,
  }
}

/** Gift cards for the shopper, or for another person. */
const giftCardsOf = ({ giftCard: variant_id }: WalkStore, random: Random) => ({
  variant_id,
  quantity: random.int(1, 2),
  ...(random.happens(50) && { gift_card: { recipient_email: 'robin@walk.example' } }),
})

export const addressOf = (mark: string) => ({
  label: 'Home',
  name: `Name ${mark}`,
  line1: `1 ${mark} Street`,
  city: 'Aberdale',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
})
