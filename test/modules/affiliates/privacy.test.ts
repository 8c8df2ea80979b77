import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { exportOf } from '../../../src/modules/affiliates/customer-data.ts'
import { ok, refusal } from '../returns/setup.ts'
import {
  AFFILIATES,
  balanceOf,
  buy,
  makeAffiliate,
  openAffiliateShop,
  shareAffiliateApp,
} from './setup.ts'

const PERSON = {
  name: 'Fay Secret',
  email: 'fay.secret@example.com',
  customer_ref: 'fay-secret',
  website: 'https://fay-secret.example',
  address: { line1: '1 Secret Lane', city: 'Nowhere', country: 'US' },
  payout_account: 'DE00 SECRET 1234',
}

describe('a person who is an affiliate', () => {
  const shared = shareAffiliateApp()

  const begin = async () => {
    const shop = await openAffiliateShop(shared.current)
    const { id, code } = await makeAffiliate(shop, PERSON)
    await buy(shop, { referral_code: code })
    return { shop, id, code, url: `${AFFILIATES}/${id}` }
  }

  /** Every text of the store's affiliates, with everything that belongs to them. */
  const textsOf = async (tenant: string): Promise<string> => {
    const tables = ['affiliates', 'affiliate_codes', 'affiliate_commissions', 'affiliate_devices']
    const texts: string[] = []
    for (const table of tables) {
      const { rows } = await shared.current.superuser.query(
        `select to_jsonb(t)::text as text from ${table} t where tenant_ref = $1`,
        [tenant],
      )
      texts.push(...rows.map(({ text }) => text))
    }
    return texts.join()
  }

  test('gets a copy of all data that the store has about them', async () => {
    const { shop, url } = await begin()
    const { data } = ok(await shop.merchant.get(`${url}/export`))
    assert.deepEqual(
      [data.name, data.email, data.address.line1, data.commissions.length, data.payouts],
      ['Fay Secret', 'fay.secret@example.com', '1 Secret Lane', 1, []],
    )
    assert.doesNotMatch(JSON.stringify(data), /tenant_ref|email_folded|"payout_account"/)
    const [copy] = await exportOf(await shared.current.store(shop.tenant), 'fay-secret')
    assert.equal(copy?.name, 'Fay Secret', 'a customer’s copy has it, too')
    assert.deepEqual(await exportOf(await shared.current.store(shop.tenant), 'another'), [])
  })

  test('is erased in two steps, and the amounts stay in the books', async () => {
    const { shop, id, code, url } = await begin()
    const first = ok(await shop.merchant.post(`${url}/erase`))
    assert.deepEqual([first.erased, first.affiliate.name], [false, 'Fay Secret'])
    const other = await begin()
    for (const confirm of [
      'nonsense',
      ok(await other.shop.merchant.post(`${other.url}/erase`)).confirm,
    ]) {
      const answer = await shop.merchant.post(`${url}/erase`, { confirm })
      assert.deepEqual(refusal(answer), [409, 'confirm_invalid'])
    }
    const done = ok(await shop.merchant.post(`${url}/erase`, { confirm: first.confirm }))
    assert.deepEqual(
      [done.erased, done.affiliate.name, done.affiliate.email, done.affiliate.status],
      [true, '[erased]', null, 'suspended'],
    )
    assert.doesNotMatch(await textsOf(shop.tenant), /secret/i)
    assert.deepEqual(await balanceOf(shop, id), [1_000, 0, 0, 0])
    const { order } = await buy(shop, { referral_code: code })
    const found = ok(await shop.merchant.get(`${AFFILIATES}/commissions?order_id=${order.id}`))
    assert.equal(found.commissions[0].reason, 'affiliate_not_active')
    const changed = await shop.merchant.patch(url, { name: 'Back again' })
    assert.deepEqual(refusal(changed), [409, 'invalid_transition'])
    // The same address may apply again, as a new affiliate.
    await makeAffiliate(shop, { email: PERSON.email })
  })

  test('is erased and exported together with their customer record', async () => {
    const { shop, id } = await begin()
    await buy(shop, { customer_ref: 'fay-secret', email: PERSON.email })
    const { customer } = ok(await shop.merchant.get('/v1/merchant/customers/fay-secret'))
    assert.deepEqual(customer.affiliate, { id })
    const erase = '/v1/my/privacy/erase'
    const { confirm } = ok(await shop.merchant.post(erase, { customer_ref: 'fay-secret' }), 202)
    const key = { 'idempotency-key': randomUUID() }
    ok(await shop.merchant.post(erase, { customer_ref: 'fay-secret', confirm }, key))
    assert.doesNotMatch(await textsOf(shop.tenant), /secret/i)
  })

  test('leaves no trace of a browser in an erased order', async () => {
    const { shop, code } = await begin()
    const device_ref = `device-${randomUUID()}`
    const { order } = await buy(shop, { customer_ref: 'ann', referral_code: code, device_ref })
    const stored = async () =>
      (await shared.current.superuser.query('select pricing from orders where id = $1', [order.id]))
        .rows[0].pricing.referral
    assert.equal((await stored()).device.length, 64)
    const erase = '/v1/my/privacy/erase'
    const { confirm } = ok(await shop.merchant.post(erase, { customer_ref: 'ann' }), 202)
    const key = { 'idempotency-key': randomUUID() }
    ok(await shop.merchant.post(erase, { customer_ref: 'ann', confirm }, key))
    assert.deepEqual(await stored().then(({ source, device }) => [source, device]), [
      'code',
      undefined,
    ])
  })
})
