import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import type { GatewayResult } from '../../../src/modules/payments/adapters/schema.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import { edit, refund } from '../../harness/operations.ts'
import {
  type Bought,
  CANCELLATION,
  type OvertakeApp,
  type Scenario,
  shareOvertakeApp,
} from './overtaken-setup.ts'
import { APPROVED } from './setup.ts'

const shared = shareOvertakeApp()
let app: OvertakeApp
before(() => {
  app = shared.current
})

/** Calls of a gateway, the first of which is sent only after something else was done. */
function pausingFirst(act: () => Promise<void>) {
  let isPaused = false
  return <W, R>(call: (what: W) => Promise<R>) =>
    async (wanted: W) => {
      if (!isPaused) {
        isPaused = true
        await act()
      }
      return call(wanted)
    }
}

/** An operation that changes an order, and its route. */
interface Change extends Scenario {
  /** The same request by another caller, under another key. */
  verb: string
  body(bought: Bought): object
}

interface ChangeScenario extends Change {
  /** The point before anything is sent, and the point after the gateway's reply. */
  before: readonly string[]
  /**
   * Whether the process that overtakes sends a request that was not sent. A charge is not sent: its card is
   * not stored.
   */
  isResumed: boolean
  after: string
  /** The calls that move money. */
  calls: readonly ('refund' | 'void' | 'sale')[]
  /** What the store has of the shopper's 2,000 after the operation. */
  net: number
}

const editTo = (quantity: number): Change => ({
  operation: 'edit',
  begin: (deps, db, caller, { id, item }) =>
    edit(deps, db, caller, id, {
      body: { edits: [{ order_item_id: item, quantity }] },
      tender: { by: 'card', source: { card: readCard(APPROVED, systemClock) } },
      note: null,
    }),
  verb: 'edit',
  body: ({ item }) => ({ edits: [{ order_item_id: item, quantity }] }),
})

const refundOf = (amount_cents: number): Change => ({
  operation: 'refund',
  begin: (deps, db, caller, { id }) =>
    refund(deps, db, caller, id, { by: 'merchant', body: { amount_cents } }),
  verb: 'refunds',
  body: () => ({ amount_cents }),
})

const REFUND_POINTS = { before: ['refund-begun'], after: 'refund-answered', isResumed: true }

const SCENARIOS: Record<string, ChangeScenario> = {
  'a refund of a part': { ...refundOf(300), ...REFUND_POINTS, calls: ['refund'], net: 1_700 },
  'a refund of everything': { ...refundOf(2_000), ...REFUND_POINTS, calls: ['void'], net: 0 },
  'a cancellation': {
    ...CANCELLATION,
    before: ['cancel-begun'],
    isResumed: true,
    after: 'cancel-answered',
    calls: ['void'],
    verb: 'cancel',
    body: () => ({ reason: 'staff' }),
    net: 0,
  },
  'an edit that charges': {
    ...editTo(3),
    before: ['edit-begun', 'edit-sent'],
    isResumed: false,
    after: 'edit-answered',
    calls: ['sale'],
    net: 3_000,
  },
  'an edit that refunds': {
    ...editTo(1),
    before: ['edit-begun'],
    isResumed: true,
    after: 'edit-answered',
    calls: ['refund'],
    net: 1_000,
  },
}

describe('an overtaken process', () => {
  for (const [what, scenario] of Object.entries(SCENARIOS)) {
    for (const point of scenario.before) {
      test(`moves no more money: ${what}, paused at ${point}`, async () => {
        const bought = await app.buy()
        const key = randomUUID()
        let isPaused = false
        const reply = await app.begin({
          scenario,
          bought,
          key,
          async at(reached) {
            if (reached !== point || isPaused) return
            isPaused = true
            await app.overtake()
          },
        })
        assert.ok(isPaused)
        if (scenario.isResumed) assert.ok(reply.status < 300, reply.body)
        else assert.match(reply.body, /payment_declined/)
        assert.equal(reply.headers['idempotent-replayed'], 'true')
        assert.equal(await app.netOf(bought), scenario.isResumed ? scenario.net : 2_000)
        await app.assertAddsUp()
      })
    }

    if (scenario.isResumed) {
      const inProgress = { code: 'idempotency_in_progress' }
      /** A new request of the same kind waits for the one that may be on its way. */
      const requireBusy = async (bought: Bought) => {
        const again = await app.ask(bought, scenario.verb, scenario.body(bought))
        assert.equal(again.body.error?.code, 'order_busy', again.text)
      }
      const requireDone = async (bought: Bought) => {
        await app.expireClaims()
        assert.equal(await app.reconcile(), 1)
        assert.equal(await app.netOf(bought), scenario.net)
        assert.deepEqual(app.alerts, [])
        await app.assertAddsUp()
      }

      test(`leaves ${what} that it has not sent yet to the process that took over`, async () => {
        const bought = await app.buy()
        let isPaused = false
        const at = async (reached: string) => {
          if (reached !== 'refund-sent' || isPaused) return
          isPaused = true
          await app.overtake()
          await requireBusy(bought)
        }
        await assert.rejects(app.begin({ scenario, bought, key: randomUUID(), at }), inProgress)
        assert.equal(await app.netOf(bought), 2_000, 'nothing was sent')
        await requireDone(bought)
      })

      test(`an overtaken process whose ${scenario.calls[0]} arrives late pays once: ${what}`, async () => {
        const bought = await app.buy()
        const pausing = pausingFirst(async () => {
          await app.overtake()
          await requireBusy(bought)
        })
        const gateway = (real: Gateway) => ({
          refund: pausing(real.refund),
          void: pausing(real.void),
        })
        await assert.rejects(
          app.begin({ scenario, bought, key: randomUUID(), gateway }),
          inProgress,
        )
        await requireBusy(bought)
        await requireDone(bought)
      })
    }

    test(`answers with the outcome of ${what}, paused after the gateway's reply`, async () => {
      const bought = await app.buy()
      let isPaused = false
      const reply = await app.begin({
        scenario,
        bought,
        key: randomUUID(),
        async at(reached) {
          if (reached !== scenario.after || isPaused) return
          isPaused = true
          await app.overtake()
        },
      })
      assert.ok(reply.status < 300, reply.body)
      assert.equal(reply.headers['idempotent-replayed'], 'true')
      assert.equal(await app.netOf(bought), scenario.net)
      assert.deepEqual(app.alerts, [])
      await app.assertAddsUp()
    })

    test(`answers with the outcome of ${what}, when its gateway's answer is lost`, async () => {
      const bought = await app.buy()
      const losingAnswer =
        <W>(call: (wanted: W) => Promise<GatewayResult>) =>
        async (wanted: W) => {
          await call(wanted)
          await app.overtake()
          return unknownResult()
        }
      const reply = await app.begin({
        scenario,
        bought,
        key: randomUUID(),
        gateway: (real) => ({
          refund: losingAnswer(real.refund),
          void: losingAnswer(real.void),
          sale: losingAnswer(real.sale),
        }),
      })
      assert.ok(reply.status < 300, reply.body)
      assert.equal(await app.netOf(bought), scenario.net)
      await app.assertAddsUp()
    })

    if (scenario.isResumed) continue
    test(`an overtaken process whose ${scenario.calls[0]} arrived too late is detected: ${what}`, async () => {
      const bought = await app.buy()
      const pausing = pausingFirst(() => app.overtake())
      const reply = await app.begin({
        scenario,
        bought,
        key: randomUUID(),
        gateway: (real) => ({ sale: pausing(real.sale) }),
      })
      assert.ok([402, 409].includes(reply.status), reply.body)
      await app.watchLate()
      assert.deepEqual(
        app.alerts.map(({ order_id }) => order_id),
        [bought.id],
      )
      await app.assertAddsUp()
    })
  }

  test('does not disturb another operation of the order', async () => {
    const scenario = SCENARIOS['an edit that charges'] as ChangeScenario
    const bought = await app.buy()
    const other = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    let second: ReturnType<OvertakeApp['begin']> | undefined
    const at = async (reached: string) => {
      if (reached !== 'edit-begun' || second !== undefined) return
      await app.overtake()
      const under = (point: string) => {
        if (point !== 'edit-sent') return Promise.resolve()
        other.resolve()
        return end.promise
      }
      second = app.begin({ scenario, bought, key: randomUUID(), at: under })
      await other.promise
    }
    const first = await app.begin({ scenario, bought, key: randomUUID(), at })
    end.resolve()
    assert.deepEqual([first.status, (await second)?.status], [402, 200])
    assert.equal(await app.netOf(bought), 3_000)
    await app.assertAddsUp()
  })
})
