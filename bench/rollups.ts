import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { many, openShop, SECRET_KEY, type Shop, warmUp } from './checkout.ts'
import type { Figure } from './figure.ts'
import { startServer } from './load.ts'
import { cpuSecondsOf } from './postgres.ts'
import { THIS_TREE } from './trees.ts'

/** How long it measures: longer than journals wait to be counted together, so that stores are counted repeatedly. */
const SECONDS = 75

/** The warm-up, until every store was counted once: a new worker compiles its code, which is no cost of an order. */
const WARM_UP_SECONDS = 35

/**
 * Measures what the counts behind reports and segments cost, beside the checkouts that they count: the
 * CPU of a worker and of its connections, with the loops that count and with numbering alone. The figures:
 * decision 0066.
 */
export async function rollups(dataDir: string): Promise<Figure> {
  const shop = await openShop(dataDir, THIS_TREE)
  const client = new pg.Client({ connectionString: shop.url })
  await client.connect()
  try {
    await warmUp(shop, async () => {})
    // First with counting: journals that one run left uncounted would be counted in the next.
    const counting = await measure(shop, client, 'on')
    const numbering = await measure(shop, client, 'off')
    const share = (counting.workerMs - numbering.workerMs) / counting.checkoutMs
    return {
      name: 'what counting adds to the CPU of an order, over 100 stores',
      ours: `${written(counting)} in a worker, ${written(numbering)} without`,
      floor: `${counting.checkoutMs.toFixed(2)} ms for a checkout: ${(share * 100).toFixed(1)} % (at most 3 %)`,
      holds: share <= 0.03,
    }
  } finally {
    await client.end()
    await shop.close()
  }
}

const written = ({ worker }: Awaited<ReturnType<typeof measure>>) =>
  `${(worker.node + worker.postgres).toFixed(2)} ms (${worker.postgres.toFixed(2)} of it PostgreSQL's)`

/** Places orders beside a worker, and goes on until all of them are counted. */
async function measure(shop: Shop, client: pg.Client, counting: 'on' | 'off') {
  const server = await startServer('./server-counting.ts', [shop.url, SECRET_KEY, counting])
  try {
    await shop.run(shop.app, many, WARM_UP_SECONDS)
    await settle(client)
    const before = await ordersOf(client)
    const cpu = watchCpu(client)
    const began = (await server.usage()).cpuSeconds
    const { nodeMs, postgresMs } = await shop.run(shop.app, many, SECONDS)
    await settle(client)
    const node = (await server.usage()).cpuSeconds - began
    const postgres = await cpu.stop()
    const orders = (await ordersOf(client)) - before
    const worker = { node: (node * 1_000) / orders, postgres: (postgres * 1_000) / orders }
    // The connections of the worker are part of what PostgreSQL used meanwhile.
    const checkoutMs = nodeMs + postgresMs - worker.postgres
    return { worker, workerMs: worker.node + worker.postgres, checkoutMs }
  } finally {
    await server.stop()
  }
}

const ordersOf = async (client: pg.Client): Promise<number> =>
  Number((await client.query('select count(*) from orders')).rows[0].count)

/** Waits until every journal is numbered, and every store that has a count was counted. */
async function settle(client: pg.Client): Promise<void> {
  const underWay = `
    select exists (select from ledger_unsealed)
        or exists (select from analytics_generations where due_at < now() + interval '1 minute')
        or exists (select from segment_positions where due_at is not null) as under_way`
  while ((await client.query(underWay)).rows[0].under_way) await sleep(500)
}

/** Measures the CPU of the connections of workers from now on, also of those that end meanwhile. */
function watchCpu(client: pg.Client) {
  const first = new Map<number, number>()
  const last = new Map<number, number>()
  let isFirst = true
  let isOver = false
  const look = async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where usename = 'fd_worker'`,
    )
    for (const { pid } of rows) {
      const seconds = await cpuSecondsOf(pid)
      if (seconds === null) continue
      if (!first.has(pid)) first.set(pid, isFirst ? seconds : 0)
      last.set(pid, seconds)
    }
    isFirst = false
  }
  const looking = (async () => {
    while (!isOver) {
      await look()
      await sleep(500)
    }
    await look()
  })()
  return {
    async stop(): Promise<number> {
      isOver = true
      await looking
      return [...last].reduce((sum, [pid, seconds]) => sum + seconds - (first.get(pid) ?? 0), 0)
    },
  }
}
