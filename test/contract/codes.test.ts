import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Value } from 'typebox/value'
import { ERRORS } from '../../src/compose/errors.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('every code that the API can answer is named by a test', () => {
  const tests = globSync('test/{http,kernel,modules,platform,storefront}/**/*.ts', { cwd: ROOT })
  const named = new Set(
    tests.flatMap((file) => readFileSync(`${ROOT}/${file}`, 'utf8').match(/\b[a-z]+(_[a-z]+)*\b/g)),
  )
  const never = Object.keys(ERRORS).filter((code) => !named.has(code))
  assert.deepEqual(never, [])
})

/** Every object of a document, at any depth. */
function* objectsOf(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const each of Object.values(value)) yield* objectsOf(each)
}

test('every example in the document is valid', () => {
  const description = JSON.parse(readFileSync(`${ROOT}/generated/openapi.json`, 'utf8'))
  let seen = 0
  for (const { examples, ...schema } of objectsOf(description)) {
    if (!Array.isArray(examples)) continue
    for (const example of examples) {
      assert.ok(
        Value.Check(schema, example),
        `${JSON.stringify(example)}: ${JSON.stringify(schema)}`,
      )
      seen += 1
    }
  }
  assert.ok(seen > 0)
})
