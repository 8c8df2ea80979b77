import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { openCheckout } from '../src/modules/checkout/open.ts'
import { createRenewalWorker } from '../src/modules/renewals/jobs.ts'
import { createLogger } from '../src/platform/log.ts'
import { startLoop } from '../src/platform/loop.ts'
import { openRuntime } from '../src/runtime.ts'
import { many, openShop, SECRET_KEY, warmUp } from './checkout.ts'
import type { Figure } from './figure.ts'
import { THIS_TREE } from './trees.ts'

/** Renewals of one round: some seconds. */
const DUE = 500
const ROUNDS = 3

/**
 * How many renewals a second one worker charges, beside checkouts of the same database in the same run. Both place and
 * pay an order; a renewal has no request and no typed card, and has its cycle.
 */
export async function renewals(dataDir: string): Promise<Figure> {
  const shop = await openShop(dataDir, THIS_TREE)
  const client = new pg.Client({ connectionString: shop.url })
  await client.connect()
  const worker = await openWorker(shop.url)
  try {
    await warmUp(shop, async () => {})
    await seedCards(client)
    await worker.charge(client)
    const pairs: { checkouts: number; renewals: number; ratio: number }[] = []
    for (let n = 0; n < ROUNDS; n++) {
      const { perSecond: checkouts } = await shop.run(shop.app, many)
      const charged = await worker.charge(client)
      pairs.push({ checkouts, renewals: charged, ratio: charged / checkouts })
    }
    const median = pairs.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
    if (median === undefined) throw new Error('nothing was measured')
    return {
      name: 'renewals by one worker over 100 stores',
      ours: `${Math.round(median.renewals)}/s`,
      floor: `${Math.round(median.checkouts)}/s, checkouts by card`,
      ratio: median.ratio,
      atLeast: 0.8,
    }
  } finally {
    await worker.close()
    await client.end()
    await shop.close()
  }
}

async function openWorker(databaseUrl: string) {
  const runtime = await openRuntime({
    config: readConfig({}),
    secrets: { OPERATOR_TOKEN: 'none', STOREFRONT_TOKEN: 'none', SECRET_KEY },
    logger: createLogger('error', { write: (line) => void process.stderr.write(line) }),
    databaseUrl,
  })
  const worker = createRenewalWorker({
    ...openCheckout(runtime),
    database: runtime.workerDatabase,
    onFree: () => loop.wake(),
  })
  const { logger } = runtime
  const loop = startLoop({ name: 'renewals', everyMs: 1_000, step: worker.step, logger })
  return {
    /** Makes subscriptions due, and returns how many are charged in a second. */
    async charge(client: pg.Client): Promise<number> {
      await seedDue(client)
      const began = performance.now()
      loop.wake()
      while (await isUnderWay(client)) await sleep(20)
      return DUE / ((performance.now() - began) / 1_000)
    },
    async close() {
      await loop.stop()
      await worker.drain()
      await runtime.close()
    },
  }
}

/** A stored card for each store, which the simulated gateway approves. */
const seedCards = (client: pg.Client) =>
  client.query(`
    insert into sim_vault (tenant_ref, vault_id, card, fingerprint, behaviour)
    select tenant_ref, gen_random_uuid(), '{"brand":"visa","last4":"1111","exp_month":10,"exp_year":2040}', 'bench', '100'
      from stores`)

async function seedDue(client: pg.Client): Promise<void> {
  await client.query(`
    with made as (
      insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, product_id, variant_id, quantity,
             interval, interval_count, unit_price_cents, currency, pricing, origin_order_id, anchor_on,
             current_period_start, next_charge_at, gateway, vault_id, card_brand, card_last4, card_fingerprint)
      select v.tenant_ref, fd_uuid(), extract(epoch from now())::bigint * 10000 + n, 'shopper-' || n,
             v.product_id, v.id, 1, 'month', 1, 1000, 'USD', '{}', gen_random_uuid(),
             (now() - interval '1 month 1 day')::date, now(), now() - interval '1 hour', 'simulated', c.vault_id, 'visa',
             '1111', 'bench-' || n
        from (select *, row_number() over (order by tenant_ref) - 1 as place from variants) v
        join sim_vault c on c.tenant_ref = v.tenant_ref
        join generate_series(1, ${DUE}) n on n % 100 = v.place
      returning tenant_ref, id, origin_order_id)
    insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id)
    select tenant_ref, id, 1, 'paid', now(), origin_order_id from made`)
  await client.query('analyze subscriptions, subscription_cycles')
}

/** Whether renewals are under way. Two small indexes say so, so that the check costs the server nothing. */
async function isUnderWay(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `select exists (select from subscriptions where due_at <= now())
         or exists (select from subscription_cycles where state = 'charging') as under_way`,
  )
  return rows[0].under_way
}
