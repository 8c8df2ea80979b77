import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Checkouts, loadCheckouts } from '../../../bench/checkout-load.ts'
import { startServer } from '../../../bench/load.ts'
import {
  type FilledApp,
  NO_LIMITS,
  OPERATOR_TOKEN,
  openFilledApp,
  SECRET_KEY,
  STOREFRONT_TOKEN,
} from '../../../bench/scale/filled-app.ts'
import { NEIGHBOUR } from '../../../bench/scale/size.ts'
import { withStolen } from '../../../bench/stolen-time.ts'
import { until } from '../../harness/eventually.ts'
import { openFlooder, type Statuses } from './flood.ts'
import { listFloods, type StoreFlood } from './floods.ts'

/** Three stores of a size: two that attack, and their neighbour that sells. */
const SIZE = { stores: 3, orders: 20_000, products: 10_000 }

/** The share of its checkouts that the neighbour must keep, and how many times later the slowest may be. */
const SHARE_MIN = 0.8
const P99_TIMES_MAX = 3

const SHOPPERS = 4
const SECONDS_ALONE = 4
const SECONDS_BESIDE = 8
/**
 * A few seconds vary by a fifth where nothing floods. So tries are repeated while they miss, and what
 * counts is the sum of all of them, never the best one.
 */
const TRIES = 6
/**
 * What a flooded try is compared with: the last tries that nothing flooded, on average. How fast the neighbour is
 * alone does not depend on the flood that comes next, and one of them would say less than several.
 */
const ALONE_TRIES = 5

/** A try is no measurement where the host of this machine gave more of its processors to others. */
const STOLEN_MAX = 0.1
const STOLEN_TRIES_MAX = 20
const STOLEN_REST_MS = 5_000
/** A store that was flooded uses up its share first. The next flood begins with a full one. */
const REST_MS = 1_000

async function openFilled(t: TestContext): Promise<FilledApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hostile-'))
  // Root starts the database as another user, who must be able to pass through this folder.
  await chmod(dataDir, 0o711)
  // The neighbour places 100,000 orders in a run. Without new statistics, as every server makes them, PostgreSQL
  // takes it for the small store that it was: a connection that opens later then reads all of its payments for each.
  const settings = { autovacuum: 'on' }
  const filled = await openFilledApp({ dataDir, size: SIZE, settings })
  await settle(filled)
  t.after(async () => {
    await filled.close()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
  })
  return filled
}

/**
 * Finishes the work that so many new rows cause. It would take half a processor from the first tries, and
 * no real store is filled in a minute.
 */
async function settle({ admin }: FilledApp): Promise<void> {
  await admin.query('vacuum analyze')
  await admin.query('checkpoint')
  await until('nothing is cleaned up', async () => {
    const { rows } = await admin.query(
      `select 1 from pg_stat_activity where backend_type = 'autovacuum worker'`,
    )
    return rows.length === 0
  })
}

type Speed = Pick<Checkouts, 'perSecond' | 'p99'>

/** How fast the neighbour was beside a flood, and alone about that time. */
interface Try {
  beside: Speed
  alone: Speed
}

/** Computes which share of the checkouts several tries left, and how many times later the slowest were. */
function keptIn(tries: readonly Try[]): { share: number; p99Times: number } {
  const beside = averageOf(tries.map((each) => each.beside))
  const alone = averageOf(tries.map((each) => each.alone))
  return { share: beside.perSecond / alone.perSecond, p99Times: beside.p99 / alone.p99 }
}

/** The checkouts of several tries, on average. */
function averageOf(tries: readonly Speed[]): Speed {
  const average = (key: keyof Speed) =>
    tries.reduce((sum, each) => sum + each[key], 0) / tries.length
  return { perSecond: average('perSecond'), p99: average('p99') }
}

/** Answers to a store that has used up its share. */
const REFUSALS = [429, 503]

/** A flood of errors costs less than one that the routes work on, and would prove little. */
function checkAnswers({ answers }: StoreFlood, statuses: Statuses): void {
  const seen = Object.keys(statuses).map(Number)
  const wrong = seen.filter((status) => ![...answers, ...REFUSALS].includes(status))
  assert.deepEqual(wrong, [], 'the flood was answered')
}

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

test('however a store floods its routes, another keeps its checkouts', async (t) => {
  const filled = await openFilled(t)
  const args = [filled.databaseUrl, SECRET_KEY, OPERATOR_TOKEN]
  const server = await startServer('./server-app.ts', args, NO_LIMITS)
  t.after(() => server.stop())
  const flooder = openFlooder(t)
  const { rows } = await filled.admin.query<{ id: string }>(
    `select v.id from variants v join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
      where v.tenant_ref = $1 and p.status = 'active' order by v.sku limit 20`,
    [NEIGHBOUR],
  )
  let turn = 0
  const checkOut = (seconds: number) =>
    loadCheckouts({
      url: server.url,
      storefrontToken: STOREFRONT_TOKEN,
      pick: () => ({ tenant: NEIGHBOUR, variants: [rows[turn++ % rows.length]?.id ?? ''] }),
      seconds,
      clients: SHOPPERS,
    })
  await checkOut(10)
  await filled.admin.query('analyze')
  const wanted = new RegExp(process.env.FLOODS ?? '')
  const floods = (await listFloods(filled, server.url)).filter(({ name }) => wanted.test(name))
  const show = ({ perSecond, p99 }: Speed) => `${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(0)} ms`
  const aloneTries: Speed[] = []
  const allTries: Try[] = []
  for (const flood of floods) {
    await t.test(`a flood by ${flood.clients} clients on ${flood.name}`, async (t) => {
      const tries: Try[] = []
      const holds = () => {
        const { share, p99Times } = keptIn(tries)
        return share >= SHARE_MIN && p99Times <= P99_TIMES_MAX
      }
      let stolenTries = 0
      do {
        const { result, stolen } = await withStolen(async () => ({
          undisturbed: await checkOut(SECONDS_ALONE),
          ...(await flooder.during(flood, () => checkOut(SECONDS_BESIDE))),
        }))
        if (stolen > STOLEN_MAX && ++stolenTries <= STOLEN_TRIES_MAX) {
          await sleep(STOLEN_REST_MS)
          continue
        }
        const { undisturbed, statuses, result: beside } = result
        checkAnswers(flood, statuses)
        aloneTries.push(undisturbed)
        const alone = averageOf(aloneTries.slice(-ALONE_TRIES))
        tries.push({ beside, alone })
        t.diagnostic(
          `${percent(keptIn(tries).share)}: ${show(beside)}, alone ${show(alone)}; ` +
            `flood ${JSON.stringify(statuses)}`,
        )
        await sleep(REST_MS)
      } while (tries.length === 0 || (!holds() && tries.length < TRIES))
      if (stolenTries > 0) t.diagnostic(`${stolenTries} tries without enough of the processors`)
      allTries.push(...tries)
      assert.ok(holds())
    })
  }
  t.diagnostic(`all ${allTries.length} tries: ${percent(keptIn(allTries).share)}`)
})
