import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ChildShares } from '../../src/platform/child-shares.ts'

/** Shares with a stopwatch that only the test moves. */
function openShares(t: TestContext, others = true) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { at: 0, others }
  const shares = new ChildShares({
    othersAreAtWork: () => state.others,
    now: () => state.at,
  })
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 50) {
      state.at += 50
      t.mock.timers.tick(50)
      await turn()
    }
  }
  /** How long a store waits; the code of the error where it is refused. */
  const waitOf = async (store: string): Promise<number | string> => {
    const begun = state.at
    let result: string | null = null
    shares.turn(store).then(
      () => {
        result = 'its turn'
      },
      (error: { code: string; headers: Record<string, string> }) => {
        result = `${error.code} ${error.headers['retry-after']}`
      },
    )
    for (await turn(); result === null; await pass(50)) assert.ok(state.at < begun + 60_000)
    return result === 'its turn' ? state.at - begun : result
  }
  return { shares, state, pass, waitOf }
}

describe('the processes of a store', () => {
  test('work at once for a store that is alone, and for one that has used little', async (t) => {
    const { shares, state, waitOf } = openShares(t)
    shares.add('big', 1_900)
    assert.equal(await waitOf('big'), 0)
    shares.add('big', 60_000)
    state.others = false
    assert.equal(await waitOf('big'), 0)
  })

  test('make a store wait for what it has used, and no other store', async (t) => {
    const { shares, waitOf } = openShares(t)
    shares.add('big', 3_000)
    assert.equal(await waitOf('small'), 0)
    const waited = await waitOf('big')
    assert.ok(Number(waited) >= 5_000 && Number(waited) <= 5_300, `${waited}`)
  })

  test('never keep a store waiting for more than half a minute, and say when to try again', async (t) => {
    const { shares, pass, waitOf } = openShares(t)
    for (let n = 0; n < 8; n++) shares.add('big', 20_000)
    assert.equal(await waitOf('big'), 'service_unavailable 30')
    await pass(25_000)
    assert.ok(Number(await waitOf('big')) <= 5_300)
  })

  test('end the wait when the other stores are at rest, or the caller has left', async (t) => {
    const { shares, state, pass } = openShares(t)
    shares.add('big', 3_000)
    let hasTurn = false
    const waiting = shares.turn('big').then(() => {
      hasTurn = true
    })
    await pass(500)
    assert.ok(!hasTurn)
    state.others = false
    await pass(300)
    await waiting
    state.others = true
    const caller = new AbortController()
    const left = shares.turn('big', caller.signal)
    caller.abort(new Error('hung up'))
    left.catch(() => {})
    await pass(250)
    await assert.rejects(left, /hung up/)
  })
})
