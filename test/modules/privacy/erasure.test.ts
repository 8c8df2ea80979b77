import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import * as orders from '../../../src/modules/orders/customer-data.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { openTestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { dumpText, openSuperuser } from '../../harness/superuser.ts'
import {
  addVariant,
  cart,
  checkout,
  enable,
  issueGiftCard,
  openShop,
  preview,
} from '../checkout/setup.ts'
import { freshKey, giveCredit, issueCard } from './setup.ts'

const twoOf = (variant_id: string | undefined) => [{ variant_id, quantity: 2 }]

interface Account {
  customer_ref: string
  balance_cents: number
}

const ERASE = '/v1/my/privacy/erase'

test('an erasure', async (t) => {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const shop = await openShop(app)
  const { merchant, variants } = shop
  await enable(merchant, 'subscriptions')
  const monthly = await addVariant(merchant, 2_000, {
    is_subscription: true,
    subscription_interval: 'month',
  })

  async function buy(more: object, { status = 201, variant = variants[1_000] } = {}) {
    const answer = await checkout(app, shop, cart(variant, more))
    assert.equal(answer.status, status, answer.text)
    return answer.body.order as { id: string }
  }
  async function erase(customer_ref: string) {
    const { body } = await merchant.post(ERASE, { customer_ref })
    return merchant.post(ERASE, { customer_ref, confirm: body.confirm }, freshKey())
  }

  await t.test('is refused while an order is held before its payment', async () => {
    const email = 'held@example.com'
    const ban = { kind: 'email', value: email, action: 'review' }
    assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const customer = { customer_ref: 'held', email, subscribe: true }
    const { id } = await buy(customer, { status: 202, variant: monthly })
    const refused = await erase('held')
    assert.equal(refused.body.error.code, 'order_busy', refused.text)
    const release = `/v1/merchant/orders/${id}/release`
    assert.equal((await merchant.post(release, {}, freshKey())).status, 200)
    assert.equal((await erase('held')).status, 200)
    const { rows } = await superuser.query('select id, status, vault_id from subscriptions')
    const [{ id: subscription }] = rows
    assert.deepEqual(rows, [{ id: subscription, status: 'cancelled', vault_id: null }])
    while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
    const cancelled = (await merchant.get('/v1/merchant/events?limit=500')).body.events.filter(
      ({ type }: { type: string }) => type === 'commerce.subscription.cancelled.v1',
    )
    assert.equal(cancelled.length, 1)
    const { data } = cancelled[0]
    assert.deepEqual(
      [data.subscription.id, data.subscription.unit_price_cents > 0, data.status, data.reason],
      [subscription, true, 'cancelled', 'erased'],
    )
    assert.ok(!JSON.stringify(cancelled).includes('held'), 'it has no personal data')
    const known = await merchant.get('/v1/merchant/customers')
    assert.equal(known.body.total, 0, known.text)
  })

  await t.test('leaves no row of an order by which the card could be charged', async () => {
    for (const table of ['charges', 'payment_attempts', 'subscriptions']) {
      const { rows } = await superuser.query(`select from ${table} where vault_id is not null`)
      assert.equal(rows.length, 0, table)
    }
  })

  await t.test('is preceded by a preview with the number of open orders', async () => {
    const [partly, whole] = [
      await buy({ customer_ref: 'waiting' }),
      await buy({ customer_ref: 'waiting' }),
    ]
    await buy({ customer_ref: 'waiting' })
    const refund = (id: string, body: object) =>
      merchant.post(`/v1/merchant/orders/${id}/refunds`, body, freshKey())
    assert.equal((await refund(partly.id, { amount_cents: 10 })).status, 201)
    assert.equal((await refund(whole.id, {})).status, 201)
    const { body } = await merchant.post(ERASE, { customer_ref: 'waiting' })
    assert.deepEqual([body.orders, body.open_orders], [3, 2], 'all but the fully refunded one')
  })

  await t.test(
    'takes the customer off the newsletter, in whatever case the address was written',
    async () => {
      const list = '/v1/merchant/marketing/subscribers'
      for (const email of ['Reader@Example.com', 'other@example.com']) {
        await app.storefront.post('/v1/tenants/acme/newsletter', { email })
      }
      await buy({ customer_ref: 'reader', email: 'reader@example.COM' })
      assert.equal((await erase('reader')).status, 200)
      const { subscribers } = (await merchant.get(list)).body
      const left = subscribers.map(({ email }: { email: string }) => email)
      assert.deepEqual(left, ['other@example.com'])
    },
  )

  await t.test('removes every free text about the customer, also a short one', async () => {
    const key = freshKey()
    const body = { amount_cents: 10, reason: 'quillfeather' }
    const [spoken, disputed, plain] = [
      await buy({ customer_ref: 'quill' }),
      await buy({ customer_ref: 'quill' }),
      await buy({ customer_ref: 'quill' }),
    ]
    const act = (id: string, verb: string, with_: object = {}, headers = freshKey()) =>
      merchant.post(`/v1/merchant/orders/${id}/${verb}`, with_, headers)
    assert.equal((await act(spoken.id, 'hold', { reason: 'quillfeather' })).status, 200)
    assert.equal((await act(spoken.id, 'refunds', body, key)).status, 201)
    const dispute = `/v1/stores/acme/orders/${disputed.id}/dispute`
    assert.equal((await app.operator.post(dispute, { outcome: 'opened' })).status, 200)
    assert.equal((await act(plain.id, 'hold')).status, 200)
    assert.equal((await erase('quill')).status, 200)
    const read = async ({ id }: { id: string }) =>
      (await merchant.get(`/v1/merchant/orders/${id}`)).body
    const left = await read(spoken)
    assert.deepEqual([left.order.hold.reason, left.refunds[0].reason], ['[erased]', '[erased]'])
    const replay = await act(spoken.id, 'refunds', body, key)
    assert.equal(replay.status, 201, replay.text)
    assert.ok(!replay.text.includes('quillfeather'), replay.text)
    assert.equal((await read(disputed)).order.hold.reason, 'dispute', 'a word of ours stays')
    assert.equal((await read(plain)).order.hold.reason, 'merchant')
  })

  await t.test('leaves credit that cannot be spent, and refunds do not add to it', async () => {
    await enable(merchant, 'gift_cards')
    await giveCredit(merchant, 'gone', 100)
    const gift = await issueGiftCard(merchant, 400)
    const byGift = await buy({ customer_ref: 'gone', gift_card_code: gift.code })
    const byCard = await buy({ customer_ref: 'gone' })
    assert.equal((await erase('gone')).status, 200)
    const disable = `/v1/merchant/gift-cards/${gift.gift_card.id}/disable`
    assert.equal((await merchant.post(disable, {}, freshKey())).status, 200)
    const refund = (id: string, body: object) =>
      merchant.post(`/v1/merchant/orders/${id}/refunds`, body, freshKey())
    for (const [id, body] of [
      [byGift.id, {}],
      [byCard.id, { method: 'store_credit' }],
    ] as const) {
      const refused = await refund(id, body)
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'credit_unspendable'])
    }
    const { body } = await refund(byCard.id, {})
    const pseudonym = body.order.customer_ref
    assert.match(pseudonym, /^erased:/)
    const { accounts } = (await merchant.get('/v1/merchant/store-credit')).body
    const left: Account[] = accounts.filter((each: Account) =>
      each.customer_ref.startsWith(pseudonym),
    )
    assert.deepEqual(left.map((each) => each.balance_cents).sort(), [100])
    for (const { customer_ref } of left) {
      const wanted = cart(variants[1_000], { customer_ref, apply_store_credit: true })
      const shown = await preview(app, shop, wanted)
      assert.equal(shown.body.store_credit_available_cents, 0, shown.text)
      const bought = await checkout(app, shop, wanted)
      const paid = bought.body.charges.map(({ tender }: { tender: string }) => tender)
      assert.deepEqual(paid, ['card'], bought.text)
    }
  })

  await t.test('leaves the store what a cancellation or an edit gives back as credit', async () => {
    await giveCredit(merchant, 'left', 5_000)
    const byCredit = { customer_ref: 'left', apply_store_credit: true }
    const [whole, edited] = [
      await buy(byCredit),
      await buy({ ...byCredit, items: twoOf(variants[1_000]) }),
    ]
    assert.equal((await erase('left')).status, 200)
    const owed = async () => {
      const { rows } = await superuser.query(
        `select account, sum(amount_cents)::int as cents from ledger_entries
          where account in ('store_credit', 'breakage') group by 1`,
      )
      const of = (name: string) => rows.find(({ account }) => account === name)?.cents ?? 0
      return { credit: of('store_credit'), breakage: of('breakage') }
    }
    const before = await owed()
    const act = (id: string, verb: string, body: object) =>
      merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, freshKey())
    const cancelled = await act(whole.id, 'cancel', { reason: 'customer' })
    assert.equal(cancelled.status, 200, cancelled.text)
    const { body } = await merchant.get(`/v1/merchant/orders/${edited.id}`)
    const edits = [{ order_item_id: body.items[0].id, quantity: 1 }]
    const lowered = await act(edited.id, 'edit', { edits })
    assert.equal(lowered.status, 200, lowered.text)
    const after = await owed()
    assert.equal(after.credit, before.credit, 'nobody is owed more')
    assert.equal(after.breakage, before.breakage - 2_000, 'the store has it')
    const { accounts } = (await merchant.get('/v1/merchant/store-credit')).body
    const total = accounts.reduce((sum: number, each: Account) => sum + each.balance_cents, 0)
    assert.equal(total, -after.credit)
    await assertOracles(superuser)
  })

  await t.test(
    'changes only the reference in stored answers, and no other member with the same text',
    async () => {
      const key = freshKey()['idempotency-key']
      const body = cart(variants[1_000], { customer_ref: 'USD' })
      const first = await checkout(app, shop, body, key)
      assert.equal(first.status, 201, first.text)
      assert.equal((await erase('USD')).status, 200)
      const { order, charges } = (await checkout(app, shop, body, key)).body
      assert.match(order.customer_ref, /^erased:/)
      assert.deepEqual([order.currency, charges[0].currency], ['USD', 'USD'])
    },
  )

  await t.test('removes the name from the stored answer of a correction', async () => {
    const { id } = await buy({ customer_ref: 'misspelt', name: 'Misspelt Person' })
    const path = `/v1/merchant/orders/${id}`
    const key = freshKey()
    const corrected = await merchant.send('PATCH', path, { name: 'Corrected Person' }, key)
    assert.equal(corrected.status, 200, corrected.text)
    assert.equal((await erase('misspelt')).status, 200)
    const again = await merchant.send('PATCH', path, { name: 'Corrected Person' }, key)
    assert.deepEqual([again.status, again.body.customer_name], [200, null])
    const dump = await dumpText(superuser)
    assert.ok(!/(Misspelt|Corrected) Person/i.test(dump))
  })

  await t.test('does not touch an order that is paid meanwhile', async () => {
    const [before, meanwhile] = [
      await buy({ customer_ref: 'fast' }),
      await buy({ customer_ref: 'fast' }),
    ]
    await superuser.query(`update orders set status = 'pending_payment' where id = $1`, [
      meanwhile.id,
    ])
    const db = await app.store('acme')
    const { order_ids } = await db.transaction('test', (tx) =>
      orders.eraseOrders(tx, {
        customer_refs: ['fast'],
        pseudonyms: ['erased:fast'],
        before: new Date().toISOString(),
        limit: 10,
      }),
    )
    assert.deepEqual(order_ids, [before.id])
  })

  await t.test('leaves a returning customer what they order while it runs', async () => {
    const customer_ref = 'back'
    await enable(merchant, 'gift_cards')
    await giveCredit(merchant, customer_ref, 300)
    const { id } = await buy({ customer_ref })
    // Holds the erasure up between its steps.
    await superuser.query('begin')
    await superuser.query('select from orders where id = $1 for update', [id])
    const erasing = erase(customer_ref)
    const watcher = await openSuperuser(t, app.database)
    await until('the erasure waits for the order', async () => {
      const { rows } = await watcher.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and query like '%update orders%'`,
      )
      return rows.length > 0
    })
    await giveCredit(merchant, customer_ref, 1_000)
    await issueCard(merchant, 500, { customer_ref })
    const again = await buy({ customer_ref, subscribe: true }, { variant: monthly })
    await superuser.query('commit')
    assert.equal((await erasing).status, 200)
    while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
    const first = async (text: string) => (await superuser.query(text, [customer_ref])).rows
    assert.deepEqual(
      await first(
        'select balance_cents::int as cents from store_credit_accounts where customer_ref = $1',
      ),
      [{ cents: 1_000 }],
    )
    assert.equal((await first('select from gift_cards where customer_ref = $1')).length, 1)
    assert.deepEqual(await first('select status from subscriptions where customer_ref = $1'), [
      { status: 'active' },
    ])
    const events = await first(
      'select type, order_id, erased_at from webhook_events where customer_ref = $1',
    )
    assert.ok(events.some(({ order_id }) => order_id === again.id))
    assert.ok(!events.some(({ order_id }) => order_id === id))
    assert.deepEqual(
      events.filter(({ erased_at }) => erased_at !== null),
      [],
    )
    const { order } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    assert.match(order.customer_ref, /^erased:/)
  })

  await t.test('does not touch another person who once used the same address', async () => {
    const email = 'shared@example.com'
    await buy({ customer_ref: 'ann', email })
    await buy({ customer_ref: 'guest', email })
    await buy({ customer_ref: 'sister', email })
    const sister = { person_id: randomUUID(), email: 'own@example.com' }
    await buy({ customer_ref: 'sister', ...sister })
    const { body } = await merchant.post(ERASE, { customer_ref: 'ann' })
    assert.deepEqual(body.guest_refs, ['guest'])
  })
})
