import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../../harness/app.ts'
import { countStatuses, times } from '../../harness/refusals.ts'
import { auditOf, claim, claimActive, type Domain, openDomainsApp, read, URL } from './setup.ts'

const makePrimary = (merchant: Caller, { id }: Domain) => merchant.post(`${URL}/${id}/primary`)

const primaryOf = async (merchant: Caller) =>
  (await merchant.get('/v1/my/store')).body.store.primary_hostname

describe('the primary hostname', () => {
  test('is the one that was set last, and is part of the store', async (t) => {
    const app = await openDomainsApp(t)
    const acme = await app.merchant('acme')
    const one = await claimActive(app, acme, 'one.example')
    const two = await claimActive(app, acme, 'two.example')
    assert.equal(await primaryOf(acme), null)
    const chosen = await makePrimary(acme, one)
    assert.deepEqual([chosen.status, chosen.body.domain.is_primary], [200, true])
    assert.equal(await primaryOf(acme), 'one.example')
    assert.deepEqual((await makePrimary(acme, one)).body, chosen.body)
    assert.equal((await auditOf(app, 'acme', 'primary_set')).length, 1)
    await makePrimary(acme, two)
    assert.equal(await primaryOf(acme), 'two.example')
    assert.equal((await read(acme, one)).is_primary, false)
  })

  test('must be active', async (t) => {
    const app = await openDomainsApp(t)
    const acme = await app.merchant('acme')
    const pending = await claim(acme, 'pending.example')
    const gone = await claimActive(app, acme, 'gone.example')
    await acme.send('DELETE', `${URL}/${gone.id}`)
    for (const domain of [pending, gone]) {
      const { status, body } = await makePrimary(acme, domain)
      assert.deepEqual([status, body.error.code], [409, 'domain_not_active'], domain.hostname)
    }
    assert.equal(await primaryOf(acme), null)
  })

  test('is null once that hostname is removed', async (t) => {
    const app = await openDomainsApp(t)
    const acme = await app.merchant('acme')
    const one = await claimActive(app, acme, 'one.example')
    const two = await claimActive(app, acme, 'two.example')
    await makePrimary(acme, one)
    await acme.send('DELETE', `${URL}/${two.id}`)
    assert.equal(await primaryOf(acme), 'one.example', 'another one may go')
    const { body } = await acme.send('DELETE', `${URL}/${one.id}`)
    assert.equal(body.domain.is_primary, false)
    assert.equal(await primaryOf(acme), null)
  })

  test('is one, and the same in both tables, also after concurrent changes and removals', async (t) => {
    const app = await openDomainsApp(t)
    const acme = await app.merchant('acme')
    const domains: Domain[] = []
    for (const i of [1, 2, 3, 4]) domains.push(await claimActive(app, acme, `s${i}.example`))
    const answers = await times(24, (i) => {
      const domain = domains[i % domains.length] ?? assert.fail()
      if (i === 21) return acme.send('DELETE', `${URL}/${domain.id}`)
      return makePrimary(acme, domain)
    })
    const { 200: done = 0, 409: late = 0 } = countStatuses(answers)
    assert.equal(done + late, 24, JSON.stringify(countStatuses(answers)))
    const { rows } = await app.superuser.query('select hostname from domains where is_primary')
    assert.ok(rows.length <= 1)
    assert.equal(await primaryOf(acme), rows[0]?.hostname ?? null)
  })
})
