import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readText = (path: string) => readFileSync(`${root}/${path}`, 'utf8')

/** A call that logs at level error or above: its fields, and then its text. */
const ALERT = /(?:onAlert|logger\.(?:error|fatal))\(\s*(?:\w+|\{[^}]*\}),\s*'([^']+)',?\s*\)/g

test('the operations page says what to do about every alert', () => {
  const rows = readText('docs/operations.md').split('\n')
  const alerts = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readText(path).matchAll(ALERT)].map(([, message]) => message),
  )
  assert.ok(alerts.length >= 17, `only ${alerts.length} alerts were found`)
  const missing = alerts.filter(
    (message) => !rows.some((row) => row.startsWith(`| \`${message}\` | `)),
  )
  assert.deepEqual(missing, [])
})
