import { randomUUID } from 'node:crypto'
import * as customers from '../../../src/modules/customers/service.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

async function recordCustomer(_merchant: Caller, app: TestApp) {
  const customer_ref = `Zoë/${randomUUID()}`
  const key = app.runtime.key('customers')
  const acme = await app.store('acme')
  await acme.transaction('see', (tx) =>
    customers.recordSeen(tx, key, { customer_ref, name: 'a canary' }),
  )
  return { customer_ref }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/customers/:customer_ref': recordCustomer,
  },
  rows: {
    customers: `insert into customers (tenant_ref, ref_hash, customer_ref)
              values ($1, sha256('x'), 'x')`,
  },
}
