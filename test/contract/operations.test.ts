import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LOOKUP_SCOPES, SHOPPER_OPERATIONS } from '../../src/modules/operations/table.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readText = (path: string) => readFileSync(`${root}/${path}`, 'utf8')

/** The texts of all calls that log in one way: fields, if there are any, and then the text. */
function listLogged(call: string): string[] {
  const logged = new RegExp(
    `\\b${call}\\(\\s*(?:(?:\\w+|\\{[^}]*\\}),\\s*)?'([^']+)',?\\s*\\)`,
    'g',
  )
  return globSync('{src,storefront}/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readText(path).matchAll(logged)].map(([, message = '']) => message),
  )
}

/** The texts in the first column of the tables of the page. */
const listed = readText('docs/operating/running.md')
  .split('\n')
  .flatMap((line) => (line.startsWith('| `') ? [line.slice(0, line.indexOf(' | '))] : []))

const findMissing = (messages: string[]) =>
  messages.filter((message) => !listed.some((cell) => cell.includes(`\`${message}\``)))

test('the operations page says what to do about every alert', () => {
  const alerts = listLogged('(?:onAlert|log(?:ger)?\\.(?:error|fatal))')
  assert.ok(alerts.length >= 25, `only ${alerts.length} alerts were found`)
  assert.deepEqual(findMissing(alerts), [])
})

test('the operations page says what to do about every warning', () => {
  const warnings = listLogged('warn')
  assert.ok(warnings.length >= 10, `only ${warnings.length} warnings were found`)
  assert.deepEqual(findMissing(warnings), [])
})

test('the contract page lists every operation with its scope, and the operations of shoppers', () => {
  const [, chapter = ''] = readText('docs/rulings/everywhere.md').split('### The operations\n')
  const [table = ''] = chapter.split('\n## ')
  const rows = [...table.matchAll(/^\| `(\w+)` \|.*\| `([\w:]+)` \| (yes)? ?\|$/gm)]
  assert.deepEqual(Object.fromEntries(rows.map(([, name, scope]) => [name, scope])), LOOKUP_SCOPES)
  const shoppers = rows.flatMap(([, name, , isShoppers]) => (isShoppers ? [name] : []))
  assert.deepEqual(shoppers, SHOPPER_OPERATIONS)
})
