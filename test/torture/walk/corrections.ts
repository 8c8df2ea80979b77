import { randomUUID } from 'node:crypto'
import { APPROVED } from '../../modules/checkout/setup.ts'
import { asStorefront, type KeyedCall } from './calls.ts'
import { OPERATOR } from './installation.ts'
import type { Random } from './random.ts'
import { type Actor, addressOf, SHIPPING } from './shoppers.ts'
import type { WalkStore } from './store.ts'

/** Corrects orders, and ends what their shoppers are asked to pay for it. */

interface ReadOrder {
  order: { id: string; customer_ref: string }
}

/** Corrects an order. A shopper who is asked to pay may do so, also after a dispute, or the merchant gives up. */
export async function correctOrder(
  { calls, random }: Actor,
  store: WalkStore,
  id: string,
): Promise<void> {
  const path = `/v1/merchant/orders/${id}`
  const { merchant: credential, tenant } = store
  const read = await calls.send({ method: 'GET', path, credential })
  if (read?.status !== 200) return
  const { order }: ReadOrder = JSON.parse(read.text)
  const corrected = await calls.settle(correctionOf(store, order, random), random.int(1, 4))
  if (corrected?.status !== 200 || JSON.parse(corrected.text).applied) return
  if (random.happens(15)) {
    const body = { outcome: random.pick(['opened', 'opened', 'won', 'lost']) }
    const to = `/v1/stores/${tenant}/orders/${id}/dispute`
    await calls.send({ method: 'POST', path: to, credential: OPERATOR, body })
  }
  const end = random.weigh([
    [6, payOf(store, order)],
    [2, withdrawOf(store, order)],
    [2, null],
  ])
  if (end !== null) await calls.settle(end, random.int(1, 4))
}

/** Another person at another address, where shipping and tax may cost something else. */
function correctionOf(store: WalkStore, order: ReadOrder['order'], random: Random): KeyedCall {
  // Begins like the marks of checkouts, so that an erasure has to find it, too.
  const mark = `w${random.mark()}`
  const flat_rate_cents = random.pick([0, 250, 499, 900])
  const rate_bps = random.pick([0, 333, 777, 1_900])
  const body = {
    email: `${mark}@walk.example`,
    name: `Name ${mark}`,
    ...(random.happens(80) && { ship_to: addressOf(mark) }),
    ...(random.happens(60) && { shipping: { ...SHIPPING, flat_rate_cents } }),
    ...(random.happens(60) && { tax: { provider: 'flat_rate', rate_bps } }),
  }
  const path = `/v1/merchant/orders/${order.id}`
  return { ...callOf(store, order, { operation: 'correct', path, body }), method: 'PATCH', mark }
}

const payOf = (store: WalkStore, order: ReadOrder['order']): KeyedCall => ({
  ...callOf(store, order, {
    operation: 'pay',
    path: `/v1/tenants/${store.tenant}/orders/${order.id}/pay`,
    body: { customer_ref: order.customer_ref, card: APPROVED },
  }),
  credential: asStorefront,
})

const withdrawOf = (store: WalkStore, order: ReadOrder['order']): KeyedCall => {
  const path = `/v1/merchant/orders/${order.id}/payment-request/withdraw`
  return callOf(store, order, { operation: 'cancel', path, body: {} })
}

const callOf = (
  { tenant, merchant }: WalkStore,
  { customer_ref }: ReadOrder['order'],
  what: Pick<KeyedCall, 'operation' | 'path' | 'body'>,
): KeyedCall => ({
  ...what,
  key: randomUUID(),
  tenant,
  credential: merchant,
  customer: customer_ref,
  mark: null,
  first: null,
})
