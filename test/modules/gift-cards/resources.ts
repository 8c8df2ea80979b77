import assert from 'node:assert/strict'
import { freshKey } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { allowFeature } from '../entitlements/resources.ts'

async function issueGiftCard(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'gift_cards')
  const body = { initial_balance_cents: 500, note: 'a canary' }
  const made = await merchant.post('/v1/merchant/gift-cards', body, freshKey())
  assert.ok(made.body.gift_card, made.text)
  return { id: made.body.gift_card.id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/gift-cards/:id': issueGiftCard,
    'GET /v1/merchant/gift-cards/:id/transactions': issueGiftCard,
    'POST /v1/merchant/gift-cards/:id/adjust': issueGiftCard,
    'POST /v1/merchant/gift-cards/:id/disable': issueGiftCard,
    'POST /v1/merchant/gift-cards/:id/enable': issueGiftCard,
    'PATCH /v1/merchant/gift-cards/:id': issueGiftCard,
  },
  bodies: {
    'PATCH /v1/merchant/gift-cards/:id': { note: 'a canary' },
    'POST /v1/merchant/gift-cards/:id/adjust': { delta_cents: 1, reason: 'a canary' },
  },
  texts: (canary) => [
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'gift_cards' }],
    ['POST', '/v1/merchant/gift-cards', { initial_balance_cents: 5, note: canary }],
  ],
  rows: {
    gift_card_purchases: `insert into gift_card_purchases (tenant_ref, order_item_id, order_id, quantity,
                                                         amount_cents, for_buyer)
                        values ($1, gen_random_uuid(), gen_random_uuid(), 1, 1, true)`,
  },
}
