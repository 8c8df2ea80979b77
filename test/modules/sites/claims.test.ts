import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { ApiError } from '../../../src/errors.ts'
import type { Finding } from '../../../src/modules/health-claims/schema.ts'
import { OPERATOR_TOKEN, openTestApp, type TestApp } from '../../harness/app.ts'
import { keysOf } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import {
  DRAFT,
  MANIFEST,
  OVERVIEW,
  openLiveStore,
  scannerOf,
  sendRaw,
  siteUrl,
  titled,
} from './setup.ts'

const operatorUrl = (tenant: string) => `/v1/stores/${tenant}/manifest`
const OVERRIDE = 'x-guardrails-override'

const finding = (path: string, severity: Finding['severity']): Finding => ({
  path,
  term: 'a term',
  rule: severity === 'CRITICAL' ? 'disease_claim' : 'efficacy_hype',
  severity,
  context: 'a term in its context',
})

const BAD = [finding('/a', 'WARNING'), finding('/b', 'CRITICAL'), finding('/c', 'INFO')]

const shared = share((scope) => openTestApp(scope))
const strict = share((scope) => openTestApp(scope, { scanner: scannerOf(() => BAD) }))
let stores = 0
const nextTenant = () => `acme-${++stores}`

const countVersions = async (t: TestContext, app: TestApp, tenant: string) => {
  const superuser = await openSuperuser(t, app.database)
  const versions = 'select from site_versions where tenant_ref = $1'
  return async () => (await superuser.query(versions, [tenant])).rowCount
}

const auditOf = async (app: TestApp, tenant: string) =>
  (await app.operator.get(`/v1/stores/${tenant}/audit`)).body.entries

describe('a manifest with a prohibited health claim', () => {
  const claims = {
    manifest: {
      zeta: { text: 'It treats cancer.' },
      brand: { name: 'Good', 'cures diabetes': 1 },
      alpha: ['fine', { deep: 'This is FDA approved and guaranteed results.' }],
    },
  }

  test('is refused with all findings, in the order of the document, and not stored', async (t) => {
    const app = shared.current
    const tenant = nextTenant()
    const acme = await openLiveStore(app, tenant)
    const count = await countVersions(t, app, tenant)
    const entries = (await auditOf(app, tenant)).length
    for (const path of [DRAFT, MANIFEST]) {
      const { status, body } = await acme.put(path, claims)
      assert.equal(status, 422)
      assert.deepEqual(keysOf(body), ['error', 'findings'])
      assert.equal(body.error.code, 'ruo_claims_violation')
      assert.ok(body.error.message)
      for (const each of body.findings) {
        assert.deepEqual(keysOf(each), ['context', 'path', 'rule', 'severity', 'term'])
      }
      const paths = body.findings.map(({ path }: Finding) => path)
      const distinct = [...new Set(paths)]
      assert.deepEqual(distinct, ['/zeta/text', '/brand/cures diabetes', '/alpha/1/deep'])
    }
    const refused = await app.operator.put(operatorUrl(tenant), claims)
    assert.equal(refused.status, 422)
    assert.equal(await count(), 1)
    assert.equal((await app.anyone.get(siteUrl(tenant))).body.version, 1)
    assert.equal((await auditOf(app, tenant)).length, entries)
  })

  test('is refused also if a merchant sends the override header', async (t) => {
    const app = shared.current
    const tenant = nextTenant()
    const key = await app.key(tenant)
    const count = await countVersions(t, app, tenant)
    const acme = app.as({ authorization: `Bearer ${key}`, [OVERRIDE]: 'because I say so' })
    for (const path of [DRAFT, MANIFEST]) assert.equal((await acme.put(path, claims)).status, 422)
    assert.equal(await count(), 0)
  })
})

describe('a scan that did not run', () => {
  test('is a 503 and never a pass, on every route', async (t) => {
    let failure: Error | null = null
    const app = await openTestApp(t, {
      scanner: {
        ...scannerOf(() => []),
        scan: async (value) => {
          if (failure !== null) throw failure
          return scannerOf(() => []).scan(value)
        },
      },
    })
    const acme = await app.merchant('acme')
    const count = await countVersions(t, app, 'acme')
    const operatorPath = operatorUrl('acme')
    const forcing = app.as({ 'x-operator-token': OPERATOR_TOKEN, [OVERRIDE]: 'forced' })
    const tries = {
      draft: () => acme.put(DRAFT, titled('one')),
      manifest: () => acme.put(MANIFEST, titled('one')),
      operator: () => app.operator.put(operatorPath, titled('one')),
      forced: () => forcing.put(operatorPath, titled('one')),
      'dry run': () => app.operator.post(`${operatorPath}/scan`, titled('one')),
    }
    const cause = new Error('broken inside')
    for (const error of [new ApiError('scan_unavailable', { cause }), cause]) {
      failure = error
      for (const [what, send] of Object.entries(tries)) {
        const { status, body } = await send()
        assert.deepEqual([status, body.error.code], [503, 'scan_unavailable'], what)
        assert.ok(!JSON.stringify(body).includes('inside'))
      }
    }
    assert.equal(await count(), 0)
    failure = null
    assert.equal((await acme.put(DRAFT, titled('one'))).status, 200)
  })
})

describe('an operator', () => {
  const force = (app: TestApp, tenant: string, reason: string | Buffer) =>
    sendRaw(app, operatorUrl(tenant), {
      method: 'PUT',
      headers: {
        'x-operator-token': OPERATOR_TOKEN,
        'content-type': 'application/json',
        // Each character of the header is sent as one byte.
        [OVERRIDE]: Buffer.from(reason).toString('latin1'),
      },
      body: JSON.stringify(titled('forced')),
    })

  test('may publish it all the same, with a reason that is stored verbatim', async () => {
    const app = strict.current
    const tenant = nextTenant()
    await app.store(tenant)
    const reasons = [
      'Legal has read it; see ticket 77.',
      '  “Geprüft” – заключение 法務 ✓ 😀 ',
      'a \ufffd that was there before',
      Buffer.from('caf\xe9 in an older encoding', 'latin1'),
    ]
    for (const reason of reasons) {
      const answer = await force(app, tenant, reason)
      const body = JSON.parse(answer.body.toString())
      assert.equal(answer.status, 200, answer.body.toString())
      assert.deepEqual(keysOf(body), ['rowHash', 'ruoWarnings', 'version', 'warnings'])
      assert.deepEqual(body.ruoWarnings, [BAD[0], BAD[2]], 'those that are not critical')
      const [entry] = await auditOf(app, tenant)
      assert.equal(entry.action, 'manifest.published.guardrails_override')
      const written = typeof reason === 'string' ? reason.trim() : reason.toString('latin1')
      assert.equal(entry.reason, written)
      assert.equal(entry.after.version, body.version)
      assert.equal(entry.correlation_id, answer.headers['x-correlation-id'])
      assert.equal(entry.actor, 'operator')
    }
  })

  test('must give a reason to override', async (t) => {
    const app = strict.current
    const tenant = nextTenant()
    await app.store(tenant)
    const count = await countVersions(t, app, tenant)
    for (const blank of ['', ' ', '\t ', '\u00a0', '\u3000']) {
      assert.equal((await force(app, tenant, blank)).status, 422, JSON.stringify(blank))
    }
    const long = await force(app, tenant, 'x'.repeat(2_001))
    assert.equal(long.status, 400)
    const [issue] = JSON.parse(long.body.toString()).issues
    assert.equal(issue.path, OVERRIDE)
    assert.equal(await count(), 0)
    assert.equal((await force(app, tenant, 'x'.repeat(2_000))).status, 200)
  })

  test('publishes a clean manifest without an override, even with a reason', async (t) => {
    const mild = [finding('/a', 'WARNING'), finding('/b', 'INFO')]
    const app = await openTestApp(t, { scanner: scannerOf(() => mild) })
    await app.store('acme')
    const answer = await force(app, 'acme', 'not needed')
    assert.deepEqual(JSON.parse(answer.body.toString()).ruoWarnings, mild)
    const plain = await app.operator.put(operatorUrl('acme'), titled('two'))
    assert.deepEqual(plain.body.ruoWarnings, mild)
    const actions = (await auditOf(app, 'acme')).map(({ action }: { action: string }) => action)
    assert.deepEqual(actions, ['manifest.published', 'manifest.published', 'store.created'])
    const merchant = await (await app.merchant('acme')).put(MANIFEST, titled('three'))
    assert.deepEqual(keysOf(merchant.body), ['rowHash', 'version', 'warnings'])
  })

  test('may scan a manifest without storing it', async () => {
    const app = shared.current
    const tenant = nextTenant()
    const acme = await openLiveStore(app, tenant)
    const before = [(await acme.get(OVERVIEW)).text, (await auditOf(app, tenant)).length]
    const clean = await app.operator.post(`${operatorUrl(tenant)}/scan`, titled('A plain lamp'))
    assert.deepEqual([clean.status, clean.body], [200, { passed: true, findings: [] }])
    const bad = await app.operator.post(`${operatorUrl(tenant)}/scan`, titled('It cures cancer'))
    assert.deepEqual([bad.status, bad.body.passed], [200, false])
    assert.equal(bad.body.findings[0].path, '/seo/title')
    assert.deepEqual([(await acme.get(OVERVIEW)).text, (await auditOf(app, tenant)).length], before)
    const unknown = await app.operator.post('/v1/stores/nobody/manifest/scan', titled('x'))
    assert.equal(unknown.status, 404)
  })
})
