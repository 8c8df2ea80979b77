import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSearchQueue } from '../../../src/modules/catalog/search.ts'

test('many searches at once use half of the connections, and further ones are refused', async () => {
  const searchQueue = createSearchQueue(2)
  const ends = Promise.withResolvers<void>()
  let running = 0
  const search = (store: string) =>
    searchQueue.run(() => {
      running += 1
      return ends.promise
    }, store)
  const accepted = Array.from({ length: 9 }, () => search('acme'))
  assert.equal(running, 1)
  const refused = { code: 'service_unavailable', status: 503, headers: { 'retry-after': '1' } }
  await assert.rejects(search('acme'), refused)
  accepted.push(search('globex'))
  ends.resolve()
  await Promise.all(accepted)
  assert.equal(running, 10)
})
