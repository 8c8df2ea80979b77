import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { refund } from '../../harness/operations.ts'
import {
  type CheckoutApp,
  cart,
  checkout,
  type GatewayOverride,
  openCheckoutApp,
  openShop,
  type Shop,
} from '../checkout/setup.ts'
import { codeOf, RECIPIENT, sellGiftCard } from './setup.ts'

const STEPS = ['checkout-begun', 'authorize-sent', 'authorized', 'captured', 'checkout-ended']
const ACTOR = { name: 'merchant_key:test', correlationId: null }

/** After this time a gateway without a record of a refund will not get it any more. */
const OVER_AN_HOUR_MS = HOUR_MS + 1_000

const giftCart = (variant_id: string, quantity = 1) =>
  cart(undefined, { items: [{ variant_id, quantity, gift_card: RECIPIENT }] })

test('a checkout that stops at any step issues its cards once, and none without payment', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const variant = await sellGiftCard(shop)
  for (const step of STEPS) {
    const key = randomUUID()
    await app.crash(shop, giftCart(variant, 2), step, key)
    await app.expireClaims()
    app.clock.advance(10_000)
    await app.reconcile()
    await app.expireClaims()
    await app.reconcile()
    const { rows } = await app.superuser.query(
      `select o.status, count(g.id)::int as cards
         from orders o
         left join gift_cards g on g.tenant_ref = o.tenant_ref and g.issued_order_id = o.id
        where o.idempotency_key = $1 group by 1`,
      [key],
    )
    const [{ status, cards }] = rows
    assert.equal(cards, status === 'delivered' ? 2 : 0, step)
    if (['captured', 'checkout-ended'].includes(step)) assert.equal(status, 'delivered', step)
    await app.assertAddsUp()
  }
})

/** The answers to refunds are lost, after or before the gateway has made them. */
const losing =
  (when: 'after' | 'before'): GatewayOverride =>
  (real) => {
    const lose = async (work: () => Promise<unknown>) => {
      if (when === 'after') await work()
      return unknownResult()
    }
    return {
      refund: (what) => lose(() => real.refund(what)),
      void: (what) => lose(() => real.void(what)),
    }
  }

/** Buys a card, and begins its refund with a gateway whose answer is lost. */
async function beginRefund(app: CheckoutApp, shop: Shop, when: 'after' | 'before') {
  const variant = await sellGiftCard(shop)
  const { body } = await checkout(app, shop, giftCart(variant))
  const read = await shop.merchant.get(`/v1/merchant/orders/${body.order.id}`)
  const [{ gift_card_id }] = read.body.gift_cards[0].cards
  const db = app.runtime.database.tenant(shop.tenant)
  const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
  await run(db, claim, (held) =>
    refund(
      app.depsWith({ gateway: losing(when) }),
      db,
      { actor: ACTOR, claim: held },
      body.order.id,
      {
        by: 'merchant',
        body: {},
      },
    ),
  ).catch(() => {})
  return { order_id: body.order.id as string, gift_card_id: gift_card_id as string }
}

for (const [when, status, balance_cents] of [
  ['after', 'disabled', 0],
  ['before', 'active', 5_000],
] as const) {
  test(`a card cannot be spent while the answer to its refund is missing, lost ${when} it was made`, async (t) => {
    const app = await openCheckoutApp(t)
    const shop = await openShop(app)
    const { gift_card_id } = await beginRefund(app, shop, when)
    const cardOf = async () =>
      (await shop.merchant.get(`/v1/merchant/gift-cards/${gift_card_id}`)).body.gift_card
    const waiting = await cardOf()
    assert.deepEqual(
      [waiting.status, waiting.refund_pending, waiting.balance_cents],
      ['disabled', true, 5_000],
    )
    const code = await codeOf(app, shop.tenant, gift_card_id)
    const paid = await checkout(app, shop, {
      ...cart(shop.variants[1_000]),
      gift_card_code: code,
    })
    assert.deepEqual([paid.status, paid.body.error.code], [422, 'gift_card_invalid'])
    app.clock.advance(OVER_AN_HOUR_MS)
    await app.expireClaims()
    await app.reconcile(when === 'before' ? { gateway: losing('before') } : {})
    const ended = await cardOf()
    assert.deepEqual(
      [ended.status, ended.refund_pending, ended.balance_cents],
      [status, false, balance_cents],
    )
    await app.assertAddsUp()
  })
}
