import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openMedia } from '../../../src/modules/media/open.ts'
import * as media from '../../../src/modules/media/service.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { openTestApp } from '../../harness/app.ts'
import { plain } from './sample-images.ts'

const HASH = 'a'.repeat(64)

test('a ref is accepted only if it is well formed and belongs to the store itself', () => {
  assert.deepEqual(media.parseAssetRef('acme', `asset:acme/${HASH}.png`), {
    sha256: HASH,
    extension: 'png',
  })
  for (const ref of [
    '',
    `asset:globex/${HASH}.png`,
    `asset:acme/${HASH}.exe`,
    `asset:acme/${HASH.toUpperCase()}.png`,
    `asset:acme/${HASH}.png\n`,
    ` asset:acme/${HASH}.png`,
    `asset:acme/../globex/${HASH}.png`,
    `https://acme/${HASH}.png`,
  ]) {
    assert.equal(media.parseAssetRef('acme', ref), null, JSON.stringify(ref))
  }
})

test('a URL needs both a base and a valid ref', () => {
  const ref = `asset:acme/${HASH}.jpg`
  const url = `https://cdn.example/stores/acme/assets/${HASH}.jpg`
  assert.equal(media.assetUrl('https://cdn.example', ref), url)
  assert.equal(media.assetUrl(null, ref), null)
  assert.equal(media.assetUrl('https://cdn.example', null), null)
  assert.equal(media.assetUrl('https://cdn.example', 'asset:acme/x.png'), null)
})

test('the uses of assets', async (t) => {
  const app = await openTestApp(t)
  const [db, other] = [await app.store('acme'), await app.store('globex')]
  const deps = openMedia({ ...app.runtime, assetBase: () => null })
  const store = async (shade: number, where = db) =>
    media.storeAsset(where, deps, {
      bytes: await plain('png', shade),
      contentType: 'image/png',
      alt: null,
    })
  const product = { kind: 'product', id: 'p1' } as const
  const use = (refs: string[], owner: { kind: 'product' | 'site'; id: string } = product) =>
    db.transaction('use', (tx) => media.setAssetUses(tx, owner, refs))
  const remove = (sha256: string) => media.remove(db, deps, { actor: SYSTEM, sha256 })
  const [a, b, foreign] = [await store(1), await store(2), await store(3, other)]

  await t.test('an asset is stored under the hash of its bytes', async () => {
    const bytes = await plain('png', 1)
    assert.equal(a.sha256, createHash('sha256').update(bytes).digest('hex'))
    assert.equal(a.asset_ref, `asset:acme/${a.sha256}.png`)
    assert.deepEqual([a.bytes, a.width, a.height, a.deduped], [bytes.length, 40, 20, false])
    assert.equal((await store(1)).deduped, true)
  })

  await t.test('refuse an asset that the store does not have', async () => {
    const unknown = `asset:acme/${HASH}.png`
    const renamed = a.asset_ref.replace('.png', '.jpg')
    for (const ref of [unknown, renamed, foreign.asset_ref, 'no ref', '']) {
      await assert.rejects(use([a.asset_ref, ref]), { code: 'asset_not_found' }, ref)
    }
  })

  await t.test('prevent the deletion of an asset until all uses have ended', async () => {
    await use([a.asset_ref, b.asset_ref, a.asset_ref])
    await use([a.asset_ref], { kind: 'site', id: '7' })
    const refs = [
      { kind: 'product', id: 'p1' },
      { kind: 'site', id: '7' },
    ]
    await assert.rejects(remove(a.sha256), { code: 'asset_in_use', body: { refs } })
    await use([b.asset_ref])
    await assert.rejects(remove(a.sha256), { code: 'asset_in_use', body: { refs: refs.slice(1) } })
    await use([], { kind: 'site', id: '7' })
    await remove(a.sha256)
    await assert.rejects(use([a.asset_ref]), { code: 'asset_not_found' })
    await assert.rejects(remove(a.sha256), { code: 'asset_not_found' })
  })

  await t.test(
    'a use and a deletion at the same time: one succeeds, and the other is refused',
    async () => {
      for (let round = 0; round < 10; round++) {
        const asset = await store(100 + round)
        const owner = { kind: 'product', id: `round ${round}` } as const
        const [used, removed] = await Promise.allSettled([
          use([asset.asset_ref], owner),
          remove(asset.sha256),
        ])
        assert.notEqual(used.status, removed.status, `round ${round}`)
      }
    },
  )

  await t.test('can name a deleted asset again once it is uploaded again', async () => {
    const again = await store(1)
    assert.equal(again.deduped, false)
    await use([again.asset_ref])
  })
})
