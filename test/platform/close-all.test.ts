import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closeAll } from '../../src/platform/close-all.ts'

test('a group is closed after the group before it', async () => {
  const closed: string[] = []
  const slow = Promise.withResolvers<void>()
  const closing = closeAll([
    [async () => slow.promise.then(() => closed.push('slow')), async () => closed.push('quick')],
    [async () => closed.push('last')],
  ])
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(closed, ['quick'])
  slow.resolve()
  await closing
  assert.deepEqual(closed, ['quick', 'slow', 'last'])
})

test('a part that fails to close keeps no other part open, and its error is thrown once all were tried', async () => {
  const closed: string[] = []
  const close = async () => closed.push('closed')
  const rejects = () => Promise.reject(new Error('stuck'))
  const throws = () => {
    throw new Error('broken')
  }
  await assert.rejects(closeAll([[rejects, close], [close]]), /stuck/)
  assert.equal(closed.length, 2)
  await assert.rejects(closeAll([[throws, close], [rejects], [close]]), (error) => {
    assert.ok(error instanceof AggregateError)
    assert.deepEqual(error.errors.map(String), ['Error: broken', 'Error: stuck'])
    return true
  })
  assert.equal(closed.length, 4)
})
