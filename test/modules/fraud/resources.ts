import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { DEFAULT_SETTINGS } from '../../../src/modules/fraud/settings.ts'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

async function ban(merchant: Caller) {
  const body = { kind: 'customer_ref', value: randomUUID(), reason: 'a canary' }
  const made = await merchant.post('/v1/merchant/fraud/bans', body)
  assert.ok(made.body.ban, made.text)
  return { id: made.body.ban.id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/fraud/bans/:id': ban,
    'POST /v1/merchant/fraud/bans/:id/lift': ban,
  },
  texts: (canary) => [
    ['POST', '/v1/merchant/fraud/bans', { kind: 'address', value: canary, reason: canary }],
  ],
  rows: {
    fraud_settings: `insert into fraud_settings (tenant_ref, settings, updated_by)
    values ($1, '${JSON.stringify(DEFAULT_SETTINGS)}', 'a test')`,
    fraud_decisions: `insert into fraud_decisions (tenant_ref, decision, score, signals)
                    values ($1, 'accepted', 0, '[]')`,
    fraud_ban_hits: `insert into fraud_ban_hits (tenant_ref, ban_id)
                   values ($1, gen_random_uuid())`,
  },
  beyond: {
    bans: (merchant) =>
      merchant.post('/v1/merchant/fraud/bans', { kind: 'email', value: 'a@b.example' }),
  },
}
