import type { Demo } from './demo-file.ts'
import * as entitlements from './modules/entitlements/service.ts'
import { codeKeys } from './modules/gift-cards/card-code.ts'
import * as giftCardMoney from './modules/gift-cards/money.ts'
import * as giftCards from './modules/gift-cards/service.ts'
import { SYSTEM } from './platform/audit.ts'
import { fingerprint } from './platform/idempotency-key.ts'
import { run } from './platform/idempotency-run.ts'
import type { Runtime } from './runtime.ts'

const BALANCE_CENTS = 5_000
const BALANCE = '$50.00'

/**
 * Issues a gift card of the demo store, once: an interrupted start finds the same card again by its key. Returns null
 * where its code can no longer be shown, which is a day later.
 */
export async function issueDemoGiftCard(
  { database, key }: Runtime,
  tenant: string,
): Promise<NonNullable<Demo['gift_card']> | null> {
  const db = database.tenant(tenant)
  await entitlements.enable(db, SYSTEM, giftCards.FEATURE)
  const keys = codeKeys(key)
  const request = { initial_balance_cents: BALANCE_CENTS, note: 'To try the checkout' }
  const claim = {
    operation: 'gift_card_issue',
    key: 'demo-gift-card',
    fingerprint: fingerprint(key('idempotency fingerprint'), request),
    correlationId: 'demo',
    passing: [],
  }
  const answer = await run(db, claim, (won) =>
    giftCardMoney.issue(db, keys, { actor: SYSTEM, claim: won }, request),
  )
  const { code } = JSON.parse(await giftCards.showCodes(db, keys, answer)) as {
    code?: string | null
  }
  return code ? { code, balance: BALANCE } : null
}
