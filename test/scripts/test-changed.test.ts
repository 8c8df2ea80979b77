import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { findAffected, listChanged, SOURCES } from '../../scripts/test-changed.ts'

/** A small tree: `stores.test.ts` reaches the migrations through three files. */
const TREE: Record<string, string> = {
  'src/kernel/money.ts': '',
  'src/db/migrate.ts': "const FOLDER = new URL('../../migrations/', import.meta.url)",
  'src/db/database.ts': "import { migrate } from './migrate.ts'",
  'src/style.ts': `read(\`./style/\${name}.css\`)`,
  'src/main.ts': "import { Database } from './db/database.ts'",
  'test/harness/app.ts': "const { Database } = await import('../../src/db/database.ts')",
  'test/harness/process.ts': "spawn(file(new URL('../../src/main.ts', import.meta.url)))",
  'test/kernel/money.test.ts': "import { add } from '../../src/kernel/money.ts'",
  'test/modules/stores.test.ts': "import type { App } from '../harness/app.ts'",
  'test/main.test.ts': "import { start } from './harness/process.ts'",
  'test/style.test.ts': "import { styles } from '../src/style.ts'",
  'test/db/migrate.test.ts': "import { startEmbedded } from '@fairdock/embedded-postgres'",
  'test/contract.test.ts': `readFileSync(\`\${ROOT}/openapi.json\`)`,
}

const TESTS = Object.keys(TREE).filter((file) => file.endsWith('.test.ts'))

const affectedBy = (...changed: string[]) =>
  findAffected(TESTS, changed, { files: Object.keys(TREE), read: (file) => TREE[file] ?? '' })

describe('a change chooses the tests that reach it', () => {
  const cases: [string, string[], string[]][] = [
    ['a test itself', ['test/kernel/money.test.ts'], ['test/kernel/money.test.ts']],
    ['a file that one test imports', ['src/kernel/money.ts'], ['test/kernel/money.test.ts']],
    ['a program that a test starts', ['src/main.ts'], ['test/main.test.ts']],
    [
      'what is imported by what is imported, when it is needed only',
      ['src/db/database.ts'],
      ['test/modules/stores.test.ts', 'test/main.test.ts'],
    ],
    [
      'a file of a folder that is read',
      ['migrations/0001_ground.sql'],
      ['test/modules/stores.test.ts', 'test/main.test.ts'],
    ],
    ['a file whose name is made at run time', ['src/style/base.css'], ['test/style.test.ts']],
    ['a file that a test names', ['openapi.json'], ['test/contract.test.ts']],
    ['the harness', ['test/harness/app.ts'], ['test/modules/stores.test.ts']],
    [
      'a package of the workspace',
      ['packages/embedded-postgres/src/home.ts'],
      ['test/db/migrate.test.ts'],
    ],
    ['a file that no test reaches', ['README.md'], []],
    ['nothing', [], []],
    ['what every test runs by', ['package.json'], TESTS],
    ['the runner of the tests', ['scripts/test-groups.ts'], TESTS],
  ]
  for (const [what, changed, expected] of cases) {
    test(`a change chooses the tests that reach it by ${what}`, () => {
      assert.deepEqual(affectedBy(...changed), expected)
    })
  }
})

test('every folder with source files is watched for changes', () => {
  const root = join(import.meta.dirname, '../..')
  const tracked = execFileSync('git', ['ls-files', '--', '*.ts', '*.mjs'], { cwd: root })
  const sources = new Set(globSync(SOURCES, { cwd: root }))
  const missing = `${tracked}`.split('\n').filter((path) => path !== '' && !sources.has(path))
  assert.deepEqual(missing, [])
})

test('changed files are the new, edited, moved or deleted ones since the branch left its base', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'changed-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.example', ...args], {
      cwd: root,
      stdio: 'pipe',
    })
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const commit = (message: string) => {
    git('add', '-A')
    git('commit', '-qm', message)
  }
  git('init', '-q', '-b', 'main')
  for (const path of ['kept.ts', 'changed.ts', 'moved.ts', 'deleted.ts']) await write(path, path)
  await write('.gitignore', 'ignored.ts\n')
  commit('base')
  git('checkout', '-qb', 'work')
  await write('src/committed.ts', '1')
  commit('work')
  git('checkout', '-q', 'main')
  await write('of-main.ts', '1')
  commit('main goes on')
  git('checkout', '-q', 'work')
  await write('changed.ts', '2')
  await write('a new.ts', '1')
  await write('ignored.ts', '1')
  git('mv', 'moved.ts', 'there.ts')
  git('rm', '-q', 'deleted.ts')
  const now = ['a new.ts', 'changed.ts', 'deleted.ts', 'moved.ts', 'there.ts']
  assert.deepEqual(listChanged(root, 'HEAD').sort(), now)
  assert.deepEqual(listChanged(root, 'main').sort(), [...now, 'src/committed.ts'].sort())
  assert.throws(() => listChanged(root, 'nowhere'), /not a commit: nowhere/)
})
