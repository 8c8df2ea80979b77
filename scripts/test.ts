import { spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findChromium } from '../test/harness/chromium.ts'
import { startTestServer } from '../test/harness/database.ts'
import { makePlace } from '../test/harness/run-folder.ts'
import { groupTests, writeGroups } from './test-groups.ts'

/**
 * The whole truth about the tree: format, lint, types, import and house rules, the generated files,
 * then every test. `npm test -- test/db` runs the tests below a path alone.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BIN = `${ROOT}node_modules/`
const node = process.execPath

const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['types', node, `${BIN}typescript7/bin/tsc`, '--noEmit'],
  ['format and lint', `${BIN}.bin/biome`, 'ci', '--colors=off', '.'],
  ['imports', node, 'scripts/imports.ts'],
  ['house rules', node, 'scripts/house-rules.ts'],
  ['openapi.json', node, 'scripts/openapi.ts', '--check'],
  ['schema.sql', node, 'scripts/schema.ts', '--check'],
  ['docs/configuration.md', node, 'scripts/configuration.ts', '--check'],
]

/** Tests wait for a database more than they compute, so more files than cores run at once. */
const CONCURRENCY = 4

/** For what hangs: what is slow on a busy machine takes its time. */
const TEST_TIMEOUT_MS = 600_000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function run(command: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

async function check(): Promise<boolean> {
  let passed = true
  const waiting = CHECKS.values()
  const lane = async () => {
    for (const [name, command, ...args] of waiting) {
      const started = performance.now()
      const { code, output } = await run(command, args)
      const seconds = ((performance.now() - started) / 1_000).toFixed(1)
      process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`)
      if (code !== 0) process.stdout.write(`${output}\n`)
      passed &&= code === 0
    }
  }
  await Promise.all([lane(), lane()])
  return passed
}

function listTests(paths: readonly string[]): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  return files.filter(
    (file) =>
      !file.startsWith('test/torture/') &&
      (paths.length === 0 || paths.some((path) => file.startsWith(path))),
  )
}

/** One server and one folder for the whole run, so that no test has to start or to leave its own. */
async function test(paths: readonly string[]): Promise<boolean> {
  const files = listTests(paths)
  if (files.length === 0) throw new Error('no test file matches')
  // Whole before anybody looks for it: it can be seen for some seconds before it can run.
  if (files.some((file) => file.startsWith('test/browser/'))) await findChromium()
  const place = await makePlace(ROOT)
  const server = await startTestServer(join(place, 'server'))
  const args = [
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-reporter=spec',
    ...writeGroups(groupTests(files, ROOT), ROOT, join(place, `groups-${process.pid}`)),
  ]
  const env = { ...process.env, TMPDIR: place, TEST_SERVER: server.url }
  const child = spawn(node, args, { cwd: ROOT, stdio: 'inherit', env })
  // Whoever ends the run ends the tests; what they leave behind is still cleared away.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
  const code = await new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? 1))
  })
  await server.stop()
  // Another run of the same tree may still use the server, and will clear away after both.
  const isUsed = existsSync(join(place, 'server', 'postgres', 'postmaster.pid'))
  if (!isUsed) await rm(place, { recursive: true, force: true, maxRetries: 5 })
  return code === 0
}

const paths = process.argv.slice(2)
const checked = paths.length > 0 || (await check())
const tested = await test(paths)
process.exitCode = checked && tested ? 0 : 1
