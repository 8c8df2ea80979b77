import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runChecks } from './check.ts'
import { findAffected, listChanged, readFrom, SOURCES } from './test-changed.ts'
import { readTestOptions, type TestOptions, USAGE, UsageError } from './test-options.ts'
import { runTests } from './test-run.ts'

/**
 * Runs all checks of the tree, then every test. Where the command line chooses tests, it runs those
 * alone: a run of a few seconds, to be repeated while a change is being made.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Folders of tests that have a command of their own: `npm run torture` and `npm run journeys`. */
const APART = ['test/torture/', 'test/journeys/']

const say = (text: string) => process.stdout.write(`${text}\n`)

/** The test files that the options choose, in the order of their names. */
function chooseTests({ paths, changed, base }: TestOptions): string[] {
  const all = globSync('{packages/*/,}test/**/*.test.ts', { cwd: ROOT }).sort()
  const files = all.filter(
    (file) =>
      !APART.some((folder) => file.startsWith(folder)) &&
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
  const journeys = findAffected(
    globSync('test/journeys/*.test.ts', { cwd: ROOT }),
    changes,
    sources,
  )
  if (journeys.length > 0) say(`${journeys.length} of the files of npm run journeys, too`)
  return chosen
}

async function main(args: readonly string[]): Promise<number> {
  const options = readTestOptions(args)
  const files = chooseTests(options)
  const checked = args.length > 0 || (await runChecks())
  const tested = files.length === 0 || (await runTests(files, options.grep))
  return checked && tested ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2)).catch((error) => {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}`)
  return 2
})
