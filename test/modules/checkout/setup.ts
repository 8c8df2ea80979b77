import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../../harness/app.ts'

export const APPROVED = { ccnumber: '4111 1111 1111 1111', ccexp: '10/40', cvv: '999' }
export const cardOf = (ccnumber: string) => ({ ccnumber, ccexp: '10/40', cvv: '999' })
export const DECLINED = cardOf('4000000000000002')
export const LOST_AFTER_CHARGE = cardOf('4000000000005126')
export const LOST_BEFORE_CHARGE = cardOf('4000000000005134')

/** Every gate of the checkout open. */
const OPEN_GATES = {
  behavior: { storeCredit: { enabled: true }, giftCards: { enabled: true } },
}

export interface Shop {
  tenant: string
  merchant: Caller
  /** The variants of one product each, by price. */
  variants: Record<number, string>
}

/** A live store that sells something at each of these prices. */
export async function openShop(
  app: TestApp,
  tenant = 'acme',
  prices: readonly number[] = [1_000],
  manifest: unknown = OPEN_GATES,
): Promise<Shop> {
  const merchant = await app.merchant(tenant)
  const saved = await merchant.put('/v1/my/store/manifest', { manifest })
  assert.equal(saved.status, 200, saved.text)
  const live = await app.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
  assert.equal(live.status, 200, live.text)
  const variants: Record<number, string> = {}
  for (const price of prices) variants[price] = await addVariant(merchant, price)
  return { tenant, merchant, variants }
}

export async function addVariant(merchant: Caller, price_cents: number, more: object = {}) {
  const product = await merchant.post('/v1/merchant/catalog/products', {
    slug: randomUUID(),
    name: `Worth ${price_cents}`,
    ...more,
  })
  assert.equal(product.status, 201, product.text)
  const { id } = product.body.product
  const made = await merchant.post(`/v1/merchant/catalog/products/${id}/variants`, {
    sku: randomUUID(),
    price_cents,
  })
  assert.equal(made.status, 201, made.text)
  return made.body.variant.id as string
}

/** A checkout under a key of its own, unless one is given. */
export const checkout = (
  app: TestApp,
  { tenant }: Pick<Shop, 'tenant'>,
  body: object,
  key: string = randomUUID(),
) =>
  app.storefront.post(`/v1/tenants/${tenant}/checkout`, body, { 'idempotency-key': key })

export const preview = (app: TestApp, { tenant }: Pick<Shop, 'tenant'>, body: object) =>
  app.storefront.post(`/v1/tenants/${tenant}/checkout/preview`, body)

/** A cart of one variant, paid by a card that is approved. */
export const cart = (variant_id: string | undefined, more: object = {}) => ({
  customer_ref: 'ann',
  items: [{ variant_id, quantity: 1 }],
  card: APPROVED,
  ...more,
})
