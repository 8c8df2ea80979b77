import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Database } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import * as cycles from '../src/modules/subscriptions/cycles.ts'
import { SECRET_KEY } from './checkout.ts'
import type { Figure } from './figure.ts'

const FEW = 1_000
const MANY = 1_000_000
const STORES = 100
const DUE = 100
const ROUNDS = 25
const AT_MOST = 2

/** How long the scheduler takes to find 100 due subscriptions among a million, beside a thousand. */
export async function scheduler(dataDir: string): Promise<Figure> {
  const few = await openSide(`${dataDir}/few`, FEW)
  const many = await openSide(`${dataDir}/many`, MANY)
  try {
    for (let n = 0; n < ROUNDS; n++) {
      await few.find()
      await many.find()
    }
    const ratio = many.median() / few.median()
    return {
      name: `the scheduler finds ${DUE} due subscriptions of a million`,
      ours: `${many.median().toFixed(1)} ms`,
      floor: `${few.median().toFixed(1)} ms, of a thousand`,
      ratio,
      holds: ratio <= AT_MOST,
    }
  } finally {
    await few.close()
    await many.close()
  }
}

async function openSide(dataDir: string, subscriptions: number) {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  await migrate({ url: server.url, secretKey: SECRET_KEY })
  await seed(server.url, subscriptions)
  const url = roleUrl(server.url, 'fd_worker', SECRET_KEY)
  const database = new Database({ url, name: 'scheduler', max: 10 })
  const took: number[] = []
  return {
    async find(): Promise<void> {
      const began = performance.now()
      const rows = await cycles.dueQueue.claimFairly(database, { slots: DUE })
      took.push(performance.now() - began)
      if (rows.length !== DUE) throw new Error(`found ${rows.length} of ${DUE}`)
      for (const row of rows) await cycles.dueQueue.release(database.tenant(row.tenant_ref), row)
    },
    /** The median time without the first rounds, which open connections and make plans. */
    median(): number {
      const rounds = took.slice(5).toSorted((a, b) => a - b)
      return rounds[rounds.length >> 1] ?? Number.NaN
    },
    async close(): Promise<void> {
      await database.close()
      await server.stop()
    },
  }
}

/** Subscriptions of a hundred stores. A hundred of them are due, the others within the next month. */
async function seed(url: string, subscriptions: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    insert into stores (tenant_ref, display_name)
    select 'store-' || n, 'Store ' || n from generate_series(0, ${STORES - 1}) n;
    insert into products (tenant_ref, slug, name) select tenant_ref, 'thing', 'A thing' from stores;
    insert into variants (tenant_ref, product_id, sku, price_cents, currency)
    select tenant_ref, id, 'THING', 1000, 'USD' from products`)
  await client.query(
    `insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, product_id, variant_id,
            quantity, interval, interval_count, unit_price_cents, currency, pricing, origin_order_id,
            anchor_on, current_period_start, next_charge_at, gateway, vault_id, card_brand, card_last4)
     select v.tenant_ref, fd_uuid(), n, 'shopper-' || n, v.product_id, v.id, 1, 'month', 1, 1000, 'USD',
            '{}', gen_random_uuid(), now()::date, now(),
            case when n <= $2 then now() - interval '1 hour'
                 else now() + interval '1 day' + n % 2500000 * interval '1 second' end,
            'simulated', 'card', 'visa', '1111'
       from (select *, row_number() over (order by tenant_ref) - 1 as place from variants) v
       join generate_series(1, $1::integer) n on n % ${STORES} = v.place`,
    [subscriptions, DUE],
  )
  await client.query('vacuum analyze')
  await client.end()
}
