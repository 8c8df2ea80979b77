import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runTests } from './test-run.ts'

/**
 * Runs the tests of `test/journeys`: every section, theme, device and mail in a browser, of which `npm test`
 * runs the main ones alone. Words after `--` choose the files whose path has all of them:
 * `npm run journeys -- mail`.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const USAGE = `usage: npm run journeys -- [word...]

  npm run journeys            every journey
  npm run journeys -- mail    the files of test/journeys whose path has the word
`

const words = process.argv.slice(2)
const files = globSync('test/journeys/*.test.ts', { cwd: ROOT })
const chosen = files.sort().filter((file) => words.every((word) => file.includes(word)))
if (chosen.length === 0) {
  process.stderr.write(`no journey is called ${words.join(' ')}\n\n${USAGE}`)
  process.exit(2)
}

process.exitCode = (await runTests(chosen)) ? 0 : 1
