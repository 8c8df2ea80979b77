import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexMethods } from '../../src/http/allowed-methods.ts'
import type { RouteEntry } from '../../src/http/route.ts'

const routes = [
  ['GET', '/v1/stores'],
  ['POST', '/v1/stores'],
  ['GET', '/v1/stores/:tenant'],
  ['PATCH', '/v1/stores/:id'],
  ['DELETE', '/v1/stores/demo'],
].map(([method, url]) => ({ method, url }) as RouteEntry)

test('the methods of a path are those of all its patterns, HEAD with GET', () => {
  const methodsOf = indexMethods(routes)
  assert.deepEqual(methodsOf('/v1/stores'), ['GET', 'HEAD', 'POST'])
  assert.deepEqual(methodsOf('/v1/stores/acme'), ['GET', 'HEAD', 'PATCH'])
  assert.deepEqual(methodsOf('/v1/stores/demo'), ['GET', 'HEAD', 'PATCH', 'DELETE'])
  for (const path of ['', '/', '/v1/stores/', '/v1/store', '/v1/stores/a/b', '//v1/stores']) {
    assert.deepEqual(methodsOf(path), [], path)
  }
})

test('a path of thousands of slashes costs no more than a few times a path that exists', () => {
  const many = Array.from({ length: 400 }, (_, n) => ({ method: 'GET', url: `/v1/a${n}/:id/b` }))
  const methodsOf = indexMethods(many as RouteEntry[])
  const timeOf = (path: string) => {
    const begun = performance.now()
    for (let i = 0; i < 200; i += 1) methodsOf(path)
    return performance.now() - begun
  }
  const [long, known] = ['/'.repeat(7_900), '/v1/a399/x/b']
  timeOf(long)
  timeOf(known)
  // In one of some rounds no other program is in the way. A walk through the slashes would show in each.
  const isFast = () => timeOf(long) <= 2 * timeOf(known) + 1
  const rounds = Array.from({ length: 20 }, isFast)
  assert.ok(rounds.some(Boolean), 'at most twice, and a millisecond for 200')
})
