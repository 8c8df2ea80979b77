import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openMedia } from '../../../src/app.ts'
import * as media from '../../../src/modules/media/service.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { openTestApp } from '../../harness/app.ts'
import { plain } from './pictures.ts'

const HASH = 'a'.repeat(64)

test('a ref is read only when it is well formed and of the store itself', () => {
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

test('an address is made of the base and the ref, or not at all', () => {
  const ref = `asset:acme/${HASH}.jpg`
  const url = `https://cdn.example/stores/acme/assets/${HASH}.jpg`
  assert.equal(media.assetUrl('https://cdn.example', ref), url)
  assert.equal(media.assetUrl(null, ref), null)
  assert.equal(media.assetUrl('https://cdn.example', null), null)
  assert.equal(media.assetUrl('https://cdn.example', 'asset:acme/x.png'), null)
})

test('assets that are claimed stay, and only those', async (t) => {
  const { runtime, store } = await openTestApp(t)
  const [db, other] = [await store('acme'), await store('globex')]
  const deps = openMedia(runtime, () => null)
  const keep = async (shade: number, where = db) =>
    media.keepAsset(where, deps, await plain('png', shade), 'image/png')
  const product = { kind: 'product', id: 'p1' } as const
  const claim = (refs: string[], owner: { kind: 'product' | 'site'; id: string } = product) =>
    db.transaction('claim', (tx) => media.claimAssets(tx, owner, refs))
  const remove = (sha256: string) => media.remove(db, deps, { actor: SYSTEM, sha256 })
  const [a, b, foreign] = [await keep(1), await keep(2), await keep(3, other)]

  await t.test('an asset is kept under the hash of its bytes', async () => {
    const bytes = await plain('png', 1)
    assert.equal(a.sha256, createHash('sha256').update(bytes).digest('hex'))
    assert.equal(a.asset_ref, `asset:acme/${a.sha256}.png`)
    assert.deepEqual([a.bytes, a.width, a.height, a.deduped], [bytes.length, 40, 20, false])
    assert.equal((await keep(1)).deduped, true)
  })

  await t.test('a claim of what the store does not have is refused', async () => {
    const unknown = `asset:acme/${HASH}.png`
    const renamed = a.asset_ref.replace('.png', '.jpg')
    for (const ref of [unknown, renamed, foreign.asset_ref, 'no ref', '']) {
      await assert.rejects(claim([a.asset_ref, ref]), { code: 'asset_not_found' }, ref)
    }
  })

  await t.test('what is claimed cannot be deleted until all have let go', async () => {
    await claim([a.asset_ref, b.asset_ref, a.asset_ref])
    await claim([a.asset_ref], { kind: 'site', id: '7' })
    const refs = [
      { kind: 'product', id: 'p1' },
      { kind: 'site', id: '7' },
    ]
    await assert.rejects(remove(a.sha256), { code: 'asset_in_use', body: { refs } })
    await claim([b.asset_ref])
    await assert.rejects(remove(a.sha256), { code: 'asset_in_use', body: { refs: refs.slice(1) } })
    await claim([], { kind: 'site', id: '7' })
    await remove(a.sha256)
    await assert.rejects(claim([a.asset_ref]), { code: 'asset_not_found' })
    await assert.rejects(remove(a.sha256), { code: 'asset_not_found' })
  })

  await t.test('of a claim and a deletion at once one wins, and the other knows', async () => {
    for (let round = 0; round < 10; round++) {
      const asset = await keep(100 + round)
      const owner = { kind: 'product', id: `round ${round}` } as const
      const [claimed, removed] = await Promise.allSettled([
        claim([asset.asset_ref], owner),
        remove(asset.sha256),
      ])
      assert.notEqual(claimed.status, removed.status, `round ${round}`)
    }
  })

  await t.test('what was deleted comes back when it is uploaded again', async () => {
    const again = await keep(1)
    assert.equal(again.deduped, false)
    await claim([again.asset_ref])
  })
})
