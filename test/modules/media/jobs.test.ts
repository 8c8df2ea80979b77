import assert from 'node:assert/strict'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { collectDue } from '../../../src/modules/media/jobs.ts'
import { openMedia } from '../../../src/modules/media/open.ts'
import { createPendingUploads } from '../../../src/modules/media/pending-uploads.ts'
import * as media from '../../../src/modules/media/service.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { openTestApp } from '../../harness/app.ts'
import { plain } from './sample-images.ts'

test('the collector', async (t) => {
  const app = await openTestApp(t)
  const { runtime, database } = app
  const admin = await database.openAdmin()
  const db = await app.store('acme')
  const deps = openMedia({ ...runtime, assetBase: () => null })
  const folder = join(runtime.config.DATA_DIR, 'assets', 'acme')
  const store = async (shade: number) =>
    media.storeAsset(db, deps, {
      bytes: await plain('png', shade, [400, 4]),
      contentType: 'image/png',
      alt: null,
    })
  const remove = (sha256: string) => media.remove(db, deps, { actor: SYSTEM, sha256 })
  const age = (days: number) =>
    admin.query(`update assets set collect_at = collect_at - interval '${days} days'`)
  const collect = () => collectDue(runtime.workerDatabase, runtime.blobs)
  const [kept, deleted] = [await store(1), await store(2)]
  await fetch(`${app.url}/stores/acme/assets/${deleted.sha256}.png?w=160`)
  assert.equal((await readdir(folder)).length, 3)

  await t.test(
    'keeps an asset that was deleted less than 30 days ago, so that it can be restored',
    async () => {
      await remove(deleted.sha256)
      await age(29)
      assert.equal(await collect(), 0)
      assert.equal((await store(2)).deduped, false)
      await age(60)
      assert.equal(await collect(), 0)
      assert.equal((await readdir(folder)).length, 3)
    },
  )

  await t.test(
    'removes row, bytes and resized images of an asset that was deleted 30 days ago',
    async () => {
      await remove(deleted.sha256)
      await age(30)
      assert.equal(await collect(), 1)
      assert.deepEqual(await readdir(folder), [`${kept.sha256}.png`])
      const { rows } = await admin.query('select sha256 from assets')
      assert.deepEqual(rows, [{ sha256: kept.sha256 }])
      const { rows: usage } = await admin.query('select bytes::int from media_usage')
      assert.deepEqual(usage, [{ bytes: kept.bytes }])
      assert.equal((await store(2)).deduped, false)
    },
  )

  await t.test('removes the row of an upload that never finished', async () => {
    await admin.query(
      `insert into assets (tenant_ref, sha256, extension, content_type, bytes, collect_at)
       values ('acme', repeat('a', 64), 'png', 'image/png', 1, now() + interval '1 day')`,
    )
    assert.equal(await collect(), 0)
    await age(1)
    assert.equal(await collect(), 1)
  })

  await t.test('a sweep and a concurrent upload never lose bytes that are in use', async () => {
    for (let round = 0; round < 10; round++) {
      const asset = await store(100 + round)
      await remove(asset.sha256)
      await age(30)
      const [, again] = await Promise.all([collect(), store(100 + round)])
      assert.equal(again.sha256, asset.sha256)
      assert.ok(await runtime.blobs.head(`acme/${asset.sha256}.png`), `round ${round}`)
      await collect()
      assert.ok(await runtime.blobs.head(`acme/${asset.sha256}.png`), `round ${round}, later`)
    }
  })
})

test('the files of killed uploads are removed, and those of running uploads stay', async (t) => {
  const { runtime } = await openTestApp(t)
  const dataDir = runtime.config.DATA_DIR
  const pendingUploads = createPendingUploads(dataDir)
  assert.equal(await pendingUploads.removeAbandoned(), 0)
  const { Readable } = await import('node:stream')
  const arriving = await pendingUploads.receive('acme', Readable.from([Buffer.from('x')]), 10)
  const old = join(dataDir, 'uploads', 'old')
  await writeFile(old, 'x')
  const then = new Date(Date.now() - 2 * 60 * 60 * 1_000)
  await utimes(old, then, then)
  assert.equal(await pendingUploads.removeAbandoned(), 1)
  assert.equal(String(await arriving.read()), 'x')
})
