import assert from 'node:assert/strict'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMedia } from '../../../src/app.ts'
import { collectDue } from '../../../src/modules/media/jobs.ts'
import * as media from '../../../src/modules/media/service.ts'
import { createSpool } from '../../../src/modules/media/spool.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { openTestApp } from '../../harness/app.ts'
import { plain } from './pictures.ts'

test('the collector', async (t) => {
  const app = await openTestApp(t)
  const { runtime, database } = app
  const admin = await database.openAdmin()
  const db = await app.store('acme')
  const deps = openMedia(runtime, () => null)
  const folder = join(runtime.config.DATA_DIR, 'assets', 'acme')
  const keep = async (shade: number) =>
    media.keepAsset(db, deps, await plain('png', shade, [400, 4]), 'image/png')
  const remove = (sha256: string) => media.remove(db, deps, { actor: SYSTEM, sha256 })
  const age = (days: number) =>
    admin.query(`update assets set collect_at = collect_at - interval '${days} days'`)
  const collect = () => collectDue(runtime.workerDatabase, runtime.blobs)
  const [kept, deleted] = [await keep(1), await keep(2)]
  await fetch(`${app.url}/stores/acme/assets/${deleted.sha256}.png?w=160`)
  assert.equal((await readdir(folder)).length, 3)

  await t.test(
    'leaves alone what was deleted less than 30 days ago, which can come back',
    async () => {
      await remove(deleted.sha256)
      await age(29)
      assert.equal(await collect(), 0)
      assert.equal((await keep(2)).deduped, false)
      await age(60)
      assert.equal(await collect(), 0)
      assert.equal((await readdir(folder)).length, 3)
    },
  )

  await t.test('takes row, bytes and forms of what was deleted 30 days ago', async () => {
    await remove(deleted.sha256)
    await age(30)
    assert.equal(await collect(), 1)
    assert.deepEqual(await readdir(folder), [`${kept.sha256}.png`])
    const { rows } = await admin.query('select sha256 from assets')
    assert.deepEqual(rows, [{ sha256: kept.sha256 }])
    const { rows: usage } = await admin.query('select bytes::int from media_usage')
    assert.deepEqual(usage, [{ bytes: kept.bytes }])
    assert.equal((await keep(2)).deduped, false)
  })

  await t.test('takes what an upload left that never came to its end', async () => {
    await admin.query(
      `insert into assets (tenant_ref, sha256, extension, content_type, bytes, collect_at)
       values ('acme', repeat('a', 64), 'png', 'image/png', 1, now() + interval '1 day')`,
    )
    assert.equal(await collect(), 0)
    await age(1)
    assert.equal(await collect(), 1)
  })

  await t.test('and an upload at the same time never part with bytes that are in use', async () => {
    for (let round = 0; round < 10; round++) {
      const asset = await keep(100 + round)
      await remove(asset.sha256)
      await age(30)
      const [, again] = await Promise.all([collect(), keep(100 + round)])
      assert.equal(again.sha256, asset.sha256)
      assert.ok(await runtime.blobs.head(`acme/${asset.sha256}.png`), `round ${round}`)
      await collect()
      assert.ok(await runtime.blobs.head(`acme/${asset.sha256}.png`), `round ${round}, later`)
    }
  })
})

test('the spool forgets what killed processes left, and nothing that is still growing', async (t) => {
  const { runtime } = await openTestApp(t)
  const dataDir = runtime.config.DATA_DIR
  const spool = createSpool(dataDir)
  assert.equal(await spool.sweep(), 0)
  const { Readable } = await import('node:stream')
  const growing = await spool.receive('acme', Readable.from([Buffer.from('x')]), 10)
  const old = join(dataDir, 'uploads', 'old')
  await writeFile(old, 'x')
  const then = new Date(Date.now() - 2 * 60 * 60 * 1_000)
  await utimes(old, then, then)
  assert.equal(await spool.sweep(), 1)
  assert.equal(String(await growing.read()), 'x')
})
