import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../harness/eventually.ts'
import { startNmi } from '../../harness/nmi.ts'
import { APPROVED, cardOf, DECLINED, LOST_AFTER_CHARGE } from '../checkout/setup.ts'
import { BASE, ok, openStores, refusal, type SubscriptionStore } from './setup.ts'

const SECURITY_KEY = 'a-security-key-of-32-characters!'
const OTHER = { ccnumber: '5431 1111 1111 1111', ccexp: '12/41', cvv: '999' }

const giveCard = (store: SubscriptionStore, id: string, body: object) =>
  store.merchant.post(`${BASE}/${id}/payment-method`, body)

const vaultOf = async ({ superuser }: SubscriptionStore, id: string) =>
  (await superuser.query('select vault_id from subscriptions where id = $1', [id])).rows[0].vault_id

const isStored = async ({ superuser }: SubscriptionStore, vault_id: string) =>
  (await superuser.query('select from sim_vault where vault_id = $1', [vault_id])).rowCount === 1

test('another card of a subscription', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')

  await t.test('is verified and stored, and the previous card is deleted', async () => {
    const { id } = await store.subscribe()
    const old = await vaultOf(store, id)
    assert.ok(await isStored(store, old))
    const { subscription } = ok(await giveCard(store, id, { card: OTHER }))
    assert.deepEqual(subscription.payment_method, {
      brand: 'mastercard',
      last4: '1111',
      exp_month: 12,
      exp_year: 2041,
      updatable: true,
    })
    const now = await vaultOf(store, id)
    assert.notEqual(now, old)
    assert.deepEqual([await isStored(store, now), await isStored(store, old)], [true, false])
    const { rows } = await store.superuser.query(`select count(*)::int as charges from sim_charges`)
    assert.equal(rows[0].charges, 1, 'nothing was charged')
  })

  await t.test(
    'cannot be a card that a bank has refused for good, in any subscription',
    async () => {
      const { id } = await store.subscribe({ customer_ref: 'blocked' })
      const other = await store.subscribe({ customer_ref: 'blocked' })
      ok(await giveCard(store, id, { card: OTHER }))
      await store.superuser.query('update subscriptions set card_blocked = true where id = $1', [
        id,
      ])
      for (const each of [id, other.id]) {
        const again = await giveCard(store, each, { card: OTHER })
        assert.deepEqual(refusal(again), [409, 'card_unusable'])
      }
      ok(await giveCard(store, id, { card: APPROVED }))
      ok(await giveCard(store, other.id, { card: OTHER }))
    },
  )

  await t.test('is kept while another subscription of the order is charged with it', async () => {
    const tea = await store.sell(500)
    const items = [
      { variant_id: store.coffee, quantity: 1 },
      { variant_id: tea, quantity: 1 },
    ]
    const first = await store.subscribe({ items, customer_ref: 'twins' })
    const listed = ok(await store.merchant.get(`${BASE}?customer_ref=twins`)).subscriptions
    const second = listed.find((each: { id: string }) => each.id !== first.id)
    const shared = await vaultOf(store, first.id)
    ok(await giveCard(store, first.id, { card: OTHER }))
    assert.ok(await isStored(store, shared))
    ok(await giveCard(store, second.id, { card: OTHER }))
    assert.ok(!(await isStored(store, shared)))
  })

  await t.test('a card that its bank declines changes nothing', async () => {
    const { id, version } = await store.subscribe()
    const old = await vaultOf(store, id)
    const declined = await giveCard(store, id, { card: DECLINED })
    assert.deepEqual(refusal(declined), [402, 'payment_declined'])
    assert.deepEqual(declined.body.decline, { reason: 'card_declined', retryable: true })
    const silent = await giveCard(store, id, { card: LOST_AFTER_CHARGE })
    assert.deepEqual(refusal(silent), [503, 'service_unavailable'])
    assert.deepEqual([await vaultOf(store, id), (await store.read(id)).version], [old, version])
  })

  await t.test('is accepted if its bank declines only later charges', async () => {
    const { id } = await store.subscribe()
    for (const number of ['4000000000000341', '4000000000002685', '4000000000000911'])
      ok(await giveCard(store, id, { card: cardOf(number) }))
  })

  await t.test('makes a declined charge due at once', async () => {
    const { id } = await store.subscribe()
    await store.superuser.query(
      `update subscriptions set status = 'past_due', dunning_attempt = 2, dunning_reason = 'x',
              dunning_next_at = now() + interval '3 days' where id = $1`,
      [id],
    )
    const { subscription } = ok(await giveCard(store, id, { card: OTHER }))
    assert.equal(subscription.status, 'past_due', 'until the charge has succeeded')
    assert.ok(Date.parse(subscription.dunning.next_attempt_at) <= Date.now() + 1_000)
    const { rows } = await store.superuser.query(
      'select due_at = dunning_next_at as is_due from subscriptions where id = $1',
      [id],
    )
    assert.deepEqual(rows, [{ is_due: true }])
  })

  await t.test(
    'is refused without a card, with two, for an ended subscription, and during a charge',
    async () => {
      const { id } = await store.subscribe()
      for (const body of [
        {},
        { card: null },
        { card: APPROVED, payment_token: 'tok' },
        { card: { ccnumber: '1234', ccexp: '10/40' } },
        { card: { ccnumber: APPROVED.ccnumber, ccexp: '10/20' } },
      ])
        assert.deepEqual(refusal(await giveCard(store, id, body)), [400, 'invalid_body'])
      await store.charging(id)
      assert.deepEqual(refusal(await giveCard(store, id, { card: OTHER })), [
        409,
        'charge_in_progress',
      ])
      const ended = await store.subscribe()
      ok(await store.act(ended.id, 'cancel'))
      const late = await giveCard(store, ended.id, { card: OTHER })
      assert.deepEqual(refusal(late), [409, 'invalid_transition'])
    },
  )

  await t.test('a card that is verified while the subscription ends is deleted again', async () => {
    const { id } = await store.subscribe()
    const before = (await store.superuser.query('select from sim_vault')).rowCount
    await store.superuser.query('begin')
    await store.superuser.query(
      `update subscriptions set status = 'cancelled', next_charge_at = null, due_at = null where id = $1`,
      [id],
    )
    const giving = giveCard(store, id, { card: OTHER })
    const admin = await store.app.database.openAdmin()
    await eventually(async () => {
      const { rows } = await admin.query(
        `select count(*)::int as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      assert.ok(rows[0].waiting > 0)
    })
    await store.superuser.query('commit')
    assert.deepEqual(refusal(await giving), [409, 'invalid_transition'])
    assert.equal((await store.superuser.query('select from sim_vault')).rowCount, before)
  })

  await t.test('leaves no trace of its number', async () => {
    const { id } = await store.subscribe()
    const number = '4012888888881881'
    ok(await giveCard(store, id, { card: cardOf(number) }))
    ok(
      await store.shopper('POST', `/${id}/payment-method`, {
        card: cardOf(number),
        ip: '192.0.2.1',
      }),
    )
    const tables = await store.superuser.query(
      `select relname from pg_class join pg_namespace n on n.oid = relnamespace
        where relkind = 'r' and nspname = 'public'`,
    )
    for (const { relname } of tables.rows) {
      const { rows } = await store.superuser.query(
        `select to_jsonb(x)::text as row from ${relname} x`,
      )
      for (const { row } of rows) assert.ok(!row.includes(number), relname)
    }
  })
})

test('cards cannot be tried out: attempts are limited, and bans count', async (t) => {
  const stores = await openStores(t, { env: { CHECKOUT_VELOCITY_PER_MINUTE: '6' } })
  const store = await stores.open('acme')
  const { id } = await store.subscribe()
  const give = (number: string) =>
    store.shopper('POST', `/${id}/payment-method`, { card: cardOf(number), ip: '192.0.2.7' })
  // A declined card counts three times, and the checkout has counted once.
  assert.deepEqual(refusal(await give('4000000000000002')), [402, 'payment_declined'])
  const last = [
    await give('4111111111111111'),
    await give('4111111111111111'),
    await give('4111111111111111'),
  ]
  assert.deepEqual(refusal(last.at(-1) as (typeof last)[0]), [429, 'velocity_exceeded'])
  const banned = await stores.open('globex')
  const other = await banned.subscribe()
  const ban = { kind: 'ip', value: '192.0.2.9' }
  ok(await banned.merchant.post('/v1/merchant/fraud/bans', ban), 201)
  const tryBanned = () =>
    banned.shopper('POST', `/${other.id}/payment-method`, { card: OTHER, ip: '192.0.2.9' })
  assert.deepEqual(refusal(await tryBanned()), [403, 'fraud_rejected'])
  const { decisions } = ok(await banned.merchant.get('/v1/merchant/fraud/decisions'))
  const shown = decisions.map((each: Record<string, unknown>) => [each.decision, each.order_id])
  assert.deepEqual(shown[0], ['rejected', null], 'the merchant sees what a ban has blocked')
  // It counts three times as well.
  assert.deepEqual(refusal(await tryBanned()), [403, 'fraud_rejected'])
  assert.deepEqual(refusal(await tryBanned()), [429, 'velocity_exceeded'])
})

test('a store at NMI verifies a card by `validate`, stores it in the same call and deletes the old card', async (t) => {
  const nmi = await startNmi(SECURITY_KEY)
  t.after(() => nmi.close())
  const stores = await openStores(t, { env: { NMI_URL: nmi.url } })
  const store = await stores.open('acme')
  ok(
    await store.app.operator.put('/v1/stores/acme/payments', {
      gateway: 'nmi',
      credentials: { security_key: SECURITY_KEY },
    }),
  )
  const { id } = await store.subscribe()
  // The server of the test gives all cards one reference.
  await store.superuser.query(`update subscriptions set vault_id = 'the old card'`)
  const before = nmi.calls.length
  ok(await giveCard(store, id, { payment_token: 'tok-1' }))
  const [verified, deleted, ...more] = nmi.calls.slice(before).map(({ fields }) => fields)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [verified?.type, verified?.payment_token, verified?.customer_vault, verified?.initiated_by],
    ['validate', 'tok-1', 'add_customer', 'customer'],
  )
  assert.deepEqual([verified?.amount, verified?.ccnumber], [undefined, undefined])
  assert.deepEqual(
    [deleted?.customer_vault, deleted?.customer_vault_id],
    ['delete_customer', 'the old card'],
  )
  nmi.failNext({ code: '200' })
  const declined = await giveCard(store, id, { payment_token: 'tok-2' })
  assert.deepEqual(refusal(declined), [402, 'payment_declined'])
  nmi.failNext('reset_after')
  const lost = await giveCard(store, id, { payment_token: 'tok-3' })
  assert.deepEqual(refusal(lost), [503, 'service_unavailable'])
})
