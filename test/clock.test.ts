import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Type } from 'typebox'
import { DAY_MS } from '../src/kernel/time.ts'
import { expireDue } from '../src/modules/gift-cards/jobs.ts'
import { collectableAssets } from '../src/modules/media/queries.ts'
import { publish } from '../src/platform/outbox.ts'
import { type Caller, openTestApp, type TestApp } from './harness/app.ts'
import { deliverDue } from './harness/outbox.ts'
import { share } from './harness/scope.ts'
import { URL as COUPONS, createCoupon } from './modules/marketing/setup.ts'

const CARDS = '/v1/merchant/gift-cards'
const BANS = '/v1/merchant/fraud/bans'

const later = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next two stores, of which `sandbox` can have a clock offset. */
async function openStores(app: TestApp) {
  const tenant = `sandbox-${++stores}`
  const [sandbox, acme] = await Promise.all(
    [tenant, `acme-${stores}`].map(async (each) => {
      const merchant = await app.merchant(each)
      await merchant.post('/v1/merchant/entitlements/enable', { feature_key: 'gift_cards' })
      return merchant
    }),
  )
  const move = (days: number) => {
    app.runtime.clocks.set(tenant, { offsetMs: days * DAY_MS, isMoving: false })
  }
  return { app, tenant, move, sandbox: sandbox as Caller, acme: acme as Caller }
}

const issue = (merchant: Caller, expires_at: string) =>
  merchant.post(
    CARDS,
    { initial_balance_cents: 500, expires_at },
    { 'idempotency-key': randomUUID() },
  )

test('the rules of a store follow its business time, and not that of another store', async () => {
  const { move, sandbox, acme } = await openStores(shared.current)
  const read = async (merchant: Caller, ids: { card: string; coupon: string; ban: string }) => ({
    card: (await merchant.get(`${CARDS}/${ids.card}`)).body.gift_card.status,
    coupon: (await merchant.get(`${COUPONS}/${ids.coupon}`)).body.coupon.status,
    ban: (await merchant.get(`${BANS}/${ids.ban}`)).body.ban.active,
  })
  const make = async (merchant: Caller) => {
    const [card, coupon, ban] = await Promise.all([
      issue(merchant, later(10)),
      createCoupon(merchant, { ends_at: later(10) }),
      merchant.post(BANS, { kind: 'ip', value: '192.0.2.7', expires_at: later(10) }),
    ])
    return { card: card.body.gift_card.id, coupon: coupon.id, ban: ban.body.ban.id }
  }
  const [moved, unmoved] = await Promise.all([make(sandbox), make(acme)])
  const VALID = { card: 'active', coupon: 'active', ban: true }
  const EXPIRED = { card: 'expired', coupon: 'expired', ban: false }
  assert.deepEqual(await read(sandbox, moved), VALID)
  move(11)
  assert.deepEqual(await read(sandbox, moved), EXPIRED)
  assert.deepEqual(await read(acme, unmoved), VALID)
  const refused = await issue(sandbox, later(10))
  assert.equal(refused.status, 400, 'what is over by the clock of the store cannot be issued')
  assert.equal((await issue(acme, later(10))).status, 201)
  move(0)
  assert.deepEqual(await read(sandbox, moved), VALID)
})

test('rows are dated by the business time of their store', async () => {
  const { move, sandbox } = await openStores(shared.current)
  move(40)
  const { body } = await issue(sandbox, later(50))
  const age = Date.now() + 40 * DAY_MS - Date.parse(body.gift_card.created_at)
  assert.ok(Math.abs(age) < 60_000)
  const { body: lines } = await sandbox.get(`${CARDS}/${body.gift_card.id}/transactions`)
  assert.ok(lines.transactions[0].created_at >= body.gift_card.created_at)
})

test('a clock offset neither ends nor extends access', async () => {
  const { move, sandbox, app, tenant } = await openStores(shared.current)
  const wanted = { label: 'short', scopes: ['manage:own_giftcards'], expires_at: later(1) }
  const made = await sandbox.post('/v1/my/credentials', wanted)
  assert.equal(made.status, 201, made.text)
  const short = app.as({ authorization: `Bearer ${made.body.credential.key}` })
  move(365)
  assert.equal((await short.get(CARDS)).status, 200)
  const admin = await app.database.openAdmin()
  await admin.query(
    `update credentials set expires_at = now() where label = 'short' and tenant_ref = $1`,
    [tenant],
  )
  move(-365)
  assert.equal((await short.get(CARDS)).status, 401)
})

test('work is due by the business time of its store, and platform work by machine time', async (t) => {
  const { move, sandbox, app, tenant } = await openStores(await openTestApp(t))
  const { workerDatabase, database } = app.runtime
  const admin = await app.database.openAdmin()
  const { body } = await issue(sandbox, later(10))
  await admin.query(`
    insert into assets (tenant_ref, sha256, extension, content_type, bytes, stored_at, deleted_at,
                        collect_at)
    values ('${tenant}', repeat('a', 64), 'png', 'image/png', 1, now(), now(),
            now() + interval '30 days')`)
  move(31)
  assert.equal((await collectableAssets.claim(workerDatabase.tenant(tenant), 10)).length, 1)
  const handled: string[] = []
  const moved = { type: 'test.moved.v1', payload: Type.Object({ card: Type.String() }) }
  await database
    .tenant(tenant)
    .transaction('publish', (tx) => publish(tx, moved, { card: body.gift_card.id }))
  const handlers = { [moved.type]: async () => void handled.push('once') }
  await deliverDue(workerDatabase, handlers, { slots: 20 })
  assert.deepEqual(handled, ['once'], 'internal events are not put off by a moved clock')
  assert.equal(await expireDue(workerDatabase), 1, 'loops also look into stores that are ahead')
})
