import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import {
  assertRefused,
  countStatuses,
  keysOf,
  type Refusal,
  times,
} from '../../harness/refusals.ts'
import { createCoupon, URL } from './setup.ts'

test('coupons', async (t) => {
  const app = await openTestApp(t)
  const acme = await app.merchant('acme')

  await t.test('are active once created, and answered with all their terms', async () => {
    const { status, body } = await acme.post(URL, {
      code: 'Spring-20',
      type: 'percent',
      percent_bps: 2_000,
      starts_at: '2020-01-01T00:00:00+02:00',
      applies_to: { collection_slugs: ['sale'] },
    })
    assert.equal(status, 201)
    const { id, created_at, updated_at, ...rest } = body.coupon
    assert.deepEqual(rest, {
      code: 'Spring-20',
      type: 'percent',
      percent_bps: 2_000,
      amount_cents: null,
      min_subtotal_cents: null,
      max_discount_cents: null,
      starts_at: '2019-12-31T22:00:00.000Z',
      ends_at: null,
      usage_limit: null,
      usage_limit_per_customer: null,
      used_count: 0,
      first_order_only: false,
      applies_to: { product_ids: [], collection_slugs: ['sale'] },
      recurring: false,
      campaign_id: null,
      referral_code: null,
      status: 'active',
    })
    assert.deepEqual((await acme.get(`${URL}/${id}`)).body, body)
    assert.equal((await createCoupon(acme, { status: 'draft' })).status, 'draft')
  })

  await t.test(
    'have a code that no other coupon and no single-use code has, in any case',
    async () => {
      const coupon = await createCoupon(acme, { code: 'Straße' })
      for (const code of ['Straße', 'STRASSE', 'STRAẞE', 'straße', 'ｓｔｒａｓｓｅ']) {
        const { status, body } = await acme.post(URL, { code, type: 'free_shipping' })
        assert.deepEqual([status, body.error.code], [409, 'code_exists'], code)
      }
      const { body } = await acme.post(`${URL}/${coupon.id}/codes`, { count: 1 })
      const taken = { code: body.codes[0].toLowerCase(), type: 'free_shipping' }
      assert.equal((await acme.post(URL, taken)).body.error.code, 'code_exists')
      const other = await app.merchant('other')
      assert.equal((await createCoupon(other, { code: 'STRASSE' })).code, 'STRASSE')
    },
  )

  await t.test('apply to a product however its id is spelt', async () => {
    const product_ids = ['ABCDEF00-0000-4000-8000-00000000000A']
    const { id, applies_to } = await createCoupon(acme, { applies_to: { product_ids } })
    assert.deepEqual(applies_to.product_ids, ['abcdef00-0000-4000-8000-00000000000a'])
    const { body } = await acme.patch(`${URL}/${id}`, { applies_to: { product_ids } })
    assert.deepEqual(body.coupon.applies_to, applies_to)
  })

  await t.test(
    'apply to a collection in whichever Unicode form its accents are typed',
    async () => {
      const { applies_to } = await createCoupon(acme, {
        applies_to: { collection_slugs: ['cafe\u0301'] },
      })
      assert.deepEqual(applies_to.collection_slugs, ['caf\u00e9'])
    },
  )

  await t.test(
    'leave nothing behind when their code exists, also with many requests at once',
    async () => {
      const store = await app.merchant('race')
      const answers = await times(20, (i) =>
        store.post(URL, { code: i % 2 ? 'Only' : 'ONLY', type: 'free_shipping' }),
      )
      assert.deepEqual(countStatuses(answers), { 201: 1, 409: 19 })
      assert.equal((await store.get(URL)).body.total, 1)
    },
  )

  const refusals: Refusal[] = [
    ['no code', { type: 'free_shipping' }, 'invalid_body', 'code'],
    ['an empty code', { code: '', type: 'free_shipping' }, 'invalid_body', 'code'],
    ['a code with a space', { code: 'a b', type: 'free_shipping' }, 'invalid_body', 'code'],
    ['an invisible character', { code: 'a\u200bb', type: 'free_shipping' }, 'invalid_body', 'code'],
    ['a long code', { code: 'x'.repeat(65), type: 'free_shipping' }, 'invalid_body', 'code'],
    [
      'characters that expand to phrases',
      { code: 'ﷺ'.repeat(64), type: 'fixed' },
      'invalid_body',
      'code',
    ],
    ['another type', { code: 'x', type: 'bogo' }, 'invalid_body', 'type'],
    ['no percentage', { code: 'x', type: 'percent' }, 'invalid_body', 'percent_bps'],
    [
      'more than 100 percent',
      { code: 'x', type: 'percent', percent_bps: 10_001 },
      'invalid_body',
      'percent_bps',
    ],
    ['nothing off', { code: 'x', type: 'fixed', amount_cents: 0 }, 'invalid_body', 'amount_cents'],
    [
      'both',
      { code: 'x', type: 'fixed', amount_cents: 1, percent_bps: 1 },
      'invalid_body',
      'percent_bps',
    ],
    ['a text', { code: 'x', type: 'fixed', amount_cents: '1' }, 'invalid_body', 'amount_cents'],
    [
      'an end before the start',
      {
        code: 'x',
        type: 'free_shipping',
        starts_at: '2026-01-02T00:00:00Z',
        ends_at: '2026-01-01T00:00:00Z',
      },
      'invalid_body',
      'ends_at',
    ],
    [
      'the year 0',
      { code: 'x', type: 'free_shipping', ends_at: '0000-01-01T00:00:00Z' },
      'invalid_body',
      'ends_at',
    ],
    [
      'no uses',
      { code: 'x', type: 'free_shipping', usage_limit: 0 },
      'invalid_body',
      'usage_limit',
    ],
    [
      'too many uses',
      { code: 'x', type: 'free_shipping', usage_limit: 2 ** 31 },
      'invalid_body',
      'usage_limit',
    ],
    [
      'an empty applies_to',
      { code: 'x', type: 'free_shipping', applies_to: {} },
      'invalid_body',
      'applies_to',
    ],
    [
      'no id',
      { code: 'x', type: 'free_shipping', applies_to: { product_ids: ['p'] } },
      'invalid_body',
    ],
    [
      'an id as a URN',
      {
        code: 'x',
        type: 'free_shipping',
        applies_to: { product_ids: ['urn:uuid:00000000-0000-4000-8000-000000000000'] },
      },
      'invalid_body',
    ],
    [
      'a status that is never stored',
      { code: 'x', type: 'free_shipping', status: 'expired' },
      'invalid_body',
      'status',
    ],
  ]
  await t.test('are refused with invalid terms', () =>
    assertRefused(refusals, (body) => acme.post(URL, body)),
  )

  await t.test('can change all terms but code and type, by the same rules', async () => {
    const { id } = await createCoupon(acme, { code: 'FIXED-ONE', usage_limit: 5 })
    const patch = {
      code: 'other',
      type: 'fixed',
      percent_bps: 500,
      usage_limit: null,
      ends_at: '2020-01-01T00:00:00Z',
    }
    const { status, body } = await acme.patch(`${URL}/${id}`, patch)
    assert.equal(status, 200)
    const { code, type, percent_bps, usage_limit } = body.coupon
    assert.deepEqual([code, type, percent_bps, usage_limit], ['FIXED-ONE', 'percent', 500, null])
    assert.equal(body.coupon.status, 'expired')
    await assertRefused(
      [
        ['no percentage', { percent_bps: null }, 'invalid_body', 'percent_bps'],
        ['an amount', { amount_cents: 5 }, 'invalid_body', 'amount_cents'],
        ['a start after the end', { starts_at: '2021-01-01T00:00:00Z' }, 'invalid_body', 'ends_at'],
      ],
      (wrong) => acme.patch(`${URL}/${id}`, wrong),
    )
    assert.deepEqual((await acme.get(`${URL}/${id}`)).body.coupon, body.coupon)
    assert.deepEqual(body.ignored, ['code', 'type'])
  })

  await t.test('are paused and activated, and a repeated call is not recorded', async () => {
    const { id } = await createCoupon(acme, { status: 'draft' })
    const go = async (verb: string) => (await acme.post(`${URL}/${id}/${verb}`)).body.coupon.status
    assert.deepEqual(
      [
        await go('activate'),
        await go('activate'),
        await go('pause'),
        await go('pause'),
        await go('activate'),
      ],
      ['active', 'active', 'paused', 'paused', 'active'],
    )
    const { body } = await app.operator.get('/v1/stores/acme/audit?limit=100')
    const trail = body.entries.filter((each: { entity: string }) => each.entity === `coupon:${id}`)
    assert.deepEqual(trail.map((each: { action: string }) => each.action).reverse(), [
      'coupon.created',
      'coupon.activated',
      'coupon.paused',
      'coupon.activated',
    ])
    assert.ok(trail.every((each: { actor: string }) => each.actor.startsWith('merchant_key:')))
  })

  await t.test('are listed by their present status, newest first', async () => {
    const store = await app.merchant('lister')
    const old = await createCoupon(store, { ends_at: '2020-01-01T00:00:00Z' })
    const draft = await createCoupon(store, { status: 'draft' })
    const active = await createCoupon(store)
    const ids = async (query: string) =>
      (await store.get(`${URL}${query}`)).body.coupons.map((each: { id: string }) => each.id)
    assert.deepEqual(await ids(''), [active.id, draft.id, old.id])
    assert.deepEqual(await ids('?status=expired'), [old.id])
    assert.deepEqual(await ids('?status=draft'), [draft.id])
    assert.deepEqual(await ids('?status=exhausted'), [])
    assert.deepEqual(await ids('?limit=1&offset=1'), [draft.id])
    const { body } = await store.get(`${URL}?status=active`)
    assert.deepEqual(keysOf(body), ['coupons', 'limit', 'offset', 'total'])
    assert.equal(body.total, 1)
  })

  await t.test('have single-use codes, all of them different', async () => {
    const { id } = await createCoupon(acme)
    const { status, body } = await acme.post(`${URL}/${id}/codes`, { count: 1_000, prefix: 'VIP-' })
    assert.equal(status, 201)
    assert.equal(new Set(body.codes).size, 1_000)
    for (const code of body.codes) assert.match(code, /^VIP-[0-9A-HJKMNP-TV-Z]{12}$/)
    const listed = (await acme.get(`${URL}/${id}/codes?limit=100`)).body
    assert.deepEqual(
      [listed.total, listed.codes.length, listed.codes[0].order_id],
      [1_000, 100, null],
    )
    await assertRefused(
      [
        ['none', { count: 0 }, 'invalid_body', 'count'],
        ['too many', { count: 1_001 }, 'invalid_body', 'count'],
        ['a prefix with a space', { count: 1, prefix: 'a b' }, 'invalid_body', 'prefix'],
        ['a long prefix', { count: 1, prefix: 'x'.repeat(41) }, 'invalid_body', 'prefix'],
        [
          'a prefix that expands to phrases',
          { count: 1, prefix: 'ﷺ'.repeat(40) },
          'invalid_body',
          'prefix',
        ],
      ],
      (wrong) => acme.post(`${URL}/${id}/codes`, wrong),
    )
  })

  await t.test('coupons that do not exist are not found', async () => {
    for (const id of ['nothing', '00000000-0000-4000-8000-000000000000']) {
      for (const path of ['', '/redemptions', '/codes']) {
        const { status, body } = await acme.get(`${URL}/${id}${path}`)
        assert.deepEqual([status, body.error.code], [404, 'coupon_not_found'])
      }
      for (const path of ['/pause', '/activate', '/codes']) {
        const { status, body } = await acme.post(`${URL}/${id}${path}`, { count: 1 })
        assert.deepEqual([status, body.error.code], [404, 'coupon_not_found'])
      }
      assert.equal((await acme.patch(`${URL}/${id}`, {})).status, 404)
    }
  })
})
