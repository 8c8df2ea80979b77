import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type Done, runDue } from '../../../src/modules/renewals/jobs.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import type { Answer } from '../../harness/app.ts'
import { share } from '../../harness/scope.ts'
import { moveTo } from '../../harness/store-time.ts'
import {
  APPROVED,
  addVariant,
  type CheckoutApp,
  cardOf,
  checkout,
  enable,
  type Overrides,
  openCheckoutApp,
  openShop,
  type Shop,
} from '../checkout/setup.ts'

/** Cards of the simulated gateway that follow a script once they are stored. */
export const CARDS = {
  approved: APPROVED,
  alwaysDeclined: cardOf('4000000000000341'),
  twiceDeclined: cardOf('4000000000002685'),
  hardDeclined: cardOf('4000000000000911'),
  stopAll: cardOf('4000000000002610'),
  stop: cardOf('4000000000002628'),
  update: cardOf('4000000000002636'),
  wait: cardOf('4000000000002644'),
  waitFourDays: cardOf('4000000000002651'),
}

export const ADDRESS = {
  label: 'Home',
  line1: '1 Main Street',
  line2: null,
  city: 'Berlin',
  state: 'BE',
  postal_code: '10115',
  country: 'DE',
}

export interface RenewalShop extends Shop {
  /** A monthly subscription at 1,000 cents. */
  tea: string
}

export interface RenewalApp extends CheckoutApp {
  /** Sets the time of a store. */
  setTime(shop: Shop, at: string): void
  /** Does the work that is due in a store at its time. */
  run(shop: Shop, overrides?: Overrides): Promise<Done['step'][]>
  newShop(more?: { settings?: object; zone?: string; manifest?: unknown }): Promise<RenewalShop>
  /** Buys a subscription. Returns its id and that of its order. */
  subscribe(shop: RenewalShop, more?: object): Promise<{ id: string; order_id: string }>
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects by looking
  row(id: string): Promise<any>
  /** The cycles as `number state reason`. */
  cycles(id: string): Promise<string[]>
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects by looking
  orders(id: string): Promise<any[]>
  /** The entries about it in the timeline of its origin order, as `type actor reason`. */
  told(shop: Shop, id: string): Promise<string[]>
  /** The types of a subscription's events, without what all have in common. */
  events(id: string): Promise<string[]>
  charge(shop: Shop, id: string, key?: string, body?: object): Promise<Answer>
}

const name = () => `shop-${randomUUID().slice(0, 8)}`

export async function openRenewalApp(t: TestContext): Promise<RenewalApp> {
  const app = await openCheckoutApp(t)
  const query = async (text: string, values: unknown[]) =>
    (await app.superuser.query(text, values)).rows
  const dbOf = ({ tenant }: Shop) => app.runtime.workerDatabase.tenant(tenant)
  return {
    ...app,
    setTime({ tenant }, at) {
      moveTo(app.runtime, tenant, at)
    },
    run: async (shop, overrides) =>
      (await runDue(app.depsWith(overrides), dbOf(shop))).map(({ step }) => step),
    async newShop({ settings = {}, zone = 'Europe/Berlin', manifest } = {}) {
      const shop = await openShop(app, name(), [], ...(manifest === undefined ? [] : [manifest]))
      await enable(shop.merchant, 'subscriptions')
      const patched = await shop.merchant.patch('/v1/my/store', { time_zone: zone })
      assert.equal(patched.status, 200, patched.text)
      const columns = Object.entries(settings)
      if (columns.length > 0) {
        await query(
          `insert into subscription_settings (tenant_ref, ${columns.map(([column]) => column)})
           values ($1, ${columns.map((_, at) => `$${at + 2}`)})`,
          [shop.tenant, ...columns.map(([, value]) => value)],
        )
      }
      const terms = { is_subscription: true, subscription_interval: 'month' }
      return { ...shop, tea: await addVariant(shop.merchant, 1_000, terms) }
    },
    async subscribe(shop, more = {}) {
      const answer = await checkout(app, shop, {
        customer_ref: randomUUID(),
        items: [{ variant_id: shop.tea, quantity: 1 }],
        card: APPROVED,
        subscribe: true,
        email: 'ann@example.com',
        shipping_address: ADDRESS,
        ...more,
      })
      assert.equal(answer.status, 201, answer.text)
      return { id: answer.body.subscriptions[0].id, order_id: answer.body.order.id }
    },
    row: async (id) => (await query('select * from subscriptions where id = $1', [id]))[0],
    cycles: async (id) =>
      (
        await query(
          `select concat_ws(' ', cycle, state, reason) as text from subscription_cycles
            where subscription_id = $1 order by cycle`,
          [id],
        )
      ).map(({ text }) => text),
    orders: (id) =>
      query(
        `select *, to_char(placed_at at time zone 'Europe/Berlin', 'YYYY-MM-DD') as day
           from orders where subscription_id = $1 order by created_at, order_number`,
        [id],
      ),
    async told({ merchant }, id) {
      const [{ origin_order_id }] = await query(
        'select origin_order_id from subscriptions where id = $1',
        [id],
      )
      const { body } = await merchant.get(`/v1/merchant/orders/${origin_order_id}/timeline`)
      const entries: { type: string; actor: string; data: Record<string, unknown> }[] =
        body.timeline
      return entries
        .filter(({ type, data }) => type.startsWith('subscription_') && data.subscription_id === id)
        .map(
          ({ type, actor, data }) => `${type.replace('subscription_', '')} ${actor} ${data.reason}`,
        )
    },
    async events(id) {
      while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
      const rows = await query(
        `select type from webhook_events
          where convert_from(payload, 'utf8')::jsonb -> 'data' -> 'subscription' ->> 'id' = $1
          order by sequence`,
        [id],
      )
      return rows.map(({ type }) => type.replace('commerce.subscription.', '').replace('.v1', ''))
    },
    charge: ({ merchant }, id, key = randomUUID(), body) =>
      merchant.post(`/v1/merchant/subscriptions/${id}/charge`, body, {
        'idempotency-key': key,
      }),
  }
}

/** One app for all tests of a suite, whose books must match at the end. Call it in the suite. */
export const shareRenewalApp = (): { current: RenewalApp } =>
  share(async (scope) => {
    const app = await openRenewalApp(scope)
    scope.after(() => app.assertAddsUp())
    return app
  })
