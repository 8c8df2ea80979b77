import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Runs the drills that take minutes: tests that `npm test` runs briefly, run much longer, and the tests
 * of `test/torture`. Words after `--` choose the files whose path has all of them:
 * `npm run torture -- hostile`.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const LONG = {
  LONG: '1',
  KILL_SECONDS: '120',
  FUZZ_RUNS: '100000',
  WEBHOOK_KILLS: '20',
  RENEWAL_KILLS: '10',
  CAMPAIGN_ADDRESSES: '10000',
  // A run of an hour sets its own.
  WALK_SECONDS: process.env.WALK_SECONDS ?? '600',
}

/** Tests with random values: `npm test` draws the same values each time, and here they draw new ones. */
const RANDOM = globSync('{packages/*/,}test/**/*.test.ts', { cwd: ROOT }).filter((file) =>
  readFileSync(`${ROOT}${file}`, 'utf8').includes("from 'fast-check'"),
)

const FILES = new Set([
  'test/db/backend-kills.test.ts',
  'test/http/fuzz.test.ts',
  'test/modules/campaigns/killed-workers.test.ts',
  'test/modules/checkout/card-data.test.ts',
  'test/modules/checkout/faults.test.ts',
  'test/modules/checkout/parallel.test.ts',
  'test/modules/checkout/preview-properties.test.ts',
  'test/modules/inventory/stock-model.test.ts',
  'test/modules/inventory/unit-model.test.ts',
  'test/modules/renewals/killed-workers.test.ts',
  'test/modules/webhooks/killed-workers.test.ts',
  'test/npm-start.test.ts',
  'test/storefront/any-manifest.test.ts',
  ...RANDOM,
  ...globSync('test/torture/**/*.test.ts', { cwd: ROOT }),
])

const words = process.argv.slice(2)
const chosen = [...FILES].filter((file) => words.every((word) => file.includes(word)))
if (chosen.length === 0) {
  process.stderr.write(`no drill is called ${words.join(' ')}\n`)
  process.exit(2)
}

const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=1', '--test-reporter=spec', ...chosen],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...LONG } },
)
process.exitCode = status ?? 1
