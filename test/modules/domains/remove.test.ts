import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { share } from '../../harness/scope.ts'
import {
  auditOf,
  claim,
  claimActive,
  type Domain,
  type DomainsApp,
  openDomainsApp,
  read,
  setRecord,
  URL,
  verify,
} from './setup.ts'

const shared = share(openDomainsApp)
let stores = 0

/** The next store, its merchant, and a hostname that no other test has. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  return { app, tenant, acme: await app.merchant(tenant), hostname: `${tenant}.example` }
}

const remove = (merchant: Awaited<ReturnType<DomainsApp['merchant']>>, { id }: Domain) =>
  merchant.send('DELETE', `${URL}/${id}`)

/** Moves the removals of a hostname into the past. */
const age = (app: DomainsApp, hostname: string, by: string) =>
  app.superuser.query(
    `update domains set quarantined_until = quarantined_until - $2::interval
      where hostname = $1 and quarantined_until is not null`,
    [hostname, by],
  )

describe('a removed hostname', () => {
  test('is removed once, and removing it again changes nothing', async () => {
    const { app, tenant, acme, hostname } = await openStore()
    const domain = await claimActive(app, acme, hostname)
    const gone = await remove(acme, domain)
    assert.equal(gone.status, 200, gone.text)
    const { status, removed_at, quarantined_until } = gone.body.domain
    assert.equal(status, 'removed')
    const days = (Date.parse(quarantined_until) - Date.parse(removed_at)) / DAY_MS
    assert.equal(days, 30)
    const again = await remove(acme, domain)
    assert.deepEqual([again.status, again.body], [200, gone.body])
    assert.equal((await auditOf(app, tenant, 'removed')).length, 1)
    assert.deepEqual((await acme.get(URL)).body.domains, [])
    assert.deepEqual(await read(acme, domain), gone.body.domain)
  })

  test('is refused to other stores for 30 days, even if they have the DNS record', async () => {
    const { app, acme, hostname } = await openStore()
    const { acme: globex } = await openStore()
    const waiting = await claim(globex, hostname)
    await remove(acme, await claimActive(app, acme, hostname))
    const { acme: initech } = await openStore()
    const early = await initech.post(URL, { hostname })
    assert.deepEqual([early.status, early.body.error.code], [409, 'hostname_taken'])
    setRecord(app.dns, waiting)
    const refused = await verify(globex, waiting)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'hostname_taken'])
    await age(app, hostname, '29 days 23 hours')
    assert.equal((await verify(globex, waiting)).status, 409)
    await age(app, hostname, '1 hour')
    assert.equal((await verify(globex, waiting)).body.domain.status, 'active')
    assert.equal((await acme.post(URL, { hostname })).status, 409)
  })

  test('may be claimed again by its earlier store, with a new record', async () => {
    const { app, acme, hostname } = await openStore()
    const first = await claimActive(app, acme, hostname)
    await remove(acme, first)
    const second = await claim(acme, hostname)
    assert.notEqual(second.id, first.id)
    assert.notEqual(second.verification.value, first.verification.value)
    assert.equal((await verify(acme, second)).body.domain.status, 'pending_verification')
    setRecord(app.dns, second)
    assert.equal((await verify(acme, second)).body.domain.status, 'active')
    const { acme: globex } = await openStore()
    assert.equal((await globex.post(URL, { hostname })).status, 409)
  })

  test('a removed hostname that was never active is not quarantined', async () => {
    const { app, acme, hostname } = await openStore()
    const { acme: globex } = await openStore()
    const gone = await remove(acme, await claim(acme, hostname))
    assert.equal(gone.body.domain.quarantined_until, null)
    await claimActive(app, globex, hostname)
  })
})

describe('the operator', () => {
  const activate = (app: DomainsApp, tenant: string, id: string) =>
    app.operator.post(`/v1/stores/${tenant}/domains/${id}/activate`)

  test('activates a hostname without DNS, with an audit entry', async () => {
    const { app, tenant, acme, hostname } = await openStore()
    const domain = await claim(acme, hostname)
    const { status, body } = await activate(app, tenant, domain.id)
    assert.deepEqual(
      [status, body.domain.status, body.domain.tls_status],
      [200, 'active', 'external'],
    )
    assert.equal(body.domain.verified_at, null, 'no record was seen')
    const entries = await auditOf(app, tenant, 'activated')
    assert.deepEqual(
      entries.map(({ actor, entity }) => [actor, entity]),
      [['operator', `domain:${domain.id}`]],
    )
    const again = await activate(app, tenant, domain.id)
    assert.deepEqual([again.status, again.body], [200, body])
    assert.equal((await auditOf(app, tenant, 'activated')).length, 1)
    const unverified = (await verify(acme, domain)).body.domain
    assert.deepEqual([unverified.status, unverified.last_error], ['active', 'record_not_found'])
    assert.deepEqual(await auditOf(app, tenant, 'lapsed'), [], 'what never was cannot lapse')
    setRecord(app.dns, domain)
    assert.ok((await verify(acme, domain)).body.domain.verified_at)
  })

  test('moves a hostname despite its quarantine, but not while it is active elsewhere', async () => {
    const { app, acme, hostname } = await openStore()
    const { acme: globex, tenant: other } = await openStore()
    const wanted = await claim(globex, hostname)
    const held = await claimActive(app, acme, hostname)
    const early = await activate(app, other, wanted.id)
    assert.deepEqual([early.status, early.body.error.code], [409, 'hostname_taken'])
    await remove(acme, held)
    assert.equal((await activate(app, other, wanted.id)).body.domain.status, 'active')
    assert.equal((await acme.post(URL, { hostname })).status, 409)
  })

  test('finds only domains of the named store, and no removed domain', async () => {
    const { app, tenant, acme, hostname } = await openStore()
    const { tenant: other } = await openStore()
    const domain = await claim(acme, hostname)
    const refusals = [
      [other, domain.id, 404, 'domain_not_found'],
      [tenant, 'no-id', 404, 'domain_not_found'],
      ['nobody', domain.id, 404, 'unknown_tenant'],
    ] as const
    for (const [store, id, status, code] of refusals) {
      const answer = await activate(app, store, id)
      assert.deepEqual([answer.status, answer.body.error.code], [status, code])
    }
    await remove(acme, domain)
    const late = await activate(app, tenant, domain.id)
    assert.deepEqual([late.status, late.body.error.code], [409, 'domain_not_active'])
  })
})

test('the operator releases a hostname of one store for another', async () => {
  const { app, tenant, acme, hostname } = await openStore()
  const { acme: globex, tenant: other } = await openStore()
  // An earlier removal by the same store must not block others either.
  await remove(acme, await claimActive(app, acme, hostname))
  const held = await claim(acme, hostname)
  await app.operator.post(`/v1/stores/${tenant}/domains/${held.id}/activate`)
  const taken = await globex.post(URL, { hostname })
  assert.equal(taken.body.error.code, 'hostname_taken')
  const foreign = await app.operator.send('DELETE', `/v1/stores/${other}/domains/${held.id}`)
  assert.equal(foreign.status, 404)
  const removed = await app.operator.send('DELETE', `/v1/stores/${tenant}/domains/${held.id}`)
  assert.deepEqual([removed.status, removed.body.domain.status], [200, 'removed'])
  assert.equal(removed.body.domain.quarantined_until, null)
  const [entry] = (await app.operator.get(`/v1/stores/${tenant}/audit`)).body.entries
  assert.deepEqual([entry.action, entry.actor], ['domain.removed', 'operator'])
  const given = await claim(globex, hostname)
  const { body } = await app.operator.post(`/v1/stores/${other}/domains/${given.id}/activate`)
  assert.equal(body.domain.status, 'active')
})

test('the operator ends a quarantine once, and the next store that verifies the hostname has it', async () => {
  const { app, tenant, acme, hostname } = await openStore()
  const { acme: globex } = await openStore()
  const held = await claimActive(app, acme, hostname)
  const { body } = await remove(acme, held)
  assert.equal((await globex.post(URL, { hostname })).status, 409)
  for (const _ of [1, 2]) {
    const released = await app.operator.send('DELETE', `/v1/stores/${tenant}/domains/${held.id}`)
    assert.equal(released.body.domain.quarantined_until, null)
    assert.equal(released.body.domain.removed_at, body.domain.removed_at)
  }
  assert.equal((await auditOf(app, tenant, 'released')).length, 1)
  await claimActive(app, globex, hostname)
})
