import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { GREP_SETTING } from '../../scripts/grep-reporter.ts'
import { findByName } from '../../scripts/test-names.ts'

const REPORTER = fileURLToPath(new URL('../../scripts/grep-reporter.ts', import.meta.url))

const FILES = {
  'flat.mjs': `
    import { describe, test } from 'node:test'
    test('is flat (and odd)', () => {})
    describe('a suite', () => {
      test('holds a test', () => {})
      test('holds another', () => {})
    })`,
  'nested.mjs': `
    import { test } from 'node:test'
    test('an outer test', async (t) => {
      await t.test('has an inner one', () => {})
      await t.test('and a last one', () => {})
    })
    test('a test beside it', () => { /flat/.test('flat') })`,
  'made.mjs': `
    import { test } from 'node:test'
    for (const [what, work] of [['SIGNAL', () => {}], ['another', () => {}]]) {
      test(\`hands \${what} to the program\`, work)
    }`,
}

const find = (text: string) => {
  const { files, patterns } = findByName(text, new Map(Object.entries(FILES)))
  return [files, patterns.slice(1)]
}

describe('a test is found by a part of its name', () => {
  const cases: [string, string, string[], string[]][] = [
    ['flat', 'is flat (and', ['flat.mjs'], []],
    ['with the suite around it', 'a suite holds a test', ['flat.mjs'], []],
    ['within a test, which runs', 'has an inner', ['nested.mjs'], ['an outer test']],
    ['made at run time', 'hands SIGNAL to', ['made.mjs'], []],
    ['by what fills its gap alone', 'SIGNAL', ['made.mjs'], []],
    ['and is not where no name has the text', 'no such name', [], []],
  ]
  for (const [what, text, files, outer] of cases) {
    test(what, () => {
      assert.deepEqual(find(text), [files, outer])
    })
  }
})

describe('a run by name', () => {
  async function run(t: TestContext, text: string) {
    const dir = await mkdtemp(join(tmpdir(), 'names-'))
    t.after(() => rm(dir, { recursive: true, force: true }))
    for (const [name, source] of Object.entries(FILES)) await writeFile(join(dir, name), source)
    const patterns = findByName(text, new Map(Object.entries(FILES))).patterns
    const names = patterns.map((each) => `--test-name-pattern=${each}`)
    const args = ['--test', `--test-reporter=${REPORTER}`, ...names]
    // A run within a run reports to the outer one otherwise.
    const { NODE_TEST_CONTEXT, ...env } = process.env
    const files = Object.keys(FILES).map((name) => join(dir, name))
    return spawnSync(process.execPath, [...args, ...files], {
      encoding: 'utf8',
      env: { ...env, [GREP_SETTING]: text },
    })
  }

  for (const [text, shown, said] of [
    ['a suite holds a test', ['a suite', 'holds a test'], '1 test has'],
    ['is flat (and odd)', ['is flat (and odd)'], '1 test has'],
    ['inner one', ['an outer test', 'has an inner one', 'and a last one'], '1 test has'],
    ['hands', ['hands SIGNAL to the program', 'hands another to the program'], '2 tests have'],
  ] as const) {
    test(`runs ${said} "${text}"`, async (t) => {
      const { status, stdout } = await run(t, text)
      assert.equal(status, 0, stdout)
      const lines = stdout.matchAll(/^ *[✔▶] (.*?)(?: \(\d[^()]*ms\))?$/gmu)
      assert.deepEqual(new Set(Array.from(lines, ([, name]) => name)), new Set(shown))
      assert.ok(stdout.includes(`${said} "${text}" in the name`), stdout)
    })
  }

  test('fails if no test has the text, and says so', async (t) => {
    const { status, stdout } = await run(t, 'no such name')
    assert.equal(status, 1)
    assert.equal(stdout.trim(), 'No tests have "no such name" in the name.')
  })
})
