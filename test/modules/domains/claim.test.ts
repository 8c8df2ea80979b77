import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused, countStatuses, times } from '../../harness/refusals.ts'
import { shareStores } from '../../harness/share-stores.ts'
import { auditOf, claim, claimActive, openDomainsApp, PLATFORM, read, URL } from './setup.ts'

/** A claim blocks no other store, so that tests may claim the same hostname. */
const openStore = shareStores(openDomainsApp)

describe('claiming a hostname', () => {
  test('answers 201 with the record to set, and the same again when repeated', async () => {
    const { app, tenant, acme } = await openStore('manage:own_domains')
    const made = await acme.post(URL, { hostname: 'Shop.Example.:443' })
    assert.equal(made.status, 201, made.text)
    const { id, verification, created_at, updated_at, ...rest } = made.body.domain
    assert.deepEqual(rest, {
      hostname: 'shop.example',
      status: 'pending_verification',
      dns_target: PLATFORM,
      tls_status: 'pending',
      last_checked_at: null,
      last_error: null,
      is_primary: false,
      verified_at: null,
      activated_at: null,
      lapsed_at: null,
      removed_at: null,
      quarantined_until: null,
    })
    assert.deepEqual([verification.type, verification.name], ['txt', '_fd-verify.shop.example'])
    assert.match(verification.value, /^fd-verify-[0-9A-Za-z]{33}$/)
    assert.ok(created_at === updated_at)
    const again = await acme.post(URL, { hostname: 'SHOP.example' })
    assert.deepEqual([again.status, again.body], [200, made.body])
    assert.deepEqual(await read(acme, made.body.domain), made.body.domain)
    const entries = await auditOf(app, tenant, 'claimed')
    assert.deepEqual(
      entries.map((entry) => [entry.entity, entry.after.hostname]),
      [[`domain:${id}`, 'shop.example']],
    )
  })

  test('creates one claim for twenty requests at once', async () => {
    const { acme } = await openStore()
    const answers = await times(20, () => acme.post(URL, { hostname: 'shop.example' }))
    assert.deepEqual(countStatuses(answers), { 200: 19, 201: 1 })
    assert.equal(new Set(answers.map(({ body }) => body.domain.id)).size, 1)
  })

  test('is refused for a hostname that no store can have', async () => {
    const { acme } = await openStore()
    const label = 'a'.repeat(60)
    const refused = [
      ['nothing at all', ''],
      ['an IPv4 address', '203.0.113.7'],
      ['an IPv4 address as a number', '3405803783'],
      ['an IPv4 address in hex', '0xcb007107'],
      ['an IPv6 address', '[2001:db8::1]'],
      ['an IPv6 address without brackets', '2001:db8::1'],
      ['a wildcard', '*.shop.example'],
      ['a single label', 'shop'],
      ['an underscore', 'my_shop.example'],
      ['an empty label', 'my..shop.example'],
      ['a URL', 'https://shop.example'],
      ['a label that is too long', `${'a'.repeat(64)}.example`],
      ['a name that is too long', `${'a.'.repeat(130)}example`],
      ['a name that leaves no room for its record', `${label}.${label}.${label}.${label}.example`],
      ['a book', 'a'.repeat(100_000)],
      ["the platform's own host", PLATFORM],
      ["a part of the platform's zone", `acme.${PLATFORM.toUpperCase()}.`],
      ['localhost', 'localhost'],
      ['what is under localhost', 'shop.localhost'],
      ['a private zone', 'shop.internal'],
      ['a suffix of a country', 'co.uk'],
      ['a suffix of a country, spelt otherwise', 'CO.UK.'],
      ['a suffix of a service', 'github.io'],
    ].map(([what, hostname]) => [what, { hostname }, 'hostname_invalid'] as const)
    await assertRefused(refused as never, async (body) => {
      const answer = await acme.post(URL, body)
      assert.equal(answer.status, 422, answer.text)
      return answer
    })
    await assertRefused(
      [
        ['nothing', {}, 'invalid_body', 'hostname'],
        ['a number', { hostname: 1 }, 'invalid_body', 'hostname'],
        ['null', { hostname: null }, 'invalid_body', 'hostname'],
      ],
      (body) => acme.post(URL, body),
    )
    const allowed = [`my${PLATFORM}`, 'shop.co.uk', 'acme.github.io', 'bücher.example']
    for (const hostname of allowed) assert.ok(await claim(acme, hostname), hostname)
  })

  test('blocks no other store until the hostname is verified', async () => {
    const { app, tenant, acme } = await openStore()
    const { acme: globex } = await openStore()
    const hostname = `${tenant}.example`
    await claim(globex, hostname)
    await claimActive(app, acme, hostname)
    const { acme: initech } = await openStore()
    const late = await initech.post(URL, { hostname })
    assert.deepEqual([late.status, late.body.error.code], [409, 'hostname_taken'])
    const again = await globex.post(URL, { hostname })
    assert.equal(again.status, 200, 'a claim that was made stays as it was')
  })

  test('is limited to a hundred hostnames of a store', async () => {
    const { app, tenant, acme } = await openStore()
    const domain = await claim(acme, 'shop.example')
    await app.superuser.query(
      `insert into domains (tenant_ref, hostname, verification_value)
       select $1::text, 's' || n || '.example', repeat('x', 30) from generate_series(1, 99) as n`,
      [tenant],
    )
    const more = await acme.post(URL, { hostname: 'more.example' })
    assert.deepEqual([more.status, more.body.error.code], [409, 'domain_limit_reached'])
    assert.equal((await acme.post(URL, { hostname: 'shop.example' })).status, 200)
    await acme.send('DELETE', `${URL}/${domain.id}`)
    assert.equal((await acme.post(URL, { hostname: 'more.example' })).status, 201)
  })
})

test('the domains of a store are listed newest first, removed ones only on demand', async () => {
  const { app, tenant, acme } = await openStore()
  for (const name of ['one', 'two', 'three']) await claim(acme, `${name}.example`)
  const gone = await claim(acme, 'gone.example')
  await acme.send('DELETE', `${URL}/${gone.id}`)
  const hostnames = async (query: string) => {
    const { body } = await acme.get(`${URL}${query}`)
    const { domains, next_after: _, ...page } = body
    return [domains.map((each: { hostname: string }) => each.hostname), page]
  }
  const all = ['three.example', 'two.example', 'one.example']
  assert.deepEqual(await hostnames(''), [all, { total: 3, limit: 25, offset: 0 }])
  const second = [['two.example'], { total: 3, limit: 1, offset: 1 }]
  assert.deepEqual(await hostnames('?limit=1&offset=1'), second)
  const removed = [['gone.example'], { total: 1, limit: 25, offset: 0 }]
  assert.deepEqual(await hostnames('?status=removed'), removed)
  assert.equal((await acme.get(`${URL}?status=nonsense`)).body.error.code, 'validation_error')
  const { body } = await app.operator.get(`/v1/stores/${tenant}/domains`)
  assert.deepEqual(body, (await acme.get(URL)).body)
})
