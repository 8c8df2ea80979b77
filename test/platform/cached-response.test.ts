import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pickEncoding } from '../../src/platform/cached-response.ts'

const cases: readonly (readonly [header: string | undefined, picked: 'br' | 'gzip' | null])[] = [
  [undefined, null],
  ['', null],
  ['identity', null],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0', null],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0.8,gzip;q=0.5', 'br'],
  ['br ; q=0.3 , gzip ; q=0.3', 'br'],
  ['*', 'br'],
  ['*;q=0', null],
  ['*, br;q=0', 'gzip'],
  ['brotli', null],
  ['br;q=banana', null],
  [',;,=', null],
]
for (const [header, picked] of cases) {
  test(`accept-encoding ${JSON.stringify(header)} picks ${picked}`, () => {
    assert.equal(pickEncoding(header), picked)
  })
}
