import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { groupTests } from '../../scripts/test-groups.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('every test file is in one group, and few processes load the app', () => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const groups = groupTests(files, ROOT)
  assert.deepEqual(groups.flat().sort(), files)
  assert.ok(groups.length < files.length / 3, `${groups.length} processes`)
})

test('a file that would get into the way of others has a process of its own', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'groups-'))
  t.after(() => rm(root, { recursive: true }))
  const texts: Record<string, string> = {
    'a.test.ts': "test('a', async () => {\n  await 1\n})",
    'b.test.ts': 'beforeEach(() => {})',
    'c.test.ts': 'const database = await open()',
    'd.test.ts': "describe('d', () => {\n  beforeEach(() => {})\n})",
    'e.test.ts': 'afterEach(async () => {})',
    'f.test.ts':
      "import { all } from '../await-all.ts'\nconst a = async () => (await all()).length",
  }
  await mkdir(join(root, 'test/kernel'), { recursive: true })
  const paths = Object.keys(texts).map((name) => `test/kernel/${name}`)
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(root, 'test/kernel', name), text)
  }
  const groups = groupTests(paths, root).map((group) => group.map((file) => file.at(-9)))
  assert.deepEqual(groups, [['a', 'd', 'f'], ['b'], ['c'], ['e']])
})
