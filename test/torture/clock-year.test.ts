import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Runner } from '../../src/db/sql.ts'
import { APPROVED, addVariant, checkout, enable } from '../modules/checkout/setup.ts'
import { ok } from '../modules/subscriptions/setup.ts'
import { type ClockApp, openClockApp } from '../modules/test-clock/setup.ts'

const SUBSCRIPTIONS = 1_000
const WITHIN_MINUTES = 10

/** Monthly subscriptions that were begun in the last 28 days, as one that a checkout started. */
const copies = (app: ClockApp, id: string, count: number) =>
  app.superuser.query(
    `with copied as (
       insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, email, product_id, variant_id,
              quantity, interval, interval_count, unit_price_cents, currency, pricing, origin_order_id, last_order_id,
              anchor_on, current_period_start, next_charge_at, gateway, vault_id, initial_txn_id, card_brand,
              card_last4, card_exp_month, card_exp_year, card_fingerprint, ship_to)
       select tenant_ref, fd_uuid(), 100000 + n, customer_ref, email, product_id, variant_id, quantity, interval,
              interval_count, unit_price_cents, currency, pricing, origin_order_id, last_order_id,
              (now() - n % 28 * interval '1 day')::date, now(), now() + interval '1 month' - n % 28 * interval '1 day',
              gateway, vault_id, initial_txn_id, card_brand, card_last4, card_exp_month, card_exp_year,
              card_fingerprint, ship_to
         from subscriptions, generate_series(1, $2::int) n where id = $1
       returning tenant_ref, id, origin_order_id)
     insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id)
     select tenant_ref, id, 1, 'paid', now(), origin_order_id from copied`,
    [id, count],
  )

test('a sandbox with 1,000 subscriptions moves by a year within ten minutes, and charges each month once', async (t) => {
  const app = await openClockApp(t)
  // The shape of every row is checked in tests; a server does not do that.
  const { checkRow } = Runner
  t.after(() => {
    Runner.checkRow = checkRow
  })
  Runner.checkRow = null
  const shop = await app.openSandbox('acme')
  await enable(shop.merchant, 'subscriptions')
  const coffee = await addVariant(shop.merchant, 900, {
    is_subscription: true,
    subscription_interval: 'month',
  })
  const bought = ok(
    await checkout(app, shop, {
      customer_ref: 'ann',
      items: [{ variant_id: coffee, quantity: 1 }],
      card: APPROVED,
      subscribe: true,
    }),
    201,
  )
  await copies(app, bought.subscriptions[0].id, SUBSCRIPTIONS - 1)

  const began = performance.now()
  await app.advance(shop.merchant, { advance: 'P365D' })
  const minutes = (performance.now() - began) / 60_000

  const { rows } = await app.superuser.query(
    `select paid, count(*)::int as subscriptions
       from (select count(*)::int as paid from subscription_cycles
              where cycle > 1 and state = 'paid' group by subscription_id) as each
      group by 1 order by 1`,
  )
  t.diagnostic(`${minutes.toFixed(1)} minutes; ${JSON.stringify(rows)}`)
  const [{ orders, charges }] = (
    await app.superuser.query(
      `select (select count(*)::int from orders where subscription_id is not null) as orders,
              (select count(*)::int from sim_charges where captured_cents > 0) as charges`,
    )
  ).rows
  const paid = rows.reduce((sum, each) => sum + each.paid * each.subscriptions, 0)
  // A year from any day has twelve dates of a monthly charge, or eleven where the last one is yet to come that day.
  assert.deepEqual(
    rows.filter(({ paid }) => paid !== 12 && paid !== 11),
    [],
  )
  assert.equal(
    rows.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
    SUBSCRIPTIONS,
  )
  assert.deepEqual([orders, charges], [paid, paid + 1])
  assert.ok(minutes < WITHIN_MINUTES, `${minutes.toFixed(1)} minutes`)
})
