import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Tx } from '../../src/db/database.ts'
import { announceOnce } from '../../src/platform/announce-once.ts'

/** Announcements to something that rests for so many seconds, with a stopwatch of their own. */
function openAnnouncements(restSeconds: number) {
  const told: string[] = []
  const watch = { ms: 0 }
  const announceTo = async ({ tenant }: Tx) => {
    told.push(tenant)
    return restSeconds
  }
  // The other rests for longer: what begins first decides.
  const announcements = announceOnce([announceTo, async () => 60], () => watch.ms)
  const announce = (tenant: string) => announcements.onNew({ tenant } as Tx)
  const commit = async (tenant: string) => {
    const began = watch.ms
    await announce(tenant)
    announcements.onCommitted(tenant, began)
  }
  return { told, watch, announce, announcements, commit }
}

describe('new work of a store', () => {
  test('is announced once while its worker rests, and again from the time at which the worker may begin', async () => {
    const { told, watch, commit } = openAnnouncements(30)
    for (const at of [0, 1_000, 29_999]) {
      watch.ms = at
      await commit('acme')
    }
    assert.deepEqual(told, ['acme'])
    watch.ms = 30_000
    await commit('acme')
    assert.deepEqual(told, ['acme', 'acme'])
  })

  test('is announced each time while its worker may be running', async () => {
    const { told, commit } = openAnnouncements(0)
    await commit('acme')
    await commit('acme')
    assert.equal(told.length, 2)
  })

  test('is announced again by the next change after a transaction that did not commit', async () => {
    const { told, announce, commit } = openAnnouncements(30)
    await announce('acme')
    await commit('acme')
    await commit('acme')
    assert.equal(told.length, 2)
  })

  test('is announced for each store separately', async () => {
    const { told, commit } = openAnnouncements(30)
    for (const tenant of ['acme', 'globex', 'acme', 'globex']) await commit(tenant)
    assert.deepEqual(told, ['acme', 'globex'])
  })

  test('is announced again by a transaction that started late enough, however long it takes', async () => {
    const { told, watch, announce, announcements } = openAnnouncements(30)
    await announce('acme')
    watch.ms = 20_000
    announcements.onCommitted('acme', 0)
    watch.ms = 30_000
    await announce('acme')
    assert.equal(told.length, 2)
  })
})
