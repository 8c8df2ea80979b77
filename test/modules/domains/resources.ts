import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

async function claimDomain(merchant: Caller) {
  const body = { hostname: `${randomUUID()}.example` }
  const made = await merchant.post('/v1/merchant/domains', body)
  assert.ok(made.body.domain, made.text)
  return { id: made.body.domain.id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/domains/:id': claimDomain,
    'POST /v1/merchant/domains/:id/verify': claimDomain,
    'DELETE /v1/merchant/domains/:id': claimDomain,
    'POST /v1/merchant/domains/:id/primary': async (merchant, app) => {
      const { id } = await claimDomain(merchant)
      await app.operator.post(`/v1/stores/acme/domains/${id}/activate`)
      return { id }
    },
  },
  texts: (canary) => [['POST', '/v1/merchant/domains', { hostname: `${canary}.example` }]],
}
