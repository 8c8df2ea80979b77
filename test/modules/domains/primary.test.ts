import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../../harness/app.ts'
import { countStatuses, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { auditOf, claim, claimActive, type Domain, openDomainsApp, read, URL } from './setup.ts'

const shared = share(openDomainsApp)
let stores = 0

/** The next store, its merchant, and the end of hostnames that no other test has. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  return { app, tenant, acme: await app.merchant(tenant), end: `${tenant}.example` }
}

const makePrimary = (merchant: Caller, { id }: Domain) => merchant.post(`${URL}/${id}/primary`)

const primaryOf = async (merchant: Caller) =>
  (await merchant.get('/v1/my/store')).body.store.primary_hostname

describe('the primary hostname', () => {
  test('is the one that was set last, and is part of the store', async () => {
    const { app, tenant, acme, end } = await openStore()
    const one = await claimActive(app, acme, `one-${end}`)
    const two = await claimActive(app, acme, `two-${end}`)
    assert.equal(await primaryOf(acme), null)
    const chosen = await makePrimary(acme, one)
    assert.deepEqual([chosen.status, chosen.body.domain.is_primary], [200, true])
    assert.equal(await primaryOf(acme), `one-${end}`)
    assert.deepEqual((await makePrimary(acme, one)).body, chosen.body)
    assert.equal((await auditOf(app, tenant, 'primary_set')).length, 1)
    await makePrimary(acme, two)
    assert.equal(await primaryOf(acme), `two-${end}`)
    assert.equal((await read(acme, one)).is_primary, false)
  })

  test('must be active', async () => {
    const { app, acme, end } = await openStore()
    const pending = await claim(acme, `pending-${end}`)
    const gone = await claimActive(app, acme, `gone-${end}`)
    await acme.send('DELETE', `${URL}/${gone.id}`)
    for (const domain of [pending, gone]) {
      const { status, body } = await makePrimary(acme, domain)
      assert.deepEqual([status, body.error.code], [409, 'domain_not_active'], domain.hostname)
    }
    assert.equal(await primaryOf(acme), null)
  })

  test('is null once that hostname is removed', async () => {
    const { app, acme, end } = await openStore()
    const one = await claimActive(app, acme, `one-${end}`)
    const two = await claimActive(app, acme, `two-${end}`)
    await makePrimary(acme, one)
    await acme.send('DELETE', `${URL}/${two.id}`)
    assert.equal(await primaryOf(acme), `one-${end}`, 'another one may go')
    const { body } = await acme.send('DELETE', `${URL}/${one.id}`)
    assert.equal(body.domain.is_primary, false)
    assert.equal(await primaryOf(acme), null)
  })

  test('is one per store, and the same in both tables, also after concurrent changes and removals', async () => {
    const { app, tenant, acme, end } = await openStore()
    const domains: Domain[] = []
    for (const i of [1, 2, 3, 4]) domains.push(await claimActive(app, acme, `s${i}-${end}`))
    const answers = await times(24, (i) => {
      const domain = domains[i % domains.length] ?? assert.fail()
      if (i === 21) return acme.send('DELETE', `${URL}/${domain.id}`)
      return makePrimary(acme, domain)
    })
    const { 200: done = 0, 409: late = 0 } = countStatuses(answers)
    assert.equal(done + late, 24, JSON.stringify(countStatuses(answers)))
    const { rows } = await app.superuser.query(
      'select hostname from domains where is_primary and tenant_ref = $1',
      [tenant],
    )
    assert.ok(rows.length <= 1)
    assert.equal(await primaryOf(acme), rows[0]?.hostname ?? null)
  })
})
