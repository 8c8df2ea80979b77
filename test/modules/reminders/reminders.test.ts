import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createReminderWorker } from '../../../src/modules/reminders/jobs.ts'
import { openReminders } from '../../../src/modules/reminders/open.ts'
import { createTransport, type MailTransport } from '../../../src/platform/mail.ts'
import { type ReadMail, readMail } from '../../harness/mime.ts'
import { assertRefused } from '../../harness/refusals.ts'
import { startSmtp } from '../../harness/smtp.ts'
import { type CampaignApp, drain, shareCampaignApp } from '../campaigns/setup.ts'
import { cart, checkout, DECLINED, openShop, preview, type Shop, stock } from '../checkout/setup.ts'

const URL = '/v1/merchant/marketing/reminders'
const SETTINGS = `${URL}/settings`
const ON = { enabled: true, law_allows: true }

let app: CampaignApp
let transport: MailTransport
let shops = 0

/** A store that reminds, unless told otherwise. */
async function openStore(settings: object | null = ON): Promise<Shop> {
  const shop = await openShop(app, `reminding-${++shops}`, [1_000, 2_000])
  if (settings !== null) {
    const answer = await shop.merchant.put(SETTINGS, settings)
    assert.equal(answer.status, 200, answer.text)
  }
  return shop
}

let people = 0
const newEmail = () => `shopper-${++people}@readers.example`

/** A shopper looks at the checkout, and has entered an address. */
async function look(shop: Shop, email: string | null, more: object = {}) {
  const shown = await preview(app, shop, {
    customer_ref: email === null ? 'ann' : email.split('@')[0],
    items: [{ variant_id: shop.variants[1_000], quantity: 2 }],
    email,
    ...more,
  })
  assert.equal(shown.status, 200, shown.text)
}

/** Confirms that an address wants mails. */
const agree = ({ tenant }: Shop, email: string) =>
  app.sql(
    `insert into newsletter_subscribers (tenant_ref, email, email_folded, status, confirmed_at)
     values ($1, $2, $2, 'subscribed', now())`,
    [tenant, email],
  )

const makeDue = ({ tenant }: Shop) =>
  app.sql(
    `update checkout_reminders set next_attempt_at = now()
      where tenant_ref = $1 and next_attempt_at is not null`,
    [tenant],
  )

const worker = (by: MailTransport = transport) =>
  createReminderWorker({ ...openReminders(app.runtime, by) })

/** Lets the time come, and answers what is sent. */
async function sendDue(shop: Shop, by = worker()): Promise<ReadMail[]> {
  const before = app.received.length
  await makeDue(shop)
  await drain(by)
  return app.received.slice(before).map(readMail)
}

const listOf = async ({ merchant }: Shop, query = '') =>
  (await merchant.get(`${URL}?${query}`)).body.reminders as {
    email: string
    state: string
    reason: string | null
    sent_count: number
  }[]

describe('reminders of unfinished checkouts', () => {
  const shared = shareCampaignApp()
  before(() => {
    app = shared.current
    transport = createTransport(app.smtpUrl, 'Fairdock <news@fairdock.example>') ?? assert.fail()
  })

  test('are off until the store says that its law allows them, and store nothing until then', async () => {
    const shop = await openStore(null)
    const { settings } = (await shop.merchant.get(SETTINGS)).body
    assert.deepEqual([settings.enabled, settings.law_confirmed_at], [false, null])
    await look(shop, newEmail())
    assert.deepEqual(await listOf(shop), [])
    await assertRefused(
      [
        ['without the law', { enabled: true }, 'invalid_body', 'law_allows'],
        ['against the law', { enabled: true, law_allows: false }, 'invalid_body', 'law_allows'],
        ['no switch', { law_allows: true }, 'invalid_body', 'enabled'],
        ['too soon', { ...ON, first_after_minutes: 1 }, 'invalid_body', 'first_after_minutes'],
        ['on another basis', { ...ON, basis: 'hope' }, 'invalid_body', 'basis'],
      ],
      (body) => shop.merchant.put(SETTINGS, body),
    )
    const on = (await shop.merchant.put(SETTINGS, ON)).body.settings
    assert.match(on.law_confirmed_by, /^merchant_key:/)
    assert.ok(on.law_confirmed_at)
    await look(shop, newEmail())
    assert.equal((await listOf(shop)).length, 1)
    await shop.merchant.put(SETTINGS, { enabled: false })
    assert.deepEqual(await listOf(shop), [], 'what was kept goes with the permission')
  })

  test('are sent twice at most, with the cart, a link to unsubscribe, and its headers', async () => {
    const shop = await openStore()
    const email = newEmail()
    await agree(shop, email)
    await look(shop, email)
    const before = app.received.length
    const [first] = await sendDue(shop)
    assert.ok(first)
    assert.deepEqual(first.to, [email])
    assert.match(first.text, /2 × Worth 1000/)
    assert.match(first.html ?? '', /2 × Worth 1000/)
    const raw = app.received[before]?.raw ?? ''
    assert.match(
      raw,
      /^List-Unsubscribe: <http:\/\/platform\.example\/v1\/unsubscribe\/[\w-]+>\r$/m,
    )
    const [second, ...more] = await sendDue(shop)
    assert.ok(second && more.length === 0)
    assert.notEqual(second.text, first.text)
    assert.deepEqual(await sendDue(shop), [])
    const [row] = await listOf(shop)
    assert.deepEqual([row?.state, row?.reason, row?.sent_count], ['stopped', 'done', 2])
    await look(shop, email)
    assert.deepEqual(await sendDue(shop), [], 'the person is left alone for a week')
    await app.sql(
      `update checkout_reminders set last_sent_at = now() - interval '8 days' where email = $1`,
      [email],
    )
    await look(shop, email)
    assert.equal((await sendDue(shop)).length, 1)
  })

  test('are sent once if the store wants only one', async () => {
    const shop = await openStore({ ...ON, second_after_minutes: null })
    const email = newEmail()
    await agree(shop, email)
    await look(shop, email)
    assert.equal((await sendDue(shop)).length, 1)
    assert.equal((await listOf(shop))[0]?.reason, 'done')
  })

  test('wait until the cart has been left alone for long enough', async () => {
    const shop = await openStore()
    const email = newEmail()
    await agree(shop, email)
    await look(shop, email)
    const before = app.received.length
    await drain(worker())
    assert.equal(app.received.length, before, 'an hour is not over')
    await makeDue(shop)
    await look(shop, email)
    await drain(worker())
    assert.equal(app.received.length, before, 'seen again, it waits anew')
  })

  test('stop when the person has ordered, found by address or by reference', async () => {
    const shop = await openStore()
    for (const more of [{ email: 'other@readers.example' }, { customer_ref: 'other' }]) {
      const email = newEmail()
      await agree(shop, email)
      await look(shop, email)
      const customer_ref = email.split('@')[0]
      const declined = { customer_ref, email, card: DECLINED }
      assert.equal((await checkout(app, shop, cart(shop.variants[2_000], declined))).status, 402)
      const body = cart(shop.variants[2_000], { customer_ref, email, ...more })
      assert.equal((await checkout(app, shop, body)).status, 201)
      assert.deepEqual(await sendDue(shop), [])
      const row = (await listOf(shop)).find((each) => each.email === email)
      assert.deepEqual([row?.state, row?.reason], ['stopped', 'ordered'])
    }
  })

  test('are sent after a failed payment, which is no order', async () => {
    const shop = await openStore()
    const email = newEmail()
    await agree(shop, email)
    await look(shop, email)
    const body = cart(shop.variants[1_000], { customer_ref: 'x', email, card: DECLINED })
    assert.equal((await checkout(app, shop, body)).status, 402)
    assert.equal((await sendDue(shop)).length, 1)
  })

  test('stop when something is out of stock, or no longer sold', async () => {
    const shop = await openStore()
    const variant = shop.variants[1_000] ?? ''
    await stock(shop.merchant, variant, 1)
    const email = newEmail()
    await agree(shop, email)
    await look(shop, email)
    assert.deepEqual(await sendDue(shop), [])
    assert.equal((await listOf(shop))[0]?.reason, 'out_of_stock')

    const gone = newEmail()
    await agree(shop, gone)
    await look(shop, gone, { items: [{ variant_id: shop.variants[2_000], quantity: 1 }] })
    await app.sql(`update products set status = 'draft' where tenant_ref = $1`, [shop.tenant])
    assert.deepEqual(await sendDue(shop), [])
    assert.equal((await listOf(shop))[0]?.reason, 'not_sold')
  })

  test('go to shoppers who agreed, and on the basis of a soft opt-in also to earlier customers', async () => {
    const strict = await openStore()
    const soft = await openStore({ ...ON, basis: 'soft_opt_in' })
    const email = newEmail()
    for (const shop of [strict, soft]) {
      const body = cart(shop.variants[2_000], { customer_ref: 'buyer', email })
      assert.equal((await checkout(app, shop, body)).status, 201)
      await app.sql(
        `update orders set created_at = now() - interval '1 day', placed_at = now() - interval '1 day'
          where tenant_ref = $1`,
        [shop.tenant],
      )
      await look(shop, email)
    }
    assert.deepEqual(await sendDue(strict), [])
    assert.equal((await listOf(strict))[0]?.reason, 'not_allowed')
    assert.equal((await sendDue(soft)).length, 1)

    const stranger = newEmail()
    await look(soft, stranger)
    assert.deepEqual(await sendDue(soft).then((mails) => mails.flatMap(({ to }) => to)), [email])
    const row = (await listOf(soft)).find((each) => each.email === stranger)
    assert.equal(row?.reason, 'not_allowed', 'a stranger has not bought')
  })

  test('reminders of unfinished checkouts of a sandbox go to its owner alone', async () => {
    const shop = await openStore()
    const { tenant } = shop
    const [owner, stranger] = [newEmail(), newEmail()]
    await app.sql('update stores set owner_email = $2 where tenant_ref = $1', [tenant, owner])
    const { status } = await app.operator.put(`/v1/stores/${tenant}/sandbox`, { sandbox: true })
    assert.equal(status, 200)
    for (const email of [owner, stranger]) {
      await agree(shop, email)
      await look(shop, email)
    }
    const sent = await sendDue(shop)
    assert.deepEqual(
      sent.map(({ to }) => to),
      [[owner]],
    )
  })

  test('never go to addresses that unsubscribed or are suppressed, on any basis', async () => {
    const shop = await openStore({ ...ON, basis: 'soft_opt_in' })
    const [left, bounced] = [newEmail(), newEmail()]
    for (const email of [left, bounced]) {
      const body = cart(shop.variants[2_000], { customer_ref: email.split('@')[0], email })
      assert.equal((await checkout(app, shop, body)).status, 201)
    }
    await app.sql(`update orders set created_at = now() - interval '1 day' where tenant_ref = $1`, [
      shop.tenant,
    ])
    const withdraw = { email: left, note: 'by phone' }
    await shop.merchant.post('/v1/merchant/marketing/consents/withdraw', withdraw)
    await shop.merchant.post('/v1/merchant/marketing/suppressions', { email: bounced })
    for (const email of [left, bounced]) await look(shop, email)
    assert.deepEqual(await sendDue(shop), [])
    const rows = await listOf(shop, 'state=stopped')
    assert.deepEqual(
      rows.map(({ reason }) => reason),
      ['not_allowed', 'not_allowed'],
    )
  })

  test('are scanned for health claims like every mail', async () => {
    const shop = await openStore()
    const email = newEmail()
    await agree(shop, email)
    await look(shop, email)
    await app.sql(`update products set name = 'A tea that cures cancer' where tenant_ref = $1`, [
      shop.tenant,
    ])
    assert.deepEqual(await sendDue(shop), [])
    assert.equal((await listOf(shop))[0]?.reason, 'claims')
  })

  test('are never sent twice, also if the worker is killed after it has sent one', async () => {
    const shop = await openStore({ ...ON, second_after_minutes: null })
    const email = newEmail()
    await agree(shop, email)
    await look(shop, email)
    const held = Promise.withResolvers<void>()
    const dying: MailTransport = {
      async deliver(mail) {
        await transport.deliver(mail)
        return held.promise
      },
    }
    await makeDue(shop)
    const killed = worker(dying)
    const before = app.received.length
    await killed.step(new AbortController().signal)
    while (app.received.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
    await app.sql('update checkout_reminders set lease_until = now() where email = $1', [email])
    assert.deepEqual(await sendDue(shop), [])
    const [row] = await listOf(shop)
    assert.deepEqual([row?.state, row?.sent_count], ['stopped', 1])
    held.resolve()
    await killed.drain()
  })

  test('store no cart without an address, and none for an incomplete address', async () => {
    const shop = await openStore()
    for (const email of [null, '', 'ann', 'ann@', 'ann@x.example, bob@x.example']) {
      await look(shop, email, { customer_ref: 'ann' })
    }
    assert.deepEqual(await listOf(shop), [])
  })

  test('are shown to the store alone, with the scope of marketing', async () => {
    const shop = await openStore()
    await look(shop, newEmail())
    const other = await openStore()
    assert.deepEqual(await listOf(other), [])
    const lesser = await app.merchant(shop.tenant, 'read:own_orders')
    for (const [method, url, body] of [
      ['GET', URL],
      ['GET', SETTINGS],
      ['PUT', SETTINGS, { enabled: false }],
    ] as const) {
      const refused = await lesser.send(method, url, body)
      assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden'])
    }
    assert.equal((await listOf(shop)).length, 1)
  })

  test('reminders of unfinished checkouts that the mail server refuses for their address suppress it', async (t) => {
    const shop = await openStore()
    const email = newEmail()
    await look(shop, email)
    await agree(shop, email)
    const strict = await startSmtp(t, {
      onRcptTo({ address }, _session, done) {
        const refusal = new Error(`5.1.1 <${address.toUpperCase()}> is nobody`)
        done(Object.assign(refusal, { responseCode: 550 }))
      },
    })
    const refusing = createTransport(strict.url, 'Fairdock <news@fairdock.example>')
    await sendDue(shop, worker(refusing ?? assert.fail()))
    const { suppressions } = (await shop.merchant.get('/v1/merchant/marketing/suppressions')).body
    assert.deepEqual(
      suppressions.map((row: Record<string, string>) => [row.email, row.reason, row.detail]),
      [[email, 'hard_bounce', '550 5.1.1 <[address]> is nobody']],
    )
    const [row] = await app.sql<{ last_error: string }>(
      'select last_error from checkout_reminders where tenant_ref = $1',
      [shop.tenant],
    )
    assert.match(row?.last_error ?? '', /\[address\]/)
    await sendDue(shop)
    const [stopped] = await listOf(shop)
    assert.deepEqual([stopped?.sent_count, stopped?.reason], [1, 'not_allowed'])
  })

  test('are erased with the customer', async () => {
    const shop = await openStore()
    const email = newEmail()
    const customer_ref = email.split('@')[0]
    await look(shop, email)
    const url = '/v1/my/privacy/erase'
    const asked = await shop.merchant.post(url, { customer_ref }, { 'idempotency-key': 'one' })
    const confirm = { customer_ref, confirm: asked.body.confirm }
    const done = await shop.merchant.post(url, confirm, { 'idempotency-key': 'two' })
    assert.equal(done.status, 200, done.text)
    assert.deepEqual(await listOf(shop), [])
  })
})
