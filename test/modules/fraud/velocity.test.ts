import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Facts } from '../../../src/modules/fraud/schema.ts'
import { countAttempt, countFailure, velocityBuckets } from '../../../src/modules/fraud/velocity.ts'
import { createLimits } from '../../../src/platform/rate-limits.ts'
import { openPostgresStore } from '../../../src/platform/rate-limits-postgres.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const mallory: Facts = {
  customer_ref: 'mallory',
  email: 'Mallory@Example.com',
  ip: '192.0.2.1',
  card_fingerprint: 'a4c2e8f0a4c2e8f0a4c2e8f0',
}

test('the velocity limit has a bucket for each known fact of a shopper in a store, without personal data', () => {
  const buckets = velocityBuckets('acme', mallory)
  const kinds = (all: string[]) => all.map((bucket) => bucket.split(':')[2]).sort()
  assert.deepEqual(kinds(buckets), ['card_fingerprint', 'customer_ref', 'email', 'ip'])
  assert.doesNotMatch(buckets.join(), /mallory|192\.0|a4c2/i)
  assert.ok(buckets.every((bucket) => bucket.length < 200))
  assert.deepEqual(kinds(velocityBuckets('acme', { customer_ref: 'm' })), ['customer_ref'])
  const others = new Set(velocityBuckets('globex', mallory))
  assert.ok(buckets.every((bucket) => !others.has(bucket)))
  const spelled = { ...mallory, email: 'mallory@EXAMPLE.com', ip: '::ffff:192.0.2.1' }
  assert.deepEqual(velocityBuckets('acme', spelled), buckets)
  const ipv6 = (ip: string) => velocityBuckets('acme', { customer_ref: 'm', ip }).at(-1)
  assert.equal(ipv6('2001:db8::1'), ipv6('2001:db8::2'), 'a household is one caller')
})

test('the velocity limit', async (t) => {
  const database = await openTestDatabase(t)
  const superuser = await openSuperuser(t, database)
  const store = openPostgresStore({ url: database.roleUrl('fd_app'), deadlineMs: 10_000 })
  t.after(() => store.close())
  const limits = createLimits({ store, perMinute: { my: 100, failed: 100 } })
  const pass = async (facts: Facts, limit = 5, tenant = 'acme') =>
    (await countAttempt(limits, tenant, facts, limit)) <= 1

  await t.test('admits exactly the limit, also with concurrent attempts', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => pass(mallory)))
    assert.equal(answers.filter(Boolean).length, 5)
  })

  await t.test('is reached by any one fact, and only in its own store', async () => {
    assert.equal(await pass({ customer_ref: 'another', ip: '192.0.2.1' }), false)
    assert.equal(await pass({ customer_ref: 'another', email: 'mallory@example.com' }), false)
    assert.equal(await pass({ customer_ref: 'somebody', ip: '192.0.2.99' }), true)
    assert.equal(await pass(mallory, 5, 'globex'), true)
  })

  await t.test('counts a failure as three attempts', async () => {
    const tester = { customer_ref: 'tester', ip: '192.0.2.3' }
    const passed: boolean[] = []
    for (let n = 0; n < 3; n++) {
      passed.push(await pass(tester, 6))
      await countFailure(limits, 'acme', tester)
    }
    assert.deepEqual(passed, [true, true, false])
  })

  await t.test('answers which share of the limit is used', async () => {
    const shopper = { customer_ref: 'shopper' }
    const shares: number[] = []
    for (let n = 0; n < 3; n++) shares.push(await countAttempt(limits, 'acme', shopper, 2))
    assert.deepEqual(shares, [0.5, 1, 1.5])
  })

  await t.test('refuses every attempt while the limiter does not answer', async () => {
    await superuser.query('alter table limit_counters rename to gone')
    const down = { code: 'db_error', status: 503 }
    await assert.rejects(pass({ customer_ref: 'new' }), down)
    await assert.rejects(countFailure(limits, 'acme', { customer_ref: 'new' }), down)
    await superuser.query('alter table gone rename to limit_counters')
    assert.equal(await pass({ customer_ref: 'new' }), true)
  })
})
