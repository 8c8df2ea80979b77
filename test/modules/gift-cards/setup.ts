import assert from 'node:assert/strict'
import { codeKeys } from '../../../src/modules/gift-cards/card-code.ts'
import { findCode } from '../../../src/modules/gift-cards/service.ts'
import type { Answer, TestApp } from '../../harness/app.ts'
import { APPROVED, addVariant, checkout, enable, type Shop } from '../checkout/setup.ts'

export const RECIPIENT = { recipient_email: 'robin@example.com' }

/** A gift card for sale in a store that has the add-on. */
export async function sellGiftCard({ merchant }: Shop, price_cents = 5_000): Promise<string> {
  await enable(merchant, 'gift_cards')
  return addVariant(merchant, price_cents, {}, { gift_card: true })
}

/** The code of a card, which only its mail shows. */
export async function codeOf(
  { runtime }: TestApp,
  tenant: string,
  gift_card_id: string,
): Promise<string> {
  const db = runtime.database.tenant(tenant)
  const code = await findCode(db, codeKeys(runtime.key), gift_card_id)
  assert.ok(code, 'the code is kept')
  return code
}

/** Pays an amount of a bought card's balance, for goods at that price. */
export async function spend(
  app: TestApp,
  shop: Shop,
  { gift_card_id, variant_id }: { gift_card_id: string; variant_id: string | undefined },
): Promise<Answer['body']> {
  const code = await codeOf(app, shop.tenant, gift_card_id)
  const items = [{ variant_id, quantity: 1 }]
  const body = { customer_ref: 'robin', items, gift_card_code: code, card: APPROVED }
  const answer = await checkout(app, shop, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

export const refusal = ({ status, body }: Answer) => [status, body.error?.code]
