import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { groupTests, writeGroups } from '../../scripts/test-groups.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('every test file is in one group, and few processes load the app', () => {
  const files = globSync('{packages/*/,}test/**/*.test.ts', { cwd: ROOT }).sort()
  const groups = groupTests(files)
  assert.deepEqual(groups.flat().sort(), files)
  assert.ok(groups.length < files.length / 5, `${groups.length} processes`)
})

test('files that have a process of their own run last', () => {
  const groups = groupTests(globSync('{packages/*/,}test/**/*.test.ts', { cwd: ROOT }).sort())
  const first = groups.findIndex(({ length }) => length === 1)
  assert.ok(first > 0)
  assert.ok(groups.slice(first).every(({ length }) => length === 1))
})

test('many files of a folder are divided between two processes, and few share one', () => {
  const files = (count: number) =>
    Array.from({ length: count }, (_, n) => `test/kernel/${n}.test.ts`)
  const sizes = (count: number) => groupTests(files(count)).map(({ length }) => length)
  assert.deepEqual([sizes(8), sizes(9), sizes(97)], [[8], [4, 5], [32, 32, 33]])
})

describe('files that share a process', () => {
  /** Runs files, given by their text, as one group. `said` is what the tests wrote, in its order. */
  async function run(t: TestContext, texts: Record<string, string>, ...args: string[]) {
    const root = await mkdtemp(join(tmpdir(), 'groups-'))
    t.after(() => rm(root, { recursive: true, force: true }))
    for (const [name, text] of Object.entries(texts)) {
      const imports = "import { after, before, beforeEach, test } from 'node:test'\n"
      await writeFile(
        join(root, name),
        `${imports}const say = (what) => console.log('= ' + what)\n${text}`,
      )
    }
    const byName = args.length > 0
    const [group = ''] = writeGroups([Object.keys(texts)], root, join(root, 'groups'), { byName })
    // A run within a run reports to the outer one otherwise.
    const { NODE_TEST_CONTEXT, ...env } = process.env
    const { status, stdout } = spawnSync(
      process.execPath,
      ['--test', '--test-reporter=spec', ...args, group],
      { encoding: 'utf8', env },
    )
    const said = stdout.split('\n').flatMap((line) => /^= (.*)/.exec(line)?.[1] ?? [])
    return { status, stdout, said }
  }

  test('keep their hooks to themselves, and run one after the other', async (t) => {
    const { status, said } = await run(t, {
      'a.mjs': `
        before(() => say('opens a'))
        beforeEach(() => say('prepares a'))
        after(() => say('closes a'))
        test('a', () => say('a'))`,
      'b.mjs': `
        const late = await new Promise((resolve) => setTimeout(resolve, 50, 'b'))
        before(() => say('opens b'))
        after(() => say('closes b'))
        test('b', () => say(late))`,
      'c.mjs': `test('c', () => say('c'))`,
    })
    assert.equal(status, 0)
    const [a, b] = [
      ['opens a', 'prepares a', 'a', 'closes a'],
      ['opens b', 'b', 'closes b'],
    ]
    assert.deepEqual(said, [...a, ...b, 'c'])
  })

  test('all run, and close, also if one fails before its first test or cannot be loaded', async (t) => {
    const { status, stdout, said } = await run(t, {
      'a.mjs': `
        after(() => say('closes a'))
        before(() => { throw new Error('no database') })
        test('a', () => say('a'))`,
      'b.mjs': `throw new Error('no such file')`,
      'c.mjs': `test('c', () => say('c'))`,
    })
    assert.equal(status, 1)
    assert.deepEqual(said, ['closes a', 'c'])
    assert.match(stdout, /no database/)
    assert.match(stdout, /no such file/)
  })

  test('are not found by their paths in a run by name', async (t) => {
    const texts = { 'a.mjs': `test('one', () => say('one'))`, 'b.mjs': `test('a', () => say('a'))` }
    const { status, said } = await run(t, texts, '--test-name-pattern=a')
    assert.deepEqual([status, said], [0, ['a']])
  })
})
