import assert from 'node:assert/strict'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

async function registerWebhook(merchant: Caller) {
  const body = { url: 'https://hook.example/a-canary', events: ['commerce.order.placed.v1'] }
  const made = await merchant.post('/v1/merchant/webhooks', body)
  assert.ok(made.body.subscription, made.text)
  return { id: made.body.subscription.id as string }
}

export const resources: Resources = {
  fixtures: {
    'DELETE /v1/merchant/webhooks/:id': registerWebhook,
    'POST /v1/merchant/webhooks/:id/test': registerWebhook,
    'POST /v1/merchant/webhooks/:id/rotate-secret': registerWebhook,
    'POST /v1/merchant/webhooks/:id/replay': registerWebhook,
    'GET /v1/merchant/deliveries/:id': async (merchant) => {
      const made = await merchant.post(
        `/v1/merchant/webhooks/${(await registerWebhook(merchant)).id}/test`,
      )
      assert.ok(made.body.delivery_id, made.text)
      return { id: made.body.delivery_id }
    },
  },
  bodies: {
    'POST /v1/merchant/webhooks/:id/replay': { from: 1 },
  },
  texts: (canary) => [
    [
      'POST',
      '/v1/merchant/webhooks',
      {
        url: `https://${canary}.example/${canary}`,
        description: canary,
        events: ['commerce.order.placed.v1'],
      },
    ],
  ],
  rows: {
    webhook_events: `insert into webhook_events (tenant_ref, id, type, data)
                   values ($1, '00000000-0000-4000-8000-000000000001', 'commerce.order.placed.v1', '{}')`,
    webhook_feeds: `insert into webhook_feeds (tenant_ref) values ($1)`,
    webhook_deliveries: `insert into webhook_deliveries (tenant_ref, id, subscription_id, event_id,
                                                       event_type, endpoint_url)
                       values ($1, '00000000-0000-4000-8000-000000000001', gen_random_uuid(),
                               '00000000-0000-4000-8000-000000000001', 'commerce.order.placed.v1',
                               'https://hook.example/')`,
    webhook_lanes: `insert into webhook_lanes (tenant_ref, lease_token, lane, lease_until,
                                             subscription_id, deliveries)
                  values ($1, gen_random_uuid(), 1, now(), gen_random_uuid(), '{}')`,
    webhook_queue: `insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id,
                                             due_at, attempt_count, ladder_from)
                  values ($1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), 0, 0)`,
    webhook_attempts: `insert into webhook_attempts (tenant_ref, delivery_id, attempt, at)
                     values ($1, '00000000-0000-4000-8000-000000000001', 1, now())`,
  },
}
