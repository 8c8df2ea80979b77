import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertRefused, essence, keysOf } from '../../harness/refusals.ts'
import { ok, refusal } from '../returns/setup.ts'
import {
  AFFILIATES,
  type AffiliateShop,
  buy,
  makeAffiliate,
  openAffiliateShop,
  passDays,
  payOut,
  shareAffiliateApp,
} from './setup.ts'

const shared = shareAffiliateApp()

describe('an applicant', () => {
  const open = async (settings: object = { applications_open: true }) => {
    const shop = await openAffiliateShop(shared.current)
    ok(await shop.merchant.patch(`${AFFILIATES}/settings`, settings))
    const path = `/v1/tenants/${shop.tenant}/affiliates`
    const { storefront } = shared.current
    return {
      ...shop,
      apply: (body: unknown) => storefront.post(`${path}/applications`, body),
      program: () => storefront.get(`${path}/program`),
    }
  }
  const application = (more: object = {}) => ({
    name: 'Fay',
    email: `${randomUUID()}@example.com`,
    website: 'https://fay.example',
    message: 'I write about tea.',
    ...more,
  })

  test('waits for the merchant, and earns once approved', async () => {
    const { merchant, apply, ...shop } = await open()
    const body = application({ email: 'fay@example.com' })
    assert.deepEqual(ok(await apply(body), 202), { accepted: true })
    const [found] = ok(await merchant.get(`${AFFILIATES}?status=applied`)).affiliates
    assert.deepEqual(
      [found.name, found.website, found.message, found.referral_codes],
      ['Fay', 'https://fay.example', 'I write about tea.', []],
    )
    ok(await merchant.post(`${AFFILIATES}/${found.id}/codes`, { code: 'FAY' }), 201)
    const of = { ...shop, merchant } as AffiliateShop
    const reasonOf = async () => {
      const { order } = await buy(of, { referral_code: 'FAY' })
      const url = `${AFFILIATES}/commissions?order_id=${order.id}`
      return ok(await merchant.get(url)).commissions[0].reason
    }
    assert.equal(await reasonOf(), 'affiliate_not_active')
    ok(await merchant.post(`${AFFILIATES}/${found.id}/approve`))
    assert.equal(await reasonOf(), null)
  })

  test('cannot find out who is known to the store already', async () => {
    const { merchant, apply } = await open()
    const body = application({ email: 'fay@example.com' })
    const [first, second] = [await apply(body), await apply({ ...body, email: 'FAY@example.com' })]
    assert.deepEqual(essence(first), essence(second))
    assert.equal(ok(await merchant.get(AFFILIATES)).total, 1)
  })

  test('is told the terms, and refused if the store takes no applications', async () => {
    const opened = await open({ applications_open: true, rate_bps: 750 })
    const told = ok(await opened.program())
    assert.deepEqual(told, {
      applications_open: true,
      commission_type: 'percent',
      rate_bps: 750,
      amount_cents: null,
      currency: 'USD',
      cookie_days: 30,
    })
    const closed = await open({ applications_open: false })
    assert.deepEqual(refusal(await closed.apply(application())), [409, 'applications_closed'])
    assert.equal(ok(await closed.program()).applications_open, false)
    const off = { feature_key: 'affiliates' }
    ok(await opened.merchant.post('/v1/merchant/entitlements/disable', off))
    assert.deepEqual(refusal(await opened.apply(application())), [403, 'feature_not_enabled'])
    assert.equal(ok(await opened.program()).applications_open, false)
    const unknown = await shared.current.storefront.post(
      '/v1/tenants/nowhere/affiliates/applications',
      application(),
    )
    assert.deepEqual(refusal(unknown), [404, 'unknown_tenant'])
  })

  test('is refused with bad input, and when there are too many', async () => {
    const { apply } = await open()
    await assertRefused(
      [
        ['no name', application({ name: '' }), 'invalid_body', 'name'],
        ['no address', application({ email: 'x' }), 'invalid_body', 'email'],
        ['a long message', application({ message: 'x'.repeat(2_001) }), 'invalid_body', 'message'],
        ['an address that is a list', application({ address: [] }), 'invalid_body', 'address'],
      ],
      apply,
    )
    const ip = '192.0.2.7'
    const answers = []
    for (let n = 0; n < 7; n++) answers.push(await apply(application({ ip })))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 202, 202, 202, 429, 429],
    )
  })
})

describe('the link of a code', () => {
  const touch = (tenant: string, code: unknown) =>
    shared.current.storefront.post(`/v1/tenants/${tenant}/affiliates/touches`, { code })

  test('answers 404 for a code that does not count', async () => {
    const [shop, other] = [
      await openAffiliateShop(shared.current),
      await openAffiliateShop(shared.current),
    ]
    const { id, code } = await makeAffiliate(shop)
    ok(await touch(shop.tenant, code))
    for (const [tenant, wrong] of [
      [shop.tenant, 'nobody'],
      [shop.tenant, 'not a code'],
      [shop.tenant, ''],
      [other.tenant, code],
    ]) {
      const answer = await touch(tenant ?? '', wrong)
      assert.deepEqual(refusal(answer), [404, 'referral_code_not_found'], answer.text)
    }
    assert.deepEqual(refusal(await touch(shop.tenant, 7)), [400, 'invalid_body'])
    ok(await shop.merchant.post(`${AFFILIATES}/${id}/suspend`))
    assert.deepEqual(refusal(await touch(shop.tenant, code)), [404, 'referral_code_not_found'])
  })

  test('is counted exactly under concurrent clicks, without data about the shopper', async () => {
    const shop = await openAffiliateShop(shared.current)
    const { id, code } = await makeAffiliate(shop)
    const answers = await Promise.all(Array.from({ length: 25 }, () => touch(shop.tenant, code)))
    for (const answer of answers) ok(answer)
    const { affiliate } = ok(await shop.merchant.get(`${AFFILIATES}/${id}`))
    assert.equal(affiliate.referral_codes[0].clicks, 25)
    const { rows } = await shared.current.superuser.query(
      `select * from affiliate_clicks where tenant_ref = $1`,
      [shop.tenant],
    )
    for (const row of rows)
      assert.deepEqual(keysOf(row), ['clicks', 'code_folded', 'shard', 'tenant_ref'])
  })
})

describe('the page of an affiliate', () => {
  const page = (tenant: string, token: string, more: object = {}) =>
    shared.current.storefront.post(`/v1/tenants/${tenant}/affiliates/page`, { token, ...more })

  const begin = async () => {
    const shop = await openAffiliateShop(shared.current)
    const { id, code } = await makeAffiliate(shop, { approval_delay_days: 0 })
    const url = `${AFFILIATES}/${id}`
    const link = ok(await shop.merchant.post(`${url}/link`), 201)
    return { shop, id, code, url, link }
  }

  test('shows codes, balances, commissions and payouts, and nothing of a shopper', async () => {
    const { shop, code, link } = await begin()
    assert.match(
      link.url,
      new RegExp(`^http://${shop.tenant}\\.localhost(:\\d+)?/affiliates/link/`),
    )
    const more = { customer_ref: 'secret-ann', email: 'secret-ann@example.com' }
    const { order } = await buy(shop, { referral_code: code, ...more })
    await passDays(shop, 0.01)
    await payOut(shop)
    await buy(shop, { referral_code: code, ...more })
    const answer = await page(shop.tenant, link.token)
    const seen = ok(answer)
    assert.deepEqual(seen.codes, [{ code, active: true, clicks: 0 }])
    assert.deepEqual(seen.balances, [
      {
        currency: 'USD',
        pending_cents: 1_000,
        approved_cents: 0,
        in_payout_cents: 0,
        paid_cents: 1_000,
      },
    ])
    assert.deepEqual(
      seen.commissions.map(({ status, amount_cents }: Record<string, unknown>) => [
        status,
        amount_cents,
      ]),
      [
        ['pending', 1_000],
        ['paid', 1_000],
      ],
    )
    assert.equal(seen.payouts.length, 1)
    for (const secret of ['secret-ann', order.id]) assert.ok(!answer.text.includes(secret), secret)
    // Neither a part of a code nor of a reference counts.
    assert.doesNotMatch(answer.text, new RegExp(`(?<![\\w-])${order.order_number}(?![\\w-])`))
  })

  test('opens with its own link alone, until the link expires or the affiliate is erased', async () => {
    const { shop, id, url, link } = await begin()
    const other = await openAffiliateShop(shared.current)
    const forged = `${link.token.slice(0, -1)}${link.token.endsWith('A') ? 'B' : 'A'}`
    for (const [tenant, token] of [
      [shop.tenant, forged],
      [shop.tenant, ''],
      [shop.tenant, 'nonsense'],
      [other.tenant, link.token],
    ]) {
      const answer = await page(tenant ?? '', token ?? '')
      assert.deepEqual(refusal(answer), [404, 'affiliate_not_found'], answer.text)
    }
    ok(await shop.merchant.post(`${url}/suspend`))
    assert.equal(ok(await page(shop.tenant, link.token)).status, 'suspended')
    await passDays(shop, 89)
    ok(await page(shop.tenant, link.token))
    await passDays(shop, 91)
    assert.deepEqual(refusal(await page(shop.tenant, link.token)), [404, 'affiliate_not_found'])
    await passDays(shop, 0)
    const { confirm } = ok(await shop.merchant.post(`${url}/erase`))
    ok(await shop.merchant.post(`${url}/erase`, { confirm }))
    assert.deepEqual(refusal(await page(shop.tenant, link.token)), [404, 'affiliate_not_found'])
    const gone = await shop.merchant.post(`${AFFILIATES}/${id}/link`)
    assert.deepEqual(refusal(gone), [404, 'affiliate_not_found'])
  })

  test('has no link before the affiliate is approved', async () => {
    const shop = await openAffiliateShop(shared.current)
    const { id } = await makeAffiliate(shop, { status: 'invited' })
    const answer = await shop.merchant.post(`${AFFILIATES}/${id}/link`)
    assert.deepEqual(refusal(answer), [404, 'affiliate_not_found'])
  })

  test('makes the browser known as the affiliate’s, for at most twenty browsers', async () => {
    const { shop, id, code, link } = await begin()
    const device_ref = `device-${randomUUID()}`
    ok(await page(shop.tenant, link.token, { device_ref }))
    ok(await page(shop.tenant, link.token, { device_ref }))
    ok(await page(shop.tenant, link.token, { device_ref: 'short' }))
    const { order } = await buy(shop, { referral_code: code, device_ref })
    const url = `${AFFILIATES}/commissions?order_id=${order.id}`
    assert.equal(ok(await shop.merchant.get(url)).commissions[0].reason, 'self_device')
    for (let n = 0; n < 25; n++)
      ok(await page(shop.tenant, link.token, { device_ref: `device-${randomUUID()}` }))
    const { rows } = await shared.current.superuser.query(
      'select count(*)::int as count from affiliate_devices where affiliate_id = $1',
      [id],
    )
    assert.equal(rows[0].count, 20)
  })
})
