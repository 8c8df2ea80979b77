import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listProbes } from '../../bench/scale/probes.ts'
import type { Target } from '../../bench/scale/targets.ts'
import type { ApiDocument } from '../../src/http/api-document.ts'

/** Knows a value for every name. */
const ANY_TARGET = new Proxy<Target>({}, { get: (_, name) => String(name) })

test('a read route that is added is measured at size, and flooded by the drills', () => {
  const document = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as ApiDocument
  const probes = listProbes(document)
  for (const probe of probes) assert.match(probe.path(ANY_TARGET), /^\//)
  assert.ok(probes.length > 400, `${probes.length} probes`)
})
