import assert from 'node:assert/strict'
import { freshKey } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { packAddressed } from '../fulfillment/resources.ts'

const LABEL = { carrier: 'simulated', service: 'standard' }

async function buyLabel(merchant: Caller, app: TestApp) {
  const { id } = await packAddressed(merchant, app)
  const bought = await merchant.post(`/v1/merchant/fulfillments/${id}/label`, LABEL, freshKey())
  assert.equal(bought.status, 201, bought.text)
  return { id }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/fulfillments/:id/label': buyLabel,
    'GET /v1/merchant/fulfillments/:id/label.pdf': buyLabel,
    'POST /v1/merchant/fulfillments/:id/label': packAddressed,
    'DELETE /v1/merchant/fulfillments/:id/label': buyLabel,
  },
  bodies: {
    'POST /v1/merchant/fulfillments/:id/label': LABEL,
  },
  rows: {
    carrier_labels: `insert into carrier_labels (tenant_ref, fulfillment_id, order_id, carrier,
                            service, currency, weight_grams, created_by)
                     select $1, id, order_id, 'simulated', 'standard', 'USD', 1, 'x'
                       from fulfillments where tenant_ref = $1 limit 1`,
    sim_shipments: `insert into sim_shipments (tenant_ref, ref, service, tracking_number, cost_cents,
                                             currency)
                  values ($1, gen_random_uuid(), 'standard', 'SIM1', 1, 'USD')`,
  },
}
