import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOutage, isPostgresError } from '../../src/db/constraints.ts'

test('a lost socket is an outage, though its error code looks like one of PostgreSQL', () => {
  const lost = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' })
  assert.deepEqual([isPostgresError(lost), isOutage(lost)], [false, true])
  for (const [code, outage] of [
    ['57P01', true],
    ['23505', false],
    ['XX000', false],
  ] as const) {
    const said = Object.assign(new Error('said by the server'), { code })
    assert.deepEqual([isPostgresError(said), isOutage(said)], [true, outage])
  }
})
