import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { startNmi } from '../../harness/nmi.ts'
import { share } from '../../harness/scope.ts'
import { dumpText, openSuperuser } from '../../harness/superuser.ts'
import { cart, checkout, openCheckoutApp, openShop } from '../checkout/setup.ts'

const GATEWAY = '/v1/my/gateway'
const KEY = 'a-security-key-of-32-characters!'
const OTHER_KEY = 'another-security-key-32-letters?'
const BODY = { gateway: 'nmi', credentials: { security_key: KEY } }

const shared = share(async (scope) => {
  const nmi = await startNmi(KEY, OTHER_KEY)
  scope.after(() => nmi.close())
  const lines: string[] = []
  const app = await openTestApp(scope, { env: { NMI_URL: nmi.url } })
  return { app, nmi, lines, superuser: await openSuperuser(scope, app.database) }
})
let stores = 0

async function open(state = 'allow') {
  const { app } = shared.current
  const tenant = `payer-${++stores}`
  const merchant = await app.merchant(tenant)
  const rule = `/v1/entitlements/tenants/${tenant}/features/dedicated_gateway`
  if (state !== 'none') await app.operator.put(rule, { state })
  return { ...shared.current, tenant, merchant, rule }
}

const refusal = ({ status, body }: { status: number; body: { error: { code: string } } }) => [
  status,
  body.error.code,
]

describe("a merchant's own gateway account", () => {
  test('is verified at the provider by a lookup, kept encrypted, and never shown', async () => {
    const { merchant, nmi, superuser, app, tenant } = await open()
    const before = await merchant.get(GATEWAY)
    assert.deepEqual(
      [before.body.gateway.gateway, before.body.gateway.account],
      ['simulated', 'installation'],
    )
    const asked = nmi.calls.length
    const set = await merchant.put(GATEWAY, BODY)
    assert.equal(set.status, 200, set.text)
    assert.deepEqual(
      [set.body.gateway.gateway, set.body.gateway.account, set.body.gateway.credential_hint],
      ['nmi', 'store', 'ers!'],
    )
    assert.deepEqual(
      nmi.calls.slice(asked).map(({ path }) => path),
      ['/api/query.php'],
      'no call moves money',
    )
    assert.equal(nmi.journal.length, 0)
    const audit = await merchant.get('/v1/my/audit?action=payments.gateway_set')
    assert.equal(audit.body.entries.length, 1)
    const dump = await dumpText(superuser)
    for (const text of [set.text, (await merchant.get(GATEWAY)).text, audit.text, dump]) {
      assert.ok(!text.includes(KEY))
      assert.ok(!text.includes(Buffer.from(KEY).toString('hex')))
    }
    assert.equal((await app.runtime.payments.forStore(await app.store(tenant))).name, 'nmi')
  })

  test("a merchant's own gateway account that its provider refuses, or that could not be verified, changes nothing", async () => {
    const { merchant, nmi } = await open()
    const wrong = { ...BODY, credentials: { security_key: 'not-a-key-of-any-account' } }
    const refused = await merchant.put(GATEWAY, wrong)
    assert.deepEqual(refusal(refused), [422, 'gateway_refused'])
    assert.ok(!refused.text.includes('not-a-key'))
    for (const fault of ['html_502', 'reset_before', { body: 'not XML' }] as const) {
      nmi.failNext(fault)
      const lost = await merchant.put(GATEWAY, BODY)
      assert.deepEqual(refusal(lost), [503, 'gateway_unavailable'])
    }
    assert.equal((await merchant.get(GATEWAY)).body.gateway.account, 'installation')
    for (const body of [{}, { gateway: 'simulated' }, { gateway: 'nmi' }]) {
      assert.deepEqual(refusal(await merchant.put(GATEWAY, body)), [400, 'invalid_body'])
    }
  })

  test('needs the add-on, a scope of its own, and a store that is no sandbox', async () => {
    const { merchant, app, tenant, rule, nmi } = await open('none')
    const asked = nmi.calls.length
    assert.deepEqual(refusal(await merchant.put(GATEWAY, BODY)), [403, 'feature_not_enabled'])
    await app.operator.put(rule, { state: 'deny' })
    assert.deepEqual(refusal(await merchant.put(GATEWAY, BODY)), [403, 'operator_restricted'])
    await app.operator.put(rule, { state: 'allow' })
    const builder = await app.merchant(tenant, 'write:own_store', 'manage:own_credentials')
    for (const answer of [await builder.get(GATEWAY), await builder.put(GATEWAY, BODY)]) {
      assert.deepEqual(refusal(answer), [403, 'forbidden'])
    }
    await app.operator.put(`/v1/stores/${tenant}/sandbox`, { sandbox: true })
    assert.deepEqual(refusal(await merchant.put(GATEWAY, BODY)), [409, 'sandbox_store'])
    assert.equal(nmi.calls.length, asked, 'no credential left the platform')
  })

  test('cannot be used to try out many credentials', async () => {
    const { merchant } = await open()
    const wrong = { ...BODY, credentials: { security_key: 'not-a-key-of-any-account' } }
    for (let n = 0; n < 10; n++) await merchant.put(GATEWAY, wrong)
    assert.deepEqual(refusal(await merchant.put(GATEWAY, wrong)), [429, 'rate_limited'])
  })

  test("can be given up for the installation's account, also twice and without the add-on", async () => {
    const { merchant, app, tenant, rule } = await open()
    await merchant.put(GATEWAY, BODY)
    const other = await open()
    await other.merchant.put(GATEWAY, { ...BODY, credentials: { security_key: OTHER_KEY } })
    await app.operator.put(rule, { state: 'deny' })
    assert.equal((await merchant.get(GATEWAY)).body.gateway.account, 'store', 'it stays in use')
    const gone = await merchant.send('DELETE', GATEWAY)
    assert.deepEqual(
      [gone.status, gone.body.gateway.account, gone.body.already_removed],
      [200, 'installation', false],
      gone.text,
    )
    const again = await merchant.send('DELETE', GATEWAY)
    assert.deepEqual([again.status, again.body.already_removed], [200, true])
    const db = await app.store(tenant)
    assert.equal((await app.runtime.payments.forStore(db)).name, 'simulated')
    const earlier = await app.runtime.payments.forStore(db, 'nmi')
    const found = await earlier.lookup({ ref: '00000000-0000-0000-0000-000000000001' })
    assert.equal(
      found.found,
      'no',
      'earlier payments are looked up with the credential that made them',
    )
    assert.equal((await other.merchant.get(GATEWAY)).body.gateway.account, 'store')
  })
})

test("a merchant's own account at the installation's gateway stays while a payment has no outcome", async (t) => {
  const nmi = await startNmi(KEY, OTHER_KEY)
  t.after(() => nmi.close())
  const env = { PAYMENT_GATEWAY: 'nmi', NMI_URL: nmi.url, NMI_SECURITY_KEY: OTHER_KEY }
  const app = await openCheckoutApp(t, { env })
  const shop = await openShop(app)
  await app.operator.put('/v1/entitlements/tenants/acme/features/dedicated_gateway', {
    state: 'allow',
  })
  const set = await shop.merchant.put(GATEWAY, BODY)
  assert.equal(set.status, 200, set.text)
  nmi.failNext('reset_after')
  const body = cart(shop.variants[1_000])
  assert.deepEqual(refusal(await checkout(app, shop, body)), [503, 'payment_unconfirmed'])
  const busy = await shop.merchant.send('DELETE', GATEWAY)
  assert.deepEqual(refusal(busy), [409, 'gateway_busy'])
  assert.equal(busy.headers['retry-after'], '60')
  await app.expireClaims()
  await app.reconcile()
  const gone = await shop.merchant.send('DELETE', GATEWAY)
  assert.deepEqual([gone.status, gone.body.gateway.account], [200, 'installation'], gone.text)
})
