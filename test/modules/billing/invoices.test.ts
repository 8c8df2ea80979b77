import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { advance, countAndClose } from '../../../src/modules/billing/jobs.ts'
import { accountQueue } from '../../../src/modules/billing/queries.ts'
import type { Answer } from '../../harness/app.ts'
import { readPdf } from '../../harness/pdf-text.ts'
import { assertRefused, countStatuses, times } from '../../harness/refusals.ts'
import { ok } from '../analytics/setup.ts'
import { keyed } from '../orders/setup.ts'
import {
  amountsOf,
  type BillingApp,
  ISSUER,
  invoiceOf,
  listInvoices,
  shareBilling,
  URL,
} from './setup.ts'

const shared = shareBilling()
let app: BillingApp

const open = () => {
  app = shared.current
}

const codeOf = ({ status, body }: Answer) => [status, body.error?.code]

/** A store that had the plan `pro` in January, as it is on a day of 2032. */
async function januaryOf(tenant: string, at = '2032-02-03T00:00:01Z') {
  const shop = await app.shopAt(tenant, '2032-01-01T09:00:00Z')
  ok(await app.setPlan(tenant, 'pro'))
  app.setTime(tenant, at)
  return shop
}

/** The same with its invoice of January. */
async function billedIn(tenant: string) {
  const shop = await januaryOf(tenant)
  await app.work()
  return { ...shop, invoice: await invoiceOf(shop.merchant, '2032-01') }
}

const makeDue = (tenant: string) =>
  app.superuser.query(
    `update billing_accounts set due_at = 'epoch', lease_until = null, lease_token = null
      where tenant_ref = $1`,
    [tenant],
  )

const numbersOf = async () =>
  (await app.superuser.query(`select next_invoice::int as next from billing_issuers`)).rows[0].next

describe('closing a month', () => {
  before(open)

  test('makes a draft at the end of the month and issues it on the 3rd', async () => {
    const { merchant } = await januaryOf('calendar', '2032-01-31T23:59:00Z')
    await app.work()
    assert.deepEqual(await listInvoices(merchant), [])
    app.setTime('calendar', '2032-02-01T00:00:01Z')
    await app.work()
    const draft = await invoiceOf(merchant, '2032-01')
    assert.deepEqual([draft.status, draft.number, draft.total_cents], ['draft', null, 3_000])
    app.setTime('calendar', '2032-02-02T23:00:00Z')
    await app.work()
    assert.equal((await invoiceOf(merchant, '2032-01')).status, 'draft')
    app.setTime('calendar', '2032-02-03T00:00:01Z')
    await app.work()
    const issued = await invoiceOf(merchant, '2032-01')
    assert.deepEqual([issued.id, issued.status, issued.total_cents], [draft.id, 'open', 3_000])
    assert.match(issued.number, /^INV-\d{6}$/)
    assert.match(issued.due_at, /^2032-02-17T/)
    assert.deepEqual(issued.issuer, {
      name: ISSUER.name,
      lines: ISSUER.lines,
      note: ISSUER.note,
    })
    const [mail] = await app.mailsOf('calendar')
    assert.equal(mail?.recipient, 'calendar@owners.example')
    assert.equal(mail?.subject, `Your invoice ${issued.number} for 2032-01`)
    assert.match(mail?.body ?? '', /\$30\.00/)
  })

  test('issues no invoice if the month costs nothing, whatever was used', async () => {
    const shop = await app.shopAt('free', '2032-01-10T09:00:00Z')
    await app.place(shop)
    app.setTime('free', '2032-03-05T09:00:00Z')
    const next = await numbersOf()
    await app.work()
    assert.deepEqual(await listInvoices(shop.merchant), [])
    assert.equal(await numbersOf(), next)
  })

  test('issues every missed month, each once and in order', async () => {
    const { merchant } = await januaryOf('absent', '2032-05-04T00:00:00Z')
    await app.work()
    const rows = (await listInvoices(merchant)).toReversed()
    assert.deepEqual(
      rows.map(({ period, total_cents }: { period: string; total_cents: number }) => [
        period,
        total_cents,
      ]),
      [
        ['2032-01', 3_000],
        ['2032-02', 3_000],
        ['2032-03', 3_000],
        ['2032-04', 3_000],
      ],
    )
  })

  test('issues one invoice, without a gap in the numbers, when a step is killed before it commits', async () => {
    const { merchant } = await januaryOf('killed')
    await makeDue('killed')
    const db = app.runtime.workerDatabase.tenant('killed')
    const [lease] = await accountQueue.claim(db, 1)
    assert.ok(lease)
    const next = await numbersOf()
    const dying = db.transaction('a step that dies', async (tx) => {
      assert.equal(await advance(tx, lease), 1)
      throw new Error('killed')
    })
    await assert.rejects(dying, /killed/)
    assert.equal(await numbersOf(), next)
    assert.deepEqual([await listInvoices(merchant), await app.mailsOf('killed')], [[], []])
    await app.work()
    assert.equal((await listInvoices(merchant)).length, 1)
    assert.equal((await app.mailsOf('killed')).length, 1)
    assert.equal(await numbersOf(), next + 1)
  })

  test('issues one invoice for each store though workers are killed again and again', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `torn-${n}`)
    for (const tenant of names) await januaryOf(tenant)
    let kills = 0
    // More rounds only where each of the first came before or after the work.
    for (let round = 0; round < 8 || (kills === 0 && round < 200); round++) {
      for (const tenant of names) await makeDue(tenant)
      const closing = countAndClose(app.runtime.workerDatabase).catch(() => 0)
      await pause(3 * (round % 8))
      const { rowCount } = await app.superuser.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'fd_worker' and datname = current_database() and state <> 'idle'`,
      )
      kills += rowCount ?? 0
      await closing
    }
    assert.ok(kills > 0, 'no worker was killed at work')
    await app.work()
    for (const tenant of names) {
      const { rows } = await app.superuser.query(
        `select count(*)::int as count from billing_invoices where tenant_ref = $1`,
        [tenant],
      )
      assert.equal(rows[0].count, 1, tenant)
      assert.equal((await app.mailsOf(tenant)).length, 1, tenant)
    }
    await app.check()
  })

  test('issues one invoice when two workers close the same month', async () => {
    const names = Array.from({ length: 6 }, (_, n) => `two-${n}`)
    for (const tenant of names) await januaryOf(tenant)
    for (const tenant of names) await makeDue(tenant)
    await times(4, async () => {
      while ((await countAndClose(app.runtime.workerDatabase)) > 0);
    })
    for (const tenant of names) assert.equal((await app.mailsOf(tenant)).length, 1, tenant)
    // Two processes that both believe to have the same lease.
    const { merchant } = await januaryOf('same-lease')
    await makeDue('same-lease')
    const db = app.runtime.workerDatabase.tenant('same-lease')
    const [lease] = await accountQueue.claim(db, 1)
    assert.ok(lease)
    const done = await times(2, () => db.transaction('close', (tx) => advance(tx, lease)))
    assert.deepEqual(done.toSorted(), [0, 1])
    assert.equal((await listInvoices(merchant)).length, 1)
    await app.check()
  })
})

describe('an issued invoice', () => {
  before(open)

  test('is never changed, not even by the owner of the database', async () => {
    const { invoice } = await billedIn('final')
    const [line] = invoice.lines
    const where = `tenant_ref = 'final' and id = '${invoice.id}'`
    const forbidden = [
      `update billing_invoices set total_cents = 1 where ${where}`,
      `update billing_invoices set number = 'INV-999999' where ${where}`,
      `update billing_invoices set recipient = '{}' where ${where}`,
      `update billing_invoices set due_at = now() where ${where}`,
      `update billing_invoices set status = 'draft' where ${where}`,
      `delete from billing_invoices where ${where}`,
      `truncate billing_invoices cascade`,
      `update billing_invoice_lines set amount_cents = 1 where id = '${line.id}'`,
      `delete from billing_invoice_lines where id = '${line.id}'`,
      `insert into billing_invoice_lines (tenant_ref, invoice_id, kind, description, amount_cents, request_key)
       values ('final', '${invoice.id}', 'charge', 'x', 1, 'x')`,
      `insert into billing_usage values ('final', '2032-01-01', 'orders', '', '', 1, 1, 1)`,
    ]
    for (const statement of forbidden) {
      await assert.rejects(app.superuser.query(statement), { code: 'FD002' }, statement)
    }
    assert.deepEqual(
      ok(await app.operator.get(`/v1/stores/final/billing/invoices/${invoice.id}`)),
      {
        invoice,
      },
    )
  })

  test("keeps the issuer's and the store's names as they were when it was issued", async () => {
    const { merchant, invoice } = await billedIn('renamed')
    ok(await merchant.patch('/v1/my/store', { display_name: 'Quite another name' }))
    ok(await app.operator.put('/v1/billing/issuer', { ...ISSUER, name: 'Another harbour' }))
    assert.deepEqual(await invoiceOf(merchant, '2032-01'), invoice)
    ok(await app.operator.put('/v1/billing/issuer', ISSUER))
  })

  test('names the facts that its usage was counted from', async () => {
    const shop = await app.shopAt('facts', '2032-01-01T09:00:00Z')
    ok(await app.setPlan('facts', 'pro'))
    for (const _ of [1, 2, 3, 4]) await app.place(shop)
    app.setTime('facts', '2032-02-03T00:00:01Z')
    await app.work()
    const { lines } = await invoiceOf(shop.merchant, '2032-01')
    const [, orders] = lines
    assert.deepEqual([orders.meter, orders.from_position, orders.to_position], ['orders', 1, 4])
    assert.equal(orders.amount_cents, 120)
  })

  test('is printed from its stored data', async () => {
    const { merchant, invoice } = await billedIn('printed')
    const answer = await merchant.get(invoice.pdf_url)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['content-type'], 'application/pdf')
    assert.equal(answer.headers['content-disposition'], `inline; filename="${invoice.number}.pdf"`)
    assert.match(answer.headers['content-security-policy'] ?? '', /^default-src 'none'/)
    const texts = readPdf(answer.bytes).pages.flat()
    for (const text of [
      `Invoice ${invoice.number}`,
      ISSUER.name,
      'VAT 123',
      'Pro',
      '2032-01-01 to 2032-01-31',
      '$30.00',
      ISSUER.note,
    ]) {
      assert.ok(texts.includes(text), `${text} is not in ${texts.join(' | ')}`)
    }
  })

  test('can be found by its status, and a draft is printed as a draft', async () => {
    const { merchant } = await billedIn('listed')
    ok(await app.charge('listed', 700), 201)
    const of = async (status: string) =>
      ok(await merchant.get(`${URL}/invoices?status=${status}`)).invoices.map(
        ({ period }: { period: string }) => period,
      )
    assert.deepEqual(
      [await of('open'), await of('draft'), await of('paid')],
      [['2032-01'], ['2032-02'], []],
    )
    const refused = await merchant.get(`${URL}/invoices?status=nonsense`)
    assert.deepEqual(codeOf(refused), [400, 'validation_error'])
    const draft = await invoiceOf(merchant, '2032-02')
    const texts = readPdf((await merchant.get(draft.pdf_url)).bytes).pages.flat()
    assert.ok(texts.includes('Draft: not an invoice'))
    const all = ok(await app.operator.get('/v1/billing/invoices?status=draft&limit=100')).invoices
    assert.ok(all.some((each: { tenant_ref: string }) => each.tenant_ref === 'listed'))
  })

  test('is not found by a malformed id, a foreign one, or by another store', async () => {
    const { invoice } = await billedIn('mine')
    const { merchant } = await app.shopAt('theirs', '2032-01-01T09:00:00Z')
    for (const id of [invoice.id, randomUUID(), 'x', '..%2f']) {
      for (const suffix of ['', '.pdf']) {
        const answer = await merchant.get(`${URL}/invoices/${id}${suffix}`)
        assert.deepEqual(codeOf(answer), [404, 'invoice_not_found'], `${id}${suffix}`)
      }
      const path = `/v1/stores/theirs/billing/invoices/${id}`
      assert.deepEqual(codeOf(await app.operator.get(path)), [404, 'invoice_not_found'])
      assert.deepEqual(codeOf(await app.pay('theirs', id, 1)), [404, 'invoice_not_found'])
      const credited = await app.credit('theirs', id, { reason: 'x' })
      assert.deepEqual(codeOf(credited), [404, 'invoice_not_found'])
    }
    const note = await merchant.get(`${URL}/credit-notes/${randomUUID()}.pdf`)
    assert.deepEqual(codeOf(note), [404, 'credit_note_not_found'])
  })
})

describe('POST /v1/stores/{tenant}/billing/charges', () => {
  before(open)

  test('adds a line to the draft of the current month, which is issued with it', async () => {
    const { merchant } = await app.shopAt('charged', '2032-01-10T09:00:00Z')
    const { charge } = ok(await app.charge('charged', 1_500), 201)
    assert.deepEqual(
      [charge.period, charge.amount_cents, charge.currency],
      ['2032-01', 1_500, 'USD'],
    )
    ok(await app.charge('charged', 250, { description: 'Training' }), 201)
    const draft = await invoiceOf(merchant, '2032-01')
    assert.deepEqual([draft.status, draft.total_cents], ['draft', 1_750])
    app.setTime('charged', '2032-02-03T00:00:01Z')
    await app.work()
    const issued = await invoiceOf(merchant, '2032-01')
    assert.deepEqual([issued.status, issued.total_cents], ['open', 1_750])
    assert.deepEqual(
      issued.lines.map(({ description }: { description: string }) => description),
      ['Setup', 'Training'],
    )
    const { entries } = ok(await app.operator.get('/v1/stores/charged/audit'))
    const actions = entries.map(({ action, actor }: Record<string, string>) => `${actor} ${action}`)
    assert.equal(actions.filter((each: string) => each === 'operator billing.charged').length, 2)
    assert.ok(actions.includes('system billing.invoice_issued'))
  })

  test('charges once for each key, also after the stored answer was deleted', async () => {
    const { merchant } = await app.shopAt('once', '2032-01-10T09:00:00Z')
    const key = randomUUID()
    const answers = await times(5, () => app.charge('once', 900, {}, key))
    assert.deepEqual(countStatuses(answers), { 201: 5 })
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.deepEqual(codeOf(await app.charge('once', 901, {}, key)), [
      422,
      'idempotency_key_reused',
    ])
    await app.superuser.query(`delete from idempotency_keys where key = $1`, [key])
    assert.deepEqual(codeOf(await app.charge('once', 900, {}, key)), [
      422,
      'idempotency_key_reused',
    ])
    assert.equal((await invoiceOf(merchant, '2032-01')).total_cents, 900)
  })

  test('adds up charges that are made at once', async () => {
    const { merchant } = await app.shopAt('crowd', '2032-01-10T09:00:00Z')
    const answers = await times(12, (n) => app.charge('crowd', n + 1))
    assert.deepEqual(countStatuses(answers), { 201: 12 })
    assert.equal((await invoiceOf(merchant, '2032-01')).total_cents, 78)
  })

  test('refuses a bad charge', async () => {
    await app.shopAt('refused', '2032-01-10T09:00:00Z')
    const url = '/v1/stores/refused/billing/charges'
    const good = { description: 'Setup', amount_cents: 1 }
    await assertRefused(
      [
        ['no amount', { description: 'x' }, 'invalid_body', 'amount_cents'],
        ['nothing', { ...good, amount_cents: 0 }, 'invalid_body', 'amount_cents'],
        ['a credit', { ...good, amount_cents: -1 }, 'invalid_body', 'amount_cents'],
        ['a fraction', { ...good, amount_cents: 1.5 }, 'invalid_body', 'amount_cents'],
        ['a text', { ...good, amount_cents: '1' }, 'invalid_body', 'amount_cents'],
        ['too much', { ...good, amount_cents: 100_000_000_001 }, 'invalid_body', 'amount_cents'],
        ['no description', { amount_cents: 1 }, 'invalid_body', 'description'],
        ['two lines', { ...good, description: 'a\nb' }, 'invalid_body', 'description'],
      ],
      (body) => app.operator.post(url, body, keyed()),
    )
    assert.deepEqual(codeOf(await app.operator.post(url, good)), [400, 'idempotency_key_required'])
    const nowhere = '/v1/stores/no-such-store/billing/charges'
    assert.deepEqual(codeOf(await app.operator.post(nowhere, good, keyed())), [
      404,
      'unknown_tenant',
    ])
  })

  test('refuses more charges than an invoice has room for', async () => {
    await app.shopAt('full', '2032-01-10T09:00:00Z')
    ok(await app.charge('full', 1), 201)
    await app.superuser.query(
      `insert into billing_invoice_lines (tenant_ref, invoice_id, kind, description, amount_cents, request_key)
       select tenant_ref, id, 'charge', 'x', 0, n::text
         from billing_invoices cross join generate_series(1, 199) n where tenant_ref = 'full'`,
    )
    assert.deepEqual(codeOf(await app.charge('full', 1)), [409, 'invoice_full'])
  })
})

describe('payments and credit notes', () => {
  before(open)

  test('settle an invoice in parts, and never exceed the amount owed', async () => {
    const { merchant, invoice } = await billedIn('parts')
    const first = ok(await app.pay('parts', invoice.id, 1_000, { reference: 'transfer 7' }), 201)
    assert.deepEqual(
      [first.invoice.status, first.invoice.balance_cents, first.payment.paid_on],
      ['open', 2_000, '2032-02-03'],
    )
    const over = await app.pay('parts', invoice.id, 2_001)
    assert.deepEqual(codeOf(over), [422, 'amount_exceeds_balance'])
    assert.equal(over.body.balance_cents, 2_000)
    const { credit_note } = ok(
      await app.credit('parts', invoice.id, { amount_cents: 500, reason: 'Outage of the 7th' }),
      201,
    )
    assert.match(credit_note.number, /^CN-\d{6}$/)
    const last = ok(await app.pay('parts', invoice.id, 1_500), 201)
    assert.deepEqual([last.invoice.status, last.invoice.balance_cents], ['paid', 0])
    const shown = await invoiceOf(merchant, '2032-01')
    assert.deepEqual(amountsOf(shown), amountsOf(invoice))
    assert.deepEqual(
      [shown.total_cents, shown.credited_cents, shown.paid_cents],
      [3_000, 500, 2_500],
    )
    const texts = readPdf((await merchant.get(credit_note.pdf_url)).bytes).pages.flat()
    for (const text of [`Credit note ${credit_note.number}`, 'Outage of the 7th', '-$5.00']) {
      assert.ok(texts.includes(text), `${text} is not in ${texts.join(' | ')}`)
    }
  })

  test('void an unpaid invoice by a credit note for all of it', async () => {
    const { invoice } = await billedIn('voided')
    const { invoice: after } = ok(
      await app.credit('voided', invoice.id, { reason: 'A mistake' }),
      201,
    )
    assert.deepEqual([after.status, after.balance_cents, after.total_cents], ['void', 0, 3_000])
    const again = await app.credit('voided', invoice.id, { reason: 'Again' })
    assert.deepEqual(codeOf(again), [422, 'amount_exceeds_invoice'])
    assert.equal(again.body.creditable_cents, 0)
    assert.deepEqual(codeOf(await app.pay('voided', invoice.id, 1)), [
      422,
      'amount_exceeds_balance',
    ])
  })

  test('owe the store the amount that was credited after it had paid, until it is paid back', async () => {
    const { invoice } = await billedIn('owed')
    ok(await app.pay('owed', invoice.id, 3_000), 201)
    const credited = ok(await app.credit('owed', invoice.id, { reason: 'Goodwill' }), 201)
    assert.deepEqual([credited.invoice.status, credited.invoice.balance_cents], ['paid', -3_000])
    const payout = { kind: 'payout' }
    assert.equal((await app.pay('owed', invoice.id, 3_001, payout)).status, 422)
    const back = ok(await app.pay('owed', invoice.id, 3_000, payout), 201)
    assert.deepEqual([back.invoice.status, back.invoice.balance_cents], ['void', 0])
  })

  test('settle once when two are recorded at the same time', async () => {
    const { invoice } = await billedIn('race')
    const paid = await times(4, () => app.pay('race', invoice.id, 3_000))
    assert.deepEqual(countStatuses(paid), { 201: 1, 422: 3 })
    const credited = await times(4, () => app.credit('race', invoice.id, { reason: 'x' }))
    assert.deepEqual(countStatuses(credited), { 201: 1, 422: 3 })
    const key = randomUUID()
    const note = { amount_cents: 1, reason: 'x' }
    const other = await billedIn('race-2')
    const same = await times(3, () => app.credit('race-2', other.invoice.id, note, key))
    assert.deepEqual(countStatuses(same), { 201: 3 })
    assert.equal((await invoiceOf(other.merchant, '2032-01')).credited_cents, 1)
  })

  test('are refused until the invoice is issued', async () => {
    const { merchant } = await app.shopAt('early', '2032-01-10T09:00:00Z')
    ok(await app.charge('early', 100), 201)
    const { id } = await invoiceOf(merchant, '2032-01')
    assert.deepEqual(codeOf(await app.pay('early', id, 100)), [409, 'invoice_not_issued'])
    assert.deepEqual(codeOf(await app.credit('early', id, { reason: 'x' })), [
      409,
      'invoice_not_issued',
    ])
  })

  test('are refused with bad input', async () => {
    const { invoice } = await billedIn('bad-payments')
    const url = `/v1/stores/bad-payments/billing/invoices/${invoice.id}`
    await assertRefused(
      [
        ['no amount', {}, 'invalid_body', 'amount_cents'],
        ['nothing', { amount_cents: 0 }, 'invalid_body', 'amount_cents'],
        ['another kind', { amount_cents: 1, kind: 'gift' }, 'invalid_body', 'kind'],
        ['no day', { amount_cents: 1, paid_on: 'today' }, 'invalid_body', 'paid_on'],
        ['no such day', { amount_cents: 1, paid_on: '2031-02-30' }, 'invalid_body', 'paid_on'],
        ['no month', { amount_cents: 1, paid_on: '2031-13-01' }, 'invalid_body', 'paid_on'],
        ['a day to come', { amount_cents: 1, paid_on: '2032-02-04' }, 'invalid_body', 'paid_on'],
      ],
      (body) => app.operator.post(`${url}/payments`, body, keyed()),
    )
    await assertRefused(
      [
        ['no reason', { amount_cents: 1 }, 'invalid_body', 'reason'],
        ['nothing', { amount_cents: 0, reason: 'x' }, 'invalid_body', 'amount_cents'],
        ['too much', { amount_cents: 3_001, reason: 'x' }, 'amount_exceeds_invoice'],
      ],
      (body) => app.operator.post(`${url}/credit-notes`, body, keyed()),
    )
    for (const path of ['payments', 'credit-notes']) {
      const answer = await app.operator.post(`${url}/${path}`, { amount_cents: 1, reason: 'x' })
      assert.deepEqual(codeOf(answer), [400, 'idempotency_key_required'])
    }
  })
})
