import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../harness/eventually.ts'
import { startProcess, type TestProcess } from '../../harness/process.ts'
import { openRenewalApp, type RenewalApp, type RenewalShop } from './setup.ts'

/** How many workers are killed, and how many subscriptions are due. The long torture run sets more. */
const KILLS = Number(process.env.RENEWAL_KILLS ?? 1)
const DUE = KILLS > 1 ? 10_000 : 40
const WORKERS = KILLS > 1 ? 2 : 1

test('killed workers charge every due subscription once, miss none, and the books match', async (t) => {
  const app = await openRenewalApp(t)
  const shops = await Promise.all(Array.from({ length: 4 }, () => app.newShop()))
  for (const shop of shops) await fill(app, shop, DUE / shops.length)
  const start = () =>
    startProcess(t, {
      role: 'worker',
      env: {
        DATABASE_URL: app.database.url,
        MIGRATE_ON_START: 'false',
        SECRET_KEY: app.database.secretKey,
      },
    })
  const workers: TestProcess[] = []
  for (let n = 0; n < WORKERS; n++) workers.push(await start())
  for (let kill = 0; kill < KILLS; kill++) {
    const before = await paid(app)
    await until('it charges', async () => (await paid(app)) > before + 5, 120_000)
    await sleep(Math.random() * 300)
    const victim = workers.shift()
    victim?.kill('SIGKILL')
    await victim?.exit
    workers.push(await start())
  }
  // The killed workers had renewals under way: the long run waits for their leases.
  const end = KILLS > 1 ? async () => {} : () => endLeases(app)
  const all = async () => {
    await end()
    return (await paid(app)) === DUE
  }
  await until('all are paid', all, 60_000 + 1_000 * DUE)

  const { rows } = await app.superuser.query(
    `select count(*)::int as orders, count(distinct subscription_id)::int as subscriptions
       from orders where subscription_id is not null and placed_at is not null`,
  )
  assert.deepEqual(rows, [{ orders: DUE, subscriptions: DUE }])
  for (const worker of workers) worker.kill('SIGTERM')
  await Promise.all(workers.map(({ exit }) => exit))
  await app.assertAddsUp()
})

/** Subscriptions as a checkout starts them, of one customer and card, that are due now. */
async function fill(app: RenewalApp, shop: RenewalShop, count: number): Promise<void> {
  const { id } = await app.subscribe(shop)
  await app.superuser.query(
    `with copied as (
       insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, email, product_id, variant_id,
              quantity, interval, interval_count, unit_price_cents, currency, pricing, origin_order_id, last_order_id,
              anchor_on, current_period_start, next_charge_at, gateway, vault_id, initial_txn_id, card_brand,
              card_last4, card_exp_month, card_exp_year, card_fingerprint, ship_to)
       select tenant_ref, fd_uuid(), 100000 + n, customer_ref, email, product_id, variant_id, quantity, interval,
              interval_count, unit_price_cents, currency, pricing, origin_order_id, last_order_id,
              (now() - interval '1 month 1 day')::date, now(), now() - interval '1 hour', gateway, vault_id,
              initial_txn_id, card_brand, card_last4, card_exp_month, card_exp_year, card_fingerprint, ship_to
         from subscriptions, generate_series(1, $2::int) n where id = $1
       returning tenant_ref, id, origin_order_id)
     insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id)
     select tenant_ref, id, 1, 'paid', now(), origin_order_id from copied`,
    [id, count],
  )
}

async function paid(app: RenewalApp): Promise<number> {
  const { rows } = await app.superuser.query(
    `select count(*)::int as paid from subscription_cycles where cycle = 2 and state = 'paid'`,
  )
  return rows[0].paid
}

/**
 * Ends the leases of the killed process, lets its charges count as never sent where the gateway has no
 * record, and makes their retry due.
 */
async function endLeases(app: RenewalApp): Promise<void> {
  await app.superuser.query(
    `update idempotency_keys set lease_until = now()
      where lease_until < now() + interval '40 seconds' and state = 'running'`,
  )
  await app.superuser.query('update subscriptions set retry_at = now() where retry_at > now()')
}
