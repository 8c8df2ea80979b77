import assert from 'node:assert/strict'
import { chown, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  announced,
  defer,
  emptyFolder,
  isOpen,
  query,
  spawnStarter,
  start,
} from '../../../test/harness/embedded.ts'

const NOBODY = 65_534
const rootOnly = { skip: process.getuid?.() === 0 ? false : 'only root can become another user' }

test('runs for a user who is not root', rootOnly, async (t) => {
  const dir = await emptyFolder(t)
  await chown(dir, NOBODY, NOBODY)
  const { url } = await announced(spawnStarter(t, dir, NOBODY))
  assert.deepEqual(await query(url, 'select 1'), [[1]])
  assert.equal((await stat(join(dir, 'postgres'))).uid, NOBODY)
})

/** The database of a folder that only root can enter, which is stored elsewhere. */
async function startHidden(t: TestContext) {
  const dir = join(await emptyFolder(t, 0o700), 'data')
  const server = await start(t, dir)
  const place = (await readFile(join(dir, 'embedded-location'), 'utf8')).trim()
  const listPlaces = async () =>
    (await readdir(dirname(place)))
      .map((name) => join(dirname(place), name))
      .filter((path) => path.startsWith(place))
  defer(t, async () => {
    for (const path of await listPlaces()) {
      await rm(path, { recursive: true, force: true, maxRetries: 20 })
    }
  })
  await query(server.url, 'create table kept as select 1 as n')
  return { dir, server, place, listPlaces }
}

test('gives root a database even in a folder that no other user can read', rootOnly, async (t) => {
  const { dir, server, place } = await startHidden(t)
  await server.stop()
  const second = await start(t, dir)
  assert.deepEqual(await query(second.url, 'select n from kept'), [[1]])
  assert.equal((await stat(join(place, 'postgres'))).mode & 0o777, 0o700)
})

test(
  'does not show the data of a deleted folder to a new one with its name',
  rootOnly,
  async (t) => {
    const { dir, server, place, listPlaces } = await startHidden(t)
    await rm(dir, { recursive: true })
    const next = await start(t, dir)
    assert.deepEqual(await query(next.url, `select to_regclass('kept')`), [[null]])
    assert.equal((await listPlaces()).filter((path) => path.startsWith(`${place}.`)).length, 1)
    assert.equal(await isOpen(server.port), server.port === next.port)
  },
)
