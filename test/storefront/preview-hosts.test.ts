import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop
let superuser: pg.Client

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, [])
  superuser = await shop.database.openAdmin()
})

const setStatus = async (tenant: string, statuses: readonly string[]) => {
  for (const status of statuses) {
    const answer = await shop.operator.put(`/v1/stores/${tenant}/status`, { status })
    assert.equal(answer.status, 200)
  }
}

/** A store with a published site, in a status, with a host of its own in each state. */
async function openStore(tenant: string, statuses: readonly string[]) {
  const merchant = await shop.merchant(tenant)
  const manifest = { brand: { name: `Brand of ${tenant}` } }
  assert.equal((await merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
  await setStatus(tenant, statuses)
  const insert = (hostname: string, columns: string, values: string) =>
    superuser.query(
      `insert into domains (tenant_ref, hostname, verification_value, ${columns})
       values ($1, $2, repeat('x', 24), ${values})`,
      [tenant, hostname],
    )
  await insert(`${tenant}.example`, 'status, activated_at', `'active', now()`)
  await insert(`pending-${tenant}.example`, 'status', `'pending_verification'`)
  await insert(
    `removed-${tenant}.example`,
    'status, activated_at, removed_at, quarantined_until, next_check_at',
    `'removed', now(), now(), now() + interval '30 days', null`,
  )
  return merchant
}

async function createToken(tenant: string) {
  const merchant = await shop.merchant(tenant)
  const manifest = { brand: { name: 'Attacker' } }
  const { version } = (await merchant.put('/v1/my/site/draft', { manifest })).body
  const { body } = await merchant.post('/v1/my/site/preview-token', { version })
  return body.token as string
}

const show = (host: string, token: string) => openShopper(shop.url, host).get(`/?preview=${token}`)

const STATUSES = { live: ['live'], draft: [], suspended: ['live', 'suspended'] }

describe('a preview token', () => {
  for (const [status, statuses] of Object.entries(STATUSES)) {
    test(`shows nothing at a host of another store that is ${status}`, async () => {
      const [victim, other] = [`victim-${status}`, `other-${status}`]
      await openStore(victim, statuses)
      await openStore(other, [])
      const token = await createToken(other)
      for (const host of [
        `${victim}.localhost`,
        `${victim}.example`,
        `${victim.toUpperCase()}.EXAMPLE.`,
        `pending-${victim}.example`,
        `removed-${victim}.example`,
        `www.${victim}.example`,
        'no-store.example',
        'localhost.example',
        // Not its own yet, and no longer.
        `pending-${other}.example`,
        `removed-${other}.example`,
      ]) {
        const page = await show(host, token)
        assert.equal(page.status, 404, host)
        assert.ok(!page.text.includes('Attacker'), host)
      }
    })

    test(`shows the draft at each host of its own store that is ${status}`, async () => {
      const own = `own-${status}`
      await openStore(own, statuses)
      const token = await createToken(own)
      for (const host of [`${own}.localhost`, `${own}.example`, `${own.toUpperCase()}.example.`]) {
        const page = await show(host, token)
        const isShown = status !== 'suspended'
        assert.equal(page.status, isShown ? 200 : 404, host)
        assert.equal(page.text.includes('Attacker'), isShown, host)
      }
    })
  }

  test('is checked by the platform against the requested host', async () => {
    await openStore('named', [])
    await openStore('elsewhere', [])
    const token = await createToken('named')
    const ask = (query: object) =>
      shop.anyone.get(`/v1/preview-resolve?${new URLSearchParams({ token, ...query })}`)
    assert.equal((await ask({})).status, 200)
    assert.equal((await ask({ hostname: 'named.example' })).status, 200)
    for (const hostname of ['elsewhere.example', 'nobody.example', 'not a host', '']) {
      const answer = await ask({ hostname })
      assert.deepEqual([answer.status, answer.body.error?.code], [404, 'invalid_preview_token'])
    }
  })
})
