import { randomUUID } from 'node:crypto'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { dueApprovals } from '../../../src/modules/affiliates/jobs.ts'
import type { Answer } from '../../harness/app.ts'
import { share } from '../../harness/scope.ts'
import { moveTo } from '../../harness/store-time.ts'
import {
  APPROVED,
  type CheckoutApp,
  cart,
  checkout,
  enable,
  openCheckoutApp,
  openShop,
  type Shop,
} from '../checkout/setup.ts'
import { ok } from '../returns/setup.ts'

export const AFFILIATES = '/v1/merchant/affiliates'

export const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key })

export interface AffiliateShop extends Shop {
  app: CheckoutApp
  variant: string
}

/** A live store with the add-on, that sells something at 10,000 cents and at 1,000. */
export async function openAffiliateShop(
  app: CheckoutApp,
  tenant = `shop-${randomUUID().slice(0, 8)}`,
): Promise<AffiliateShop> {
  const shop = await openShop(app, tenant, [10_000, 1_000])
  await enable(shop.merchant, 'affiliates')
  return { ...shop, app, variant: shop.variants[10_000] ?? '' }
}

/** One app for the tests of a `describe`. The oracles check it at the end. */
export const shareAffiliateApp = (): { current: CheckoutApp } =>
  share(async (scope) => {
    const app = await openCheckoutApp(scope)
    scope.after(() => app.assertAddsUp())
    return app
  })

type Merchant = Pick<Shop, 'merchant'>

export interface Made {
  id: string
  code: string
  email: string
}

/** An active affiliate with a code, at ten percent unless the test says otherwise. */
export async function makeAffiliate({ merchant }: Merchant, more: object = {}): Promise<Made> {
  const code = `C${randomUUID().slice(0, 8)}`
  const email = `${code.toLowerCase()}@affiliate.example`
  const body = { name: 'Fay Friend', email, code, ...more }
  const { affiliate } = ok(await merchant.post(AFFILIATES, body), 201)
  const [first] = affiliate.referral_codes
  return { id: affiliate.id, code: first?.code ?? code, email: affiliate.email }
}

/** Buys with a code. Returns the body of the checkout's answer. */
export async function buy(shop: AffiliateShop, more: object = {}): Promise<Answer['body']> {
  const body = cart(shop.variant, { customer_ref: `shopper-${randomUUID()}`, ...more })
  return ok(await checkout(shop.app, shop, body), 201)
}

export async function commissionsOf(
  { merchant }: Merchant,
  filter: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects by looking
): Promise<any[]> {
  const query = new URLSearchParams({ limit: '100', ...filter })
  return ok(await merchant.get(`${AFFILIATES}/commissions?${query}`)).commissions.toReversed()
}

/** The commissions of an order as `type status amount`, oldest first. */
export const linesOf = async (shop: Merchant, order_id: string): Promise<string[]> =>
  (await commissionsOf(shop, { order_id })).map(
    ({ type, status, amount_cents }) => `${type} ${status} ${amount_cents}`,
  )

/** Returns the balance of an affiliate in USD: pending, approved, in a payout, paid. */
export async function balanceOf({ merchant }: Merchant, id: string): Promise<number[]> {
  const { balances } = ok(await merchant.get(`${AFFILIATES}/${id}`))
  const found = balances.find(({ currency }: { currency: string }) => currency === 'USD')
  if (found === undefined) return [0, 0, 0, 0]
  const { pending_cents, approved_cents, in_payout_cents, paid_cents } = found
  return [pending_cents, approved_cents, in_payout_cents, paid_cents]
}

export const refund = (shop: Merchant, order_id: string, body: object = {}) =>
  shop.merchant.post(`/v1/merchant/orders/${order_id}/refunds`, body, keyed())

/** The shopper changes the quantity of a line, and pays more with a card. */
export const editOrder = (
  { app, tenant }: AffiliateShop,
  order_id: string,
  order_item_id: string,
  quantity: number,
) =>
  app.storefront.post(
    `/v1/tenants/${tenant}/orders/${order_id}/edit`,
    { edits: [{ order_item_id, quantity }], card: APPROVED },
    keyed(),
  )

/** Sets the time of a store to so many days from now, and approves what is due then. */
export async function passDays(shop: AffiliateShop, days: number): Promise<number> {
  const { runtime } = shop.app
  moveTo(runtime, shop.tenant, new Date(Date.now() + days * DAY_MS).toISOString())
  const db = runtime.workerDatabase.tenant(shop.tenant)
  return (await dueApprovals.runDue(db, new AbortController().signal)).count
}

export const pay = (shop: Merchant, body: object = {}, key?: string) =>
  shop.merchant.post(`${AFFILIATES}/payouts`, body, keyed(key))

/** Pays all that is due, and marks it as paid. */
export async function payOut(shop: Merchant, body: object = {}): Promise<Answer['body'][]> {
  const { payouts } = ok(await pay(shop, body), 201)
  for (const { id } of payouts)
    ok(await shop.merchant.post(`${AFFILIATES}/payouts/${id}/mark-paid`))
  return payouts
}
