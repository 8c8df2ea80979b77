import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { ok } from '../returns/setup.ts'

const URL = '/v1/merchant/marketing/segments'

async function makeSegment(merchant: Caller) {
  const conditions = [{ field: 'orders_count', op: 'gte', value: 1 }]
  const body = { name: `a canary ${randomUUID()}`, match: 'all', conditions }
  const made = await merchant.post(URL, body)
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
  beyond: {
    segments: (merchant) =>
      merchant.post(URL, {
        name: 'S',
        match: 'all',
        conditions: [{ field: 'orders_count', op: 'gte', value: 1 }],
      }),
  },
  examples: async ({ merchant }) => {
    const conditions = [
      { field: 'consent', op: 'is', value: 'given' },
      {
        match: 'any',
        conditions: [
          { field: 'total_spent_cents', op: 'gte', value: 5_000 },
          { field: 'orders_count', op: 'eq', value: 0 },
        ],
      },
    ]
    ok(await merchant.post(`${URL}/preview`, { match: 'all', conditions }))
    const named = { name: 'Readers to win back', match: 'all', conditions }
    const { segment } = ok(await merchant.post(URL, named), 201)
    ok(await merchant.get(URL))
    ok(await merchant.get(`${URL}/${segment.id}`))
    const drinkers = [{ field: 'last_order_at', op: 'within_days', value: 90 }]
    ok(await merchant.patch(`${URL}/${segment.id}`, { conditions: drinkers }))
    ok(await merchant.send('DELETE', `${URL}/${segment.id}`))
  },
  scale: {
    targets: {
      segment_id: 'select id from segments where tenant_ref = $1 order by created_at limit 1',
    },
    paths: { '/v1/merchant/marketing/segments/': 'segment_id' },
  },
}
