import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a resource is proven by: the tests that are generated, and its own. */
const TESTS = [
  'test/db/tenancy.test.ts',
  'test/contract/examples',
  'test/contract/lists.test.ts',
  'test/contract/planes.test.ts',
  'test/modules/entitlements/limits.test.ts',
  'test/modules/size-charts',
  'test/modules/purchasing/delivery-notes.test.ts',
]

test('a new resource passes the checks and the generated tests as it is written', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'new-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT })
  for (const path of listed.toString().split('\n').filter(Boolean)) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const run = (script: string, ...args: string[]) => {
    const env = { ...process.env, UPDATE_EXAMPLES: '1', NODE_TEST_CONTEXT: '' }
    const done = spawnSync(process.execPath, [script, ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    assert.equal(done.status, 0, `${script} ${args}\n${done.stdout}\n${done.stderr}`)
  }
  run('scripts/new.ts', 'resource', 'size-chart', '--area', 'goods')
  run('scripts/new.ts', 'resource', 'delivery-note', '--module', 'purchasing')
  for (const derived of ['schema', 'retention', 'map', 'openapi']) run(`scripts/${derived}.ts`)
  run('scripts/test.ts', ...TESTS)
  run('scripts/openapi.ts')
  run('scripts/check.ts')
})
