import { spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findChromium } from '../test/harness/chromium.ts'
import { startTestServer } from '../test/harness/database.ts'
import { makeRunFolder } from '../test/harness/run-folder.ts'
import { runChecks } from './check.ts'
import { GREP_SETTING } from './grep-reporter.ts'
import { findAffected, listChanged, readFrom, SOURCES } from './test-changed.ts'
import { groupTests, writeGroups } from './test-groups.ts'
import { readTestOptions, type TestOptions, USAGE, UsageError } from './test-options.ts'

/**
 * Runs all checks of the tree, then every test. Where the command line chooses tests, it runs those
 * alone: a run of a few seconds, to be repeated while a change is being made.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Tests wait for a database more than they compute, so more files than cores run at once. */
const CONCURRENCY = 5

/** Room for young objects, so that those of one test die before they are copied. */
const YOUNG_MIB = 64

/** Ends a test that hangs; a test that is only slow on a busy machine may take its time. */
const TEST_TIMEOUT_MS = 600_000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const say = (text: string) => process.stdout.write(`${text}\n`)

/** The test files that the options choose, in the order of their names. */
function chooseTests({ paths, changed, base }: TestOptions): string[] {
  const all = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const files = all.filter(
    (file) =>
      !file.startsWith('test/torture/') &&
      (paths.length === 0 || paths.some((path) => file.startsWith(path))),
  )
  if (files.length === 0) throw new UsageError(`no test file is at ${paths.join(', ')}`)
  return changed ? chooseAffected(files, base) : files
}

function chooseAffected(files: readonly string[], base: string): string[] {
  const changes = listChanged(ROOT, base)
  const sources = { files: globSync(SOURCES, { cwd: ROOT }), read: readFrom(ROOT) }
  const chosen = findAffected(files, changes, sources)
  const what = changes.length === 1 ? '1 changed file' : `${changes.length} changed files`
  say(`${what} since ${base}, ${chosen.length} of ${files.length} test files reach them:`)
  const shown = chosen.length === files.length ? ['all of them'] : chosen
  for (const file of shown) say(`  ${file}`)
  return chosen
}

/** The arguments of Node's runner. A run by name has a reporter of its own, which fails where no test matches. */
async function runnerArgs(files: readonly string[], grep: string | null, dir: string) {
  const args = [
    `--max-semi-space-size=${YOUNG_MIB}`,
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    `--test-reporter=${grep === null ? 'spec' : './scripts/grep-reporter.ts'}`,
  ]
  if (grep === null) return [...args, ...writeGroups(groupTests(files), ROOT, dir)]
  // Needed by no other run, and slow to load: it brings the whole compiler.
  const { findByName } = await import('./test-names.ts')
  const read = readFrom(ROOT)
  const named = findByName(grep, new Map(files.map((file) => [file, read(file)])))
  if (named.files.length === 0) throw new UsageError(`no test has "${grep}" in its name`)
  const groups = groupTests(named.files)
  return [
    ...args,
    // A file whose tests do not run may have opened a database by then, and never closes it.
    '--test-force-exit',
    ...named.patterns.map((pattern) => `--test-name-pattern=${pattern}`),
    ...writeGroups(groups, ROOT, dir, { byName: true }),
  ]
}

/** Runs the tests with one server and one folder, so that no test has to start or to leave its own. */
async function test(files: readonly string[], grep: string | null): Promise<boolean> {
  // Installed before the tests look for it: the file is there some seconds before it can run.
  if (files.some((file) => file.startsWith('test/browser/'))) await findChromium()
  const place = await makeRunFolder(ROOT)
  const args = await runnerArgs(files, grep, join(place, `groups-${process.pid}`))
  const server = await startTestServer(join(place, 'server'))
  const env = {
    ...process.env,
    TMPDIR: place,
    TEST_SERVER: server.url,
    ...(grep !== null && { [GREP_SETTING]: grep }),
  }
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env })
  // A signal to the run ends the tests; what they leave behind is still cleared away.
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

async function main(args: readonly string[]): Promise<number> {
  const options = readTestOptions(args)
  const files = chooseTests(options)
  const checked = args.length > 0 || (await runChecks())
  const tested = files.length === 0 || (await test(files, options.grep))
  return checked && tested ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2)).catch((error) => {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}`)
  return 2
})
