import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { handlersOf } from '../src/worker.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')

test('every internal event that is published has a handler', () => {
  const topics = sources.matchAll(
    /type: '([^']+)',\s+payload: [^}]+\}?[^}]*\} satisfies (?:outbox\.)?Topic/g,
  )
  const inSql = read('generated/schema.sql').matchAll(/insert into outbox[^;]+?'([a-z_.]+\.v\d)'/gi)
  const published = [...topics, ...inSql].map(([, type = '']) => type)
  const handlers = handlersOf({} as Parameters<typeof handlersOf>[0])
  assert.deepEqual([...new Set(published)].sort(), Object.keys(handlers).sort())
})
