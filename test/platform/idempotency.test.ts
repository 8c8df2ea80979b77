import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { Db, TenantDb } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { ApiError } from '../../src/errors.ts'
import { canonicalJson } from '../../src/kernel/canonical-json.ts'
import {
  advance,
  type ClaimRequest,
  claim,
  finish,
  freeKey,
  lookup,
  refuse,
  renew,
  STARTED,
  type WonClaim,
} from '../../src/platform/idempotency.ts'
import { claimDue, createDueTurns } from '../../src/platform/idempotency-due.ts'
import { fingerprint } from '../../src/platform/idempotency-key.ts'
import { deleteOldAnswers, freeAbandonedKeys } from '../../src/platform/idempotency-upkeep.ts'
import { LeaseLostError } from '../../src/platform/leases.ts'
import { openPlatform } from '../harness/platform.ts'

const SECRET = Buffer.alloc(32, 7)
const CARD = { ccnumber: '4111111111111111', exp: '1230', cvv: '987' }
const BODY = { items: [{ variant_id: 'v1', quantity: 2 }], card: CARD, ip: '203.0.113.9' }

const request = (key: string, body: unknown = BODY): ClaimRequest => ({
  operation: 'checkout',
  key,
  fingerprint: fingerprint(SECRET, body),
})

async function win(db: TenantDb, wanted: ClaimRequest): Promise<WonClaim> {
  const got = await claim(db, wanted)
  if (got.state !== 'won') assert.fail(`the claim is ${got.state}`)
  return got
}

const platform = await openPlatform({ after }, 20)

const expire = (db: Db, key: string) =>
  platform.query(
    `update idempotency_keys set lease_until = now() - interval '1 s'
      where tenant_ref = $1 and key = $2`,
    [db.tenant, key],
  )

/** Two stores of this test, as the API process reaches them. */
async function open() {
  const [mine = '', other = ''] = await platform.addStores(2)
  return { db: platform.app.tenant(mine), other: platform.app.tenant(other) }
}

describe('a claim', () => {
  test('has one winner among 500 callers at once', async () => {
    const { db } = await open()
    const all = await Promise.all(Array.from({ length: 500 }, () => claim(db, request('k'))))
    assert.equal(all.filter(({ state }) => state === 'won').length, 1)
    assert.equal(all.filter(({ state }) => state === 'running').length, 499)
  })

  test('has one winner for each of 100 keys with 5 callers each', async () => {
    const { db } = await open()
    const keys = Array.from({ length: 500 }, (_, i) => `k${i % 100}`)
    const all = await Promise.all(keys.map((key) => claim(db, request(key))))
    const winners = all.flatMap((each) => (each.state === 'won' ? [each.key] : []))
    assert.equal(winners.length, 100)
    assert.equal(new Set(winners).size, 100)
  })

  test('refuses another body, also after the answer and after the lease', async () => {
    const { db } = await open()
    const held = await win(db, request('k'))
    const changed = request('k', { ...BODY, items: [] })
    const reused = { code: 'idempotency_key_reused' }
    await assert.rejects(claim(db, changed), reused)
    await expire(db, 'k')
    await assert.rejects(claim(db, changed), reused)
    await finish(db, held, 201, '{}')
    await assert.rejects(claim(db, changed), reused)
  })

  test('a claim of another store or operation with the same key is independent', async () => {
    const { db, other } = await open()
    await finish(db, await win(db, request('k')), 201, '{"mine":1}')
    const held = await win(other, request('k', { other: 'body' }))
    await win(db, { ...request('k', { other: 'body' }), operation: 'refund' })
    assert.equal(await lookup(other, 'checkout', 'nothing'), null)
    assert.equal((await lookup(other, 'checkout', 'k'))?.state, 'running')
    // Another store cannot reach it, not even with the token.
    await assert.rejects(finish(db, held, 200, 'stolen'), LeaseLostError)
    assert.equal((await lookup(db, 'checkout', 'k'))?.response_body, '{"mine":1}')
  })

  test('can be read by others while its holder is in a long transaction', async () => {
    const { db } = await open()
    const held = await win(db, request('k'))
    await db.transaction('slow', async (tx) => {
      await tx.run(sql`select 1`)
      assert.deepEqual(await claim(db, request('k')), { state: 'running' })
      await finish(tx, held, 201, '{}')
    })
    assert.equal((await claim(db, request('k'))).state, 'answered')
  })

  test('answers with exactly the stored bytes', async () => {
    const { db } = await open()
    const body = '{"b": 1.0,\n "a":"caf\u00e9 \u{1f600} \u2028 \\u0000"}'
    const kept = await finish(db, await win(db, request('k')), 201, body)
    assert.deepEqual(kept, { state: 'answered', status: 201, body })
    assert.deepEqual(await claim(db, request('k')), kept)
  })

  test('is rolled back with the transaction that answers it', async () => {
    const { db } = await open()
    const held = await win(db, request('k'))
    const failing = db.transaction('fails', async (tx) => {
      await finish(tx, held, 201, '{}')
      throw new Error('at the last moment')
    })
    await assert.rejects(failing, /at the last moment/)
    assert.deepEqual(await claim(db, request('k')), { state: 'running' })
    await finish(db, held, 201, '{}')
  })

  test('stores no card number and no code, in no column and no spelling', async () => {
    const { db } = await open()
    const spaced = { ...BODY, card: { ...CARD, ccnumber: '4111 1111 1111 1111' } }
    await finish(db, await win(db, request('k', spaced)), 201, '{"last4":"1111"}')
    const [kept] = await platform.query<{ whole: string; words: string; hash: Buffer }>(
      `select i::text as whole, fingerprint as hash,
              concat_ws(' ', operation, key, recovery_point, response_body) as words
         from idempotency_keys i
        where tenant_ref = $1`,
      [db.tenant],
    )
    assert.ok(kept)
    for (const number of ['4111111111111111', '4111 1111 1111 1111']) {
      for (const spelling of ['utf8', 'hex', 'base64'] as const) {
        assert.ok(!kept.whole.includes(Buffer.from(number).toString(spelling)))
      }
    }
    // Three digits can be in a time or a token by chance, so the code is searched in text columns.
    assert.ok(!kept.words.includes(CARD.cvv))
    for (const guess of [BODY, spaced, CARD, CARD.ccnumber]) {
      const text = typeof guess === 'string' ? guess : canonicalJson(guess)
      assert.ok(!kept.hash.equals(hash('sha256', text, 'buffer')))
    }
  })
})

describe('an expired lease', () => {
  for (const point of [STARTED, 'reserved', 'charged', 'captured']) {
    test(`at '${point}' is taken over by one caller, who resumes there`, async () => {
      const { db } = await open()
      const first = await win(db, request('k'))
      const order = randomUUID()
      if (point !== STARTED) await advance(db, first, point, order)
      assert.deepEqual(await claim(db, request('k')), { state: 'running' })
      await expire(db, 'k')
      const all = await Promise.all(Array.from({ length: 20 }, () => claim(db, request('k'))))
      const winners = all.filter((each) => each.state === 'won')
      assert.equal(winners.length, 1)
      assert.equal(winners[0]?.recoveryPoint, point)
      assert.equal(winners[0]?.resourceId, point === STARTED ? null : order)
    })
  }

  test('prevents its old holder from writing', async () => {
    const { db } = await open()
    const old = await win(db, request('k'))
    await expire(db, 'k')
    const now = await win(db, request('k'))
    const refusal = new ApiError('tenant_exists')
    await assert.rejects(advance(db, old, 'reserved'), LeaseLostError)
    await assert.rejects(renew(db, old), LeaseLostError)
    await assert.rejects(finish(db, old, 201, 'old'), LeaseLostError)
    await assert.rejects(refuse(db, old, refusal), LeaseLostError)
    assert.equal(await freeKey(db, old), false)
    await finish(db, now, 201, 'new')
    await assert.rejects(finish(db, old, 201, 'old'), LeaseLostError)
    assert.equal((await lookup(db, 'checkout', 'k'))?.response_body, 'new')
  })

  test('still belongs to its holder while no other caller has come', async () => {
    const { db } = await open()
    const held = await win(db, request('k'))
    await expire(db, 'k')
    await advance(db, held, 'reserved')
    // The step renewed the lease.
    assert.deepEqual(await claim(db, request('k')), { state: 'running' })
    await finish(db, held, 201, '{}')
  })

  test('is found by the reconciler, store by store, and claimed once', async () => {
    const { db, other } = await open()
    const { worker } = platform
    const mine = [db.tenant, other.tenant]
    const turns = createDueTurns(['checkout'])
    const stale = async () =>
      (await turns.next(worker.due, 1_000))
        .map(({ tenant_ref }) => tenant_ref)
        .filter((each) => mine.includes(each))
        .toSorted()
    const order = randomUUID()
    for (const key of ['k1', 'k2', 'k3']) {
      await advance(db, await win(db, request(key)), 'charged', order)
    }
    await win(other, request('k1'))
    assert.deepEqual(await stale(), [])
    await expire(db, 'k1')
    await expire(db, 'k2')
    await expire(other, 'k1')
    assert.deepEqual(await stale(), mine.toSorted())
    const handle = worker.tenant(db.tenant)
    assert.deepEqual(await claimDue(handle, { operations: ['refund'], limit: 10 }), [])
    const takers = [1, 2, 3, 4].map(() => claimDue(handle, { operations: ['checkout'], limit: 10 }))
    const taken = (await Promise.all(takers)).flat()
    assert.deepEqual(taken.map(({ key }) => key).toSorted(), ['k1', 'k2'])
    for (const each of taken) {
      assert.equal(each.recoveryPoint, 'charged')
      assert.equal(each.resourceId, order)
      await finish(handle, each, 201, '{"by":"reconciler"}')
    }
    assert.deepEqual(await stale(), [other.tenant])
  })
})

test('work that only its caller can resume does not delay the reconciler', async () => {
  const { db, other } = await open()
  const { worker } = platform
  await win(db, { ...request('k'), operation: 'gift_card_adjust' })
  await win(other, { ...request('k'), operation: 'a kind of its own' })
  await expire(db, 'k')
  await expire(other, 'k')
  assert.deepEqual(await createDueTurns(['a kind of its own']).next(worker.due, 1), [
    { tenant_ref: other.tenant },
  ])
})

describe('releasing a key', () => {
  test('frees the key, for another body too', async () => {
    const { db } = await open()
    assert.equal(await freeKey(db, await win(db, request('k'))), true)
    assert.equal(await lookup(db, 'checkout', 'k'), null)
    await win(db, request('k', { another: 'body' }))
  })

  test('is refused once work has begun or an answer is stored', async () => {
    const { db } = await open()
    const held = await win(db, request('k'))
    await advance(db, held, 'reserved')
    assert.equal(await freeKey(db, held), false)
    await finish(db, held, 201, '{}')
    assert.equal(await freeKey(db, held), false)
    assert.equal((await claim(db, request('k'))).state, 'answered')
  })
})

describe('a refusal', () => {
  test('a refusal of the work is its final answer, in the error body of the contract', async () => {
    const { db } = await open()
    const held = await win(db, { ...request('k'), correlationId: 'c-1' })
    const error = new ApiError('tenant_exists', { body: { current: 'x' } })
    const kept = await refuse(db, held, error)
    assert.equal(kept.status, 409)
    assert.deepEqual(JSON.parse(kept.body), {
      error: { code: 'tenant_exists', message: error.message, correlationId: 'c-1' },
      current: 'x',
    })
    assert.deepEqual(await claim(db, request('k')), kept)
  })

  test('a refusal of the request, or because of a passing state, is never stored', async () => {
    const { db } = await open()
    const held = await win(db, request('k'))
    const passing = [
      'invalid_body',
      'unauthorized',
      'forbidden',
      'rate_limited',
      'service_unavailable',
    ] as const
    for (const code of passing) {
      await assert.rejects(refuse(db, held, new ApiError(code)), /cannot be a stored answer/)
    }
    assert.equal((await lookup(db, 'checkout', 'k'))?.state, 'running')
  })
})

test('a key whose process stopped before anything was written is freed an hour after its lease', async () => {
  const { db, other } = await open()
  const credit = { ...request('left'), operation: 'store_credit_credit' }
  const late = await win(db, credit)
  const begun = await win(other, { ...credit, key: 'begun' })
  await advance(other, begun, 'reserved', randomUUID())
  await win(other, { ...credit, key: 'young' })
  const expireBy = (key: string, minutes: number) =>
    platform.query(
      `update idempotency_keys set lease_until = now() - make_interval(mins => $2) where key = $1`,
      [key, minutes],
    )
  await expireBy('left', 61)
  await expireBy('begun', 61)
  await expireBy('young', 59)
  assert.equal(await freeAbandonedKeys(platform.worker), 1)
  assert.equal(await freeAbandonedKeys(platform.worker), 0)
  assert.equal(await lookup(db, credit.operation, 'left'), null)
  assert.equal((await lookup(other, credit.operation, 'begun'))?.state, 'running')
  assert.equal((await lookup(other, credit.operation, 'young'))?.state, 'running')
  // A holder that was only paused can write nothing more: its caller claims the key again.
  await assert.rejects(finish(db, late, 201, '{}'), LeaseLostError)
  assert.equal((await win(db, credit)).recoveryPoint, STARTED)
})

test('answers are deleted after 30 days, running operations never', async () => {
  const { db, other } = await open()
  for (const key of ['old', 'young']) await finish(db, await win(db, request(key)), 201, '{}')
  await win(db, request('running'))
  await finish(other, await win(other, request('old')), 201, '{}')
  const age = (key: string, days: number) =>
    platform.query(
      `update idempotency_keys
          set created_at = now() - make_interval(days => $2),
              answered_at = answered_at - make_interval(days => $2)
        where key = $1`,
      [key, days],
    )
  await age('old', 31)
  await age('running', 31)
  await age('young', 29)
  assert.equal(await deleteOldAnswers(platform.worker), 2)
  assert.equal(await deleteOldAnswers(platform.worker), 0)
  assert.equal(await lookup(db, 'checkout', 'old'), null)
  assert.equal((await lookup(db, 'checkout', 'young'))?.state, 'answered')
  assert.equal((await lookup(db, 'checkout', 'running'))?.state, 'running')
})
