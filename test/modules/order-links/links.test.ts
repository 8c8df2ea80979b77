import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { makeDueExports } from '../../../src/modules/privacy/jobs.ts'
import { fillDay } from '../../harness/mail-limits.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openShop } from '../checkout/setup.ts'
import { keyed, type OrderStore, openOrderStore } from '../orders/setup.ts'

let store: OrderStore
let number: number
const EMAIL = 'ada@example.com'
const RETURN = 'http://acme.localhost:3000/orders/link'

const scope = suiteScope()
before(async () => {
  store = await openOrderStore(scope)
  const { order } = await store.place({ email: EMAIL })
  number = order.order_number
})

const ask = (more: object = {}, tenant = 'acme') =>
  store.app.storefront.post(`/v1/tenants/${tenant}/orders/links`, {
    order_number: number,
    email: EMAIL,
    return_url: RETURN,
    ...more,
  })

const open = (token: string, tenant = 'acme') =>
  store.app.storefront.post(`/v1/tenants/${tenant}/orders/links/open`, { token })

async function readMails(): Promise<{ recipient: string; body: string; tenant_ref: string }[]> {
  const admin = await store.app.database.openAdmin()
  const { rows } = await admin.query(
    `select recipient, body, tenant_ref from mails
      where body like '%/orders/link/%' order by created_at`,
  )
  return rows
}

const tokenIn = (body: string) => /\/orders\/link\/([\w-]+)/.exec(body)?.[1] ?? ''

describe('the link to an order', () => {
  test('is mailed to the address of the order, and opens the order', async () => {
    const answer = await ask({ email: 'Ada@EXAMPLE.com' })
    assert.deepEqual([answer.status, answer.body], [202, { accepted: true }])
    const [mail] = await readMails()
    assert.deepEqual([mail?.recipient, mail?.tenant_ref], [EMAIL, 'acme'])
    const opened = await open(tokenIn(mail?.body ?? ''))
    assert.equal(opened.status, 200, opened.text)
    const { order_id, customer_ref } = opened.body
    const read = await store.app.storefront.get(
      `/v1/tenants/acme/orders/${order_id}?customer_ref=${customer_ref}`,
    )
    assert.equal(read.body.order.order_number, number)
  })

  test('is not mailed for another address or number, and the answer does not tell', async () => {
    const before = (await readMails()).length
    for (const wrong of [{ email: 'eve@example.com' }, { order_number: 999_999 }]) {
      const answer = await ask(wrong)
      assert.deepEqual([answer.status, answer.body], [202, { accepted: true }])
    }
    assert.equal((await readMails()).length, before)
  })

  test('is useless in another store, when changed, and after seven days', async (t) => {
    await openShop(store.app, 'globex', [])
    await ask()
    const token = tokenIn((await readMails()).at(-1)?.body ?? '')
    assert.equal((await open(token)).status, 200)
    const changed = [await open(`${token}A`), await open('x')]
    for (const answer of [await open(token, 'globex'), ...changed]) {
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'order_not_found'])
    }
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 8 * DAY_MS })
    assert.equal((await open(token)).status, 404)
  })

  test('is in the privacy export without its text, and an erasure deletes it', async () => {
    const person = { customer_ref: 'linked', email: 'linked@example.com' }
    const { order } = await store.place(person)
    const other = await store.place({ customer_ref: 'other', email: 'other@example.com' })
    for (const [placed, email] of [
      [order, person.email],
      [other.order, 'other@example.com'],
    ]) {
      assert.equal((await ask({ order_number: placed.order_number, email })).status, 202)
    }
    const { merchant } = store.shop
    const { runtime } = store.app
    const { customer_ref } = person
    const asked = await merchant.post('/v1/my/privacy/export', { customer_ref })
    await makeDueExports(runtime.workerDatabase, {
      exportKey: runtime.key('privacy export'),
      customersKey: runtime.key('customers'),
    })
    const { data } = (await merchant.get(`/v1/my/privacy/exports/${asked.body.job.id}`)).body
    const [mail, ...more] = data.orders[0].link_mails
    assert.deepEqual(more, [])
    assert.deepEqual([mail.order_id, mail.recipient], [order.id, person.email])
    assert.ok(!JSON.stringify(data).includes('/orders/link/'), 'the link alone opens the order')
    const erase = '/v1/my/privacy/erase'
    const { confirm } = (await merchant.post(erase, { customer_ref })).body
    const erased = await merchant.post(erase, { customer_ref, confirm }, keyed())
    assert.equal(erased.status, 200, erased.text)
    const left = (await readMails()).map(({ recipient }) => recipient)
    assert.ok(!left.includes(person.email))
    assert.ok(left.includes('other@example.com'), "another person's mail stays")
  })

  test('a link that is requested while its person is erased is not left behind', async () => {
    const person = { customer_ref: 'racing', email: 'racing@example.com' }
    const { order } = await store.place(person)
    const { merchant } = store.shop
    const { customer_ref, email } = person
    const { confirm } = (await merchant.post('/v1/my/privacy/erase', { customer_ref })).body
    await Promise.all([
      merchant.post('/v1/my/privacy/erase', { customer_ref, confirm }, keyed()),
      ...Array.from({ length: 3 }, () => ask({ order_number: order.order_number, email })),
    ])
    const left = (await readMails()).map(({ recipient }) => recipient)
    assert.ok(!left.includes(email))
  })

  test('leads only to a host of the store', async () => {
    for (const return_url of [
      'https://evil.example/orders/link',
      'http://globex.localhost/orders/link',
      'http://acme.localhost@evil.example/',
      'javascript:alert(1)',
      'http://acme.localhost/?next=',
      'http://acme.localhost/#x',
      'orders/link',
    ]) {
      const { status, body } = await ask({ return_url })
      assert.deepEqual([status, body.issues?.[0]?.path], [400, 'return_url'], return_url)
    }
  })

  test('is refused with a wrong body, and without the token of a storefront', async () => {
    for (const [wrong, field] of [
      [{ order_number: 0 }, 'order_number'],
      [{ order_number: 'x' }, 'order_number'],
      [{ email: 'x' }, 'email'],
    ] as const) {
      const { status, body } = await ask(wrong)
      assert.deepEqual([status, body.issues?.[0]?.path], [400, field])
    }
    const stranger = await store.app.anyone.post('/v1/tenants/acme/orders/links', {})
    assert.equal(stranger.status, 401)
  })

  test('is mailed after any number of requests with wrong numbers, which send no mail', async () => {
    const { order } = await store.place({ email: 'forgets@example.com' })
    const asked = { email: 'forgets@example.com' }
    for (const order_number of [999_991, 999_992, 999_993, 999_994]) {
      assert.equal((await ask({ ...asked, order_number })).status, 202)
    }
    await ask({ ...asked, order_number: order.order_number })
    const mailed = (await readMails()).filter(({ recipient }) => recipient === asked.email)
    assert.equal(mailed.length, 1)
  })

  test("leads to the store's own protocol and port, whatever the request names", async () => {
    const { order } = await store.place({ email: 'port@example.com' })
    const asked = { email: 'port@example.com', order_number: order.order_number }
    for (const origin of ['https://acme.localhost:6666', 'http://acme.localhost:1']) {
      assert.equal((await ask({ ...asked, return_url: `${origin}/orders/link` })).status, 202)
    }
    const mailed = (await readMails()).filter(({ recipient }) => recipient === asked.email)
    const { port } = new URL(store.app.url)
    const origins = mailed.map(({ body }) => new URL(/https?:\S+/.exec(body)?.[0] ?? '').origin)
    assert.deepEqual(origins, Array(2).fill(`http://acme.localhost:${port}`))
  })

  test('is mailed at most three times an hour to one address, and can be requested five times a minute', async () => {
    const { order } = await store.place({ email: 'often@example.com' })
    const often = { email: 'often@example.com', order_number: order.order_number }
    for (let n = 0; n < 5; n++) assert.equal((await ask(often)).status, 202)
    const mailed = (await readMails()).filter(({ recipient }) => recipient === often.email)
    assert.equal(mailed.length, 3)
    const shopper = { ip: '203.0.113.77', order_number: 999_999 }
    const statuses: number[] = []
    for (let n = 0; n < 6; n++) statuses.push((await ask(shopper)).status)
    assert.deepEqual(statuses, [202, 202, 202, 202, 202, 429])
  })

  test('is mailed at most twenty times a day to one mailbox, and the answer does not tell', async () => {
    const { app } = store
    const email = 'daily+tea@example.com'
    const { order } = await store.place({ email, customer_ref: 'daily' })
    await fillDay(app.runtime.limits, 'order_link', 'daily@example.com', 19)
    const asked = { email, order_number: order.order_number, ip: '203.0.113.78' }
    const count = async () =>
      (await readMails()).filter(({ recipient }) => recipient === email).length
    assert.equal((await ask(asked)).status, 202)
    assert.equal(await count(), 1)
    assert.equal((await ask(asked)).status, 202)
    assert.equal(await count(), 1)
  })

  test('fifty requests at the same time send at most three mails, and malformed ones are refused', async () => {
    const { order } = await store.place({ email: 'many@example.com' })
    const many = { email: 'many@example.com', order_number: order.order_number }
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(many)))
    assert.ok(answers.every(({ status }) => status === 202 || status === 429))
    const mailed = (await readMails()).filter(({ recipient }) => recipient === many.email)
    assert.ok(mailed.length >= 1 && mailed.length <= 3, String(mailed.length))
    for (const garbage of [null, [], 'x', 5, {}, { token: 5 }, { token: '' }, { token: '\0' }]) {
      const url = '/v1/tenants/acme/orders/links/open'
      const { status } = await store.app.storefront.post(url, garbage)
      assert.ok(status === 400 || status === 404, JSON.stringify(garbage))
    }
  })
})
