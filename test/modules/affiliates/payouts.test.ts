import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { approveDue } from '../../../src/modules/affiliates/jobs.ts'
import { assertRefused, times } from '../../harness/refusals.ts'
import { ok, refusal } from '../returns/setup.ts'
import {
  AFFILIATES,
  type AffiliateShop,
  balanceOf,
  buy,
  commissionsOf,
  makeAffiliate,
  openAffiliateShop,
  passDays,
  pay,
  payOut,
  refund,
  shareAffiliateApp,
} from './setup.ts'

const PAYOUTS = `${AFFILIATES}/payouts`

describe('payouts', () => {
  const shared = shareAffiliateApp()
  const open = () => openAffiliateShop(shared.current)

  /** An affiliate with an approved commission of 1,000 cents for each order. */
  const earn = async (shop: AffiliateShop, orders = 1, terms: object = {}) => {
    const made = await makeAffiliate(shop, { approval_delay_days: 0, ...terms })
    const ids: string[] = []
    for (let n = 0; n < orders; n++)
      ids.push((await buy(shop, { referral_code: made.code })).order.id)
    await passDays(shop, 0.01)
    return { ...made, orders: ids }
  }

  test('pay all approved commissions once', async () => {
    const shop = await open()
    const { id, email } = await earn(shop, 2)
    const { payouts, skipped, has_more } = ok(await pay(shop), 201)
    assert.deepEqual([skipped, has_more, payouts.length], [[], false, 1])
    const [payout] = payouts
    assert.deepEqual(
      [payout.affiliate_id, payout.amount_cents, payout.currency, payout.status],
      [id, 2_000, 'USD', 'pending'],
    )
    assert.match(payout.reference, /^AP-[0-9A-F]{10}$/)
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 2_000, 0])
    const url = `${PAYOUTS}/${payout.id}`
    const paid = ok(await shop.merchant.post(`${url}/mark-paid`)).payout
    assert.equal(paid.status, 'paid')
    assert.deepEqual(ok(await shop.merchant.post(`${url}/mark-paid`)).payout, paid, 'once')
    assert.deepEqual(ok(await shop.merchant.get(url)).payout, paid)
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 2_000])
    const { superuser } = shared.current
    const { rows: mails } = await superuser.query('select body from mails where recipient = $1', [
      email,
    ])
    assert.equal(mails.length, 1)
    assert.match(mails[0].body, new RegExp(`20\\.00 USD.*${payout.reference}`, 's'))
    const { rows: booked } = await superuser.query(
      `select e.account, e.ref, e.amount_cents::int as cents
         from ledger_journals j
         join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
        where j.kind = 'affiliate.paid' and j.ref = $1 order by e.position`,
      [payout.id],
    )
    assert.deepEqual(booked, [
      { account: 'affiliate_payable', ref: id, cents: 2_000 },
      { account: 'affiliate_payout', ref: '', cents: -2_000 },
    ])
    const none = await pay(shop)
    assert.deepEqual([...refusal(none), none.body.skipped], [409, 'nothing_to_pay', []])
  })

  test('answer a repeated key alike, and make one payout of many calls at once', async () => {
    const shop = await open()
    const { id } = await earn(shop)
    const key = randomUUID()
    const answers = await times(5, () => pay(shop, {}, key))
    const [first] = answers
    for (const answer of answers) assert.deepEqual(ok(answer, 201), first?.body)
    const other = await pay(shop, { currency: 'EUR' }, key)
    assert.deepEqual(refusal(other), [422, 'idempotency_key_reused'])
    const keyless = await shop.merchant.post(PAYOUTS, {})
    assert.deepEqual(refusal(keyless), [400, 'idempotency_key_required'])
    const second = await earn(shop)
    const racing = await times(5, () => pay(shop))
    assert.deepEqual(racing.map(({ status }) => status).toSorted(), [201, 409, 409, 409, 409])
    const { payouts } = ok(await shop.merchant.get(PAYOUTS))
    assert.deepEqual(
      payouts.map(({ affiliate_id }: { affiliate_id: string }) => affiliate_id),
      [second.id, id],
    )
  })

  test('a refusal is not stored: the same key makes a payout once a commission is due', async () => {
    const shop = await open()
    const key = randomUUID()
    assert.deepEqual(refusal(await pay(shop, {}, key)), [409, 'nothing_to_pay'])
    await earn(shop)
    ok(await pay(shop, {}, key), 201)
  })

  test('carry a negative balance over, which blocks further payouts', async () => {
    const shop = await open()
    const { id, code, orders } = await earn(shop, 2)
    await payOut(shop)
    ok(await refund(shop, orders[0] ?? ''), 201)
    assert.deepEqual(await balanceOf(shop, id), [0, -1_000, 0, 2_000])
    const blocked = await pay(shop, { affiliate_ids: [id] })
    assert.deepEqual(refusal(blocked), [409, 'nothing_to_pay'])
    assert.deepEqual(blocked.body.skipped, [
      { affiliate_id: id, currency: 'USD', approved_cents: -1_000, reason: 'negative_balance' },
    ])
    const items = [{ variant_id: shop.variants[1_000], quantity: 15 }]
    await buy(shop, { referral_code: code, items })
    await passDays(shop, 0.02)
    assert.deepEqual(await balanceOf(shop, id), [0, 500, 0, 2_000])
    const [payout] = await payOut(shop)
    assert.equal(payout.amount_cents, 500)
    assert.deepEqual(await balanceOf(shop, id), [0, 0, 0, 2_500])
  })

  test('leave clawbacks that happen while a payout is under way to the next payout', async () => {
    const shop = await open()
    const { id, orders } = await earn(shop, 2)
    const { payouts } = ok(await pay(shop), 201)
    ok(await refund(shop, orders[0] ?? ''), 201)
    assert.deepEqual(await balanceOf(shop, id), [0, -1_000, 2_000, 0])
    ok(await shop.merchant.post(`${PAYOUTS}/${payouts[0].id}/mark-paid`))
    assert.deepEqual(await balanceOf(shop, id), [0, -1_000, 0, 2_000])
  })

  test('payouts that the bank did not pay can be cancelled, and their commissions are due again', async () => {
    const shop = await open()
    const { id } = await earn(shop)
    const { payouts } = ok(await pay(shop), 201)
    const url = `${PAYOUTS}/${payouts[0].id}`
    assert.equal(ok(await shop.merchant.post(`${url}/cancel`)).payout.status, 'cancelled')
    assert.deepEqual(await balanceOf(shop, id), [0, 1_000, 0, 0])
    const late = await shop.merchant.post(`${url}/mark-paid`)
    assert.deepEqual(
      [...refusal(late), late.body.current_status],
      [409, 'invalid_transition', 'cancelled'],
    )
    const [paid] = await payOut(shop)
    const undone = await shop.merchant.post(`${PAYOUTS}/${paid.id}/cancel`)
    assert.deepEqual(refusal(undone), [409, 'invalid_transition'])
    assert.deepEqual(
      ok(await shop.merchant.get(`${PAYOUTS}?status=cancelled`)).payouts.map(
        (each: { id: string }) => each.id,
      ),
      [payouts[0].id],
    )
  })

  test('wait for the minimum of each affiliate, and skip suspended affiliates unless named', async () => {
    const shop = await open()
    const small = await earn(shop, 1, { payout_minimum_cents: 1_500 })
    const paused = await earn(shop)
    ok(await shop.merchant.post(`${AFFILIATES}/${paused.id}/suspend`))
    assert.deepEqual(refusal(await pay(shop)), [409, 'nothing_to_pay'])
    const idle = await makeAffiliate(shop)
    const ids = [small.id, paused.id, idle.id]
    const { payouts, skipped } = ok(await pay(shop, { affiliate_ids: ids }), 201)
    assert.deepEqual(
      payouts.map(({ affiliate_id }: { affiliate_id: string }) => affiliate_id),
      [paused.id],
    )
    assert.deepEqual(
      skipped.map(({ affiliate_id, reason }: Record<string, string>) => [affiliate_id, reason]),
      [
        [small.id, 'below_minimum'],
        [idle.id, 'nothing_due'],
      ],
    )
  })

  test('refuse bad input and unknown affiliates', async () => {
    const [shop, other] = [await open(), await open()]
    const { id } = await earn(shop)
    await assertRefused(
      [
        ['no list', { affiliate_ids: 'all' }, 'invalid_body'],
        ['an empty list', { affiliate_ids: [] }, 'invalid_body'],
        ['what is no id', { affiliate_ids: ['x'] }, 'invalid_body'],
        ['a currency of four letters', { currency: 'EURO' }, 'invalid_body'],
        ['a stranger', { affiliate_ids: [randomUUID()] }, 'affiliate_not_found'],
      ],
      (body) => pay(shop, body as object),
    )
    const foreign = await pay(other, { affiliate_ids: [id] })
    assert.deepEqual(refusal(foreign), [404, 'affiliate_not_found'])
    const { payouts } = ok(await pay(shop), 201)
    for (const verb of ['mark-paid', 'cancel']) {
      const answer = await other.merchant.post(`${PAYOUTS}/${payouts[0].id}/${verb}`)
      assert.deepEqual(refusal(answer), [404, 'payout_not_found'])
    }
  })

  test('export a table for the bank in which no text can act as a formula', async () => {
    const shop = await open()
    const account = '=cmd|calc'
    await earn(shop, 1, { name: '=HYPERLINK("x")', payout_account: account })
    await earn(shop, 1, { name: 'Gil "the" Gull', payout_account: 'DE02 1203 0000' })
    ok(await pay(shop), 201)
    const answer = await shop.merchant.get(`${PAYOUTS}/export.csv`)
    assert.equal(answer.status, 200)
    assert.match(answer.headers['content-type'] ?? '', /^text\/csv/)
    const lines = answer.text.trimEnd().split('\r\n')
    assert.equal(
      lines[0],
      '"reference","name","account","amount","currency","status","payout_id","affiliate_id","created_at"',
    )
    const rows = lines.slice(1).map((line) => line.split('","').slice(1, 6))
    assert.deepEqual(
      rows.toSorted(),
      [
        ['\'=HYPERLINK(""x"")', "'=cmd|calc", '10.00', 'USD', 'pending'],
        ['Gil ""the"" Gull', 'DE02 1203 0000', '10.00', 'USD', 'pending'],
      ].toSorted(),
    )
    const other = await open()
    const empty = await other.merchant.get(`${PAYOUTS}/export.csv`)
    assert.equal(empty.text.trimEnd().split('\r\n').length, 1)
  })

  test('never change a paid commission, not even by hand', async () => {
    const shop = await open()
    const { orders } = await earn(shop)
    await payOut(shop)
    const [commission] = await commissionsOf(shop, { order_id: orders[0] ?? '' })
    for (const change of [
      'amount_cents = 1',
      `status = 'approved'`,
      'payout_id = null',
      `reason = 'x'`,
    ]) {
      await assert.rejects(
        shared.current.superuser.query(`update affiliate_commissions set ${change} where id = $1`, [
          commission.id,
        ]),
        /never changes/,
      )
    }
  })

  test('a payout and a refund at the same time lose nothing', async () => {
    for (let n = 0; n < 4; n++) {
      const shop = await open()
      const { id, orders } = await earn(shop, 2)
      const [paid, refunded] = await Promise.all([pay(shop), refund(shop, orders[0] ?? '')])
      ok(refunded, 201)
      ok(paid, 201)
      const [, approved = 0, inPayout = 0] = await balanceOf(shop, id)
      assert.equal(approved + inPayout, 1_000)
    }
  })
})

describe('the approval of commissions', () => {
  const shared = shareAffiliateApp()

  test('runs over all stores, and approves each commission once', async () => {
    const { workerDatabase } = shared.current.runtime
    const shops = await times(3, () => openAffiliateShop(shared.current))
    const made = await Promise.all(
      shops.map(async (shop) => {
        const affiliate = await makeAffiliate(shop, { approval_delay_days: 0 })
        await buy(shop, { referral_code: affiliate.code })
        return { shop, id: affiliate.id }
      }),
    )
    let approved = 0
    for (
      let step = await approveDue(workerDatabase);
      step > 0;
      step = await approveDue(workerDatabase)
    )
      approved += step
    assert.equal(approved, 3)
    for (const { shop, id } of made) assert.deepEqual(await balanceOf(shop, id), [0, 1_000, 0, 0])
  })

  test('leaves commissions that are not due, declined or reversed', async () => {
    const shop = await openAffiliateShop(shared.current)
    const { id, code } = await makeAffiliate(shop)
    const first = await buy(shop, { referral_code: code })
    const second = await buy(shop, { referral_code: code })
    await buy(shop, { referral_code: code })
    ok(await refund(shop, first.order.id), 201)
    const [commission] = await commissionsOf(shop, { order_id: second.order.id })
    ok(await shop.merchant.post(`${AFFILIATES}/commissions/${commission.id}/decline`))
    assert.equal(await passDays(shop, 40), 1)
    assert.deepEqual(await balanceOf(shop, id), [0, 1_000, 0, 0])
    assert.equal(await passDays(shop, 80), 0)
  })
})
