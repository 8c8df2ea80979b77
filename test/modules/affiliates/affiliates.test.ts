import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertRefused, keysOf, times } from '../../harness/refusals.ts'
import { ok, refusal } from '../returns/setup.ts'
import {
  AFFILIATES,
  type AffiliateShop,
  makeAffiliate,
  openAffiliateShop,
  shareAffiliateApp,
} from './setup.ts'

const fay = (more: object = {}) => ({
  name: 'Fay Friend',
  email: `${randomUUID()}@example.com`,
  ...more,
})

describe('affiliates', () => {
  const shared = shareAffiliateApp()
  const open = (): Promise<AffiliateShop> => openAffiliateShop(shared.current)

  test('are created with the terms of the settings, unless the merchant sends others', async () => {
    const { merchant } = await open()
    const first = ok(await merchant.post(AFFILIATES, fay({ code: 'FAY-10' })), 201).affiliate
    const { commission_type, rate_bps, cookie_days, approval_delay_days, status } = first
    assert.deepEqual(
      [commission_type, rate_bps, cookie_days, approval_delay_days, status],
      ['percent', 1_000, 30, 30, 'active'],
    )
    assert.deepEqual(
      first.referral_codes.map(({ code, active, clicks }: Record<string, unknown>) => [
        code,
        active,
        clicks,
      ]),
      [['FAY-10', true, 0]],
    )
    const patch = { commission_type: 'fixed', amount_cents: 500, cookie_days: 7 }
    const { settings } = ok(await merchant.patch(`${AFFILIATES}/settings`, patch))
    assert.deepEqual(
      [settings.rate_bps, settings.amount_cents, settings.cookie_days],
      [null, 500, 7],
    )
    const second = ok(
      await merchant.post(AFFILIATES, fay({ commission_type: 'percent', rate_bps: 250 })),
      201,
    ).affiliate
    assert.deepEqual([second.rate_bps, second.amount_cents, second.cookie_days], [250, null, 7])
    const read = ok(await merchant.get(`${AFFILIATES}/${first.id}`))
    assert.equal(read.affiliate.rate_bps, 1_000, 'the first keeps its terms')
    assert.deepEqual(keysOf(read), ['affiliate', 'balances'])
    assert.deepEqual(read.balances, [])
  })

  test('are refused with all contradicting terms named at once', async () => {
    const { merchant } = await open()
    const { body } = await merchant.post(AFFILIATES, fay({ commission_type: 'fixed', rate_bps: 5 }))
    assert.deepEqual(
      body.issues.map(({ path }: { path: string }) => path),
      ['rate_bps', 'amount_cents'],
    )
  })

  test('are refused with terms that contradict, or with bad input', async () => {
    const { merchant } = await open()
    const post = (body: unknown) => merchant.post(AFFILIATES, body)
    await assertRefused(
      [
        ['no name', fay({ name: '' }), 'invalid_body', 'name'],
        ['no address', fay({ email: 'nobody' }), 'invalid_body', 'email'],
        ['a code with a space', fay({ code: 'a b' }), 'invalid_body', 'code'],
        ['a long code', fay({ code: 'x'.repeat(65) }), 'invalid_body', 'code'],
        [
          'fixed without an amount',
          fay({ commission_type: 'fixed' }),
          'invalid_body',
          'amount_cents',
        ],
        ['percent with an amount', fay({ amount_cents: 5 }), 'invalid_body', 'amount_cents'],
        ['a rate above everything', fay({ rate_bps: 10_001 }), 'invalid_body', 'rate_bps'],
        ['no rate at all', fay({ rate_bps: 0 }), 'invalid_body', 'rate_bps'],
        ['a window of a century', fay({ cookie_days: 36_500 }), 'invalid_body', 'cookie_days'],
        [
          'an account with a line break',
          fay({ payout_account: 'DE00\n1' }),
          'invalid_body',
          'payout_account',
        ],
        ['a status that is decided later', fay({ status: 'suspended' }), 'invalid_body', 'status'],
      ],
      post,
    )
    const settings = (body: unknown) => merchant.patch(`${AFFILIATES}/settings`, body)
    await assertRefused(
      [
        ['fixed without an amount', { commission_type: 'fixed' }, 'invalid_body', 'amount_cents'],
        ['a delay of years', { approval_delay_days: 1_000 }, 'invalid_body', 'approval_delay_days'],
      ],
      settings,
    )
  })

  test('have addresses and codes that no other affiliate has, in any spelling', async () => {
    const { merchant } = await open()
    const made = await makeAffiliate({ merchant }, { email: 'fay@example.com', code: 'Fay' })
    const again = await merchant.post(AFFILIATES, fay({ email: 'FAY@Example.com' }))
    assert.deepEqual(refusal(again), [409, 'affiliate_exists'])
    const taken = await merchant.post(AFFILIATES, fay({ code: 'fAY' }))
    assert.deepEqual(refusal(taken), [409, 'referral_code_exists'])
    const other = await makeAffiliate({ merchant }, { email: 'gil@example.com' })
    const moved = await merchant.patch(`${AFFILIATES}/${other.id}`, { email: 'fay@EXAMPLE.com' })
    assert.deepEqual(refusal(moved), [409, 'affiliate_exists'])
    const found = ok(await merchant.get(`${AFFILIATES}?email=Fay@example.com`))
    assert.deepEqual(
      found.affiliates.map(({ id }: { id: string }) => id),
      [made.id],
    )
  })

  test('only one of two affiliates is created when both have the same address at the same time', async () => {
    const { merchant } = await open()
    const answers = await times(6, () =>
      merchant.post(AFFILIATES, { name: 'Fay', email: 'fay@example.com' }),
    )
    const counted = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(counted, [201, 409, 409, 409, 409, 409])
  })

  test('change only in the members that are sent, and never show the bank account', async () => {
    const { merchant, app } = await open()
    const account = 'DE02 1203 0000 0000 2020 51'
    const { id } = await makeAffiliate({ merchant }, { payout_account: account })
    const url = `${AFFILIATES}/${id}`
    const { affiliate, ignored } = ok(
      await merchant.patch(url, {
        name: 'Gil',
        person_id: null,
        nickname: 'x',
        website: 'https://gil.example',
      }),
    )
    assert.deepEqual(
      [affiliate.name, affiliate.website, ignored],
      ['Gil', 'https://gil.example', ['nickname']],
    )
    assert.equal(affiliate.payout_account_end, '0 51')
    const texts = [
      await merchant.get(url),
      await merchant.get(AFFILIATES),
      await merchant.get(`${url}/export`),
    ]
    for (const { text } of texts) assert.doesNotMatch(text, /1203 ?0000/)
    const { rows } = await app.superuser.query(
      `select encode(payout_account, 'escape') as stored from affiliates where id = $1`,
      [id],
    )
    assert.doesNotMatch(rows[0].stored, /1203 ?0000/, 'it is encrypted')
    const without = ok(await merchant.patch(url, { payout_account: null })).affiliate
    assert.equal(without.payout_account_end, null)
    const missing = await merchant.patch(`${AFFILIATES}/${randomUUID()}`, { name: 'x' })
    assert.deepEqual(refusal(missing), [404, 'affiliate_not_found'])
  })

  test('can be approved, declined, suspended and resumed, each only from the right status', async () => {
    const { merchant, app } = await open()
    const { id, email } = await makeAffiliate({ merchant }, { status: 'invited' })
    const act = (verb: string, body?: object) => merchant.post(`${AFFILIATES}/${id}/${verb}`, body)
    const early = await act('suspend')
    assert.deepEqual(refusal(early), [409, 'invalid_transition'])
    assert.deepEqual(
      [early.body.current_status, early.body.allowed],
      ['invited', ['approve', 'decline']],
    )
    assert.equal(ok(await act('approve')).affiliate.status, 'active')
    const { rows } = await app.superuser.query(
      'select subject, body, html from mails where recipient = $1',
      [email],
    )
    assert.equal(rows.length, 1, 'the affiliate is told')
    assert.match(rows[0].subject, /You are an affiliate/)
    assert.match(rows[0].body, /\/affiliates\/link\/[\w-]+/)
    assert.match(rows[0].html, /<a [^>]*href="[^"]*\/affiliates\/link\/[^>]*>Open your page</)
    assert.deepEqual(refusal(await act('approve')), [409, 'invalid_transition'])
    assert.equal(ok(await act('suspend')).affiliate.status, 'suspended')
    assert.equal(ok(await act('resume')).affiliate.status, 'active')
    const other = await makeAffiliate({ merchant }, { status: 'invited' })
    const declined = ok(
      await merchant.post(`${AFFILIATES}/${other.id}/decline`, { reason: 'not now' }),
    ).affiliate
    assert.deepEqual([declined.status, declined.decline_reason], ['declined', 'not now'])
    const listed = ok(await merchant.get(`${AFFILIATES}?status=declined`)).affiliates
    assert.deepEqual(
      listed.map((each: { id: string }) => each.id),
      [other.id],
    )
    const { rows: entries } = await app.superuser.query(
      `select action, after from audit_log where entity = $1 order by created_at, id`,
      [`affiliate:${id}`],
    )
    assert.deepEqual(
      entries.map(({ action }) => action),
      ['affiliate.created', 'affiliate.approve', 'affiliate.suspend', 'affiliate.resume'],
    )
    assert.ok(!JSON.stringify(entries).includes(email), 'the log names no person')
  })

  test('get codes that can be switched off and never go to another affiliate', async () => {
    const { merchant } = await open()
    const one = await makeAffiliate({ merchant })
    const two = await makeAffiliate({ merchant })
    const url = `${AFFILIATES}/${one.id}/codes`
    assert.equal(
      ok(await merchant.post(url, { code: 'SPRING' }), 201).affiliate.referral_codes.length,
      2,
    )
    const ended = ok(await merchant.patch(`${url}/spring`, { active: false })).affiliate
    assert.equal(ended.referral_codes[1].active, false)
    const taken = await merchant.post(`${AFFILIATES}/${two.id}/codes`, { code: 'spring' })
    assert.deepEqual(refusal(taken), [409, 'referral_code_exists'])
    const foreign = await merchant.patch(`${AFFILIATES}/${two.id}/codes/spring`, { active: true })
    assert.deepEqual(refusal(foreign), [404, 'referral_code_not_found'])
    for (let n = 2; n < 50; n++) ok(await merchant.post(url, { code: `more-${n}` }), 201)
    const many = await merchant.post(url, { code: 'one-too-many' })
    assert.deepEqual([...refusal(many), many.body.max], [409, 'limit_reached', 50])
  })

  test('can be written only with the add-on, and read and suspended without it', async () => {
    const { merchant, tenant } = await open()
    const { id, code } = await makeAffiliate({ merchant })
    const writes: [string, string, object?][] = [
      ['POST', AFFILIATES, fay()],
      ['PATCH', `${AFFILIATES}/settings`, { cookie_days: 3 }],
      ['PATCH', `${AFFILIATES}/${id}`, { name: 'x' }],
      ['POST', `${AFFILIATES}/${id}/approve`],
      ['POST', `${AFFILIATES}/${id}/codes`, { code: 'new' }],
      ['PATCH', `${AFFILIATES}/${id}/codes/${code}`, { active: false }],
      ['POST', `${AFFILIATES}/payouts`, {}],
    ]
    const key = () => ({ 'idempotency-key': randomUUID() })
    for (const [state, expected] of [
      ['default', 'feature_not_enabled'],
      ['deny', 'operator_restricted'],
    ]) {
      await merchant.post('/v1/merchant/entitlements/disable', { feature_key: 'affiliates' })
      await shared.current.operator.put(`/v1/entitlements/tenants/${tenant}/features/affiliates`, {
        state,
      })
      for (const [method, url, body] of writes) {
        const answer = await merchant.send(method, url, body, key())
        assert.deepEqual(refusal(answer), [403, expected], `${method} ${url}: ${answer.text}`)
      }
      ok(await merchant.get(`${AFFILIATES}/${id}`))
      ok(await merchant.get(`${AFFILIATES}/settings`))
      ok(await merchant.get(`${AFFILIATES}/commissions`))
      ok(await merchant.get(`${AFFILIATES}/payouts`))
    }
    ok(await merchant.post(`${AFFILIATES}/${id}/suspend`))
  })

  test('can be read with the lesser scope, and written only with the greater', async () => {
    const { merchant, tenant } = await open()
    const { id } = await makeAffiliate({ merchant })
    const reader = await shared.current.merchant(tenant, 'read:own_affiliates')
    ok(await reader.get(`${AFFILIATES}/${id}`))
    for (const [method, url] of [
      ['POST', AFFILIATES],
      ['PATCH', `${AFFILIATES}/${id}`],
      ['GET', `${AFFILIATES}/payouts/export.csv`],
      ['POST', `${AFFILIATES}/${id}/erase`],
    ] as const) {
      const answer = await reader.send(method, url, method === 'GET' ? undefined : {})
      assert.deepEqual(refusal(answer), [403, 'forbidden'], url)
    }
    const manager = await shared.current.merchant(tenant, 'manage:own_affiliates')
    ok(await manager.get(`${AFFILIATES}/${id}`))
  })

  test('emit an event for every change, without personal data', async () => {
    const { merchant, app } = await open()
    const { id, email } = await makeAffiliate({ merchant }, { status: 'invited' })
    ok(await merchant.post(`${AFFILIATES}/${id}/approve`))
    const { rows } = await app.superuser.query(
      `select type, data::text as data from webhook_events where data::text like '%' || $1 || '%'`,
      [id],
    )
    assert.deepEqual(
      rows.map(({ type }) => type),
      ['commerce.affiliate.activated.v1'],
    )
    assert.ok(!rows[0].data.includes(email), rows[0].data)
  })
})
