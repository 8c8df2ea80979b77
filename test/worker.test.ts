import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { handlersOf } from '../src/worker.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')

/** Returns the text of a type: a literal, or the constant of that name. */
function textOf(type: string): string {
  if (type.startsWith("'")) return type.slice(1, -1)
  const text = new RegExp(`const ${type} = '([^']+)'`).exec(sources)?.[1]
  assert.ok(text, `no constant is called ${type}`)
  return text
}

test('every internal event that is published has a handler', () => {
  const inCode = sources.matchAll(/publish(?:From)?\(\s*\w+,\s*('[^']+'|[A-Z_]+),/g)
  const inSql = read('schema.sql').matchAll(/insert into outbox[^;]+?('[a-z_.]+\.v\d')/gi)
  const published = [...inCode, ...inSql].map(([, type = '']) => textOf(type))
  const handlers = handlersOf({} as Parameters<typeof handlersOf>[0])
  assert.deepEqual([...new Set(published)].sort(), Object.keys(handlers).sort())
})
