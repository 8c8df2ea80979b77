import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import {
  type Answer,
  type Caller,
  openTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../harness/app.ts'
import { moveTo } from '../../harness/store-time.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { APPROVED, addVariant, checkout, enable, openShop } from '../checkout/setup.ts'

export const BASE = '/v1/merchant/subscriptions'

export const ADDRESS = {
  label: 'Home',
  name: 'Ada',
  line1: '1 Square',
  line2: null,
  city: 'London',
  state: '',
  postal_code: 'SW1Y 4JH',
  country: 'GB',
}

export function ok(answer: Answer, status = 200): Answer['body'] {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}

export const refusal = ({ status, body }: Answer) => [status, body.error?.code]

/** The dates of charges, without their time. */
export const datesOf = ({ next_charges }: { next_charges: { at: string }[] }) =>
  next_charges.map(({ at }) => at.slice(0, 10))

export const cyclesOf = ({ next_charges }: { next_charges: { cycle: number }[] }) =>
  next_charges.map(({ cycle }) => cycle)

export interface Stores {
  app: TestApp
  superuser: pg.Client
  /** A live store whose time can be set, which sells coffee by subscription. */
  open(tenant: string, at?: string): Promise<SubscriptionStore>
}

export interface SubscriptionStore {
  app: TestApp
  tenant: string
  merchant: Caller
  superuser: pg.Client
  /** Costs 1,000, and 800 by subscription. */
  coffee: string
  /** Sets the time of the store. */
  travel(to: string): void
  /** Adds a product that is sold by subscription. */
  sell(price: number, more?: object, variant?: object): Promise<string>
  /** Buys coffee by subscription, and reads the subscription. */
  subscribe(more?: object): Promise<Answer['body']>
  act(id: string, verb: string, body?: object): Promise<Answer>
  patch(id: string, body: object): Promise<Answer>
  read(id: string): Promise<Answer['body']>
  /** Calls a route of the storefront plane for a customer. */
  shopper(method: string, path: string, body?: object, customer?: string): Promise<Answer>
  /** Makes cycle 2 one that is being charged, as the engine does. */
  charging(id: string, cycle?: number): Promise<void>
}

export async function openStores(t: TestContext, options: TestAppOptions = {}): Promise<Stores> {
  const env = { CHECKOUT_VELOCITY_PER_MINUTE: '100000', ...options.env }
  const app = await openTestApp(t, { ...options, env })
  const superuser = await openSuperuser(t, app.database)
  return {
    app,
    superuser,
    async open(tenant, at) {
      const travel = (to: string) => moveTo(app.runtime, tenant, to)
      if (at !== undefined) travel(at)
      const { merchant } = await openShop(app, tenant)
      await enable(merchant, 'subscriptions', 'subscribe_and_save')
      return openStore({ app, superuser }, { tenant, merchant, travel })
    },
  }
}

const MONTHLY = { is_subscription: true, subscription_interval: 'month' }

async function openStore(
  { app, superuser }: { app: TestApp; superuser: pg.Client },
  { tenant, merchant, travel }: Pick<SubscriptionStore, 'tenant' | 'merchant' | 'travel'>,
): Promise<SubscriptionStore> {
  const sell: SubscriptionStore['sell'] = (price, more = {}, variant = {}) =>
    addVariant(merchant, price, { ...MONTHLY, ...more }, variant)
  const coffee = await sell(1_000, { subscription_price_cents: 800 })
  const read = async (id: string) => ok(await merchant.get(`${BASE}/${id}`)).subscription
  return {
    app,
    superuser,
    tenant,
    merchant,
    coffee,
    travel,
    sell,
    read,
    async subscribe(more = {}) {
      const items = [{ variant_id: coffee, quantity: 1 }]
      const body = {
        customer_ref: 'ann',
        email: 'ann@x.example',
        shipping_address: ADDRESS,
        items,
        card: APPROVED,
        subscribe: true,
        ...more,
      }
      const placed = ok(await checkout(app, { tenant }, body), 201)
      return read(placed.subscriptions[0].id)
    },
    act: (id, verb, body) => merchant.post(`${BASE}/${id}/${verb}`, body),
    patch: (id, body) => merchant.patch(`${BASE}/${id}`, body),
    shopper: (method, path, body, customer = 'ann') =>
      app.storefront.send(
        method,
        `/v1/tenants/${tenant}/subscriptions${path}?customer_ref=${encodeURIComponent(customer)}`,
        body,
      ),
    async charging(id, cycle = 2) {
      await superuser.query(
        `insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at)
         values ($1, $2, $3, 'charging', now())`,
        [tenant, id, cycle],
      )
    },
  }
}
