import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type pg from 'pg'
import { loadCustomerData } from '../../../src/compose/customer-data.ts'
import * as privacy from '../../../src/modules/privacy/jobs.ts'
import * as webhooks from '../../../src/modules/webhooks/jobs.ts'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { DUE_NOW } from '../../harness/operations.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { dumpText, openSuperuser } from '../../harness/superuser.ts'
import { cart, checkout, DECLINED, openShop, type Shop } from '../checkout/setup.ts'
import { ADDRESS, freshKey, giveCredit, issueCard } from './setup.ts'

const EXPORT = '/v1/my/privacy/export'
const ERASE = '/v1/my/privacy/erase'

const REF = 'cust_Quill/77'
const EMAIL = 'Ann.Quillfeather@Example.com'
const IP = '203.0.113.77'
const GUEST_STREET = '4 Farhaven Mews'

/** Every text by which a row could name the customer. */
const TRACES = [
  REF,
  'quillfeather',
  'guest-4711',
  ADDRESS.label,
  ADDRESS.name,
  'Quill Feather',
  ADDRESS.line1,
  GUEST_STREET,
  IP,
  'asked for Ann',
]

const customer = {
  customer_ref: REF,
  email: EMAIL,
  ip: IP,
  name: 'Quill Feather',
  shipping_address: ADDRESS,
}
const other = {
  customer_ref: 'bob',
  email: 'bob@other.example',
  ip: '203.0.113.5',
  shipping_address: { ...ADDRESS, label: 'Bob Brook', name: 'Bob Brook', line1: '9 Elmfield Road' },
}

/** Finds the traces in any row of any table, as text or as bytes, in upper or lower case. */
async function findTraces(superuser: pg.Client): Promise<string[]> {
  const dump = (await dumpText(superuser)).toLowerCase()
  const spellings = (text: string) =>
    [text, JSON.stringify(text).slice(1, -1)].flatMap((each) => [
      each.toLowerCase(),
      Buffer.from(each).toString('hex'),
      Buffer.from(each.toLowerCase()).toString('hex'),
    ])
  return TRACES.filter((trace) => spellings(trace).some((each) => dump.includes(each)))
}

const jobKeys = ({ runtime }: TestApp) => ({
  exportKey: runtime.key('privacy export'),
  customersKey: runtime.key('customers'),
  loadCustomerData,
})

async function numberAndEraseEvents({ runtime }: TestApp): Promise<void> {
  while ((await webhooks.numberNewEvents(runtime.workerDatabase)) > 0);
  await webhooks.eraseDeliveredEvents(runtime.workerDatabase)
}

async function getErasureToken({ merchant }: Shop, customer_ref: string) {
  const answer = await merchant.post(ERASE, { customer_ref })
  assert.equal(answer.status, 202, answer.text)
  return answer.body
}

/** The amounts of each order, and of all tables. */
async function readMoney(superuser: pg.Client) {
  const { rows: orders } = await superuser.query(
    `select id, order_number, status, total_cents, captured_cents, refunded_cents
       from orders order by order_number`,
  )
  const { rows: entries } = await superuser.query(
    `select account, sum(amount_cents) from ledger_entries group by account order by account`,
  )
  const { rows: credit } = await superuser.query(
    `select id, balance_cents from store_credit_accounts order by id`,
  )
  const { rows: cards } = await superuser.query(
    `select id, balance_cents from gift_cards order by id`,
  )
  return { orders, entries, credit, cards }
}

/** Does every change of an order for which a merchant writes a text. */
async function change(merchant: Caller, id: string): Promise<void> {
  const words = 'asked for Ann herself'
  const steps: [string, object][] = [
    ['notes', { note: 'asked for Ann' }],
    ['refunds', { amount_cents: 100, reason: words }],
    ['hold', { reason: words }],
    ['cancel', { reason: 'customer', note: words }],
  ]
  for (const [verb, body] of steps) {
    const answer = await merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, freshKey())
    assert.ok(answer.status < 300, `${verb}: ${answer.text}`)
  }
}

/** Creates a customer with data in every module. */
async function fill(app: TestApp, shop: Shop) {
  const { merchant, variants } = shop
  const buy = async (more: object, status = 201) => {
    const answer = await checkout(app, shop, cart(variants[1_000], more))
    assert.equal(answer.status, status, answer.text)
    return answer.body.order
  }
  await giveCredit(merchant, REF, 300, 'asked for Ann herself')
  await giveCredit(merchant, 'bob', 100)
  const code = await issueCard(merchant, 200, { recipient_email: EMAIL, note: 'asked for Ann' })
  const coupon = { code: 'TENOFF', type: 'percent', percent_bps: 1_000 }
  const made = await merchant.post('/v1/merchant/marketing/coupons', coupon)
  assert.equal(made.status, 201, made.text)
  await app.operator.put('/v1/entitlements/tenants/acme/features/pricing_groups', {
    state: 'allow',
  })
  const group = await merchant.post('/v1/merchant/pricing-groups', { name: 'Clubs' })
  const members = `/v1/merchant/pricing-groups/${group.body.pricing_group.id}/members`
  await merchant.post(members, { customer_ref: REF })
  await buy({ ...customer, gift_card_code: code })
  const attestation = { statement_version: 'v1', accepted_at: '2026-01-01T00:00:00Z' }
  const first = await buy({
    ...customer,
    apply_store_credit: true,
    coupon_code: 'tenoff',
    attestation,
  })
  await buy({ ...customer, card: DECLINED }, 402)
  const guest_address = { ...ADDRESS, line1: GUEST_STREET }
  await buy({
    customer_ref: 'guest-4711',
    email: EMAIL.toUpperCase(),
    shipping_address: guest_address,
  })
  await buy(other)
  await change(merchant, first.id)
  await numberAndEraseEvents(app)
  return { first }
}

describe('privacy', () => {
  test('a key that may write the store neither reads a customer nor gets a token of erasure', async (t) => {
    const app = await openTestApp(t)
    const builder = await app.merchant('acme', 'write:own_store')
    const officer = await app.merchant('acme', 'manage:own_privacy')
    const started = await officer.post(EXPORT, { customer_ref: REF })
    assert.equal(started.status, 202, started.text)
    const copy = `/v1/my/privacy/exports/${started.body.job.id}`
    for (const refused of [
      await builder.post(EXPORT, { customer_ref: REF }),
      await builder.get(copy),
      await builder.post(ERASE, { customer_ref: REF }),
    ]) {
      assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden'])
    }
    assert.equal((await officer.get(copy)).status, 200)
    assert.equal((await officer.post(ERASE, { customer_ref: REF })).status, 202)
    assert.equal((await officer.get('/v1/my/store')).status, 403)
  })

  test('a customer is exported and erased', async (t) => {
    let moved = 0
    const clock = { now: () => Date.now() + moved }
    const app = await openTestApp(t, { clock })
    const superuser = await openSuperuser(t, app.database)
    const shop = await openShop(app)
    const { merchant } = shop
    const { first } = await fill(app, shop)
    await insertSubscription(superuser, first.id)
    const worker = app.runtime.workerDatabase

    await t.test('is exported as a copy of all data, made by the worker', async () => {
      const asked = await merchant.post(EXPORT, { customer_ref: REF })
      assert.equal(asked.status, 202, asked.text)
      assert.equal(asked.body.job.status, 'pending')
      const again = await merchant.post(EXPORT, { customer_ref: REF })
      assert.equal(again.body.job.id, asked.body.job.id)
      const url = `/v1/my/privacy/exports/${asked.body.job.id}`
      const before = await merchant.get(url)
      assert.deepEqual([before.body.job.status, before.body.data], ['pending', null])
      assert.equal(await privacy.makeDueExports(worker, jobKeys(app)), 1)
      const { body } = await merchant.get(url)
      assert.equal(body.job.status, 'done')
      const { data } = body
      assert.equal(data.customer.email, EMAIL)
      assert.equal(data.orders.length, 3)
      const order = data.orders.find((each: { id: string }) => each.id === first.id)
      assert.equal(order.ship_to.line1, ADDRESS.line1)
      assert.equal(order.ip, IP)
      assert.equal(order.attestation.statement_version, 'v1')
      assert.equal(order.notes[0].note, 'asked for Ann')
      assert.equal(order.items.length, 1)
      assert.equal(order.coupon_redemption.customer_ref, REF)
      assert.equal(data.store_credit.transactions.length, 4)
      assert.equal(data.pricing_groups[0].name, 'Clubs')
      assert.equal(data.subscriptions[0].ship_to.line1, ADDRESS.line1)
      assert.ok(data.events.length >= 2)
      assert.doesNotMatch(JSON.stringify(data), /bob|Farhaven|fingerprint/)
    })

    await t.test('an export is stored encrypted, for seven days', async () => {
      const { rows } = await superuser.query('select sealed from privacy_exports')
      assert.doesNotMatch(rows[0].sealed.toString('latin1'), /Quill/)
      await superuser.query(
        `insert into privacy_exports (tenant_ref, customer_ref, expires_at)
         values ('acme', 'late', now())`,
      )
      assert.equal(await privacy.deleteExpiredExports(worker), 1)
      for (const id of ['x', '00000000-0000-4000-8000-000000000000']) {
        const answer = await merchant.get(`/v1/my/privacy/exports/${id}`)
        assert.equal(answer.body.error.code, 'export_not_found')
      }
    })

    await t.test('an export fails after some attempts if it cannot be made', async () => {
      await superuser.query('revoke select on pricing_groups from fd_worker')
      const asked = await merchant.post(EXPORT, { customer_ref: 'bob' })
      const { id } = asked.body.job
      for (let tries = 1; tries <= 5; tries++) {
        const { body } = await merchant.get(`/v1/my/privacy/exports/${id}`)
        assert.equal(body.job.status, 'pending', `after ${tries - 1} tries`)
        await superuser.query('update privacy_exports set due_at = now() where due_at is not null')
        assert.equal(await privacy.makeDueExports(worker, jobKeys(app)), 1)
      }
      const { body } = await merchant.get(`/v1/my/privacy/exports/${id}`)
      assert.deepEqual([body.job.status, body.job.error], ['failed', 'unavailable'])
      assert.equal(await privacy.makeDueExports(worker, jobKeys(app)), 0)
      await superuser.query('grant select on pricing_groups to fd_worker')
    })

    await t.test(
      'is erased only with the token of the preview, and an idempotency key',
      async () => {
        const { confirm, orders, guest_refs } = await getErasureToken(shop, REF)
        assert.deepEqual([orders, guest_refs], [4, ['guest-4711']])
        const tries: [string, object, Record<string, string>][] = [
          ['idempotency_key_required', { customer_ref: REF, confirm }, {}],
          ['confirm_invalid', { customer_ref: 'bob', confirm }, freshKey()],
          ['confirm_invalid', { customer_ref: REF, confirm: `${confirm}x` }, freshKey()],
          ['confirm_invalid', { customer_ref: REF, confirm: 'fder_' }, freshKey()],
          ['invalid_body', { confirm }, freshKey()],
          ['invalid_body', { customer_ref: '', confirm }, freshKey()],
        ]
        for (const [code, body, headers] of tries) {
          const answer = await merchant.post(ERASE, body, headers)
          assert.equal(answer.body.error?.code, code, answer.text)
        }
        moved = 601_000
        const late = await merchant.post(ERASE, { customer_ref: REF, confirm }, freshKey())
        assert.equal(late.body.error.code, 'confirm_invalid')
        const globex = await app.merchant('globex')
        const foreign = await globex.post(ERASE, { customer_ref: REF, confirm }, freshKey())
        assert.equal(foreign.body.error.code, 'confirm_invalid')
        assert.deepEqual((await findTraces(superuser)).length, TRACES.length)
      },
    )

    await t.test('is not erased while one of their orders is being paid', async () => {
      const { confirm } = await getErasureToken(shop, REF)
      const number = `(select max(order_number) from orders where customer_ref = 'guest-4711')`
      const set = (status: string) =>
        superuser.query(`update orders set status = $1 where order_number = ${number}`, [status])
      await set('pending_payment')
      const answer = await merchant.post(ERASE, { customer_ref: REF, confirm }, freshKey())
      assert.equal(answer.body.error.code, 'order_busy', answer.text)
      await set('placed')
    })

    await t.test(
      'leaves no trace in any table, and all amounts and other customers stay unchanged',
      async () => {
        const money = await readMoney(superuser)
        const { confirm } = await getErasureToken(shop, REF)
        const key = freshKey()
        const answer = await merchant.post(ERASE, { customer_ref: REF, confirm }, key)
        assert.equal(answer.status, 200, answer.text)
        assert.equal(answer.body.erasure.orders, 4)
        await numberAndEraseEvents(app)
        assert.deepEqual(await findTraces(superuser), [])
        assert.deepEqual(await readMoney(superuser), money)
        await assertOracles(superuser)
        const { rows } = await superuser.query('select status, next_charge_at from subscriptions')
        assert.deepEqual(rows, [{ status: 'cancelled', next_charge_at: null }])
        const bob = await merchant.get('/v1/merchant/customers/bob')
        assert.equal(bob.body.customer.email, other.email)
        assert.equal(bob.body.customer.addresses[0].address.line1, other.shipping_address.line1)
        assert.equal(bob.body.customer.store_credit_cents, 100)
        const replay = await merchant.post(ERASE, { customer_ref: REF, confirm }, key)
        assert.equal(replay.text, answer.text)
        assert.equal(replay.headers['idempotent-replayed'], 'true')
      },
    )

    await t.test(
      'erased data stay erased: a new order does not restore them, and can be erased again',
      async () => {
        const back = {
          ...customer,
          shipping_address: other.shipping_address,
          email: 'new@x.example',
        }
        const answer = await checkout(app, shop, cart(shop.variants[1_000], back))
        assert.equal(answer.status, 201, answer.text)
        await giveCredit(merchant, REF, 50)
        await numberAndEraseEvents(app)
        const profile = await merchant.get(`/v1/merchant/customers/${encodeURIComponent(REF)}`)
        assert.equal(profile.status, 404)
        const { rows } = await superuser.query(
          'select count(*)::int from orders where customer_ref = $1',
          [REF],
        )
        assert.equal(rows[0].count, 1)
        const { confirm, orders } = await getErasureToken(shop, REF)
        assert.equal(orders, 1)
        const again = await merchant.post(ERASE, { customer_ref: REF, confirm }, freshKey())
        assert.equal(again.status, 200, again.text)
        await numberAndEraseEvents(app)
        assert.deepEqual(await findTraces(superuser), [])
        await assertOracles(superuser)
      },
    )
  })

  test('an erasure that fails does not stop the others', async (t) => {
    const app = await openTestApp(t)
    const superuser = await openSuperuser(t, app.database)
    const { workerDatabase } = app.runtime
    const shops = [await openShop(app, 'acme'), await openShop(app, 'zenith')]
    await superuser.query('revoke delete on privacy_exports from fd_app')
    for (const shop of shops) {
      for (const customer_ref of ['bad', 'good', 'fine']) {
        const { confirm } = await getErasureToken(shop, customer_ref)
        const broken = await shop.merchant.post(ERASE, { customer_ref, confirm }, freshKey())
        assert.equal(broken.status, 503, broken.text)
      }
    }
    await superuser.query(`
      create function fail() returns trigger language plpgsql as $$ begin raise 'poisoned'; end $$;
      create trigger fail before update on privacy_erasures
         for each row when (old.customer_ref = 'bad') execute function fail()`)
    await assert.rejects(privacy.resumeErasures(workerDatabase, jobKeys(app)), /poisoned/)
    const left = async () => {
      const { rows } = await superuser.query(
        'select tenant_ref, customer_ref from privacy_erasures where customer_ref is not null',
      )
      return rows.map(({ tenant_ref, customer_ref }) => `${tenant_ref}/${customer_ref}`).sort()
    }
    assert.deepEqual(await left(), ['acme/bad', 'zenith/bad'])
    await superuser.query('drop function fail cascade')
    await superuser.query(`update idempotency_keys set ${DUE_NOW} where state = $1`, ['running'])
    assert.equal(await privacy.resumeErasures(workerDatabase, jobKeys(app)), 2)
    assert.deepEqual(await left(), [])
  })

  test('an erasure of many orders works in steps, and the worker finishes it after an error', async (t) => {
    const app = await openTestApp(t)
    const superuser = await openSuperuser(t, app.database)
    const shop = await openShop(app)
    await insertOrders(superuser, 1_200)
    const { confirm, orders, open_orders } = await getErasureToken(shop, REF)
    assert.deepEqual([orders, open_orders], [1_200, 1_200])

    // Only the last step needs this; the steps before it commit.
    await superuser.query('revoke delete on privacy_exports from fd_app')
    const key = freshKey()
    const broken = await shop.merchant.post(ERASE, { customer_ref: REF, confirm }, key)
    assert.equal(broken.status, 503)
    const { rows: left } = await superuser.query('select email from orders where email is not null')
    assert.deepEqual(left, [])
    const { rows: half } = await superuser.query('select customer_ref from privacy_erasures')
    assert.deepEqual(half, [{ customer_ref: REF }])

    const { workerDatabase } = app.runtime
    assert.equal(await privacy.resumeErasures(workerDatabase, jobKeys(app)), 1)
    assert.equal(await privacy.resumeErasures(workerDatabase, jobKeys(app)), 0)
    await numberAndEraseEvents(app)
    assert.deepEqual(await findTraces(superuser), [])
    const replay = await shop.merchant.post(ERASE, { customer_ref: REF, confirm }, key)
    assert.equal(replay.status, 200, replay.text)
    assert.equal(replay.body.erasure.orders, 1_200)
    const audit = await shop.merchant.get('/v1/my/audit?action=privacy.erased')
    assert.deepEqual(audit.body.entries[0].after, { orders: 1_200, guests: 0 })
  })

  test('an address that many customers share does not erase the others', async (t) => {
    const app = await openTestApp(t)
    const superuser = await openSuperuser(t, app.database)
    const shop = await openShop(app)
    const person = '11111111-1111-4111-8111-111111111111'
    await insertOrders(superuser, 3)
    await superuser.query(
      `update orders set customer_ref = 'her sister', person_id = $1
                            where order_number = 1`,
      [person],
    )
    await superuser.query(`update orders set customer_ref = 'guest' where order_number = 2`)
    const { guest_refs } = await getErasureToken(shop, REF)
    assert.deepEqual(guest_refs, ['guest'])
    await insertOrders(superuser, 101, 'placeholder ')
    const refused = await shop.merchant.post(ERASE, { customer_ref: REF })
    assert.equal(refused.body.error.code, 'erasure_too_broad', refused.text)
  })
})

/** Inserts orders of the customer without a checkout, or of others with her address. */
async function insertOrders(
  superuser: pg.Client,
  count: number,
  otherRefs?: string,
): Promise<void> {
  const ship_to = JSON.stringify(ADDRESS)
  const first = otherRefs === undefined ? 0 : 100_000
  await superuser.query(
    `insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status,
                         fulfillment_status, subtotal_cents, discount_cents, shipping_cents,
                         tax_cents, total_cents, currency, idempotency_key, ship_to, email, ip,
                         pricing, placed_at)
     select 'acme', gen_random_uuid(), $1 + n, coalesce($2 || n, $3), 'placed', 'paid',
            'unfulfilled', 100, 0, 0, 0, 100, 'USD', gen_random_uuid(), $4, $5, $6, '{}', now()
       from generate_series(1, $7) n`,
    [first, otherRefs ?? null, REF, ship_to, EMAIL, IP, count],
  )
  await superuser.query(
    `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, state, resource_id,
                                   response_status, response_body, answered_at)
     select tenant_ref, 'checkout', idempotency_key, sha256('x'), 'answered', id, 201,
            json_build_object('order', to_json(o)), now()
       from orders o
         on conflict do nothing`,
  )
  await superuser.query(
    `insert into webhook_events (tenant_ref, type, data, order_id, customer_ref)
     select tenant_ref, 'commerce.order.placed.v1', json_build_object('email', email), id,
            customer_ref
       from orders
      where customer_ref = $1`,
    [REF],
  )
}

async function insertSubscription(superuser: pg.Client, order_id: string): Promise<void> {
  await superuser.query(
    `insert into subscriptions (tenant_ref, id, customer_ref, product_id, variant_id, quantity,
                                interval, interval_count, unit_price_cents, currency,
                                origin_order_id, anchor_on, current_period_start, next_charge_at,
                                ship_to, subscription_number)
     values ('acme', gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 1, 'month', 1,
             1000, 'USD', $2, now(), now(), now(), $3, 1)`,
    [REF, order_id, JSON.stringify(ADDRESS)],
  )
}
