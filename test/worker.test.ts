import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHandlers } from '../src/compose/handlers.ts'
import { openIdleRuntime } from './harness/idle-runtime.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')

test('every internal event that is published has a handler', async (t) => {
  const topics = sources.matchAll(
    /type: '([^']+)',\s+payload: [^}]+\}?[^}]*\} satisfies (?:outbox\.)?Topic/g,
  )
  const inSql = read('generated/schema.sql').matchAll(/insert into outbox[^;]+?'([a-z_.]+\.v\d)'/gi)
  const published = [...topics, ...inSql].map(([, type = '']) => type)
  const handlers = await openHandlers(await openIdleRuntime(t))
  assert.deepEqual([...new Set(published)].sort(), Object.keys(handlers).sort())
})
