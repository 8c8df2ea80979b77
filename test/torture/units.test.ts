import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type Answer, type Caller, callerBy, callerOf } from '../harness/app.ts'
import { compareBooks } from '../harness/books.ts'
import { defer, emptyFolder, start } from '../harness/embedded.ts'
import { until } from '../harness/eventually.ts'
import { DUE_NOW } from '../harness/operations.ts'
import type { TestProcess } from '../harness/process.ts'
import { openWitness } from '../harness/witness.ts'
import { openUnitModel, type Settle, seededRandom } from '../modules/inventory/unit-model/model.ts'
import { assertUnitsMatch, takeStep } from '../modules/inventory/unit-model/steps.ts'
import { asStorefront } from './walk/calls.ts'
import { openServer, POSTGRES, serverEnv, type WalkServer } from './walk/installation.ts'
import { openStore } from './walk/store.ts'

const STEPS = Number(process.env.UNIT_STEPS ?? 10_000)
const SEED = Number(process.env.UNIT_SEED ?? randomInt(2 ** 31))

/** A server needs some seconds to start; the other one serves meanwhile. */
const KILL_SERVER_MS = [8_000, 20_000] as const
const END_BACKEND_MS = [500, 3_000] as const
/** A caller that is cut gets no answer to a request that was carried out. */
const CUT_CALLERS_MS = [500, 3_000] as const

/** The steps after which the drill reports its progress. */
const SAY_EVERY = 500

const REST_MS = 60_000

test(`units are where they should be at three locations, after each of ${STEPS} random steps through kills`, async (t) => {
  t.diagnostic(`UNIT_SEED=${SEED} UNIT_STEPS=${STEPS}`)
  const drill = await openDrill(t)
  const { superuser, servers, counts } = drill
  const store = await openStore(servers[0].url, 'acme')
  const shop = { tenant: 'acme', merchant: drill.callerAs(store.merchant), variants: {} }
  const app = { storefront: drill.callerAs(asStorefront), superuser }
  const model = await openUnitModel(app, shop, seededRandom(SEED), drill.settle)
  const killing = drill.killUntilOver()
  const began = performance.now()
  const last: string[] = []
  try {
    for (let n = 1; n <= STEPS; n++) {
      last.push(`${n} ${await takeStep(model)}`)
      await assertUnitsMatch(model)
      if (n % SAY_EVERY === 0) process.stderr.write(`${n} steps, ${JSON.stringify(counts)}\n`)
    }
  } catch (error) {
    t.diagnostic(`the last steps: ${last.slice(-8).join(', ')}`)
    throw error
  } finally {
    drill.end()
    await killing
  }
  const seconds = Math.round((performance.now() - began) / 1_000)
  t.diagnostic(`${STEPS} steps in ${seconds} s, ${JSON.stringify(counts)}`)
  assert.ok(counts.servers > 0 && counts.backends > 0, 'something must be killed')
  assert.ok(counts.lost > 0 && counts.found > 0, 'and some answers must be lost')
  await rest(superuser)
  await assertUnitsMatch(model)
  assert.deepEqual(await compareBooks(superuser, { mayOversell: true }), [])
  assert.deepEqual(drill.faults, [])
})

/** Two serving processes on one PostgreSQL, of which one is killed at a time. */
async function openDrill(t: TestContext) {
  const postgres = await start(t, await emptyFolder(t), { settings: POSTGRES })
  const superuser = new pg.Pool({ connectionString: postgres.url, max: 3 })
  superuser.on('error', () => {})
  defer(t, () => superuser.end())
  const faults: string[] = []
  const outputs: { name: string; process: TestProcess }[] = []
  const env = serverEnv()
  const open = (name: string) =>
    openServer(t, { name, env, faults, outputs, databaseUrl: postgres.url, port: postgres.port })
  const servers = [await open('one'), await open('two')] as const
  for (const each of servers) await each.start()
  await openWitness(superuser)
  const counts = { servers: 0, backends: 0, cuts: 0, lost: 0, found: 0 }
  let isOver = false

  const up = () => servers.filter((each) => each.isUp())
  const callerAs = (headers: Record<string, string>): Caller =>
    callerBy((...request) => {
      const [server] = up().toSorted(() => Math.random() - 0.5)
      assert.ok(server, 'one server is up')
      return callerOf(server.url, headers).send(...request)
    })

  const killServers = async () => {
    while (!isOver) {
      await delay(randomInt(...KILL_SERVER_MS))
      if (isOver || up().length < 2) continue
      const server = servers[randomInt(2)] as WalkServer
      await server.kill()
      counts.servers++
      await server.start()
    }
  }
  const endBackend = async () => {
    while (!isOver) {
      await delay(randomInt(...END_BACKEND_MS))
      const { rowCount } = await superuser.query(`
        select pg_terminate_backend(pid) from pg_stat_activity
         where usename in ('fd_app', 'fd_worker') and datname = current_database()
         order by (state = 'active') desc, random() limit 1`)
      counts.backends += rowCount ?? 0
    }
  }
  const cutCallers = async () => {
    while (!isOver) {
      await delay(randomInt(...CUT_CALLERS_MS))
      const { callers } = servers[randomInt(2)] as WalkServer
      await callers.cut()
      await callers.mend()
      counts.cuts++
    }
  }
  return {
    superuser,
    servers,
    faults,
    counts,
    callerAs,
    settle: settleBy(superuser, counts),
    killUntilOver: () => Promise.all([killServers(), endBackend(), cutCallers()]),
    end() {
      isOver = true
    },
  }
}

/** Whether a caller need not send again: a refusal of the moment is not final. */
const isFinal = ({ status, body }: Answer) =>
  (status < 500 || body.error?.code === 'refund_failed') &&
  !['idempotency_in_progress', 'order_busy', 'rate_limited'].includes(body.error?.code)

/** Sends as a careful merchant does: looks for the result of a lost request, and sends it again under the same key. */
function settleBy(superuser: pg.Pool, counts: { lost: number; found: number }): Settle {
  return async (send, find = async () => null) => {
    for (let isFirst = true; ; isFirst = false) {
      const answer = await send().catch(() => null)
      const isKnown = answer !== null && isFinal(answer)
      if (isKnown && (isFirst || answer.status < 300)) return answer
      if (!isKnown) {
        counts.lost++
        await letTimePass(superuser)
      }
      // A request without a key may also be refused since the lost one was carried out after all.
      const found = await insist(find)
      if (found !== null) {
        counts.found++
        return found
      }
      if (isKnown) return answer
    }
  }
}

/** Repeats a read until it succeeds. */
async function insist<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read()
    } catch {
      await delay(20)
    }
  }
}

/**
 * Waits for the transactions of killed processes, and ends two waits early: the leases of keys, and the
 * hour after which a refund without a record has failed.
 */
async function letTimePass(superuser: pg.Pool): Promise<void> {
  const { rows } = await superuser.query<{ now: Date }>('select clock_timestamp() as now')
  const lost = rows[0]?.now
  await until(
    'older transactions have ended',
    async () => {
      const open = await superuser.query(
        `select from pg_stat_activity
          where usename in ('fd_app', 'fd_worker') and xact_start < $1 and state <> 'idle'`,
        [lost],
      )
      return open.rowCount === 0
    },
    REST_MS,
  )
  await superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
  await superuser.query(`
    update payment_attempts
       set created_at = created_at - interval '61 minutes', sent_at = sent_at - interval '61 minutes',
           lease_until = null, lease_token = null
     where state in ('begun', 'unknown')`)
}

/** Waits until the worker has posted every cost and numbered every event and journal, and no key is running. */
const rest = (superuser: pg.Pool): Promise<void> =>
  until(
    'nothing is under way',
    async () => {
      await superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
      const { rows } = await superuser.query<{ left: number }>(`
        select ((select count(*) from idempotency_keys where state = 'running')
              + (select count(*) from webhook_events where payload is null)
              + (select count(*) from inventory_unposted)
              + (select count(*) from ledger_unsealed))::int as left`)
      return rows[0]?.left === 0
    },
    REST_MS,
  )
