import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBooks } from '../harness/books.ts'
import { openWitness } from '../harness/witness.ts'
import { AFFILIATES, balanceOf, linesOf, makeAffiliate, pay } from '../modules/affiliates/setup.ts'
import { addVariant, cart, checkout, enable } from '../modules/checkout/setup.ts'
import { ok, refusal } from '../modules/returns/setup.ts'
import { keyed, openClockApp } from '../modules/test-clock/setup.ts'
import { TERMS } from './story.ts'

/**
 * A blogger earns 12.5 % of the goods. Kettles cost 79.99, cups 12.49; goods are taxed at 7.77 %, shipping is 4.99.
 *
 *  day 0   Ann follows the link and buys a kettle and two cups: 104.97 of goods, 13.12 earned.
 *  day 5   One cup comes back before anything is approved: 12.49 of goods, 1.56 clawed back.
 *  day 31  What is left is approved, and paid out: 11.56.
 *  day 40  Ann gets the rest of her money. The 11.56 are gone to the bank: the balance is negative, and carries over.
 *  day 41  Bob buys cups: 99.92 of goods, 12.49 earned.
 *  day 75  His commission is approved. The payout is of what exceeds the debt: 0.93.
 */
test('a commission is clawed back before its payout, and afterwards from the next payout', async (t) => {
  const app = await openClockApp(t)
  await openWitness(app.superuser)
  const shop = await app.openSandbox('teahouse')
  const { merchant } = shop
  await enable(merchant, 'affiliates')
  const kettle = await addVariant(merchant, 7_999, { name: 'Kettle' })
  const cup = await addVariant(merchant, 1_249, { name: 'Cup' })
  const fay = await makeAffiliate(shop, { rate_bps: 1_250, payout_account: 'DE02 1203' })
  const passDays = (days: number) => app.advance(merchant, { advance: `P${days}D` })
  const buy = async (customer_ref: string, items: object[], more: object) =>
    ok(await checkout(app, shop, cart(undefined, { ...TERMS, customer_ref, items, ...more })), 201)
  const refund = async (id: string, body: object) =>
    ok(await merchant.post(`/v1/merchant/orders/${id}/refunds`, body, keyed()), 201)

  const touched = ok(
    await app.storefront.post(`/v1/tenants/teahouse/affiliates/touches`, { code: fay.code }),
  )
  const { referral_code, referral_touch } = touched
  await passDays(3)
  const ann = await buy(
    'ann',
    [
      { variant_id: kettle, quantity: 1 },
      { variant_id: cup, quantity: 2 },
    ],
    { referral_code, referral_touch },
  )
  assert.deepEqual(await linesOf(shop, ann.order.id), ['sale pending 1312'])

  await passDays(5)
  const cups = ann.items.find(({ variant_id }: { variant_id: string }) => variant_id === cup)
  await refund(ann.order.id, { items: [{ order_item_id: cups.id, quantity: 1 }] })
  assert.deepEqual(await linesOf(shop, ann.order.id), [
    'sale pending 1312',
    'clawback pending -156',
  ])
  assert.deepEqual(refusal(await pay(shop)), [409, 'nothing_to_pay'], 'nothing is approved yet')

  const ran = await passDays(26)
  assert.ok(
    ran.some(({ kind, outcome }) => kind === 'commission_approval' && outcome === '2 approved'),
    JSON.stringify(ran),
  )
  const { payouts } = ok(await pay(shop), 201)
  assert.deepEqual(
    payouts.map(({ amount_cents }: { amount_cents: number }) => amount_cents),
    [1_156],
  )
  const table = await merchant.get(`${AFFILIATES}/payouts/export.csv`)
  assert.match(table.text, /"DE02 1203","11\.56","USD"/)
  ok(await merchant.post(`${AFFILIATES}/payouts/${payouts[0].id}/mark-paid`))
  assert.deepEqual(await balanceOf(shop, fay.id), [0, 0, 0, 1_156])
  const before = ok(await merchant.get(`${AFFILIATES}/commissions?status=paid`)).commissions

  await passDays(9)
  await refund(ann.order.id, {})
  assert.deepEqual(await balanceOf(shop, fay.id), [0, -1_156, 0, 1_156])
  const after = ok(await merchant.get(`${AFFILIATES}/commissions?status=paid`)).commissions
  assert.deepEqual(after, before, 'what is paid never changes')
  assert.deepEqual(refusal(await pay(shop, { affiliate_ids: [fay.id] })), [409, 'nothing_to_pay'])

  await passDays(1)
  const bob = await buy('bob', [{ variant_id: cup, quantity: 8 }], {
    referral_code,
    email: 'bob@example.com',
    shipping_address: { ...TERMS.shipping_address, line1: '2 Elsewhere' },
  })
  assert.deepEqual(await linesOf(shop, bob.order.id), ['sale pending 1249'])
  assert.deepEqual(refusal(await pay(shop)), [409, 'nothing_to_pay'])
  await passDays(34)
  const second = ok(await pay(shop), 201).payouts
  assert.deepEqual([second.length, second[0].amount_cents], [1, 93])
  ok(await merchant.post(`${AFFILIATES}/payouts/${second[0].id}/mark-paid`))
  assert.deepEqual(await balanceOf(shop, fay.id), [0, 0, 0, 1_249])

  // What the store has spent on her is what she has earned in the end, and all of it is paid.
  const { rows } = await app.superuser.query(
    `select account, sum(amount_cents)::int as cents from ledger_entries
      where tenant_ref = 'teahouse'
        and account in ('commission_expense', 'affiliate_payable', 'affiliate_payout')
      group by account order by account`,
  )
  assert.deepEqual(rows, [
    { account: 'affiliate_payable', cents: 0 },
    { account: 'affiliate_payout', cents: -1_249 },
    { account: 'commission_expense', cents: 1_249 },
  ])
  await assertBooks(app, app.superuser, merchant)
})
