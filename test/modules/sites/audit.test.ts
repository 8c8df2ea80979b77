import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, openTestApp } from '../../harness/app.ts'
import { DRAFT, MANIFEST, PUBLISH, titled } from './setup.ts'

test('every save and publish has an audit entry with actor, request, before and after', async (t) => {
  const app = await openTestApp(t)
  const acme = await app.merchant('acme')
  const { credentials } = (await acme.get('/v1/my/credentials')).body
  const merchant = `merchant_key:${credentials[0].id}`
  const saves = [
    await acme.put(DRAFT, titled('one')),
    await acme.put(MANIFEST, titled('two')),
    await app.operator.put('/v1/stores/acme/manifest', titled('three')),
  ]
  const hashes = saves.map(({ body }) => body.rowHash as string)
  const calls = [
    ...saves,
    await acme.post(PUBLISH, { version: 1 }),
    await acme.post(PUBLISH, { version: 9 }),
    await acme.post(PUBLISH, { version: 3 }),
  ].filter(({ status }) => status === 200)
  const wanted = [
    [merchant, 'manifest.draft_saved', null, 1],
    [merchant, 'manifest.published', { version: null }, 2],
    ['operator', 'manifest.published', { version: 2 }, 3],
    [merchant, 'manifest.published', { version: 3 }, 1],
    [merchant, 'manifest.published', { version: 1 }, 3],
  ] as const
  const { entries } = (await acme.get('/v1/my/audit')).body
  const shown = entries
    .filter(({ action }: { action: string }) => action.startsWith('manifest.'))
    .reverse()
  assert.equal(shown.length, wanted.length)
  for (const [i, [actor, action, before, version]] of wanted.entries()) {
    const { id: _, created_at: __, ...entry } = shown[i]
    assert.deepEqual(entry, {
      tenant_ref: 'acme',
      actor,
      action,
      entity: 'site:acme',
      before,
      after: { version, rowHash: hashes[version - 1] },
      reason: null,
      correlation_id: (calls[i] as Answer).headers['x-correlation-id'],
    })
  }
})
