import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { TenantDb } from '../../../src/db/database.ts'
import {
  defineOperation,
  type OperationDeps,
  type OperationSpec,
  type Replies,
  StaleWorkError,
  TRUST_CLOCKS,
} from '../../../src/modules/operations/service.ts'
import { OPERATION_NAMES, OPERATIONS, operationAt } from '../../../src/modules/operations/table.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { beginAttempt } from '../../../src/modules/payments/attempts.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { finish, STARTED } from '../../../src/platform/idempotency.ts'
import { claimDue } from '../../../src/platform/idempotency-due.ts'
import { run, type SentAnswer } from '../../../src/platform/idempotency-run.ts'
import { DUE_NOW } from '../../harness/operations.ts'
import { openPlatform } from '../../harness/platform.ts'

const platform = await openPlatform({ after })

/** What the operation under test knows: the attempt that it sends. */
interface Work {
  id: string
  order_number: number
  status: string
}

type Spec = OperationSpec<OperationDeps, { id: string }, Work, Replies>

interface Bench {
  db: TenantDb
  steps: string[]
  /** Runs the operation under one key, as its route does. */
  run(changes?: Partial<Spec>, deps?: Partial<OperationDeps>): Promise<SentAnswer>
  /** Resumes the operation as the reconciler does. */
  resume(changes?: Partial<Spec>): Promise<unknown>
  key(): Promise<{ state: string; recovery_point: string; waits: number; leased: boolean }>
}

/** An operation of three steps on a store of its own. It writes nothing but its attempt. */
async function openBench(): Promise<Bench> {
  const [tenant = ''] = await platform.addStores(1)
  const db = platform.app.tenant(tenant)
  const id = randomUUID()
  const steps: string[] = []
  const void_ = async () => {
    steps.push('sent')
    return { outcome: 'approved' }
  }
  const payments = { forStore: async () => ({ void: void_ }) as unknown as Gateway }
  const base: OperationDeps = {
    payments: payments as unknown as OperationDeps['payments'],
    onAlert: () => {},
    at: (point) => void steps.push(point),
  }
  const spec: Spec = {
    name: 'refund',
    begin: (_, own, { reach }, request) =>
      own.transaction('begin', async (tx) => {
        const attempt = { id: request.id, order_id: request.id, kind: 'refund' } as const
        const money = { gateway: 'simulated', amount_cents: 100, currency: 'USD' } as const
        await beginAttempt(tx, { ...attempt, ...money })
        return { state: 'begun', claim: await reach(tx, request.id) }
      }),
    load: async (_, resourceId) => ({ id: resourceId, order_number: 1, status: 'placed' }),
    async ask(deps, own) {
      steps.push('ask')
      await (await deps.payments.forStore(own)).void({ txn_id: 'x' })
      return { unknown: [] }
    },
    async recall() {
      steps.push('recall')
      return { unknown: [] }
    },
    async end(tx, _, { claim }) {
      steps.push('end')
      return finish(tx, claim, 200, '{}')
    },
    orderOf: (work) => work,
  }
  const claimRequest = { operation: 'refund', key: 'k', fingerprint: Buffer.alloc(32), waitMs: 0 }
  return {
    db,
    steps,
    run: (changes = {}, deps = {}) =>
      run(db, claimRequest, (claim) =>
        defineOperation({ ...spec, ...changes }).run(
          { ...base, ...deps },
          db,
          { actor: SYSTEM, claim },
          { id },
        ),
      ),
    async resume(changes = {}) {
      await makeDue(tenant)
      const [claim] = await claimDue(db, { operations: ['refund'], limit: 1 })
      assert.ok(claim, 'nothing to resume')
      return defineOperation({ ...spec, ...changes }).resume(base, db, claim)
    },
    async key() {
      const [row] = await platform.query<{
        state: string
        recovery_point: string
        waits: number
        leased: boolean
      }>(
        `select state, recovery_point, lease_until is not null as leased,
                round(extract(epoch from next_attempt_at - now()))::int as waits
           from idempotency_keys where tenant_ref = $1`,
        [tenant],
      )
      assert.ok(row)
      return row
    },
  }
}

const makeDue = (tenant: string) =>
  platform.query(`update idempotency_keys set ${DUE_NOW} where tenant_ref = $1`, [tenant])

const unknownOf = async (_: unknown, __: unknown, { id }: Work) => ({ unknown: [id] })

describe('an operation', () => {
  test('begins, asks the gateway and ends, and is answered the same for ever', async () => {
    const bench = await openBench()
    assert.equal((await bench.run()).status, 200)
    const once = ['refund-begun', 'ask', 'sent', 'refund-answered', 'end', 'refund-ended']
    assert.deepEqual(bench.steps, once)
    const replayed = await bench.run()
    assert.equal(replayed.headers['idempotent-replayed'], 'true')
    assert.deepEqual(bench.steps, once)
  })

  for (const point of ['refund-begun', 'refund-answered']) {
    test(`resumes after a stop at ${point} by looking up its attempts, and sends nothing again`, async () => {
      const bench = await openBench()
      const at = (reached: string) => {
        if (reached === point) throw new Error('stopped')
      }
      await assert.rejects(bench.run({}, { at }), /stopped/)
      assert.equal((await bench.key()).recovery_point, OPERATIONS.refund.recoveryPoint)
      bench.steps.length = 0
      await bench.resume()
      assert.deepEqual(bench.steps, ['recall', 'refund-answered', 'end', 'refund-ended'])
      assert.equal((await bench.run()).status, 200)
    })
  }

  test('an operation that stops before its recovery point has never begun', async () => {
    const bench = await openBench()
    const begin = async () => {
      throw new Error('stopped')
    }
    await assert.rejects(bench.run({ begin }), /stopped/)
    assert.equal((await bench.run()).status, 200)
  })

  test('an operation with an unknown outcome is postponed: 503 at first, then 409, then its answer', async () => {
    const bench = await openBench()
    await assert.rejects(bench.run({ ask: unknownOf }), { code: 'payment_unconfirmed' })
    const { state, leased, waits } = await bench.key()
    assert.deepEqual([state, leased], ['running', false])
    // A busy machine may take some seconds to read it.
    assert.ok(waits > 2 && waits <= 10, String(waits))
    await assert.rejects(bench.run(), { code: 'idempotency_in_progress' })
    await assert.rejects(bench.resume({ recall: unknownOf }), { code: 'idempotency_in_progress' })
    await bench.resume()
    assert.equal((await bench.run()).status, 200)
  })

  for (const [age, seconds] of [
    ['50 seconds', 10],
    ['61 seconds', 60],
    ['9 minutes 30 seconds', 60],
    ['601 seconds', 300],
  ] as const) {
    test(`looks up an attempt that is ${age} old again after ${seconds} seconds`, async () => {
      const bench = await openBench()
      await assert.rejects(bench.run({ ask: unknownOf }))
      await platform.query(
        `update payment_attempts set created_at = now() - $2::interval where tenant_ref = $1`,
        [bench.db.tenant, age],
      )
      await assert.rejects(bench.resume({ recall: unknownOf }))
      const { waits } = await bench.key()
      assert.ok(waits > seconds - 8 && waits <= seconds, String(waits))
    })
  }

  test('an operation of an overtaken process sends nothing, and answers what the other process has done', async () => {
    const bench = await openBench()
    const at = async (point: string) => {
      if (point === 'refund-begun') await bench.resume()
    }
    const reply = await bench.run({}, { at })
    assert.equal(reply.headers['idempotent-replayed'], 'true')
    assert.ok(!bench.steps.includes('sent'))
    assert.equal(bench.steps.filter((step) => step === 'end').length, 1)
  })

  test('trusts a new claim for as long as its lease, and no longer', async () => {
    for (const [trustClaimMs, pausesMs, sent] of [
      [60_000, [0, 0], true],
      // One of its clocks was set back, or stood still.
      [60_000, [61_000, -1_000], false],
      [60_000, [0, 61_000], false],
      [0, [0, 0], false],
    ] as const) {
      const bench = await openBench()
      let isPaused = false
      const trustClocks = pausesMs.map((ms) => ({ now: () => (isPaused ? ms : 0) }))
      const at = async (point: string) => {
        if (point !== 'refund-begun') return
        isPaused = true
        await bench.resume()
      }
      await bench.run({ trustClaimMs }, { at, trustClocks })
      assert.equal(bench.steps.includes('sent'), sent)
    }
  })

  test('measures the age of a claim by machine time and by the time since the process began', (t) => {
    t.mock.method(Date, 'now', () => 111)
    t.mock.method(performance, 'now', () => 222)
    assert.deepEqual(
      TRUST_CLOCKS.map((clock) => clock.now()),
      [111, 222],
    )
  })

  test('an operation whose order has changed since it began is read again, and ends once', async () => {
    const bench = await openBench()
    const seen: string[] = []
    const begun = { id: '', order_number: 1, status: 'as begun' }
    const reply = await bench.run({
      begin: (_, own, { reach }, { id }) =>
        own.transaction('begin', async (tx) => ({
          state: 'begun',
          claim: await reach(tx, id),
          work: begun,
        })),
      ask: async () => ({ unknown: [] }),
      async end(tx, _, { claim, work }) {
        seen.push(work.status)
        if (work === begun) throw new StaleWorkError()
        return finish(tx, claim, 200, '{}')
      },
    })
    assert.equal(reply.status, 200)
    assert.deepEqual(seen, ['as begun', 'placed'])
  })

  test('keeps what it charges out of the data that a resume can read', async () => {
    const bench = await openBench()
    const source = { payment_token: 'tok_1' }
    const sources: unknown[] = []
    await bench.run({
      begin: (_, own, { reach }, { id }) =>
        own.transaction('begin', async (tx) => ({
          state: 'begun',
          claim: await reach(tx, id),
          source,
        })),
      async ask(_, __, work, given) {
        sources.push(given, Object.values(work).includes('tok_1'))
        return { unknown: [] }
      },
    })
    assert.deepEqual(sources, [source, false])
  })
})

describe('the table of operations', () => {
  test('has one recovery point for each operation', () => {
    const points = OPERATION_NAMES.map((name) => OPERATIONS[name].recoveryPoint as string)
    assert.equal(new Set(points).size, OPERATION_NAMES.length)
    for (const name of OPERATION_NAMES) {
      assert.equal(operationAt(OPERATIONS[name].recoveryPoint), name)
    }
    assert.ok(!points.includes(STARTED))
    assert.throws(() => operationAt('nowhere'), /no operation resumes/)
  })
})
