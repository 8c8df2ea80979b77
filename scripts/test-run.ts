import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findChromium } from '../test/harness/chromium.ts'
import { startTestServer } from '../test/harness/database.ts'
import { makeRunFolder } from '../test/harness/run-folder.ts'
import { GREP_SETTING } from './grep-reporter.ts'
import { readFrom } from './test-changed.ts'
import { groupTests, WITH_BROWSER, writeGroups } from './test-groups.ts'
import { UsageError } from './test-options.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Tests wait for a database more than they compute, so more files than cores run at once. The figures: decision 0069.
 */
const CONCURRENCY = 5

/** Room for young objects, so that those of one test die before they are copied. */
const YOUNG_MIB = 64

/** Ends a test that hangs; a test that is only slow on a busy machine may take its time. */
const TEST_TIMEOUT_MS = 600_000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

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

/**
 * Runs these test files, or of them the tests whose name contains a text, and returns whether all passed.
 * They have one server and one folder, so that no test has to start or to leave its own.
 */
export async function runTests(
  files: readonly string[],
  grep: string | null = null,
): Promise<boolean> {
  // Installed before the tests look for it: the file is there some seconds before it can run.
  if (files.some((file) => WITH_BROWSER.test(file))) await findChromium()
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
