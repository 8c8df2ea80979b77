import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { FEATURES } from '../../../src/modules/entitlements/catalog.ts'
import { ok } from '../analytics/setup.ts'
import { enable } from '../checkout/setup.ts'
import { amountsOf, type BillingApp, invoiceOf, listInvoices, shareBilling, URL } from './setup.ts'

const shared = shareBilling()
let app: BillingApp

const open = () => {
  app = shared.current
}

/** Switches on every add-on there is, by the merchant and by the operator. */
async function enableAll(tenant: string): Promise<void> {
  const merchant = await app.merchant(tenant)
  const selfServe = FEATURES.filter((each) => each.selfServe).map(({ key }) => key)
  await enable(merchant, ...selfServe)
  for (const { key } of FEATURES.filter((each) => !each.selfServe)) {
    const asked = await merchant.post('/v1/merchant/entitlements/requests', { feature_key: key })
    const url = `/v1/entitlements/requests/${ok(asked, 201).request.id}`
    ok(await app.operator.put(url, { status: 'approved' }))
  }
}

describe('enabling an add-on', () => {
  before(open)

  test('never bills: a quarter with all add-ons costs the same as one without any', async () => {
    const [plain, full] = [
      await app.shopAt('plain', '2032-01-01T09:00:00Z'),
      await app.shopAt('full', '2032-01-01T09:00:00Z'),
    ]
    for (const tenant of ['plain', 'full']) ok(await app.setPlan(tenant, 'pro'))
    await enableAll('full')
    const { features } = ok(await full.merchant.get(`${URL}/plan`))
    assert.equal(features.length, FEATURES.length)
    assert.ok(features.every(({ billed }: { billed: boolean }) => !billed))
    const months = ['2032-02', '2032-03', '2032-04']
    for (const [n, month] of months.entries()) {
      await app.place(plain)
      await app.place(full)
      if (n === 1) {
        const disable = { feature_key: 'gift_cards' }
        ok(await full.merchant.post('/v1/merchant/entitlements/disable', disable))
        await enable(full.merchant, 'gift_cards')
      }
      for (const tenant of ['plain', 'full']) app.setTime(tenant, `${month}-03T00:00:01Z`)
      await app.work()
    }
    for (const period of ['2032-01', '2032-02', '2032-03']) {
      const billed = [
        await invoiceOf(plain.merchant, period),
        await invoiceOf(full.merchant, period),
      ].map(amountsOf)
      assert.deepEqual(billed[1], billed[0], period)
    }
  })

  test('leaves no entry in any book of the installation', async () => {
    await app.shopAt('books', '2032-01-01T09:00:00Z')
    await enableAll('books')
    app.setTime('books', '2032-04-03T00:00:01Z')
    await app.work()
    assert.deepEqual(await listInvoices(await app.merchant('books')), [])
    const { rows } = await app.superuser.query(
      `select 'line' as book, l.kind, l.description
         from billing_invoice_lines l
        where l.kind = 'charge' and not exists (
              select from audit_log a
               where a.tenant_ref = l.tenant_ref and a.action = 'billing.charged' and a.actor = 'operator'
                 and a.after ->> 'charge_id' = l.id::text)
        union all
       select 'line of an add-on', l.kind, l.description
         from billing_invoice_lines l
        where l.kind <> 'charge' and l.plan_key <> 'pro'
        union all
       select 'journal', j.kind, j.id::text from ledger_journals j where j.kind !~ '^order\\.'
        union all
       select 'sum', 'journal', j.id::text from ledger_journals j where j.tenant_ref = 'books'`,
    )
    assert.deepEqual(rows, [])
  })
})

describe('a sandbox store', () => {
  before(open)

  test('is neither metered nor billed, and refuses charges', async () => {
    const shop = await app.shopAt('sandbox', '2032-01-01T09:00:00Z')
    ok(await app.operator.put('/v1/stores/sandbox/sandbox', { sandbox: true }))
    ok(await app.setPlan('sandbox', 'pro'))
    await app.place(shop)
    app.setTime('sandbox', '2032-03-04T09:00:00Z')
    await app.work()
    assert.deepEqual(await listInvoices(shop.merchant), [])
    const usage = ok(await shop.merchant.get(`${URL}/usage?period=2032-01`))
    assert.deepEqual([usage.orders, usage.gmv_cents, usage.api_calls], [0, 0, 0])
    assert.equal(ok(await shop.merchant.get(`${URL}/plan`)).status, 'sandbox')
    const refused = await app.charge('sandbox', 100)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'sandbox_not_billed'])
  })

  test('loses its draft invoice, and pays for its usage once it is no sandbox any more', async () => {
    const shop = await app.shopAt('was-sandbox', '2032-01-01T09:00:00Z')
    ok(await app.setPlan('was-sandbox', 'pro'))
    ok(await app.charge('was-sandbox', 500), 201)
    const flag = async (sandbox: boolean) =>
      ok(await app.operator.put('/v1/stores/was-sandbox/sandbox', { sandbox }))
    await flag(true)
    const { order } = await app.place(shop)
    app.setTime('was-sandbox', '2032-02-03T00:00:01Z')
    await app.work()
    assert.deepEqual(await listInvoices(shop.merchant), [])
    const { rows } = await app.superuser.query(
      `select before ->> 'total_cents' as total from audit_log
        where tenant_ref = 'was-sandbox' and action = 'billing.draft_discarded'`,
    )
    assert.deepEqual(rows, [{ total: '500' }])
    await flag(false)
    // It was not counted as a sandbox, so that a flag has nothing to take out.
    const url = `/v1/stores/was-sandbox/orders/${order.id}/test-flag`
    ok(await app.operator.post(url, { is_test: true }))
    await app.place(shop)
    app.setTime('was-sandbox', '2032-03-03T00:00:01Z')
    await app.work()
    const [invoice] = await listInvoices(shop.merchant)
    assert.deepEqual([invoice.period, invoice.total_cents], ['2032-02', 3_020])
  })
})
