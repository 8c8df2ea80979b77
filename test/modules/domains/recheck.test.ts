import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { recheckDue } from '../../../src/modules/domains/jobs.ts'
import { checks } from '../../../src/modules/domains/queries.ts'
import * as domains from '../../../src/modules/domains/service.ts'
import type { FindTxt } from '../../../src/modules/domains/txt-lookup.ts'
import { texts } from '../../harness/dns.ts'
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
} from './setup.ts'

const shared = share(openDomainsApp)
let stores = 0

/** The next store. From here on no hostname of another test is due, whatever became of it. */
async function open() {
  const app = shared.current
  await app.superuser.query('update domains set next_check_at = null')
  const tenant = `acme-${++stores}`
  const acme = await app.merchant(tenant)
  const step = (findTxt: FindTxt = app.findTxt, signal?: AbortSignal) =>
    recheckDue(app.runtime.workerDatabase, findTxt, signal === undefined ? {} : { signal })
  return { app, tenant, acme, hostname: `${tenant}.example`, step }
}

const makeDue = (app: DomainsApp) =>
  app.superuser.query('update domains set next_check_at = now() where next_check_at is not null')

/** Moves the claim into the past. */
const age = (app: DomainsApp, { id }: Domain, since: string) =>
  app.superuser.query('update domains set created_at = now() - $2::interval where id = $1', [
    id,
    since,
  ])

/** In how many minutes a hostname is checked next; null for never. */
async function minutesToNext(app: DomainsApp, { id }: Domain): Promise<number | null> {
  const { rows } = await app.superuser.query(
    `select round(extract(epoch from next_check_at - now()) / 60)::int as minutes
       from domains where id = $1`,
    [id],
  )
  return rows[0].minutes
}

async function mails(app: DomainsApp, tenant: string) {
  const { rows } = await app.superuser.query(
    'select tenant_ref, recipient, subject, body from mails where tenant_ref = $1',
    [tenant],
  )
  return rows
}

describe('a pending hostname', () => {
  test('is activated without a request once its record exists', async () => {
    const { app, tenant, acme, hostname, step } = await open()
    const domain = await claim(acme, hostname)
    setRecord(app.dns, domain)
    assert.equal(await step(), 0, 'the merchant has had no time to set a record yet')
    await makeDue(app)
    assert.equal(await step(), 1)
    const after = await read(acme, domain)
    assert.deepEqual([after.status, after.last_error], ['active', null])
    const [entry] = await auditOf(app, tenant, 'activated')
    assert.equal(entry?.actor, 'system')
    assert.equal(await step(), 0)
    assert.equal(await minutesToNext(app, domain), 24 * 60)
  })

  test('is checked every 5 minutes, hourly after an hour, and never after 72 hours', async () => {
    const { app, acme, hostname, step } = await open()
    const domain = await claim(acme, hostname)
    const ladder = [
      ['59 minutes', 5, 'pending_verification'],
      ['61 minutes', 60, 'pending_verification'],
      ['71 hours', 60, 'pending_verification'],
      ['72 hours', null, 'failed'],
    ] as const
    assert.equal(await minutesToNext(app, domain), 5)
    for (const [since, minutes, status] of ladder) {
      await age(app, domain, since)
      await makeDue(app)
      assert.equal(await step(), 1, since)
      assert.equal(await minutesToNext(app, domain), minutes, since)
      assert.equal((await read(acme, domain)).status, status, since)
    }
    await makeDue(app)
    assert.equal(await step(), 0)
  })

  test('stays pending while DNS is unavailable', async () => {
    const { app, acme, hostname, step } = await open()
    const domain = await claim(acme, hostname)
    app.dns.set(domain.verification.name, () => ({ code: 'SERVFAIL' }))
    await age(app, domain, '90 hours')
    await makeDue(app)
    assert.equal(await step(), 1)
    const { status, last_error, last_checked_at } = await read(acme, domain)
    const expected = ['pending_verification', 'dns_unavailable', null]
    assert.deepEqual([status, last_error, last_checked_at], expected)
    assert.equal(await minutesToNext(app, domain), 60)
  })

  test('is not activated if another store has it by now', async () => {
    const { app, tenant, acme, hostname, step } = await open()
    const globex = await app.merchant(`rival-of-${tenant}`)
    const rival = await claim(globex, hostname)
    const held = await claimActive(app, acme, hostname)
    app.dns.set(rival.verification.name, texts(rival.verification.value, held.verification.value))
    await makeDue(app)
    assert.equal(await step(), 2)
    const { status, last_error } = await read(globex, rival)
    assert.deepEqual([status, last_error], ['pending_verification', 'hostname_taken'])
    assert.equal((await read(acme, held)).status, 'active')
  })
})

describe('an active hostname', () => {
  test('an active hostname whose record lapsed stays active, and its owner gets one mail', async () => {
    const { app, tenant, acme, hostname, step } = await open()
    await app.operator.put(`/v1/stores/${tenant}/owner`, { email: 'owner@acme.example' })
    const domain = await claimActive(app, acme, hostname)
    const answers = [{}, { code: 'SERVFAIL' as const }, { code: 'NXDOMAIN' as const }]
    const errors = ['record_lapsed', 'dns_unavailable', 'record_lapsed']
    for (const [i, answer] of answers.entries()) {
      app.dns.set(domain.verification.name, () => answer)
      await makeDue(app)
      assert.equal(await step(), 1)
      const { status, last_error, lapsed_at } = await read(acme, domain)
      assert.deepEqual([status, last_error], ['active', errors[i]])
      assert.ok(lapsed_at)
    }
    const find = () => domains.findTenantByHostname(app.runtime.database.directory, hostname)
    assert.equal(await find(), tenant)
    const [letter, ...more] = await mails(app, tenant)
    assert.deepEqual(more, [])
    assert.deepEqual([letter.tenant_ref, letter.recipient], [tenant, 'owner@acme.example'])
    assert.ok(letter.body.includes(domain.verification.value), letter.body)
    assert.equal((await auditOf(app, tenant, 'lapsed')).length, 1)

    setRecord(app.dns, domain)
    await makeDue(app)
    await step()
    const back = await read(acme, domain)
    assert.deepEqual([back.last_error, back.lapsed_at], [null, null])
    app.dns.set(domain.verification.name, () => ({}))
    await makeDue(app)
    await step()
    assert.equal((await mails(app, tenant)).length, 2, 'another lapse is news again')
  })

  test('is checked daily, and within the hour after DNS was unavailable', async () => {
    const { app, tenant, acme, hostname, step } = await open()
    const domain = await claimActive(app, acme, hostname)
    assert.equal(await minutesToNext(app, domain), 24 * 60)
    app.dns.set(domain.verification.name, () => ({ code: 'SERVFAIL' }))
    await makeDue(app)
    await step()
    assert.equal(await minutesToNext(app, domain), 60)
    app.dns.set(domain.verification.name, () => ({}))
    await makeDue(app)
    await step()
    assert.equal(await minutesToNext(app, domain), 24 * 60)
    assert.deepEqual(await mails(app, tenant), [], 'the store has no owner to write to')
  })

  test('an active hostname that an operator activated is not checked', async () => {
    const { app, tenant, acme, hostname, step } = await open()
    const domain = await claim(acme, hostname)
    await app.operator.post(`/v1/stores/${tenant}/domains/${domain.id}/activate`)
    await makeDue(app)
    assert.equal(await step(), 0)
  })

  test('is not changed once it is removed, also during a check', async () => {
    const { app, acme, hostname, step } = await open()
    const domain = await claimActive(app, acme, hostname)
    await makeDue(app)
    const checked = await step(async () => {
      await acme.send('DELETE', `${URL}/${domain.id}`)
      return 'found'
    })
    assert.equal(checked, 1)
    assert.equal((await read(acme, domain)).status, 'removed')
    assert.equal(await minutesToNext(app, domain), null)
  })
})

describe('a check of a worker', () => {
  test('is repeated by another worker when the first worker is killed', async () => {
    const { app, tenant, acme, hostname, step } = await open()
    const domain = await claim(acme, hostname)
    setRecord(app.dns, domain)
    await makeDue(app)
    const db = app.runtime.workerDatabase.tenant(tenant)
    assert.equal((await checks.claim(db, 10)).length, 1)
    assert.equal(await step(), 0, 'it is leased')
    await app.superuser.query('update domains set lease_until = now() where id = $1', [domain.id])
    assert.equal(await step(), 1)
    assert.equal((await read(acme, domain)).status, 'active')
  })

  test('is not written by a worker that lost its lease', async () => {
    const { app, acme, hostname, step } = await open()
    const domain = await claim(acme, hostname)
    await makeDue(app)
    await step(async () => {
      await app.superuser.query(
        'update domains set lease_token = gen_random_uuid() where id = $1',
        [domain.id],
      )
      return 'missing'
    })
    const { last_error, last_checked_at } = await read(acme, domain)
    assert.deepEqual([last_error, last_checked_at], [null, null])
  })

  test('is done once by two workers at the same time', async () => {
    const { app, tenant, acme, hostname, step } = await open()
    const claims: Domain[] = []
    for (const i of [1, 2, 3, 4]) claims.push(await claim(acme, `s${i}.${hostname}`))
    for (const domain of claims) setRecord(app.dns, domain)
    await makeDue(app)
    const counts = await Promise.all([step(), step()])
    assert.equal(counts[0] + counts[1], 4)
    for (const { verification } of claims) assert.equal(app.dns.asked(verification.name), 1)
    const { rows } = await app.superuser.query(
      'select distinct status, lease_token from domains where tenant_ref = $1',
      [tenant],
    )
    assert.deepEqual(rows, [{ status: 'active', lease_token: null }])
  })

  test('does not begin once the worker is stopping', async () => {
    const { app, acme, hostname, step } = await open()
    await claim(acme, hostname)
    await makeDue(app)
    assert.equal(await step(app.findTxt, AbortSignal.abort()), 0)
    assert.equal(await step(), 1)
  })

  test('a check of a worker that throws does not stop the other checks of its batch', async () => {
    const { app, acme, hostname, step } = await open()
    const one = await claim(acme, `one.${hostname}`)
    const two = await claim(acme, `two.${hostname}`)
    await makeDue(app)
    const broken: FindTxt = async (name) => {
      if (name === one.verification.name) throw new Error('a fault of our own')
      return 'missing'
    }
    await assert.rejects(step(broken), /a fault of our own/)
    assert.equal((await read(acme, two)).last_error, 'record_not_found')
    assert.equal((await read(acme, one)).last_error, null)
  })
})
