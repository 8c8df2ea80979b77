import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { openMetrics } from '../../../src/http/metrics.ts'
import {
  answerCertificates,
  mayHaveCertificate,
} from '../../../src/modules/domains/certificates.ts'
import { recheckDue } from '../../../src/modules/domains/jobs.ts'
import { share } from '../../harness/scope.ts'
import { ALL_OPTIONS, setLive } from '../checkout/setup.ts'
import { claim, openDomainsApp, read, setRecord, URL, verify } from './setup.ts'

const shared = share(async (scope) => {
  const app = await openDomainsApp(scope, { TLS_FRONT: 'on_demand' })
  const metrics = openMetrics()
  metrics.answerCertificates(
    answerCertificates((hostname) => mayHaveCertificate(app.runtime.database, hostname)),
  )
  const server = await metrics.serve('127.0.0.1', 0)
  scope.after(() => server.close())
  const { port } = server.address() as AddressInfo
  /** Asks as a TLS front does. */
  const ask = async (domain: string) => {
    const query = new URLSearchParams({ domain })
    return (await fetch(`http://127.0.0.1:${port}/tls/ask?${query}`)).status
  }
  return { app, ask }
})
let stores = 0

async function open({ live = true } = {}) {
  const { app, ask } = shared.current
  const tenant = `secure-${++stores}`
  const merchant = await app.merchant(tenant)
  await merchant.put('/v1/my/store/manifest', { manifest: ALL_OPTIONS })
  if (live) await setLive(app, tenant, true)
  const hostname = `${tenant}.example.com`
  const domain = await claim(merchant, hostname)
  const resolve = () => app.anyone.get(`/v1/resolve?hostname=${hostname}`)
  const status = async () => (await read(merchant, domain)).status
  return { app, ask, tenant, merchant, hostname, domain, resolve, status }
}

describe('a hostname behind a TLS front that asks', () => {
  test("is verified by the front's first question and activated by the first request", async () => {
    const { app, ask, merchant, hostname, domain, resolve, status, tenant } = await open()
    assert.equal(await ask(hostname), 404, 'not proved yet')
    setRecord(app.dns, domain)
    assert.equal((await verify(merchant, domain)).body.domain.status, 'verified')
    assert.equal((await resolve()).status, 404)
    assert.equal(
      (await verify(merchant, domain)).body.domain.status,
      'verified',
      'by no other look',
    )
    assert.equal((await merchant.post(`${URL}/${domain.id}/primary`)).status, 409)
    const fresh = await open()
    setRecord(fresh.app.dns, fresh.domain)
    await verify(fresh.merchant, fresh.domain)
    assert.equal(await ask(fresh.hostname), 200)
    assert.equal(await fresh.status(), 'provisioning')
    assert.equal(await ask(fresh.hostname), 200, 'a front asks again')
    const served = await fresh.resolve()
    assert.deepEqual([served.status, served.body.tenantRef], [200, fresh.tenant], served.text)
    assert.equal(await fresh.status(), 'active')
    assert.equal((await fresh.resolve()).status, 200)
    assert.equal((await read(fresh.merchant, fresh.domain)).tls_status, 'external')
    const audit = await fresh.merchant.get('/v1/my/audit')
    const actions = (audit.body.entries as { action: string }[]).map(({ action }) => action)
    assert.deepEqual(
      actions.filter((action) => action.startsWith('domain.')),
      ['domain.activated', 'domain.provisioning', 'domain.verified', 'domain.claimed'],
    )
    assert.equal(await status(), 'verified', `${tenant} has not moved by itself`)
  })

  test('is verified by the loop, and never by age', async () => {
    const { app, domain, status } = await open()
    setRecord(app.dns, domain)
    const due = `update domains set next_check_at = now() where id = $1`
    await app.superuser.query(due, [domain.id])
    const { workerDatabase } = app.runtime
    await recheckDue(workerDatabase, app.findTxt, { asksForTls: true })
    assert.equal(await status(), 'verified')
    const { rows } = await app.superuser.query(`select next_check_at from domains where id = $1`, [
      domain.id,
    ])
    assert.deepEqual(rows, [{ next_check_at: null }])
  })

  test('a hostname of a hidden store is answered like one of a live store, and shows no store', async () => {
    const { app, ask, merchant, hostname, domain, resolve } = await open({ live: false })
    setRecord(app.dns, domain)
    await verify(merchant, domain)
    assert.equal(await ask(hostname), 200)
    const hidden = await resolve()
    const unknown = await app.anyone.get('/v1/resolve?hostname=unknown.example.com')
    assert.deepEqual([hidden.status, hidden.text], [unknown.status, unknown.text])
  })

  test('can still be activated by the operator', async () => {
    const { app, tenant, domain, resolve } = await open()
    const url = `/v1/stores/${tenant}/domains/${domain.id}/activate`
    assert.equal((await app.operator.post(url)).body.domain.status, 'active')
    assert.equal((await resolve()).status, 200)
  })

  test('a hostname that is invalid, unknown, removed or of the platform gets no certificate', async () => {
    const { app, ask, merchant, domain, hostname } = await open()
    setRecord(app.dns, domain)
    await verify(merchant, domain)
    await merchant.send('DELETE', `${URL}/${domain.id}`)
    for (const name of [
      '',
      'x',
      '127.0.0.1',
      'a b',
      'nobody.example.com',
      '*.example.com',
      hostname,
    ]) {
      assert.equal(await ask(name), 404, name)
    }
  })

  test('is looked up a few at once, and a refused hostname not again for a while', async () => {
    let looks = 0
    const waiting: (() => void)[] = []
    const answer = answerCertificates(async (hostname) => {
      looks++
      if (hostname.startsWith('slow')) await new Promise<void>((done) => waiting.push(done))
      return false
    })
    for (let n = 0; n < 5; n++) assert.equal(await answer('no.example.com'), 404)
    assert.equal(looks, 1)
    const slow = [1, 2, 3, 4].map((n) => answer(`slow${n}.example.com`))
    assert.equal(await answer('other.example.com'), 503)
    for (const done of waiting) done()
    assert.deepEqual(await Promise.all(slow), [404, 404, 404, 404])
    const broken = answerCertificates(async () => {
      throw new Error('no database')
    })
    assert.equal(await broken('no.example.com'), 503)
  })
})
