import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachStore } from '../../src/platform/for-each-store.ts'

const STORES = ['acme', 'berlin', 'cairo'].map((tenant_ref) => ({ tenant_ref }))

test('the work for all stores is summed up, however many stores run at the same time', async () => {
  for (const lanes of [1, 2, 3]) {
    assert.equal(
      await forEachStore(STORES, async () => 5, { concurrency: lanes }),
      15,
      `${lanes} lanes`,
    )
  }
})

test('every store has its turn when another store fails, and the error is thrown after them', async () => {
  const served: string[] = []
  const work = async (tenant: string) => {
    if (tenant === 'acme') throw new Error('poisoned')
    return served.push(tenant)
  }
  await assert.rejects(forEachStore(STORES, work), /poisoned/)
  assert.deepEqual(served, ['berlin', 'cairo'])
})

test('no store is begun once the signal has fired', async () => {
  const ending = new AbortController()
  const served: string[] = []
  const work = async (tenant: string) => {
    ending.abort()
    return served.push(tenant)
  }
  assert.equal(await forEachStore(STORES, work, { signal: ending.signal }), 1)
  assert.deepEqual(served, ['acme'])
})
