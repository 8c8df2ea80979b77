import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { assertRefused } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import {
  DRAFT,
  MANIFEST,
  OVERVIEW,
  openLiveStore,
  PREVIEW_TOKEN,
  PUBLISH,
  resolveUrl,
  sendRaw,
  setStatus,
  siteUrl,
  titled,
} from './setup.ts'

const shared = share((scope) => openTestApp(scope))
const sharedLive = share((scope) => openTestApp(scope, { live: true }))
let stores = 0
const nextTenant = () => `acme-${++stores}`

const shown = async (app: TestApp, tenant: string) => (await app.anyone.get(siteUrl(tenant))).body

describe('publishing', () => {
  test('changes the public site to a newer or older version; a draft changes nothing', async () => {
    const app = sharedLive.current
    const tenant = nextTenant()
    const acme = await openLiveStore(app, tenant, titled('one'))
    const before = await sendRaw(app, siteUrl(tenant))
    const draft = await acme.put(DRAFT, titled('two'))
    assert.deepEqual([draft.status, draft.body.version], [200, 2])
    assert.deepEqual(Object.keys(draft.body), ['version', 'rowHash', 'warnings'])
    assert.deepEqual((await sendRaw(app, siteUrl(tenant))).body, before.body)
    assert.equal((await app.anyone.get(resolveUrl(tenant))).body.manifestVersion, 1)

    const published = await acme.post(PUBLISH, { version: 2 })
    assert.deepEqual(published.body, draft.body)
    assert.deepEqual(await shown(app, tenant), { tenant_ref: tenant, version: 2, ...titled('two') })
    const back = await acme.post(PUBLISH, { version: 1 })
    assert.deepEqual([back.status, back.body.version], [200, 1])
    assert.deepEqual((await sendRaw(app, siteUrl(tenant))).body, before.body)
    assert.equal((await acme.post(PUBLISH, { version: 1 })).status, 200, 'again is no error')
    assert.equal((await acme.get(OVERVIEW)).body.versions_total, 2, 'nothing was added')
  })

  test('is refused for a version number that the store does not have', async () => {
    const app = shared.current
    const tenant = nextTenant()
    const acme = await openLiveStore(app, tenant)
    const globex = await openLiveStore(app, nextTenant())
    await globex.put(DRAFT, titled('globex has a second one'))
    for (const path of [PUBLISH, PREVIEW_TOKEN]) {
      const bad = [
        ['zero', { version: 0 }, 'version_not_found'],
        ['negative', { version: -1 }, 'version_not_found'],
        ["another store's", { version: 2 }, 'version_not_found'],
        ['beyond an integer', { version: 2_147_483_648 }, 'version_not_found'],
        ['huge', { version: Number.MAX_SAFE_INTEGER }, 'version_not_found'],
        ['hugely negative', { version: Number.MIN_SAFE_INTEGER }, 'version_not_found'],
        ['a fraction', { version: 1.5 }, 'invalid_body', 'version'],
        ['a text', { version: '1' }, 'invalid_body', 'version'],
        ['null', { version: null }, 'invalid_body', 'version'],
        ['a list', { version: [1] }, 'invalid_body', 'version'],
        ['missing', {}, 'invalid_body', 'version'],
        ['no object', [1], 'invalid_body', ''],
        ['nothing', undefined, 'invalid_body', ''],
      ] as const
      await assertRefused(bad, (body) => acme.post(path, body))
      const missing = await acme.post(path, { version: 2 })
      assert.equal(missing.status, 404)
    }
    assert.equal((await shown(app, tenant)).version, 1)
  })

  test('keeps every version, which is read by its number with the manifest as it was saved', async () => {
    const app = shared.current
    const tenant = nextTenant()
    const acme = await openLiveStore(app, tenant)
    const draft = await acme.put(DRAFT, titled('two'))
    const { versions, active } = (await acme.get(OVERVIEW)).body
    for (const row of versions) {
      const { status, body, text } = await acme.get(`${OVERVIEW}/versions/${row.version}`)
      assert.equal(status, 200, text)
      const { manifest, ...rest } = body
      assert.deepEqual(rest, row)
      assert.deepEqual(manifest, row.active ? active.manifest : titled('two').manifest)
      assert.equal(row.active, row.version === 1)
    }
    assert.equal(draft.body.version, 2)
    for (const none of ['3', '0', '-1', '01', '1.0', 'one', '%20', '2147483648', '9'.repeat(400)]) {
      const { status, body } = await acme.get(`${OVERVIEW}/versions/${none}`)
      assert.deepEqual([status, body.error?.code], [404, 'version_not_found'], none)
    }
    const reader = await app.merchant(tenant, 'read:own_orders')
    assert.equal((await reader.get(`${OVERVIEW}/versions/1`)).status, 403)
  })

  test("keeps the previous version, which the operator's retention cannot delete", async (t) => {
    const app = shared.current
    const tenant = nextTenant()
    const acme = await openLiveStore(app, tenant)
    const client = await openSuperuser(t, app.database)
    const previous = async () =>
      (await client.query('select previous_version from stores where tenant_ref = $1', [tenant]))
        .rows[0].previous_version
    assert.equal(await previous(), null)
    await acme.put(DRAFT, titled('two'))
    await acme.post(PUBLISH, { version: 2 })
    assert.equal(await previous(), 1)
    await acme.post(PUBLISH, { version: 2 })
    assert.equal(await previous(), 1, 'to publish the same again changes nothing')
    await acme.post(PUBLISH, { version: 1 })
    assert.equal(await previous(), 2)
  })

  test('does not scan the manifest again', async (t) => {
    const app = shared.current
    const tenant = nextTenant()
    const acme = await openLiveStore(app, tenant)
    const superuser = await openSuperuser(t, app.database)
    const claim = '{"seo":{"title":"This compound cures cancer"}}'
    await superuser.query(
      `insert into site_versions (tenant_ref, version, manifest, row_hash, rules_version, created_by)
       values ($1, 2, $2, repeat('0', 64), 'older', 'test')`,
      [tenant, claim],
    )
    const refused = await acme.put(DRAFT, { manifest: JSON.parse(claim) })
    assert.equal(refused.status, 422, 'it would not pass today')
    assert.equal((await acme.post(PUBLISH, { version: 2 })).status, 200)
    assert.equal((await shown(app, tenant)).version, 2)
  })

  test('works for a draft store, and is visible once it goes live', async () => {
    const app = sharedLive.current
    const tenant = nextTenant()
    const acme = await app.merchant(tenant)
    await acme.put(DRAFT, titled('one'))
    await acme.post(PUBLISH, { version: 1 })
    assert.equal((await app.anyone.get(siteUrl(tenant))).status, 404)
    await setStatus(app, tenant, 'live')
    assert.equal((await shown(app, tenant)).version, 1)
  })
})

describe('the overview', () => {
  test('the overview of a store without a site is empty', async () => {
    const acme = await shared.current.merchant(nextTenant())
    const { status, body } = await acme.get(OVERVIEW)
    assert.equal(status, 200)
    const page = { total: 0, limit: 500, offset: 0 }
    assert.deepEqual(body, { active: null, draft: null, versions: [], versions_total: 0, ...page })
  })

  test('has the 500 newest versions, older ones on its next pages, and the same draft on each page', async () => {
    const app = shared.current
    const tenant = nextTenant()
    const acme = await app.merchant(tenant)
    await acme.put(MANIFEST, titled('the first'))
    const admin = await app.database.openAdmin()
    await admin.query(
      `insert into site_versions (tenant_ref, version, manifest, row_hash, rules_version, created_by)
       select tenant_ref, n, manifest, row_hash, rules_version, created_by
         from site_versions, generate_series(2, 601) n
        where tenant_ref = $1`,
      [tenant],
    )
    const numbersOf = (body: { versions: { version: number }[] }) =>
      body.versions.map(({ version }) => version)
    const first = (await acme.get(OVERVIEW)).body
    assert.deepEqual([first.total, first.versions_total], [601, 601])
    assert.deepEqual([first.active.version, first.draft.version], [1, 601])
    const byCursor = (await acme.get(`${OVERVIEW}?after=${first.next_after}`)).body
    const byOffset = (await acme.get(`${OVERVIEW}?offset=500`)).body
    const all = Array.from({ length: 601 }, (_, i) => 601 - i)
    for (const next of [byCursor, byOffset]) {
      assert.deepEqual([...numbersOf(first), ...numbersOf(next)], all)
      assert.deepEqual([next.active, next.draft], [first.active, first.draft])
      assert.equal(next.next_after, undefined)
      assert.equal(next.versions.at(-1).active, true)
    }
  })

  test('shows the active version, the newest version as draft if it is another, and the list of all', async () => {
    const acme = await shared.current.merchant(nextTenant())
    const named = (name: unknown) => ({ manifest: { brand: { name } } })
    const saved = [
      (await acme.put(DRAFT, named('First'))).body,
      (await acme.put(MANIFEST, named(['no name']))).body,
      (await acme.put(DRAFT, titled('no brand'))).body,
    ]
    const { body } = await acme.get(OVERVIEW)
    const { createdAt, ...draft } = body.draft
    assert.deepEqual(draft, { version: 3, ...titled('no brand'), rowHash: saved[2].rowHash })
    assert.deepEqual(body.active, {
      version: 2,
      ...named(['no name']),
      rowHash: saved[1].rowHash,
    })
    assert.equal(createdAt, body.versions[0].createdAt)
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000)
    const rows = body.versions.map(({ createdAt: _, ...row }: { createdAt: string }) => row)
    assert.deepEqual(rows, [
      { version: 3, rowHash: saved[2].rowHash, brandName: null, active: false },
      { version: 2, rowHash: saved[1].rowHash, brandName: null, active: true },
      { version: 1, rowHash: saved[0].rowHash, brandName: 'First', active: false },
    ])
    assert.equal(body.versions_total, 3)

    await acme.post(PUBLISH, { version: 3 })
    const after = (await acme.get(OVERVIEW)).body
    assert.deepEqual([after.active.version, after.draft], [3, null])
    await acme.post(PUBLISH, { version: 1 })
    const back = (await acme.get(OVERVIEW)).body
    assert.deepEqual([back.active.version, back.draft.version], [1, 3])
    const active = back.versions.filter(({ active }: { active: boolean }) => active)
    assert.deepEqual(
      active.map(({ version }: { version: number }) => version),
      [1],
    )
  })

  test('cuts a long brand name between two characters', async () => {
    const acme = await shared.current.merchant(nextTenant())
    const name = '😀'.repeat(300)
    const { status, text } = await acme.put(DRAFT, { manifest: { brand: { name: `x${name}` } } })
    assert.equal(status, 200, text)
    const { brandName } = (await acme.get(OVERVIEW)).body.versions[0]
    assert.match(brandName, /^x(😀)+$/u)
  })

  test('is consistent, also while versions are published', async (t) => {
    // An app of its own: while another store is at work, this one would be paced.
    const app = await openTestApp(t)
    const acme = await openLiveStore(app, 'acme')
    let over = false
    const writes = (async () => {
      for (let i = 0; i < 60; i++) await acme.put(MANIFEST, titled(`number ${i}`))
      over = true
    })()
    const reader = async () => {
      while (!over) {
        const { body } = await acme.get(OVERVIEW)
        assert.equal(body.draft, null, 'every version was made active as it was saved')
        assert.equal(body.versions[0].version, body.active.version)
        assert.equal(body.versions_total, body.active.version)
      }
    }
    await Promise.all([writes, reader(), reader(), reader()])
  })

  test('fails as a whole when one part of it cannot be read', async (t) => {
    const app = await openTestApp(t)
    const acme = await openLiveStore(app, 'acme')
    const superuser = await openSuperuser(t, app.database)
    const cases = [
      'revoke select on site_versions from fd_app',
      'grant select (tenant_ref, version, row_hash, created_at, brand_name) on site_versions to fd_app',
    ]
    for (const statement of cases) {
      await superuser.query(statement)
      const { status, body } = await acme.get(OVERVIEW)
      assert.deepEqual([status, body.error.code], [503, 'service_unavailable'], statement)
      assert.deepEqual(Object.keys(body), ['error'])
    }
    await superuser.query('grant select on site_versions to fd_app')
    assert.equal((await acme.get(OVERVIEW)).status, 200)
  })
})
