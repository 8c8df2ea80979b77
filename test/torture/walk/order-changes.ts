import { randomUUID } from 'node:crypto'
import { APPROVED } from '../../modules/checkout/setup.ts'
import { asStorefront, type KeyedCall } from './calls.ts'
import type { Random } from './random.ts'
import type { Actor } from './shoppers.ts'
import type { WalkStore } from './store.ts'

/** An order as the merchant reads it, as far as a change needs it. */
interface ReadOrder {
  order: { id: string; total_cents: number; customer_ref: string; status: string }
  items: { id: string; quantity: number }[]
  charges: { charge_id: string; amount_cents: number }[]
}

type Change = {
  operation: string
  credential: 'merchant' | 'storefront'
  verb: string
  body: object
}

/** Reads an order and changes it at random: refunds, cancels, edits, holds or releases it. */
export async function changeOrder(
  { calls, random }: Actor,
  store: WalkStore,
  id: string,
): Promise<void> {
  const path = `/v1/merchant/orders/${id}`
  const read = await calls.send({ method: 'GET', path, credential: store.merchant })
  if (read?.status !== 200) return
  const found: ReadOrder = JSON.parse(read.text)
  if (random.happens(10)) {
    const verb = random.pick(['hold', 'process'])
    const body = verb === 'hold' ? { reason: 'to be checked' } : {}
    await calls.send({ method: 'POST', path: `${path}/${verb}`, credential: store.merchant, body })
    return
  }
  const change = changeOf(found, random)
  await calls.settle(toCall(store, found.order, change), random.int(1, 4))
}

function changeOf({ order, items, charges }: ReadOrder, random: Random): Change {
  const merchant = { credential: 'merchant' } as const
  if (order.status === 'on_hold' && random.happens(70)) {
    return random.weigh<Change>([
      [4, { ...merchant, operation: 'release', verb: 'release', body: {} }],
      [2, { ...merchant, operation: 'cancel', verb: 'reject', body: {} }],
    ])
  }
  const charge = charges.length > 0 ? random.pick(charges) : null
  const method = random.pick(['original', 'original', 'store_credit'])
  const cents = random.int(1, Math.max(1, Math.floor(order.total_cents / 2)))
  const item = random.pick(items)
  const edits = items.map((each) => ({ order_item_id: each.id, quantity: random.int(0, 4) }))
  const shopper = { credential: 'storefront' } as const
  const refund = { ...merchant, operation: 'refund', verb: 'refunds' }
  return random.weigh<Change>([
    [4, { ...refund, body: { amount_cents: cents, method } }],
    [2, { ...refund, body: { items: [{ order_item_id: item.id, quantity: 1 }], method } }],
    [3, { ...refund, body: { method } }],
    [
      charge === null ? 0 : 2,
      {
        ...shopper,
        operation: 'refund',
        verb: 'refund',
        body: { charge_id: charge?.charge_id, ...(random.happens(50) && { amount_cents: cents }) },
      },
    ],
    [2, { ...merchant, operation: 'cancel', verb: 'cancel', body: { reason: 'staff' } }],
    [2, { ...shopper, operation: 'cancel', verb: 'cancel', body: { reason: 'I changed my mind' } }],
    [4, { ...shopper, operation: 'edit', verb: 'edit', body: { edits, card: APPROVED } }],
  ])
}

function toCall(
  { tenant, merchant }: WalkStore,
  { id, customer_ref }: ReadOrder['order'],
  { operation, credential, verb, body }: Change,
): KeyedCall {
  const isMerchants = credential === 'merchant'
  const merchantPath =
    verb === 'reject'
      ? `/v1/merchant/fraud/reviews/${id}/reject`
      : `/v1/merchant/orders/${id}/${verb}`
  return {
    operation,
    key: randomUUID(),
    tenant,
    path: isMerchants ? merchantPath : `/v1/tenants/${tenant}/orders/${id}/${verb}`,
    credential: isMerchants ? merchant : asStorefront,
    body,
    customer: customer_ref,
    mark: null,
    first: null,
  }
}
