import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as domains from '../../../src/modules/domains/service.ts'
import { createTxtLookup } from '../../../src/modules/domains/txt-lookup.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { CHANNEL } from '../../../src/platform/live-cache-listener.ts'
import { type Answer, startDns, texts } from '../../harness/dns.ts'
import { until } from '../../harness/eventually.ts'
import { countStatuses, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import {
  auditOf,
  claim,
  claimActive,
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

/** Moves the claim into the past. */
const age = (app: DomainsApp, id: string, since: string) =>
  app.superuser.query(`update domains set created_at = now() - $2::interval where id = $1`, [
    id,
    since,
  ])

describe('a record that is found', () => {
  test('activates the hostname, and notifies the live caches', async (t) => {
    const { app, tenant, acme, hostname } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    const domain = await claim(acme, hostname)
    const payloads: (string | undefined)[] = []
    superuser.on('notification', ({ payload }) => payloads.push(payload))
    await superuser.query(`listen "${CHANNEL}"`)
    setRecord(app.dns, domain)
    const answer = await verify(acme, domain)
    assert.equal(answer.status, 200, answer.text)
    const { checked, domain: after } = answer.body
    assert.deepEqual([checked, after.status, after.tls_status], [true, 'active', 'external'])
    assert.equal(after.last_error, null)
    assert.ok(after.verified_at && after.activated_at && after.last_checked_at)
    for (const action of ['verified', 'activated']) {
      const [entry] = await auditOf(app, tenant, action)
      assert.match(entry?.actor ?? '', /^merchant_key:/)
      assert.equal(entry?.after.status, 'active')
    }
    await until(
      'both are notified',
      () => payloads.includes(tenant) && payloads.includes(`host:${hostname}`),
    )
    const again = await verify(acme, domain)
    assert.deepEqual([again.body.checked, again.body.domain.status], [true, 'active'])
    assert.equal((await auditOf(app, tenant, 'activated')).length, 1)
  })

  test('may stand among other records, in several strings, and behind an alias', async () => {
    const { app, acme, hostname: zone } = await openStore()
    const shapes: [string, (value: string) => Answer][] = [
      [`among.${zone}`, (value) => ({ texts: ['v=spf1 -all', value, 'other'] })],
      [`pieces.${zone}`, (value) => ({ texts: [[value.slice(0, 7), value.slice(7)]] })],
      [`alias.${zone}`, (value) => ({ cname: `records.${zone}`, texts: [value] })],
      [`large.${zone}`, (value) => ({ texts: [...Array(20).fill('x'.repeat(200)), value] })],
      [`spaced.${zone}`, (value) => ({ texts: [` ${value} `] })],
    ]
    for (const [hostname, answer] of shapes) {
      const domain = await claim(acme, hostname)
      app.dns.set(domain.verification.name, () => answer(domain.verification.value))
      const { body, text } = await verify(acme, domain)
      assert.equal(body.domain?.status, 'active', `${hostname}: ${text}`)
    }
  })

  test('serves the store under every spelling of the hostname, and only while it is active', async () => {
    const { app, tenant, acme } = await openStore()
    const find = (hostname: string) =>
      domains.findTenantByHostname(app.runtime.database.directory, hostname)
    const domain = await claim(acme, 'bücher.example')
    assert.equal(await find('bücher.example'), null, 'a claim serves nothing')
    setRecord(app.dns, domain)
    await verify(acme, domain)
    for (const spelling of ['bücher.example', 'XN--BCHER-KVA.example.:443']) {
      assert.equal(await find(spelling), tenant, spelling)
    }
    for (const other of ['www.bücher.example', 'example', '', '127.0.0.1']) {
      assert.equal(await find(other), null, other)
    }
    await acme.send('DELETE', `${URL}/${domain.id}`)
    assert.equal(await find('bücher.example'), null, 'a quarantined name serves nothing')
  })
})

describe('a record that is not found', () => {
  const answers: Record<string, Answer> = {
    'no such name': { code: 'NXDOMAIN' },
    'no TXT record': {},
    'another value': { texts: ['fd-verify-somebody-elses'] },
    'a longer value': { texts: ['fd-verify-0 and more'] },
  }
  test('leaves the claim pending', async () => {
    const { app, acme, hostname } = await openStore()
    for (const [i, [what, answer]] of Object.entries(answers).entries()) {
      const domain = await claim(acme, `shop-${i}.${hostname}`)
      app.dns.set(domain.verification.name, () => answer)
      const { status, body } = await verify(acme, domain)
      assert.deepEqual([status, body.checked], [200, true], what)
      assert.equal(body.domain.status, 'pending_verification', what)
      assert.equal(body.domain.last_error, 'record_not_found', what)
      assert.ok(body.domain.last_checked_at, what)
    }
  })

  test('fails the claim after 72 hours, and a later record still activates it', async () => {
    const { app, tenant, acme, hostname } = await openStore()
    const domain = await claim(acme, hostname)
    await age(app, domain.id, '71 hours 59 minutes')
    assert.equal((await verify(acme, domain)).body.domain.status, 'pending_verification')
    await age(app, domain.id, '72 hours')
    const failed = (await verify(acme, domain)).body.domain
    assert.deepEqual([failed.status, failed.last_error], ['failed', 'record_not_found'])
    assert.equal((await verify(acme, domain)).body.domain.status, 'failed')
    assert.equal((await auditOf(app, tenant, 'failed')).length, 1)
    setRecord(app.dns, domain)
    assert.equal((await verify(acme, domain)).body.domain.status, 'active')
  })
})

describe('a name server that is unavailable', () => {
  const answers: Record<string, Answer> = {
    'a failing one': { code: 'SERVFAIL' },
    'a refusing one': { code: 'REFUSED' },
    'a silent one': { silent: true },
  }
  test('changes nothing but the last error, however long it lasts', async () => {
    const { app, acme, hostname } = await openStore()
    for (const [i, [what, answer]] of Object.entries(answers).entries()) {
      const domain = await claim(acme, `shop-${i}.${hostname}`)
      await age(app, domain.id, '80 hours')
      const before = await read(acme, domain)
      app.dns.set(domain.verification.name, () => answer)
      const { status, body } = await verify(acme, domain)
      assert.deepEqual([status, body.checked], [200, false], what)
      const { updated_at } = body.domain
      const after = { ...before, last_error: 'dns_unavailable', updated_at }
      assert.deepEqual(body.domain, after, what)
    }
  })

  test('is treated the same as one where no server listens', async () => {
    const dns = await startDns()
    await dns.close()
    assert.equal(await createTxtLookup([dns.server])('shop.example', 'x'), 'unavailable')
  })

  test('does not stop the next name server from being asked', async (t) => {
    const [gone, sound] = [await startDns(), await startDns()]
    await gone.close()
    t.after(() => sound.close())
    sound.set('shop.example', texts('the value'))
    const find = createTxtLookup([gone.server, sound.server])
    assert.equal(await find('shop.example', 'the value'), 'found')
  })
})

test('an invalid name server address fails at the start', () => {
  assert.throws(() => createTxtLookup(['dns.example:53']), { code: 'ERR_INVALID_IP_ADDRESS' })
})

describe('one hostname and many stores', () => {
  test('goes to one of twenty stores that verify it at the same time', async () => {
    const { app, hostname } = await openStore()
    const callers = await times(20, (i) => app.merchant(`store-${i}`))
    const claims = await Promise.all(callers.map((each) => claim(each, hostname)))
    const values = claims.map(({ verification }) => verification.value)
    app.dns.set(`_fd-verify.${hostname}`, texts(...values))
    const answers = await Promise.all(
      callers.map((caller, i) => verify(caller, claims[i] ?? assert.fail())),
    )
    assert.deepEqual(countStatuses(answers), { 200: 1, 409: 19 })
    const losers = answers.filter(({ status }) => status === 409)
    assert.ok(losers.every(({ body }) => body.error.code === 'hostname_taken'))
    const { rows } = await app.superuser.query(
      `select tenant_ref, last_error from domains where hostname = $1 and status = 'active'
        union all
       select 'lost', last_error from domains
        where hostname = $1 and status = 'pending_verification'`,
      [hostname],
    )
    const winner = answers.findIndex(({ status }) => status === 200)
    assert.deepEqual(
      rows.toSorted((a, b) => (a.tenant_ref < b.tenant_ref ? 1 : -1)),
      [
        { tenant_ref: `store-${winner}`, last_error: null },
        ...Array(19).fill({ tenant_ref: 'lost', last_error: 'hostname_taken' }),
      ],
    )
    const found = await domains.findTenantByHostname(app.runtime.database.directory, hostname)
    assert.equal(found, `store-${winner}`)
  })

  test('stays with its store when another store sets a record too', async () => {
    const { app, acme, hostname } = await openStore()
    const { acme: globex } = await openStore()
    const rival = await claim(globex, hostname)
    await claimActive(app, acme, hostname)
    setRecord(app.dns, rival)
    const { status, body } = await verify(globex, rival)
    assert.deepEqual([status, body.error.code], [409, 'hostname_taken'])
    assert.equal((await read(globex, rival)).last_error, 'hostname_taken')
  })
})

describe('a check that was overtaken', () => {
  /** A lookup that runs a step before its answer. */
  const slow = (meanwhile: () => Promise<unknown>) => async () => {
    await meanwhile()
    return 'missing' as const
  }

  test('does not overwrite a later result', async () => {
    const { app, tenant, acme, hostname } = await openStore()
    const domain = await claim(acme, hostname)
    setRecord(app.dns, domain)
    const db = await app.store(tenant)
    const findTxt = slow(() => verify(acme, domain))
    const { limits } = app.runtime
    const result = await domains.verify(
      { limits, asksForTls: false, findTxt },
      db,
      SYSTEM,
      domain.id,
    )
    assert.deepEqual([result.domain.status, result.domain.last_error], ['active', null])
    assert.deepEqual(await auditOf(app, tenant, 'lapsed'), [])
  })

  test('does not restore a hostname that was removed meanwhile', async () => {
    const { app, tenant, acme, hostname } = await openStore()
    const domain = await claim(acme, hostname)
    const db = await app.store(tenant)
    const findTxt = async () => {
      await acme.send('DELETE', `${URL}/${domain.id}`)
      return 'found' as const
    }
    const { limits } = app.runtime
    await assert.rejects(
      domains.verify({ limits, asksForTls: false, findTxt }, db, SYSTEM, domain.id),
      {
        code: 'domain_not_active',
      },
    )
    assert.equal((await read(acme, domain)).status, 'removed')
  })
})

test('a store may verify ten times a minute, all its hostnames together', async () => {
  const { app, acme, hostname } = await openStore()
  const one = await claim(acme, `one.${hostname}`)
  const two = await claim(acme, `two.${hostname}`)
  for (const { verification } of [one, two])
    app.dns.set(verification.name, texts('no value of ours'))
  const answers = await times(12, (i) => verify(acme, i % 2 === 0 ? one : two))
  assert.deepEqual(countStatuses(answers), { 200: 10, 429: 2 })
  const refused = answers.find(({ status }) => status === 429)
  assert.equal(refused?.body.error.code, 'rate_limited')
  assert.equal(refused?.headers['retry-after'], '60')
  const asked = app.dns.asked(one.verification.name) + app.dns.asked(two.verification.name)
  assert.equal(asked, 10, 'what is refused does not reach DNS')
  const { acme: globex } = await openStore()
  assert.equal((await verify(globex, await claim(globex, one.hostname))).status, 200)
})

test('verifying a removed hostname is refused with what to do next', async () => {
  const { acme, hostname } = await openStore()
  const domain = await claim(acme, hostname)
  await acme.send('DELETE', `${URL}/${domain.id}`)
  const { status, body } = await verify(acme, domain)
  assert.deepEqual([status, body.error.code], [409, 'domain_not_active'])
  assert.match(body.error.message, /again/)
})
