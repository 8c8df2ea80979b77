import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import type { TenantDb, Tx } from '../../../src/db/database.ts'
import { deriveKey } from '../../../src/kernel/tokens.ts'
import * as entitlements from '../../../src/modules/entitlements/service.ts'
import { codeKeys, generateCode } from '../../../src/modules/gift-cards/card-code.ts'
import { expireDue } from '../../../src/modules/gift-cards/jobs.ts'
import * as money from '../../../src/modules/gift-cards/money.ts'
import * as giftCards from '../../../src/modules/gift-cards/service.ts'
import { post } from '../../../src/modules/ledger/money.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import * as idempotency from '../../../src/platform/idempotency.ts'
import { inParallel } from '../../harness/in-parallel.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { openPlatform } from '../../harness/platform.ts'

const CONNECTIONS = 20
const platform = await openPlatform({ after }, CONNECTIONS)
const superuser = await platform.database.openAdmin()
const keys = codeKeys((purpose) => deriveKey(platform.database.secretKey, purpose))

async function openStore(): Promise<TenantDb> {
  const [tenant = ''] = await platform.addStores(1)
  const db = platform.app.tenant(tenant)
  await entitlements.enable(db, SYSTEM, 'gift_cards')
  return db
}

/** A caller with a claim on a new key. */
async function newCaller(db: TenantDb): Promise<money.Caller> {
  const request = { operation: 'test', key: randomUUID(), fingerprint: Buffer.alloc(32) }
  const claim = await idempotency.claim(db, request)
  assert.equal(claim.state, 'won')
  return { actor: SYSTEM, claim: claim as idempotency.WonClaim }
}

interface Issued {
  id: string
  code: string
}

async function issue(db: TenantDb, cents: number, terms: object = {}): Promise<Issued> {
  const request = { initial_balance_cents: cents, currency: 'USD', ...terms }
  const stored = await money.issue(db, keys, await newCaller(db), request)
  const { gift_card, code } = JSON.parse(await giftCards.showCodes(db, keys, stored))
  return { id: gift_card.id, code }
}

const hold = (db: TenantDb, code: string, most_cents: number, order_id: string) =>
  db.transaction('hold', (tx) =>
    money.holdUpTo(tx, keys, { code, currency: 'USD', most_cents, order_id }),
  )

/** Posts the part of the order's journal that books the tender. */
const postTender = async (tx: Tx, taken: money.ClosedHold[], sign = 1) => {
  for (const { gift_card_id, amount_cents } of taken) {
    await post(tx, {
      kind: 'sale',
      currency: 'USD',
      entries: [
        { account: 'gift_card', ref: gift_card_id, amount_cents: sign * amount_cents },
        { account: 'sales', amount_cents: -sign * amount_cents },
      ],
    })
  }
  return taken
}

const capture = (db: TenantDb, order_id: string) =>
  db.transaction('capture', async (tx) => postTender(tx, await money.captureHold(tx, { order_id })))

const release = (db: TenantDb, order_id: string) =>
  db.transaction('void', (tx) => money.releaseHold(tx, { order_id }))

const refund = (db: TenantDb, gift_card_id: string, amount_cents: number) =>
  db.transaction('refund', async (tx) => {
    const order_id = randomUUID()
    const to = await money.credit(tx, { gift_card_id, amount_cents, order_id, actor: SYSTEM })
    if (to === 'gift_card') await postTender(tx, [{ gift_card_id, amount_cents }], -1)
    return to
  })

const amounts = async (db: TenantDb, id: string) => {
  const { balance_cents, held_cents, status } = await giftCards.get(db, id)
  return [balance_cents, held_cents, status]
}

const expireNow = (id: string) =>
  superuser.query(`update gift_cards set expires_at = now() - interval '1 second' where id = $1`, [
    id,
  ])

describe('a gift card as a tender', () => {
  test('200 redemptions, twenty at a time, take exactly its balance', async () => {
    const db = await openStore()
    const { id, code } = await issue(db, 10_000)
    const redeem = async (n: number) => {
      const order = randomUUID()
      const { amount_cents } = await hold(db, code, 73, order)
      // Some orders fail and release their holds to others.
      if (n % 5 === 0) return void (await release(db, order))
      await capture(db, order)
      return amount_cents
    }
    const taken = await inParallel(CONNECTIONS, 200, redeem)
    const first = taken.reduce((sum: number, each) => sum + (each ?? 0), 0)
    const rest = await inParallel(CONNECTIONS, 40, () => redeem(1))
    const sum = rest.reduce((total: number, each) => total + (each ?? 0), first)
    assert.equal(sum, 10_000)
    assert.deepEqual(await amounts(db, id), [0, 0, 'depleted'])
    await assertOracles(superuser)
  })

  test('releases to the cent the amount that an order did not need', async () => {
    const db = await openStore()
    const { id, code } = await issue(db, 500)
    const order = randomUUID()
    const held = await hold(db, code, 320, order)
    assert.deepEqual([held.gift_card_id, held.last4, held.amount_cents], [id, code.slice(-4), 320])
    assert.deepEqual(await amounts(db, id), [500, 320, 'active'])
    assert.equal((await hold(db, code, 1_000, randomUUID())).amount_cents, 180)
    assert.equal((await hold(db, code, 1, randomUUID())).amount_cents, 0)
    assert.deepEqual(await release(db, order), [{ gift_card_id: id, amount_cents: 320 }])
    assert.deepEqual(await release(db, order), [])
    assert.deepEqual(await capture(db, order), [])
    assert.deepEqual(await amounts(db, id), [500, 180, 'active'])
  })

  test('is captured once, also with repeated and concurrent calls', async () => {
    const db = await openStore()
    const { id, code } = await issue(db, 500)
    const order = randomUUID()
    await hold(db, code, 200, order)
    const all = await Promise.all([1, 2, 3, 4].map(() => capture(db, order)))
    assert.deepEqual(all.flat(), [{ gift_card_id: id, amount_cents: 200 }])
    assert.deepEqual(await release(db, order), [])
    assert.deepEqual(await amounts(db, id), [300, 0, 'active'])
    await assertOracles(superuser)
  })

  test('is refused with the same answer if unknown, disabled, expired or of another currency', async () => {
    const db = await openStore()
    const invalid = { code: 'gift_card_invalid', status: 422 }
    const off = await issue(db, 100)
    await giftCards.disable(db, SYSTEM, off.id)
    const old = await issue(db, 100, { expires_at: '2999-01-01T00:00:00Z' })
    await expireNow(old.id)
    const euro = await issue(db, 100, { currency: 'EUR' })
    const foreign = await issue(await openStore(), 100)
    const codes = [off.code, old.code, euro.code, foreign.code, generateCode(), 'no code', '']
    for (const code of codes) await assert.rejects(hold(db, code, 1, randomUUID()), invalid)
    const { rows } = await superuser.query('select from ledger_holds where tenant_ref = $1', [
      db.tenant,
    ])
    assert.equal(rows.length, 0)
  })

  test('a gift card as a tender that is disabled still pays the amount that an order holds', async () => {
    const db = await openStore()
    const { id, code } = await issue(db, 500)
    const order = randomUUID()
    await hold(db, code, 500, order)
    await giftCards.disable(db, SYSTEM, id)
    assert.equal((await capture(db, order)).length, 1)
    assert.deepEqual(await amounts(db, id), [0, 0, 'disabled'])
  })

  test('a gift card as a tender that expires keeps the amount that an order holds, until the order ends', async () => {
    const db = await openStore()
    const { id, code } = await issue(db, 500, { expires_at: '2999-01-01T00:00:00Z' })
    const [first, second] = [randomUUID(), randomUUID()]
    await hold(db, code, 200, first)
    await hold(db, code, 100, second)
    await expireNow(id)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db, id), [300, 300, 'expired'])
    await capture(db, first)
    await release(db, second)
    assert.deepEqual(await amounts(db, id), [100, 0, 'expired'])
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db, id), [0, 0, 'expired'])
    assert.equal(await expireDue(platform.worker), 0)
    await assertOracles(superuser)
  })

  test('a gift card as a tender that cannot be expired does not stop the expiry of others, in its store or another', async () => {
    const [db, other] = [await openStore(), await openStore()]
    const expires_at = '2999-01-01T00:00:00Z'
    const { id: broken } = await issue(db, 500, { expires_at })
    await expireNow(broken)
    const sound = [await issue(db, 500, { expires_at }), await issue(db, 200, { expires_at })]
    const theirs = await issue(other, 300, { expires_at })
    for (const { id } of [...sound, theirs]) await expireNow(id)
    await superuser.query(`
      create function fail() returns trigger language plpgsql as $$ begin raise 'poisoned'; end $$;
      create trigger fail before update on gift_cards
         for each row when (new.id = '${broken}') execute function fail()`)
    await assert.rejects(expireDue(platform.worker), /poisoned/)
    for (const { id } of sound) assert.deepEqual(await amounts(db, id), [0, 0, 'expired'])
    assert.deepEqual(await amounts(other, theirs.id), [0, 0, 'expired'])
    assert.deepEqual(await amounts(db, broken), [500, 0, 'expired'])
    await superuser.query('drop function fail cascade')
    assert.equal(await expireDue(platform.worker), 1)
    assert.deepEqual(await amounts(db, broken), [0, 0, 'expired'])
    await assertOracles(superuser)
  })
})

describe('a refund', () => {
  test('is added to the card, which is active again', async () => {
    const db = await openStore()
    const { id, code } = await issue(db, 500)
    const order = randomUUID()
    await hold(db, code, 500, order)
    await capture(db, order)
    assert.deepEqual(await amounts(db, id), [0, 0, 'depleted'])
    assert.equal(await refund(db, id, 120), 'gift_card')
    assert.deepEqual(await amounts(db, id), [120, 0, 'active'])
    await assertOracles(superuser)
  })

  test('is not added to a card that is disabled, expired or unknown', async () => {
    const db = await openStore()
    const off = await issue(db, 100)
    await giftCards.disable(db, SYSTEM, off.id)
    const old = await issue(db, 100, { expires_at: '2999-01-01T00:00:00Z' })
    await expireNow(old.id)
    for (const id of [off.id, old.id, randomUUID()]) {
      assert.equal(await refund(db, id, 1), 'store_credit_needed')
    }
    assert.deepEqual(await amounts(db, off.id), [100, 0, 'disabled'])
  })
})

test('after any sequence of operations the balance equals what the ledger owes', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('hold' as const), cents: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ do: fc.constantFrom('settle' as const, 'void' as const), at: fc.nat(5) }),
    fc.record({ do: fc.constant('refund' as const), cents: fc.integer({ min: 1, max: 100 }) }),
    fc.record({ do: fc.constant('adjust' as const), cents: fc.integer({ min: -300, max: 300 }) }),
    fc.record({ do: fc.constantFrom('disable' as const, 'enable' as const) }),
    fc.record({ do: fc.constant('expire' as const) }),
  )
  const db = await openStore()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const { id, code } = await issue(db, 600, { expires_at: '2999-01-01T00:00:00Z' })
      const orders: string[] = []
      const refusal = (error: { status?: number }) => {
        // An operation that the card's state forbids is refused, and nothing changes.
        if (![409, 422].includes(error.status ?? 0)) throw error
      }
      for (const each of steps) {
        if (each.do === 'hold') {
          const order = randomUUID()
          orders.push(order)
          await hold(db, code, each.cents, order).catch(refusal)
        } else if (each.do === 'settle') await capture(db, orders[each.at] ?? randomUUID())
        else if (each.do === 'void') await release(db, orders[each.at] ?? randomUUID())
        else if (each.do === 'refund') await refund(db, id, each.cents)
        else if (each.do === 'adjust' && each.cents !== 0) {
          const wanted = { delta_cents: each.cents, reason: 'random' }
          await money.adjust(db, await newCaller(db), id, wanted).catch(refusal)
        } else if (each.do === 'disable') await giftCards.disable(db, SYSTEM, id).catch(refusal)
        else if (each.do === 'enable') await giftCards.enable(db, SYSTEM, id).catch(refusal)
        else if (each.do === 'expire') {
          await expireNow(id)
          await expireDue(platform.worker)
        }
      }
      await assertOracles(superuser)
    }),
    { numRuns: 25 },
  )
})
