import assert from 'node:assert/strict'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

async function requestExport(merchant: Caller) {
  const made = await merchant.post('/v1/my/privacy/export', { customer_ref: 'a canary' })
  assert.ok(made.body.job, made.text)
  return { id: made.body.job.id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/my/privacy/exports/:id': requestExport,
  },
  texts: (canary) => [['POST', '/v1/my/privacy/export', { customer_ref: canary }]],
  rows: {
    privacy_erasures: `insert into privacy_erasures (tenant_ref, id, customer_ref, pseudonym, actor)
                     values ($1, gen_random_uuid(), 'x', 'erased:x', 'x')`,
  },
}
