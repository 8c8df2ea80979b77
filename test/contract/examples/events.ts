import { randomUUID } from 'node:crypto'
import type { ApiExample } from '../../../src/http/api-examples.ts'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { moveDue } from '../../../src/modules/campaigns/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { runDue } from '../../../src/modules/renewals/jobs.ts'
import { nameOf } from '../../../src/modules/webhooks/describe.ts'
import { createDispatcher } from '../../../src/modules/webhooks/dispatcher.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { openDispatch } from '../../../src/modules/webhooks/open.ts'
import { moveTo } from '../../harness/store-time.ts'
import {
  APPROVED,
  addVariant,
  checkout,
  enable,
  openShop,
  stock,
} from '../../modules/checkout/setup.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'
import { freshKey } from '../ids.ts'
import { stable } from './record.ts'

/** Where nothing listens: the setting allows the address, as for the endpoint of a developer's machine. */
export const DEAD_ENDPOINT = '127.0.0.1:9'

/** What happens by itself, and in no story of the API: charges and notices, failures, and low stock. */
export async function letThingsHappen(app: MailApp): Promise<void> {
  await renewSubscriptions(app)
  await troubleStore(app)
}

async function renewSubscriptions(app: MailApp): Promise<void> {
  const setTime = (time: string) => moveTo(app.runtime, 'pantry', time)
  setTime('2034-01-10T12:00:00Z')
  const shop = await openShop(app, 'pantry', [])
  const { merchant } = shop
  await enable(merchant, 'subscriptions')
  const base = '/v1/merchant/subscriptions'
  ok(await merchant.put(`${base}/settings`, { pre_renewal_notice_days: 7 }))
  const subscribe = async (customer_ref: string, sku: string) => {
    const terms = { name: sku, is_subscription: true, subscription_interval: 'month' }
    const variant_id = await addVariant(merchant, 1_500, terms, { sku })
    const items = [{ variant_id, quantity: 1 }]
    const who = { customer_ref, email: `${customer_ref}@example.com` }
    const body = { ...who, items, card: APPROVED, subscribe: true }
    const { subscriptions } = ok(await checkout(app, shop, body), 201)
    return { id: subscriptions[0].id as string, variant_id }
  }
  const oats = await subscribe('ann', 'OATS')
  ok(await merchant.patch(`${base}/${oats.id}`, { max_cycles: 2 }))
  const rice = await subscribe('ben', 'RICE')
  ok(await merchant.patch(`${base}/${rice.id}`, { price_policy: 'current' }))
  await app.sql('update variants set price_cents = 1700 where id = $1', [rice.variant_id])
  const salt = await subscribe('cal', 'SALT')
  await app.sql('update subscriptions set card_exp_month = 2, card_exp_year = 2034 where id = $1', [
    salt.id,
  ])
  const figs = await subscribe('dan', 'FIGS')
  await stock(merchant, figs.variant_id, 0)
  const deps = openCheckout(app.runtime)
  for (const time of ['2034-02-05T12:00:00Z', '2034-02-10T12:00:00Z']) {
    setTime(time)
    await runDue(deps, app.runtime.workerDatabase.tenant('pantry'))
  }
}

async function troubleStore(app: MailApp): Promise<void> {
  const { workerDatabase } = app.runtime
  const shop = await openShop(app, 'bakery', [])
  const { merchant } = shop
  await enable(merchant, 'affiliates')
  const bread = await addVariant(merchant, 900, { name: 'Bread' }, { sku: 'BREAD' })
  await stock(merchant, bread, 10)
  ok(
    await merchant.put(`/v1/merchant/inventory/${bread}`, {
      track_inventory: true,
      low_stock_threshold: 8,
    }),
  )
  const friend = { name: 'Ida Iris', email: 'ida@example.com', code: 'IDA', status: 'active' }
  ok(await merchant.post('/v1/merchant/affiliates', friend), 201)
  const hook = { url: `http://${DEAD_ENDPOINT}/hooks`, events: ['commerce.order.placed.v1'] }
  ok(await merchant.post('/v1/merchant/webhooks', hook), 201)
  // As after nine failures.
  await app.sql('update webhook_subscriptions set consecutive_failures = 9 where tenant_ref = $1', [
    'bakery',
  ])
  const items = [{ variant_id: bread, quantity: 2 }]
  const touched = ok(
    await app.storefront.post('/v1/tenants/bakery/affiliates/touches', { code: 'IDA' }),
  )
  const { referral_code, referral_touch } = touched
  const who = {
    customer_ref: randomUUID(),
    email: 'eve@example.com',
    referral_code,
    referral_touch,
  }
  const { order } = ok(await checkout(app, shop, { ...who, items, card: APPROVED }), 201)
  const refund = { amount_cents: 900 }
  ok(await merchant.post(`/v1/merchant/orders/${order.id}/refunds`, refund, freshKey()), 201)

  while ((await numberNewEvents(workerDatabase)) > 0);
  const dispatcher = createDispatcher(openDispatch(app.runtime))
  await dispatcher.step(new AbortController().signal)
  await dispatcher.drain()

  const url = '/v1/merchant/marketing'
  const conditions = [{ field: 'consent', op: 'is', value: 'given' }]
  const readers = { name: 'Readers', match: 'all', conditions }
  const { segment } = ok(await merchant.post(`${url}/segments`, readers), 201)
  const text = { subject: 'New bread', body_markdown: 'It is fresh.', segment_id: segment.id }
  const letter = { name: 'Bread in May', channel: 'email', ...text }
  const { campaign } = ok(await merchant.post(`${url}/campaigns`, letter), 201)
  const soon = { send_at: new Date(Date.now() + HOUR_MS).toISOString() }
  ok(await merchant.post(`${url}/campaigns/${campaign.id}/schedule`, soon))
  // As after the worker was down at its time.
  await app.sql(
    `update campaigns set starts_at = now() - interval '2 hours', due_at = now() - interval '2 hours'
      where id = $1`,
    [campaign.id],
  )
  while ((await moveDue(workerDatabase)) > 0);
}

/** The first event of each kind as an endpoint would be sent it, by its name in the API document. */
export async function readEvents(app: MailApp): Promise<Record<string, ApiExample>> {
  while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
  const rows = await app.sql<{ request: { type: string } }>(
    `select distinct on (type) convert_from(payload, 'UTF8')::json as request
       from webhook_events
      order by type, tenant_ref, sequence`,
  )
  const named = rows.map(({ request }) => [nameOf(request.type), stable({ request })] as const)
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
