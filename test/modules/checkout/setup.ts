import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import type { TenantDb } from '../../../src/db/database.ts'
import * as jobs from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import type { CheckoutRequest } from '../../../src/modules/checkout/schema.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { readSource } from '../../../src/modules/payments/card.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import type { ClaimRequest, StoredAnswer, WonClaim } from '../../../src/platform/idempotency.ts'
import { fingerprint } from '../../../src/platform/idempotency-key.ts'
import { run, type SentAnswer } from '../../../src/platform/idempotency-run.ts'
import { type Caller, openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { expireAllClaims, place, release } from '../../harness/operations.ts'
import { assertOrdersAddUp } from '../../harness/order-oracles.ts'
import { openSuperuser } from '../../harness/superuser.ts'

export const APPROVED = { ccnumber: '4111 1111 1111 1111', ccexp: '10/40', cvv: '999' }
export const cardOf = (ccnumber: string) => ({ ccnumber, ccexp: '10/40', cvv: '999' })
export const DECLINED = cardOf('4000000000000002')
export const LOST_AFTER_CHARGE = cardOf('4000000000005126')
export const LOST_BEFORE_CHARGE = cardOf('4000000000005134')

/** A manifest that offers every option of the checkout. */
export const ALL_OPTIONS = {
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
  app: Pick<TestApp, 'merchant' | 'operator'>,
  tenant = 'acme',
  prices: readonly number[] = [1_000],
  manifest: unknown = ALL_OPTIONS,
): Promise<Shop> {
  const merchant = await app.merchant(tenant)
  const saved = await merchant.put('/v1/my/store/manifest', { manifest })
  assert.equal(saved.status, 200, saved.text)
  await setLive(app, tenant, true)
  const variants: Record<number, string> = {}
  for (const price of prices) variants[price] = await addVariant(merchant, price)
  return { tenant, merchant, variants }
}

export async function setLive(
  app: Pick<TestApp, 'operator'>,
  tenant: string,
  live: boolean,
): Promise<void> {
  const status = live ? 'live' : 'suspended'
  const answer = await app.operator.put(`/v1/stores/${tenant}/status`, { status })
  assert.equal(answer.status, 200, answer.text)
}

export async function addVariant(
  merchant: Caller,
  price_cents: number,
  more: object = {},
  variant: object = {},
) {
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
    ...variant,
  })
  assert.equal(made.status, 201, made.text)
  return made.body.variant.id as string
}

/** Tracks the stock of a variant, and sets it. */
export async function stock(merchant: Caller, variant_id: string, on_hand: number): Promise<void> {
  const url = `/v1/merchant/inventory/${variant_id}`
  const tracked = await merchant.put(url, { track_inventory: true })
  assert.equal(tracked.status, 200, tracked.text)
  const counted = await merchant.post(`${url}/adjust`, { set_on_hand: on_hand, reason: 'count' })
  assert.equal(counted.status, 200, counted.text)
}

const keyed = () => ({ 'idempotency-key': randomUUID() })

export async function enable(merchant: Caller, ...features: string[]): Promise<void> {
  for (const feature_key of features) {
    const answer = await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
    assert.equal(answer.status, 200, answer.text)
  }
}

/** Issues a gift card. The store must have the add-on. */
export async function issueGiftCard(merchant: Caller, cents: number, more: object = {}) {
  const body = { initial_balance_cents: cents, ...more }
  const answer = await merchant.post('/v1/merchant/gift-cards', body, keyed())
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { code: string; gift_card: { id: string } }
}

export async function giveCredit(merchant: Caller, customer: string, amount_cents: number) {
  const body = { amount_cents, currency: 'USD', reason: 'a gift' }
  const url = `/v1/merchant/store-credit/${customer}/credit`
  const answer = await merchant.post(url, body, keyed())
  assert.equal(answer.status, 201, answer.text)
}

/** A checkout under a key of its own, unless one is given. */
export const checkout = (
  app: Pick<TestApp, 'storefront'>,
  { tenant }: Pick<Shop, 'tenant'>,
  body: object,
  key: string = randomUUID(),
) => app.storefront.post(`/v1/tenants/${tenant}/checkout`, body, { 'idempotency-key': key })

export const preview = (app: TestApp, { tenant }: Pick<Shop, 'tenant'>, body: object) =>
  app.storefront.post(`/v1/tenants/${tenant}/checkout/preview`, body)

/** A cart of one variant, paid by a card that is approved. */
export const cart = (variant_id: string | undefined, more: object = {}) => ({
  customer_ref: 'ann',
  items: [{ variant_id, quantity: 1 }],
  card: APPROVED,
  ...more,
})

/** A clock that a test moves. The time of the database stays. */
export function movableClock() {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    advance(ms: number) {
      ahead += ms
    },
    reset() {
      ahead = 0
    },
  }
}

export interface CheckoutApp extends TestApp {
  superuser: pg.Client
  clock: ReturnType<typeof movableClock>
  /** The alerts so far. */
  alerts: { message: string; order_id?: unknown }[]
  /** A checkout that stops at a named step, as by a crash: nothing is cleaned up. */
  crash(shop: Shop, body: object, point: string, key?: string, overrides?: Overrides): Promise<void>
  /** A checkout with overrides. */
  place(shop: Shop, body: object, key: string, overrides: Overrides): Promise<SentAnswer>
  /** A release with overrides. */
  release(shop: Shop, orderId: string, key: string, overrides: Overrides): Promise<SentAnswer>
  /** A release that stops at a named step, as by a crash. */
  crashRelease(shop: Shop, orderId: string, point: string): Promise<void>
  /** Makes every running key due, as if its process had stopped. */
  expireClaims(): Promise<void>
  reconcile(overrides?: Overrides): Promise<number>
  /** The app's deps with overrides. */
  depsWith(overrides?: Overrides): jobs.JobDeps
  /** Cancels held orders whose authorisation has lapsed. */
  expire(overrides?: Overrides): Promise<number>
  watchLate(overrides?: Overrides): Promise<number>
  /** Fails unless all oracles hold. */
  assertAddsUp(): Promise<void>
}

/** Replaces some calls of the real gateway. */
export type GatewayOverride = (real: Gateway) => Partial<Gateway>

/** What a test replaces in the app's deps. */
export interface Overrides {
  velocityLimit?: number
  gateway?: GatewayOverride
  /** Called at each named step. */
  at?: (point: string) => void | Promise<void>
}

class Crash extends Error {}

export async function openCheckoutApp(
  t: TestContext,
  options: TestAppOptions = {},
): Promise<CheckoutApp> {
  const clock = movableClock()
  const env = { CHECKOUT_VELOCITY_PER_MINUTE: '1000000', ...options.env }
  const app = await openTestApp(t, { clock, ...options, env })
  const superuser = await openSuperuser(t, app.database)
  const alerts: CheckoutApp['alerts'] = []
  const deps = {
    ...openCheckout(app.runtime),
    database: app.runtime.workerDatabase,
    onAlert: (alert: Record<string, unknown>, message: string) =>
      void alerts.push({ ...alert, message }),
  }
  const depsWith = ({ gateway, ...rest }: Overrides = {}) => {
    const { payments } = deps
    const forStore: typeof payments.forStore = async (...of) => {
      const real = await payments.forStore(...of)
      return { ...real, ...gateway?.(real) }
    }
    return { ...deps, ...rest, trustClocks: [clock], payments: { ...payments, forStore } }
  }
  const print = (body: unknown, target?: string) => fingerprint(deps.idempotencyKey, body, target)
  // A crashed process releases nothing: the claim stays as it was.
  const crashAt = async (
    point: string,
    { tenant }: Shop,
    claim: ClaimRequest,
    work: (at: (reached: string) => void, db: TenantDb, held: WonClaim) => Promise<StoredAnswer>,
  ) => {
    const db = app.runtime.database.tenant(tenant)
    const at = (reached: string) => {
      if (reached === point) throw new Crash(point)
    }
    let crashed = false
    await run(db, claim, async (held) => {
      try {
        return await work(at, db, held)
      } catch (error) {
        if (!(error instanceof Crash)) throw error
        crashed = true
        return { state: 'answered', status: 0, body: '' }
      }
    })
    assert.ok(crashed, `${point} was never reached`)
  }
  return {
    ...app,
    superuser,
    clock,
    alerts,
    crash(shop, body, point, key = randomUUID(), overrides) {
      const request = body as CheckoutRequest
      const placing = { request, source: readSource(request, clock) }
      const claim = { operation: 'checkout', key, fingerprint: print(body) }
      return crashAt(point, shop, claim, (at, db, held) =>
        place({ ...depsWith(overrides), at }, db, held, placing),
      )
    },
    place({ tenant }, body, key, overrides) {
      const db = app.runtime.database.tenant(tenant)
      const request = body as CheckoutRequest
      const placing = { request, source: readSource(request, clock) }
      const claim = { operation: 'checkout', key, fingerprint: print(body) }
      return run(db, claim, (held) => place(depsWith(overrides), db, held, placing))
    },
    release({ tenant }, orderId, key, overrides) {
      const db = app.runtime.database.tenant(tenant)
      const claim = { operation: 'release', key, fingerprint: print(null, orderId) }
      return run(db, claim, (held) =>
        release(depsWith(overrides), db, { actor: SYSTEM, claim: held }, orderId),
      )
    },
    crashRelease(shop, orderId, point) {
      const claim = { operation: 'release', key: randomUUID(), fingerprint: print(null, orderId) }
      return crashAt(point, shop, claim, (at, db, held) =>
        release({ ...deps, at }, db, { actor: SYSTEM, claim: held }, orderId),
      )
    },
    async expireClaims() {
      await expireAllClaims(superuser)
    },
    depsWith,
    reconcile: (overrides) => jobs.reconcile(depsWith(overrides)),
    expire: (overrides) => jobs.expireAuthorizations(depsWith(overrides)),
    async watchLate(overrides) {
      await superuser.query(
        `update payment_attempts set next_check_at = now() where next_check_at is not null`,
      )
      return jobs.watchLateApprovals(depsWith(overrides))
    },
    assertAddsUp: () => assertOrdersAddUp(superuser),
  }
}

/** Row counts that show whether a refused checkout left anything behind. */
export async function counts({ superuser }: CheckoutApp) {
  const { rows } = await superuser.query(
    `select (select count(*) from orders) as orders, (select count(*) from charges) as charges,
            (select count(*) from sim_charges) as gateway, (select count(*) from ledger_holds) as holds,
            (select count(*) from ledger_entries) as entries,
            (select coalesce(sum(used_count), 0) from coupons) as coupons,
            (select count(*) from order_timeline) as timeline,
            (select count(*) from webhook_events) as events,
            (select sum(reserved) from inventory_levels) as reserved,
            (select count(*) from payment_attempts) as attempts`,
  )
  return rows[0]
}
