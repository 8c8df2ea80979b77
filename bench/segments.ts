import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Type } from 'typebox'
import { Database, type TenantDb } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import { sql } from '../src/db/sql.ts'
import type { PreviewRequest } from '../src/modules/segments/schema.ts'
import { preview } from '../src/modules/segments/service.ts'
import * as stores from '../src/modules/stores/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import type { Figure } from './figure.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const CUSTOMERS = 100_000
const ROUNDS = 15
const TIMES_MAX = 10

/** A product that a tenth of all people bought. */
const PRODUCT = '00000000-0000-4000-8000-000000000003'

/** One condition of every kind, in two groups: more than merchants usually write. */
const EVERY_KIND: PreviewRequest = {
  match: 'all',
  conditions: [
    { field: 'consent', op: 'is_not', value: 'withdrawn' },
    { field: 'total_spent_cents', op: 'gte', value: 2_000 },
    {
      match: 'any',
      conditions: [
        { field: 'last_order_at', op: 'within_days', value: 90 },
        { field: 'product', op: 'bought', value: [PRODUCT] },
        { field: 'subscription', op: 'is', value: ['active'] },
      ],
    },
    { field: 'place', op: 'in', value: ['US', 'DE'] },
    { field: 'first_order_at', op: 'before', value: '2999-01-01' },
    { field: 'orders_count', op: 'lte', value: 100 },
  ],
}

/** A segment that one column of the people decides alone. */
const SIMPLE: PreviewRequest = {
  match: 'all',
  conditions: [{ field: 'orders_count', op: 'gte', value: 2 }],
}

/** How long a preview takes over 100,000 customers, beside a count of these customers in the same run. */
export async function segmentPreview(dataDir: string): Promise<Figure[]> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    const url = roleUrl(server.url, 'fd_app', SECRET_KEY)
    const database = new Database({ url, name: 'bench', max: 2 })
    try {
      for (const tenant_ref of ['bench', 'other']) {
        await stores.create(database, SYSTEM, { tenant_ref, display_name: tenant_ref })
      }
      await seed(server.url)
      const db = database.tenant('bench')
      return [
        await compare(db, 'the preview of a segment of one condition', SIMPLE),
        await compare(db, 'the preview of a segment with every kind of condition', EVERY_KIND),
      ]
    } finally {
      await database.close()
    }
  } finally {
    await server.stop()
  }
}

/** People with one to four orders, half of them readers, in two stores. */
async function seed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`
      set session_replication_role = replica;
      create table bench_people as
      select s.tenant_ref, n, 'person-' || n as ref, 'person-' || n || '@example.com' as email
        from stores s cross join generate_series(1, ${CUSTOMERS}) n;
      insert into customers (tenant_ref, ref_hash, customer_ref, email, email_folded)
      select tenant_ref, sha256((tenant_ref || n)::bytea), ref, email, email from bench_people;
      insert into segment_people (tenant_ref, email_folded, email, customer_ref, orders_count,
                                  total_spent_cents, first_order_at, last_order_at, country, place, consent)
      select tenant_ref, email, email, ref, 1 + n % 4, 500 * (1 + n % 17), now() - n % 700 * interval '1 day',
             now() - n % 350 * interval '1 day', case n % 3 when 0 then 'US' when 1 then 'DE' else 'FR' end,
             case n % 3 when 0 then 'US-CA' when 1 then 'DE' else 'FR' end,
             case n % 4 when 0 then 'given' when 1 then 'withdrawn' else 'none' end
        from bench_people;
      insert into segment_purchases (tenant_ref, product_id, email_folded)
      select p.tenant_ref, ('00000000-0000-4000-8000-' || lpad(((p.n + k) % 10)::text, 12, '0'))::uuid, p.email
        from bench_people p cross join generate_series(0, 1) k;
      insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, product_id, variant_id,
             quantity, interval, interval_count, unit_price_cents, currency, origin_order_id, anchor_on,
             current_period_start, email)
      select tenant_ref, fd_uuid(), n, ref, gen_random_uuid(), gen_random_uuid(), 1, 'month', 1, 1000, 'USD',
             gen_random_uuid(), current_date, now(), email
        from bench_people where n % 10 = 0;
      drop table bench_people`)
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

async function compare(db: TenantDb, name: string, wanted: PreviewRequest): Promise<Figure> {
  const counting = () =>
    db.one(
      Type.Object({ count: Type.Integer() }),
      sql`select count(*)::int as count from customers where tenant_ref = ${db.tenant}`,
    )
  const { count } = await counting()
  if (count !== CUSTOMERS) throw new Error(`there are ${count} customers`)
  const { count: found } = await preview(db, wanted)
  if (found === 0) throw new Error('the conditions find no one')
  const pairs: { ours: number; floor: number }[] = []
  for (let n = 0; n < ROUNDS; n++) {
    pairs.push({ floor: await timed(counting), ours: await timed(() => preview(db, wanted)) })
  }
  const median = pairs.toSorted((a, b) => a.ours / a.floor - b.ours / b.floor)[ROUNDS >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  const times = median.ours / median.floor
  return {
    name: `${name} over ${CUSTOMERS.toLocaleString('en')} customers`,
    ours: `${median.ours.toFixed(1)} ms`,
    floor: `${median.floor.toFixed(1)} ms for a count of them: ${times.toFixed(1)} times (at most ${TIMES_MAX})`,
    holds: times < TIMES_MAX,
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
