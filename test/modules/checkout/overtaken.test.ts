import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { CheckoutDeps } from '../../../src/modules/checkout/service.ts'
import type { Caller } from '../../../src/modules/operations/schema.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import type { Gateway } from '../../../src/modules/payments/gateway.ts'
import { refused, unknownResult } from '../../../src/modules/payments/gateway.ts'
import type { GatewayResult } from '../../../src/modules/payments/schema.ts'
import { openCheckout } from '../../../src/open-checkout.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import type { StoredAnswer } from '../../../src/platform/idempotency.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { cancel, edit, refund, release } from '../../harness/operations.ts'
import {
  APPROVED,
  addVariant,
  cart,
  checkout,
  enable,
  giveCredit,
  openCheckoutApp,
  openShop,
  stock,
} from './setup.ts'

/** Longer than a claim is leased for. */
const PAUSE_MS = 61_000

interface Bought {
  id: string
  item: string
}

interface Scenario {
  operation: string
  /** The point before anything is sent, and the point after the gateway's reply. */
  before: readonly string[]
  /**
   * Whether the process that overtakes sends what was not sent. A charge is not: its card is not
   * stored.
   */
  isResumed: boolean
  after: string
  /** The calls that move money. */
  calls: readonly ('refund' | 'void' | 'sale' | 'capture')[]
  begin(deps: CheckoutDeps, caller: Caller, bought: Bought): Promise<StoredAnswer>
  /** The same request by another caller, under another key. */
  verb: string
  body(bought: Bought): object | undefined
  /** What the store has of the shopper's 2,000 after the operation. */
  net: number
}

test('an overtaken process', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  const db = app.runtime.database.tenant('acme')
  await enable(merchant, 'store_credit')
  const counted = await addVariant(merchant, 1_000)
  await stock(merchant, counted, 10_000)
  const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
  assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)

  const buy = async (more: object = {}): Promise<Bought> => {
    const items = [{ variant_id: counted, quantity: 2 }]
    const { body, status, text } = await checkout(app, shop, cart(counted, { items, ...more }))
    assert.ok(status < 300, text)
    return { id: body.order.id, item: body.items[0].id }
  }
  const ask = ({ id }: Bought, verb: string, body?: object, key: string = randomUUID()) =>
    merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, { 'idempotency-key': key })
  const netOf = async ({ id }: Bought): Promise<number> => {
    const { rows } = await app.superuser.query(
      `select coalesce(sum(s.captured_cents - s.refunded_cents), 0)::int as net
         from sim_charges s join payment_attempts a on a.tenant_ref = s.tenant_ref and a.id = s.ref
        where a.order_id = $1 and s.voided_at is null`,
      [id],
    )
    return rows[0].net
  }

  /**
   * A gateway that does not recognise our references: a request that it gets twice is done twice.
   */
  const withoutDeduplication = (real: Gateway): Gateway => {
    const fresh = async <W extends { ref: string }>(what: W): Promise<W> => {
      const { found } = await real.lookup({ ref: what.ref })
      return found === 'yes' ? { ...what, ref: randomUUID() } : what
    }
    return {
      ...real,
      refund: async (what) => real.refund(await fresh(what)),
      sale: async (what) => real.sale(await fresh(what)),
      async capture(what) {
        const { state } = await real.lookup({ txn_id: what.txn_id })
        return state === 'authorized' ? real.capture(what) : refused('invalid_state')
      },
    }
  }

  interface SlowCaller {
    scenario: Scenario
    bought: Bought
    key: string
    at?: (point: string) => Promise<void>
    gateway?: (real: Gateway) => Partial<Gateway>
  }
  const begin = ({ scenario, bought, key, at, gateway }: SlowCaller) => {
    const deps = openCheckout(app.runtime)
    const forStore: typeof deps.payments.forStore = async (...of) => {
      const real = withoutDeduplication(await deps.payments.forStore(...of))
      return { ...real, ...gateway?.(real) }
    }
    const slow = { ...deps, ...(at && { at }), payments: { ...deps.payments, forStore } }
    const { operation } = scenario
    const claim = { operation, key, fingerprint: Buffer.alloc(32), waitMs: 0 }
    return run(db, claim, (held) => scenario.begin(slow, { actor: SYSTEM, claim: held }, bought))
  }
  const overtake = async () => {
    app.clock.advance(PAUSE_MS)
    await app.expireClaims()
    assert.equal(await app.reconcile(), 1)
  }

  const editTo = (quantity: number): Pick<Scenario, 'operation' | 'begin' | 'verb' | 'body'> => ({
    operation: 'edit',
    begin: (deps, caller, { id, item }) =>
      edit(deps, db, caller, id, {
        body: { edits: [{ order_item_id: item, quantity }] },
        tender: { by: 'card', source: { card: readCard(APPROVED) } },
        note: null,
      }),
    verb: 'edit',
    body: ({ item }) => ({ edits: [{ order_item_id: item, quantity }] }),
  })
  const refundOf = (
    amount_cents: number,
  ): Pick<Scenario, 'operation' | 'begin' | 'verb' | 'body'> => ({
    operation: 'refund',
    begin: (deps, caller, { id }) =>
      refund(deps, db, caller, id, { by: 'merchant', body: { amount_cents } }),
    verb: 'refunds',
    body: () => ({ amount_cents }),
  })
  const REFUND_POINTS = { before: ['refund-begun'], after: 'refund-answered', isResumed: true }
  const SCENARIOS: Record<string, Scenario> = {
    'a refund of a part': { ...refundOf(300), ...REFUND_POINTS, calls: ['refund'], net: 1_700 },
    'a refund of everything': { ...refundOf(2_000), ...REFUND_POINTS, calls: ['void'], net: 0 },
    'a cancellation': {
      operation: 'cancel',
      before: ['cancel-begun'],
      isResumed: true,
      after: 'cancel-answered',
      calls: ['void'],
      begin: (deps, caller, { id }) =>
        cancel(deps, db, caller, id, { reason: 'staff', note: null, restock: true, as: 'cancel' }),
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
  t.beforeEach(async () => {
    app.clock.reset()
    app.alerts.length = 0
    // Attempts of earlier tests need no more lookups.
    await app.superuser.query(
      `update payment_attempts set next_check_at = null where state = 'not_found'`,
    )
  })

  for (const [what, scenario] of Object.entries(SCENARIOS)) {
    for (const point of scenario.before) {
      await t.test(`moves no more money: ${what}, paused at ${point}`, async () => {
        const bought = await buy()
        const key = randomUUID()
        let isPaused = false
        const reply = await begin({
          scenario,
          bought,
          key,
          async at(reached) {
            if (reached !== point || isPaused) return
            isPaused = true
            await overtake()
          },
        })
        assert.ok(isPaused)
        if (scenario.isResumed) assert.ok(reply.status < 300, reply.body)
        else assert.match(reply.body, /payment_declined/)
        assert.equal(reply.headers['idempotent-replayed'], 'true')
        assert.equal(await netOf(bought), scenario.isResumed ? scenario.net : 2_000)
        await app.assertAddsUp()
      })
    }

    if (scenario.isResumed) {
      const inProgress = { code: 'idempotency_in_progress' }
      /** A new request of the same kind waits for the one that may be on its way. */
      const requireBusy = async (bought: Bought) => {
        const again = await ask(bought, scenario.verb, scenario.body(bought))
        assert.equal(again.body.error?.code, 'order_busy', again.text)
      }
      const requireDone = async (bought: Bought) => {
        await app.expireClaims()
        assert.equal(await app.reconcile(), 1)
        assert.equal(await netOf(bought), scenario.net)
        assert.deepEqual(app.alerts, [])
        await app.assertAddsUp()
      }

      await t.test(`leaves ${what} that it has not sent to its successor`, async () => {
        const bought = await buy()
        let isPaused = false
        const at = async (reached: string) => {
          if (reached !== 'refund-sent' || isPaused) return
          isPaused = true
          await overtake()
          await requireBusy(bought)
        }
        await assert.rejects(begin({ scenario, bought, key: randomUUID(), at }), inProgress)
        assert.equal(await netOf(bought), 2_000, 'nothing was sent')
        await requireDone(bought)
      })

      await t.test(`whose ${scenario.calls[0]} arrives late pays once: ${what}`, async () => {
        const bought = await buy()
        let isPaused = false
        const pausing =
          <W, R>(call: (what: W) => Promise<R>) =>
          async (wanted: W) => {
            if (!isPaused) {
              isPaused = true
              await overtake()
              await requireBusy(bought)
            }
            return call(wanted)
          }
        const gateway = (real: Gateway) => ({
          refund: pausing(real.refund),
          void: pausing(real.void),
        })
        await assert.rejects(begin({ scenario, bought, key: randomUUID(), gateway }), inProgress)
        await requireBusy(bought)
        await requireDone(bought)
      })
    }

    await t.test(
      `answers with the outcome of ${what}, paused after the gateway's reply`,
      async () => {
        const bought = await buy()
        let isPaused = false
        const reply = await begin({
          scenario,
          bought,
          key: randomUUID(),
          async at(reached) {
            if (reached !== scenario.after || isPaused) return
            isPaused = true
            await overtake()
          },
        })
        assert.ok(reply.status < 300, reply.body)
        assert.equal(reply.headers['idempotent-replayed'], 'true')
        assert.equal(await netOf(bought), scenario.net)
        assert.deepEqual(app.alerts, [])
        await app.assertAddsUp()
      },
    )

    await t.test(
      `answers with the outcome of ${what}, when its gateway's answer is lost`,
      async () => {
        const bought = await buy()
        const losingAnswer =
          <W>(call: (wanted: W) => Promise<GatewayResult>) =>
          async (wanted: W) => {
            await call(wanted)
            await overtake()
            return unknownResult()
          }
        const reply = await begin({
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
        assert.equal(await netOf(bought), scenario.net)
        await app.assertAddsUp()
      },
    )

    if (scenario.isResumed) continue
    await t.test(
      `and whose ${scenario.calls[0]} arrived too late is detected: ${what}`,
      async () => {
        const bought = await buy()
        let isPaused = false
        const pausing =
          <W, R>(call: (what: W) => Promise<R>) =>
          async (wanted: W) => {
            if (!isPaused) {
              isPaused = true
              await overtake()
            }
            return call(wanted)
          }
        const reply = await begin({
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
      },
    )
  }

  const RELEASE: Scenario = {
    operation: 'release',
    before: ['release-begun'],
    isResumed: false,
    after: 'release-answered',
    calls: ['capture'],
    begin: (deps, caller, { id }) => release(deps, db, caller, id),
    verb: 'release',
    body: () => undefined,
    net: 2_000,
  }
  const buyHeld = () => buy({ email: 'review@example.com' })
  const settle = ({ id }: Bought) =>
    app.superuser.query(
      `update sim_charges s set captured_at = now() - interval '2 days' from payment_attempts a
        where a.tenant_ref = s.tenant_ref and a.id = s.ref and a.order_id = $1`,
      [id],
    )
  /** The worker overtakes, and its capture is refused: the order stays held. */
  const overtakeAndRefuse = async () => {
    app.clock.advance(PAUSE_MS)
    await app.expireClaims()
    const gateway = () => ({ capture: async () => refused('processing_error') })
    assert.equal(await app.reconcile({ gateway }), 1)
  }

  await t.test('captures nothing for an order that stays held', async () => {
    const bought = await buyHeld()
    const at = async (point: string) => {
      if (point === 'release-begun') await overtakeAndRefuse()
    }
    const reply = await begin({ scenario: RELEASE, bought, key: randomUUID(), at })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
    assert.equal(await netOf(bought), 0)
    await app.assertAddsUp()
    assert.equal((await ask(bought, 'release')).status, 200)
    assert.equal(await netOf(bought), 2_000)
  })

  for (const point of ['release-begun', 'release-answered']) {
    await t.test(`answers that the order was released, paused at ${point}`, async () => {
      const bought = await buyHeld()
      const at = async (reached: string) => {
        if (reached === point) await overtake()
      }
      const reply = await begin({ scenario: RELEASE, bought, key: randomUUID(), at })
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [200, 'true'])
      assert.equal(await netOf(bought), 2_000)
      await app.assertAddsUp()
    })
  }

  const captureTooLate = async () => {
    const bought = await buyHeld()
    const gateway = (real: Gateway): Partial<Gateway> => ({
      async capture(what) {
        await overtakeAndRefuse()
        return real.capture(what)
      },
    })
    const reply = await begin({ scenario: RELEASE, bought, key: randomUUID(), gateway })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
    assert.equal(await netOf(bought), 2_000, 'captured for an order that is held')
    return bought
  }

  await t.test('whose capture came too late has paid for the next release', async () => {
    const bought = await captureTooLate()
    const answer = await ask(bought, 'release')
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.status, 'placed')
    await app.assertAddsUp()
  })

  for (const how of ['captured', 'settled']) {
    await t.test(`whose capture came too late is refunded by a cancellation, ${how}`, async () => {
      const bought = await captureTooLate()
      if (how === 'settled') await settle(bought)
      const answer = await ask(bought, 'cancel', { reason: 'fraud' })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(await netOf(bought), 0)
      await app.assertAddsUp()
    })
  }

  const orderOf = async (key: string) => {
    const { rows } = await app.superuser.query(
      'select id, status from orders where idempotency_key = $1',
      [key],
    )
    return rows[0] as { id: string; status: string }
  }
  const journalOf = async ({ id }: { id: string }) => {
    const { rows } = await app.superuser.query(
      `select j.kind from sim_journal j join payment_attempts a on a.id = j.ref
        where a.order_id = $1 order by j.created_at`,
      [id],
    )
    return rows.map(({ kind }) => kind)
  }

  for (const [point, by] of [
    ['claimed', 'the worker'],
    ['claimed', 'the same key'],
    ['priced', 'the worker'],
  ] as const) {
    await t.test(
      `overtaken by ${by} before it began makes one order, paused at ${point}`,
      async () => {
        const key = randomUUID()
        const body = cart(counted)
        let isPaused = false
        const at = async (reached: string) => {
          if (reached !== point || isPaused) return
          isPaused = true
          if (by === 'the worker') return overtake()
          await app.expireClaims()
          assert.equal((await checkout(app, shop, body, key)).status, 201)
        }
        const reply = await app.place(shop, body, key, { at })
        assert.equal(reply.status, 201, reply.body)
        const order = await orderOf(key)
        assert.equal(JSON.parse(reply.body).order.id, order.id)
        assert.deepEqual(await journalOf(order), ['authorize', 'capture'])
        await app.assertAddsUp()
      },
    )
  }

  for (const point of ['checkout-begun', 'authorize-sent']) {
    await t.test(`charges nothing for an order that has failed, paused at ${point}`, async () => {
      const key = randomUUID()
      const at = async (reached: string) => {
        if (reached === point) await overtake()
      }
      const reply = await app.place(shop, cart(counted), key, { at })
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
      const order = await orderOf(key)
      assert.equal(order.status, 'payment_failed')
      assert.deepEqual(await journalOf(order), [])
      await app.assertAddsUp()
    })
  }

  await t.test(
    'captures nothing that was authorised too late, and the authorisation is voided',
    async () => {
      const key = randomUUID()
      const reply = await app.place(shop, cart(counted), key, {
        gateway: (real) => ({
          async authorize(what) {
            await overtake()
            return real.authorize(what)
          },
        }),
      })
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
      const order = await orderOf(key)
      await app.watchLate()
      assert.deepEqual(await journalOf(order), ['authorize', 'void'])
      assert.equal(app.alerts[0]?.order_id, order.id)
      await app.assertAddsUp()
    },
  )

  await t.test(
    'does not void the authorisation of a held order, whatever its own verdict',
    async () => {
      const key = randomUUID()
      const reply = await app.place(shop, cart(counted, { email: 'review@example.com' }), key, {
        gateway: (real) => ({
          async authorize(what) {
            const answer = await real.authorize(what)
            await overtake()
            return { ...answer, avs: 'N', cvv: 'N', fraud_signal: true }
          },
        }),
      })
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [202, 'true'])
      assert.deepEqual(await journalOf(await orderOf(key)), ['authorize'])
      await app.assertAddsUp()
    },
  )

  await t.test('answers that other tenders have paid', async () => {
    await giveCredit(merchant, 'rich', 5_000)
    const body = cart(counted, { customer_ref: 'rich', apply_store_credit: true, card: null })
    const at = async (reached: string) => {
      if (reached === 'checkout-begun') await overtake()
    }
    const reply = await app.place(shop, body, randomUUID(), { at })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [201, 'true'])
    await app.assertAddsUp()
  })

  /** Lets the authorisation of a held order lapse. */
  const expire = async ({ id }: Bought) => {
    await app.superuser.query(
      `update charges set authorized_until = now() where order_id = $1 and status = 'authorized'`,
      [id],
    )
    return app.expire()
  }
  const CANCEL = SCENARIOS['a cancellation'] as Scenario

  for (const point of ['cancel-begun', 'cancel-answered']) {
    await t.test(
      `whose order expires meanwhile answers with the cancellation, paused at ${point}`,
      async () => {
        const bought = await buyHeld()
        const key = randomUUID()
        const at = async (reached: string) => {
          if (reached === point) await expire(bought)
        }
        const reply = await begin({ scenario: CANCEL, bought, key, at })
        assert.equal(reply.status, 200, reply.body)
        assert.equal(JSON.parse(reply.body).order.status, 'cancelled')
        const { rows } = await app.superuser.query(
          'select state from idempotency_keys where key = $1',
          [key],
        )
        assert.equal(rows[0].state, 'answered')
        await app.assertAddsUp()
      },
    )
  }

  await t.test('makes the expiry of an order wait while it is being released', async () => {
    const bought = await buyHeld()
    const at = async (reached: string) => {
      if (reached === 'release-begun') assert.equal(await expire(bought), 0)
    }
    const reply = await begin({ scenario: RELEASE, bought, key: randomUUID(), at })
    assert.equal(reply.status, 200, reply.body)
    await app.assertAddsUp()
  })

  await t.test('that is a worker at an expired order refunds nothing twice', async () => {
    const bought = await buyHeld()
    const { rows } = await app.superuser.query(
      `select charge_id as ref, txn_id, amount_cents::int, currency from charges where order_id = $1`,
      [bought.id],
    )
    // Captured in the gateway's back office, and too long ago to be voided.
    await (await app.depsWith().payments.forStore(db)).capture(rows[0])
    await settle(bought)
    await app.superuser.query(`update charges set authorized_until = now() where order_id = $1`, [
      bought.id,
    ])
    const sent: string[] = []
    const expireBy = (meanwhile: () => Promise<unknown>) =>
      app.expire({
        gateway: (real) => ({
          async refund(what) {
            sent.push(what.ref)
            await meanwhile()
            return real.refund(what)
          },
        }),
      })
    const other = async () => assert.equal(await expireBy(async () => {}), 0)
    assert.equal(await expireBy(other), 1)
    assert.equal(sent.length, 1)
    assert.deepEqual(app.alerts, [])
    const read = await merchant.get(`/v1/merchant/orders/${bought.id}`)
    assert.equal(read.body.order.status, 'cancelled')
    await app.assertAddsUp()
  })

  await t.test('that is a worker overtaken by a worker raises no alert', async () => {
    const key = randomUUID()
    await app.crash(shop, cart(counted), 'authorized', key)
    await app.expireClaims()
    const slow = app.reconcile({
      gateway: (real) => ({
        async capture(what) {
          const answer = await real.capture(what)
          await overtake()
          return answer
        },
      }),
    })
    assert.equal(await slow, 1)
    assert.deepEqual(app.alerts, [])
    assert.deepEqual(await journalOf(await orderOf(key)), ['authorize', 'capture'])
    await app.assertAddsUp()
  })

  await t.test('that watches late approvals still reports what was reversed', async () => {
    const key = randomUUID()
    await app.place(shop, cart(counted), key, {
      gateway: (real) => ({
        async authorize(what) {
          await overtake()
          return real.authorize(what)
        },
      }),
    })
    const order = await orderOf(key)
    const slow = app.watchLate({
      gateway: (real) => ({
        async void(what) {
          const answer = await real.void(what)
          await app.superuser.query(
            'update payment_attempts set lease_until = now() where lease_until is not null',
          )
          await app.watchLate()
          return answer
        },
      }),
    })
    await slow
    assert.deepEqual(
      app.alerts.map(({ order_id }) => order_id),
      [order.id],
    )
    const { body } = await merchant.get(`/v1/merchant/orders/${order.id}`)
    assert.equal(body.timeline.at(-1).type, 'late_approval_returned')
    assert.deepEqual(await journalOf(order), ['authorize', 'void'])
    await app.assertAddsUp()
  })

  await t.test('does not disturb another operation of the order', async () => {
    const scenario = SCENARIOS['an edit that charges'] as Scenario
    const bought = await buy()
    const other = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    let second: ReturnType<typeof begin> | undefined
    const at = async (reached: string) => {
      if (reached !== 'edit-begun' || second !== undefined) return
      await overtake()
      const under = (point: string) => {
        if (point !== 'edit-sent') return Promise.resolve()
        other.resolve()
        return end.promise
      }
      second = begin({ scenario, bought, key: randomUUID(), at: under })
      await other.promise
    }
    const first = await begin({ scenario, bought, key: randomUUID(), at })
    end.resolve()
    assert.deepEqual([first.status, (await second)?.status], [402, 200])
    assert.equal(await netOf(bought), 3_000)
    await app.assertAddsUp()
  })
})
