import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

async function makeSegment(merchant: Caller) {
  const conditions = [{ field: 'orders_count', op: 'gte', value: 1 }]
  const body = { name: `a canary ${randomUUID()}`, match: 'all', conditions }
  const made = await merchant.post('/v1/merchant/marketing/segments', body)
  assert.ok(made.body.segment, made.text)
  return { id: made.body.segment.id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/marketing/segments/:id': makeSegment,
    'PATCH /v1/merchant/marketing/segments/:id': makeSegment,
    'DELETE /v1/merchant/marketing/segments/:id': makeSegment,
  },
  bodies: {
    'PATCH /v1/merchant/marketing/segments/:id': {},
  },
  texts: (canary) => [
    [
      'POST',
      '/v1/merchant/marketing/segments',
      {
        name: canary,
        match: 'all',
        conditions: [{ field: 'place', op: 'in', value: ['US'] }],
      },
    ],
  ],
  rows: {
    segment_people: `with person as (
                     insert into segment_people (tenant_ref, email_folded, email, consent)
                     values ($1, 'x@x.example', 'x@x.example', 'given')
                     returning tenant_ref, email_folded)
                   insert into segment_purchases (tenant_ref, product_id, email_folded)
                   select tenant_ref, gen_random_uuid(), email_folded from person`,
    segment_positions: `insert into segment_positions (tenant_ref) values ($1)
                      on conflict do nothing`,
  },
}
