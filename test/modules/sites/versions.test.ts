import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import canonicalize from 'canonicalize'
import { openTestApp } from '../../harness/app.ts'
import { countStatuses, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { DRAFT, MANIFEST, openLiveStore, saveText, siteUrl, titled } from './setup.ts'

const shared = share((scope) => openTestApp(scope))
let tenants = 0
const nextTenant = () => `acme-${++tenants}`

const changesOf = (tenant: string) => [
  `update site_versions set manifest = '{}' where tenant_ref = '${tenant}'`,
  `update site_versions set version = version where tenant_ref = '${tenant}'`,
  `delete from site_versions where tenant_ref = '${tenant}'`,
  'truncate site_versions cascade',
]

describe('a version', () => {
  test('cannot be changed or deleted by the application, which has no privilege for it', async (t) => {
    const app = shared.current
    const tenant = nextTenant()
    await (await app.merchant(tenant)).put(DRAFT, titled('one'))
    const client = await openSuperuser(t, { url: app.database.roleUrl('fd_app') })
    await client.query("select set_config('app.tenant', $1, false)", [tenant])
    assert.equal((await client.query('select from site_versions')).rowCount, 1)
    for (const change of changesOf(tenant)) {
      await assert.rejects(client.query(change), { code: '42501' }, change)
    }
  })

  test('cannot be changed or deleted by the table owner or a superuser either', async (t) => {
    const app = shared.current
    const tenant = nextTenant()
    await (await app.merchant(tenant)).put(DRAFT, titled('one'))
    const superuser = await openSuperuser(t, app.database)
    const versions = 'select * from site_versions where tenant_ref = $1'
    const { rows } = await superuser.query(versions, [tenant])
    for (const role of ['none', 'fd_owner']) {
      await superuser.query(`set role ${role}`)
      for (const change of changesOf(tenant)) {
        await assert.rejects(superuser.query(change), { code: 'FD002' }, `${role}: ${change}`)
      }
    }
    await superuser.query('reset role')
    assert.deepEqual((await superuser.query(versions, [tenant])).rows, rows)
  })

  test('has the next number, however many are saved at once', async (t) => {
    const app = shared.current
    const [tenant, other] = [nextTenant(), nextTenant()]
    const [acme, globex] = await Promise.all([app.merchant(tenant), app.merchant(other)])
    const answers = await times(60, (i) =>
      acme.put(i % 2 === 0 ? DRAFT : MANIFEST, { manifest: { seo: { i }, z: 1.5, a: [null, i] } }),
    )
    await globex.put(DRAFT, titled('its own numbers'))
    assert.deepEqual(countStatuses(answers), { 200: 60 })
    const numbers = answers.map(({ body }) => body.version).sort((a, b) => a - b)
    assert.deepEqual(
      numbers,
      Array.from({ length: 60 }, (_, i) => i + 1),
    )
    const superuser = await openSuperuser(t, app.database)
    const { rows } = await superuser.query(
      'select version, manifest, row_hash from site_versions where tenant_ref = $1',
      [tenant],
    )
    assert.equal(rows.length, 60)
    const answered = new Map(answers.map(({ body }) => [body.version, body.rowHash]))
    for (const { version, manifest, row_hash } of rows) {
      const canonical = canonicalize(JSON.parse(manifest)) ?? ''
      assert.equal(createHash('sha256').update(canonical).digest('hex'), row_hash)
      assert.equal(answered.get(version), row_hash)
    }
    const { rows: stores } = await superuser.query(
      'select active_version from stores where tenant_ref = $1',
      [tenant],
    )
    const published = answers.filter((_, i) => i % 2 === 1).map(({ body }) => body.version)
    assert.equal(stores[0].active_version, Math.max(...published), 'the last one to be saved')
    assert.equal((await globex.get('/v1/my/site')).body.draft.version, 1)
  })

  test('has the same hash as another version with an equal manifest, and a number of its own', async () => {
    const app = shared.current
    const tenant = nextTenant()
    await openLiveStore(app, tenant)
    const key = await app.key(tenant)
    const spellings = [
      '{"seo":{"a":1,"é":[100,-0,"/"]},"b":true}',
      '{"b":true,"seo":{"\\u00e9":[1e2,0,"\\/"],"a":1.0}}',
      '{\n\t"b" : true ,\r\n "seo" :{ "é" :[ 1E+2 ,0.0,"\\u002f"],"\\u0061":10e-1} }',
    ]
    const hashes = new Set<string>()
    const etags = new Set<string | undefined>()
    for (const [i, spelling] of spellings.entries()) {
      const saved = await saveText(app, key, spelling)
      assert.equal(saved.version, i + 2)
      hashes.add(saved.rowHash)
      const { headers, body } = await app.anyone.get(siteUrl(tenant))
      assert.equal(body.version, i + 2)
      etags.add(headers.etag)
    }
    assert.equal(hashes.size, 1)
    assert.deepEqual(
      [...etags],
      [...hashes].map((hash) => `"${hash}"`),
    )
    const other = await saveText(app, key, '{"seo":{"a":1,"é":[100,-0,"/"]},"b":false}')
    assert.ok(!hashes.has(other.rowHash))
  })
})
