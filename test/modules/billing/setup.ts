import type { TestContext } from 'node:test'
import * as billing from '../../../src/modules/billing/jobs.ts'
import type { Answer, Caller } from '../../harness/app.ts'
import { assertBillingAddsUp } from '../../harness/billing-oracles.ts'
import { runWorker } from '../../harness/books.ts'
import { share } from '../../harness/scope.ts'
import { ok, openTimedApp, type TimedApp } from '../analytics/setup.ts'
import { openShop, type Shop } from '../checkout/setup.ts'
import { keyed } from '../orders/setup.ts'

export const URL = '/v1/merchant/billing'

export const ISSUER = {
  name: 'Harbour Hosting Ltd',
  lines: ['1 Quay Street', 'Portside', 'VAT 123'],
  note: 'Pay by transfer to account 42.',
  payment_days: 14,
  reminders: [
    { days: 3, text: 'A first reminder.' },
    { days: 10, text: 'A second reminder.' },
  ],
}

/** A plan: 30.00 a month; one order included, two at 0.50, then 0.20; one percent of the volume. */
export const PRO = {
  plan_key: 'pro',
  name: 'Pro',
  tier: 'growth',
  currency: 'USD',
  base_cents: 3_000,
  is_public: true,
  meters: {
    orders: {
      included: 1,
      tiers: [
        { up_to: 3, price_cents: 50, per: 1 },
        { up_to: null, price_cents: 20, per: 1 },
      ],
    },
    gross_volume: { included: 0, tiers: [{ up_to: null, price_cents: 1, per: 100 }] },
  },
}

/** A platform that bills, with stores whose clocks a test sets. */
export interface BillingApp extends TimedApp {
  /** A live store that was opened at a time, and has an owner. */
  shopAt(tenant: string, at: string): Promise<Shop>
  /** Does the work of the worker: numbers facts, counts them, closes months and reminds. */
  work(): Promise<void>
  setPlan(tenant: string, plan_key: string): Promise<Answer>
  charge(tenant: string, amount_cents: number, more?: object, key?: string): Promise<Answer>
  pay(tenant: string, id: string, amount_cents: number, more?: object): Promise<Answer>
  credit(tenant: string, id: string, body: object, key?: string): Promise<Answer>
  /** The mails of a store, oldest first. */
  mailsOf(tenant: string): Promise<{ recipient: string; subject: string; body: string }[]>
}

const urlOf = (tenant: string) => `/v1/stores/${tenant}/billing`

export async function openBilling(t: TestContext): Promise<BillingApp> {
  const app = await openTimedApp(t)
  const { operator, superuser, runtime } = app
  ok(await operator.put('/v1/billing/issuer', ISSUER))
  ok(await operator.post('/v1/billing/plans', PRO), 201)
  const invoiceUrl = (tenant: string, id: string) => `${urlOf(tenant)}/invoices/${id}`
  return {
    ...app,
    async shopAt(tenant, at) {
      app.setTime(tenant, at)
      const shop = await openShop(app, tenant, [1_000, 2_500, 333])
      ok(await operator.put(`/v1/stores/${tenant}/owner`, { email: `${tenant}@owners.example` }))
      return shop
    },
    async work() {
      await runtime.apiCalls.flush()
      await runWorker(app)
      // As if hours had passed since each store was looked at.
      await superuser.query(`update billing_accounts set due_at = 'epoch', lease_until = null`)
      while ((await billing.countAndClose(runtime.workerDatabase)) > 0);
      while ((await billing.remindDue(runtime.workerDatabase)) > 0);
    },
    setPlan: (tenant, plan_key) => operator.put(`${urlOf(tenant)}/plan`, { plan_key }),
    charge: (tenant, amount_cents, more = {}, key) =>
      operator.post(
        `${urlOf(tenant)}/charges`,
        { description: 'Setup', amount_cents, ...more },
        keyed(key),
      ),
    pay: (tenant, id, amount_cents, more = {}) =>
      operator.post(`${invoiceUrl(tenant, id)}/payments`, { amount_cents, ...more }, keyed()),
    credit: (tenant, id, body, key) =>
      operator.post(`${invoiceUrl(tenant, id)}/credit-notes`, body, keyed(key)),
    async mailsOf(tenant) {
      const { rows } = await superuser.query(
        `select recipient, subject, body from mails where tenant_ref = $1 order by created_at, id`,
        [tenant],
      )
      return rows
    },
    check: () => assertBillingAddsUp(superuser),
  }
}

/** One app for all tests of a file. The oracles check its stores at the end. */
export const shareBilling = (): { current: BillingApp } =>
  share(async (scope) => {
    const app = await openBilling(scope)
    scope.after(() => app.check())
    return app
  })

export const listInvoices = async (merchant: Caller) =>
  ok(await merchant.get(`${URL}/invoices`)).invoices

/** The invoice of a month; undefined without one. */
export async function invoiceOf(merchant: Caller, period: string) {
  const found = (await listInvoices(merchant)).find(
    (each: { period: string }) => each.period === period,
  )
  return found && ok(await merchant.get(`${URL}/invoices/${found.id}`)).invoice
}

export const usageOf = async (merchant: Caller, period = '') =>
  ok(await merchant.get(`${URL}/usage?period=${period}`))

/** `[kind or meter, quantity, amount]` of each line. */
export const amountsOf = (invoice: { lines: BilledLine[] }) =>
  invoice.lines.map(({ kind, meter, quantity, amount_cents }) => [
    meter ?? kind,
    quantity,
    amount_cents,
  ])

interface BilledLine {
  kind: string
  meter: string | null
  quantity: number | null
  amount_cents: number
}
