import type { Caller } from '../../harness/app.ts'
import { countAll } from '../../modules/analytics/setup.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'

/** What a merchant reads of one day of the store, and the rows behind it. */
export async function readFigures(
  app: MailApp,
  merchant: Caller,
  { storefront, tenant, day }: { storefront: Caller; tenant: string; day: string },
): Promise<void> {
  const events = [{ type: 'view' }, { type: 'view' }, { type: 'begin_checkout' }]
  ok(await storefront.post(`/v1/tenants/${tenant}/funnel`, { events }))
  await countAll(app)
  const period = `from=${day}&to=${day}`
  for (const report of [
    'summary',
    'sales',
    'customers',
    'tax',
    'payments',
    'subscriptions',
    'inventory',
    'funnel',
    'rows',
    'payments/rows',
    'subscriptions/rows',
    'funnel/rows',
  ]) {
    ok(await merchant.get(`/v1/merchant/analytics/${report}?${period}`))
  }
}
