import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPdf } from '../harness/pdf-text.ts'
import { ok } from '../modules/analytics/setup.ts'
import { amountsOf, invoiceOf, openBilling, URL, usageOf } from '../modules/billing/setup.ts'

/**
 * A store and what it owes, from January to April: a month is closed, a refund and calls come late, the
 * next invoice has them. One invoice is credited in part, the store pays late, and is reminded until then.
 */
test('a closed month stays closed, late usage is on the next invoice, and reminders end with the payment', async (t) => {
  const app = await openBilling(t)
  const at = (time: string) => app.setTime('acme', time)
  const shop = await app.shopAt('acme', '2032-01-01T09:00:00Z')
  const { merchant } = shop
  ok(await app.setPlan('acme', 'pro'))
  const { credential } = ok(
    await merchant.post('/v1/my/credentials', { label: 'till', scopes: ['read:own_store'] }),
    201,
  )
  const callIn = (time: string) =>
    app.runtime.apiCalls.count({
      tenant: 'acme',
      credentialId: credential.id,
      atMs: Date.parse(time),
    })
  const tillCalls = async (period: string) =>
    (await usageOf(merchant, period)).api_calls_by_key.find(
      ({ label }: { label: string | null }) => label === 'till',
    )?.calls ?? 0

  // January: four orders of 20.00, and a charge of the operator.
  at('2032-01-20T10:00:00Z')
  const orders = []
  for (const _ of [1, 2, 3, 4]) orders.push((await app.place(shop)).order.id)
  callIn('2032-01-20T10:00:00Z')
  ok(await app.charge('acme', 1_500, { description: 'Move from the old shop' }), 201)

  // In the grace period the draft still changes: these calls are late, and not too late.
  at('2032-02-01T00:30:00Z')
  await app.work()
  const draft = await invoiceOf(merchant, '2032-01')
  assert.deepEqual([draft.status, draft.total_cents], ['draft', 4_700])
  for (const _ of [1, 2]) callIn('2032-01-31T23:59:59Z')
  await app.work()
  assert.equal(await tillCalls('2032-01'), 3)

  at('2032-02-03T00:00:01Z')
  await app.work()
  const january = await invoiceOf(merchant, '2032-01')
  assert.deepEqual([january.number, january.status], ['INV-000001', 'open'])
  assert.deepEqual(amountsOf(january), [
    ['plan', null, 3_000],
    ['orders', 4, 120],
    ['gross_volume', 8_000, 80],
    ['charge', null, 1_500],
  ])
  const pdf = async (path: string) => readPdf((await merchant.get(path)).bytes).pages.flat()
  const printed = await pdf(january.pdf_url)
  assert.ok(printed.includes('Move from the old shop') && printed.includes('$47.00'))

  // February: a refund of an order of January, calls that a process has kept since January, and one order.
  at('2032-02-05T10:00:00Z')
  ok(await app.act(shop, orders[0], 'refunds', { amount_cents: 1_500 }), 201)
  for (const _ of [1, 2, 3, 4, 5]) callIn('2032-01-31T23:59:59Z')
  await app.place(shop)
  await app.work()
  assert.deepEqual(await invoiceOf(merchant, '2032-01'), january)
  assert.deepEqual(await pdf(january.pdf_url), printed)
  assert.equal(await tillCalls('2032-01'), 3)

  // The operator credits a part. The invoice stays as it is, and less is owed.
  at('2032-02-10T10:00:00Z')
  const credit = { amount_cents: 500, reason: 'Half a day of outage' }
  const { credit_note } = ok(await app.credit('acme', january.id, credit), 201)
  assert.equal(credit_note.number, 'CN-000001')
  assert.deepEqual(amountsOf(await invoiceOf(merchant, '2032-01')), amountsOf(january))
  assert.ok((await pdf(credit_note.pdf_url)).includes('-$5.00'))

  // It was due on the 17th. Two reminders are mailed, and then the store pays.
  const subjects = async () => (await app.mailsOf('acme')).map(({ subject }) => subject)
  const reminder = 'Reminder: invoice INV-000001 is not paid'
  for (const [time, mails] of [
    ['2032-02-17T12:00:00Z', 0],
    ['2032-02-20T12:00:00Z', 1],
    ['2032-02-25T12:00:00Z', 1],
    ['2032-02-27T12:00:00Z', 2],
  ] as const) {
    at(time)
    await app.work()
    assert.equal((await subjects()).filter((each) => each === reminder).length, mails, time)
  }
  const last = (await app.mailsOf('acme')).at(-1)
  assert.match(last?.body ?? '', /\$42\.00/, 'it asks for what is left after the credit note')
  at('2032-02-28T10:00:00Z')
  const paid = ok(await app.pay('acme', january.id, 4_200), 201)
  assert.deepEqual([paid.invoice.status, paid.invoice.balance_cents], ['paid', 0])

  // March: the next invoice has what came late, and nothing twice.
  at('2032-03-03T00:00:01Z')
  await app.work()
  const february = await invoiceOf(merchant, '2032-02')
  assert.deepEqual([february.number, february.status], ['INV-000002', 'open'])
  assert.deepEqual(amountsOf(february), [
    ['plan', null, 3_000],
    ['orders', 1, 0],
    ['gross_volume', 500, 5],
  ])
  assert.equal(await tillCalls('2032-02'), 5)
  const [, counted] = february.lines
  assert.deepEqual([counted.from_position, counted.to_position], [6, 6])

  at('2032-04-01T12:00:00Z')
  await app.work()
  const mails = await subjects()
  assert.equal(mails.filter((each) => each === reminder).length, 2, 'none after the payment')
  assert.ok(mails.includes('Reminder: invoice INV-000002 is not paid'))
  const all = ok(await merchant.get(`${URL}/invoices`)).invoices
  assert.deepEqual(
    all.map(({ period, status }: Record<string, string>) => [period, status]),
    [
      ['2032-03', 'draft'],
      ['2032-02', 'open'],
      ['2032-01', 'paid'],
    ],
  )
  const { store } = ok(await merchant.get('/v1/my/store'))
  assert.equal(store.status, 'live')
  await app.check()
})
