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

interface Act {
  operation: string
  /** Where a caller may be paused with nothing sent, and with everything heard. */
  before: readonly string[]
  after: string
  /** The calls that move money. */
  calls: readonly ('refund' | 'void' | 'sale' | 'capture')[]
  begin(deps: CheckoutDeps, asked: Caller, bought: Bought): Promise<StoredAnswer>
  /** The same wish by somebody else, under a key of its own. */
  verb: string
  body(bought: Bought): object | undefined
  /** What the store has of the shopper's 2,000 once it is done. */
  net: number
}

test('a caller that was overtaken', async (t) => {
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

  /** What knows no reference of ours as a key: it does a second time what it is asked twice. */
  const forgetful = (real: Gateway): Gateway => {
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

  interface Slow {
    act: Act
    bought: Bought
    key: string
    at?: (point: string) => Promise<void>
    gateway?: (real: Gateway) => Partial<Gateway>
  }
  const begin = ({ act, bought, key, at, gateway }: Slow) => {
    const deps = openCheckout(app.runtime)
    const forStore: typeof deps.payments.forStore = async (...of) => {
      const real = forgetful(await deps.payments.forStore(...of))
      return { ...real, ...gateway?.(real) }
    }
    const slow = { ...deps, ...(at && { at }), payments: { ...deps.payments, forStore } }
    const claim = { operation: act.operation, key, fingerprint: Buffer.alloc(32) }
    return run(db, claim, (held) => act.begin(slow, { actor: SYSTEM, claim: held }, bought))
  }
  const overtake = async () => {
    app.clock.advance(PAUSE_MS)
    await app.expireClaims()
    assert.equal(await app.reconcile(), 1)
  }

  const editTo = (quantity: number): Pick<Act, 'operation' | 'begin' | 'verb' | 'body'> => ({
    operation: 'edit',
    begin: (deps, asked, { id, item }) =>
      edit(deps, db, asked, id, {
        body: { edits: [{ order_item_id: item, quantity }] },
        tender: { by: 'card', source: { card: readCard(APPROVED) } },
        note: null,
      }),
    verb: 'edit',
    body: ({ item }) => ({ edits: [{ order_item_id: item, quantity }] }),
  })
  const refundOf = (amount_cents: number): Pick<Act, 'operation' | 'begin' | 'verb' | 'body'> => ({
    operation: 'refund',
    begin: (deps, asked, { id }) =>
      refund(deps, db, asked, id, { by: 'merchant', body: { amount_cents } }),
    verb: 'refunds',
    body: () => ({ amount_cents }),
  })
  const GIVES_BACK = { before: ['refund-begun', 'refund-sent'], after: 'refund-answered' }
  const ACTS: Record<string, Act> = {
    'a refund of a part': { ...refundOf(300), ...GIVES_BACK, calls: ['refund'], net: 1_700 },
    'a refund of everything': { ...refundOf(2_000), ...GIVES_BACK, calls: ['void'], net: 0 },
    'a cancellation': {
      operation: 'cancel',
      before: ['cancel-begun', 'refund-sent'],
      after: 'cancel-answered',
      calls: ['void'],
      begin: (deps, asked, { id }) =>
        cancel(deps, db, asked, id, { reason: 'staff', note: null, restock: true, as: 'cancel' }),
      verb: 'cancel',
      body: () => ({ reason: 'staff' }),
      net: 0,
    },
    'an edit that charges': {
      ...editTo(3),
      before: ['edit-begun', 'edit-sent'],
      after: 'edit-answered',
      calls: ['sale'],
      net: 3_000,
    },
    'an edit that gives back': {
      ...editTo(1),
      before: ['edit-begun', 'refund-sent'],
      after: 'edit-answered',
      calls: ['refund'],
      net: 1_000,
    },
  }
  t.beforeEach(async () => {
    app.clock.reset()
    app.alerts.length = 0
    // Of what was given up before nobody needs to hear any more.
    await app.superuser.query(
      `update payment_attempts set next_check_at = null where state = 'not_found'`,
    )
  })

  for (const [what, act] of Object.entries(ACTS)) {
    for (const point of act.before) {
      await t.test(`moves no money any more: ${what}, paused at ${point}`, async () => {
        const bought = await buy()
        const key = randomUUID()
        let isPaused = false
        const reply = await begin({
          act,
          bought,
          key,
          async at(reached) {
            if (reached !== point || isPaused) return
            isPaused = true
            await overtake()
          },
        })
        assert.ok(isPaused)
        assert.ok([402, 409].includes(reply.status), reply.body)
        assert.match(reply.body, /refund_failed|payment_declined/)
        assert.equal(reply.headers['idempotent-replayed'], 'true')
        assert.equal(await netOf(bought), 2_000)
        await app.assertAddsUp()
      })

      if (act.operation === 'edit' && act.net > 2_000) continue
      await t.test(
        `leaves alone what was asked for anew: ${what}, paused at ${point}`,
        async () => {
          const bought = await buy()
          let isPaused = false
          await begin({
            act,
            bought,
            key: randomUUID(),
            async at(reached) {
              if (reached !== point || isPaused) return
              isPaused = true
              await overtake()
              const again = await ask(bought, act.verb, act.body(bought))
              assert.ok(again.status < 300, again.text)
            },
          })
          assert.equal(await netOf(bought), act.net)
          await app.assertAddsUp()
        },
      )
    }

    await t.test(`is answered what was made of ${what}, once that was done`, async () => {
      const bought = await buy()
      let isPaused = false
      const reply = await begin({
        act,
        bought,
        key: randomUUID(),
        async at(reached) {
          if (reached !== act.after || isPaused) return
          isPaused = true
          await overtake()
        },
      })
      assert.ok(reply.status < 300, reply.body)
      assert.equal(reply.headers['idempotent-replayed'], 'true')
      assert.equal(await netOf(bought), act.net)
      assert.deepEqual(app.alerts, [])
      await app.assertAddsUp()
    })

    await t.test(`is answered what was made of ${what}, of which it heard nothing`, async () => {
      const bought = await buy()
      const unheard =
        <W>(call: (wanted: W) => Promise<GatewayResult>) =>
        async (wanted: W) => {
          await call(wanted)
          await overtake()
          return unknownResult()
        }
      const reply = await begin({
        act,
        bought,
        key: randomUUID(),
        gateway: (real) => ({
          refund: unheard(real.refund),
          void: unheard(real.void),
          sale: unheard(real.sale),
        }),
      })
      assert.ok(reply.status < 300, reply.body)
      assert.equal(await netOf(bought), act.net)
      await app.assertAddsUp()
    })

    await t.test(`and whose ${act.calls[0]} arrived too late is found out: ${what}`, async () => {
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
        act,
        bought,
        key: randomUUID(),
        gateway: (real) => ({
          refund: pausing(real.refund),
          void: pausing(real.void),
          sale: pausing(real.sale),
        }),
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

  const RELEASE: Act = {
    operation: 'release',
    before: ['release-begun'],
    after: 'release-answered',
    calls: ['capture'],
    begin: (deps, asked, { id }) => release(deps, db, asked, id),
    verb: 'release',
    body: () => undefined,
    net: 2_000,
  }
  const held = () => buy({ email: 'review@example.com' })
  const settle = ({ id }: Bought) =>
    app.superuser.query(
      `update sim_charges s set captured_at = now() - interval '2 days' from payment_attempts a
        where a.tenant_ref = s.tenant_ref and a.id = s.ref and a.order_id = $1`,
      [id],
    )
  /** The worker is refused what the caller was about to take: the order stays held. */
  const overtakeInVain = async () => {
    app.clock.advance(PAUSE_MS)
    await app.expireClaims()
    const gateway = () => ({ capture: async () => refused('processing_error') })
    assert.equal(await app.reconcile({ gateway }), 1)
  }

  await t.test('takes nothing for an order that stays held', async () => {
    const bought = await held()
    const at = async (point: string) => {
      if (point === 'release-begun') await overtakeInVain()
    }
    const reply = await begin({ act: RELEASE, bought, key: randomUUID(), at })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
    assert.equal(await netOf(bought), 0)
    await app.assertAddsUp()
    assert.equal((await ask(bought, 'release')).status, 200)
    assert.equal(await netOf(bought), 2_000)
  })

  for (const point of ['release-begun', 'release-answered']) {
    await t.test(`is answered that the order was released, paused at ${point}`, async () => {
      const bought = await held()
      const at = async (reached: string) => {
        if (reached === point) await overtake()
      }
      const reply = await begin({ act: RELEASE, bought, key: randomUUID(), at })
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [200, 'true'])
      assert.equal(await netOf(bought), 2_000)
      await app.assertAddsUp()
    })
  }

  const takeTooLate = async () => {
    const bought = await held()
    const gateway = (real: Gateway): Partial<Gateway> => ({
      async capture(what) {
        await overtakeInVain()
        return real.capture(what)
      },
    })
    const reply = await begin({ act: RELEASE, bought, key: randomUUID(), gateway })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
    assert.equal(await netOf(bought), 2_000, 'taken for an order that is held')
    return bought
  }

  await t.test('and took too late what was held has paid for the next release', async () => {
    const bought = await takeTooLate()
    const answer = await ask(bought, 'release')
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.status, 'placed')
    await app.assertAddsUp()
  })

  for (const how of ['captured', 'settled']) {
    await t.test(
      `and took too late what was held gives it back by a cancellation, ${how}`,
      async () => {
        const bought = await takeTooLate()
        if (how === 'settled') await settle(bought)
        const answer = await ask(bought, 'cancel', { reason: 'fraud' })
        assert.equal(answer.status, 200, answer.text)
        assert.equal(await netOf(bought), 0)
        await app.assertAddsUp()
      },
    )
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
    await t.test(`by ${by} before it had begun has one order, paused at ${point}`, async () => {
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
    })
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

  await t.test('captures nothing that was authorised too late, and that is found out', async () => {
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
  })

  await t.test('voids nothing that stands, whatever it thinks of the card', async () => {
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
  })

  await t.test('is answered that other tenders have paid', async () => {
    await giveCredit(merchant, 'rich', 5_000)
    const body = cart(counted, { customer_ref: 'rich', apply_store_credit: true, card: null })
    const at = async (reached: string) => {
      if (reached === 'checkout-begun') await overtake()
    }
    const reply = await app.place(shop, body, randomUUID(), { at })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [201, 'true'])
    await app.assertAddsUp()
  })

  /** The card of a held order vouches for it no more. */
  const expire = async ({ id }: Bought) => {
    await app.superuser.query(
      `update charges set authorized_until = now() where order_id = $1 and status = 'authorized'`,
      [id],
    )
    return app.expire()
  }
  const CANCEL = ACTS['a cancellation'] as Act

  for (const point of ['cancel-begun', 'cancel-answered']) {
    await t.test(`by the expiry of what it cancels is answered, paused at ${point}`, async () => {
      const bought = await held()
      const key = randomUUID()
      const at = async (reached: string) => {
        if (reached === point) await expire(bought)
      }
      const reply = await begin({ act: CANCEL, bought, key, at })
      assert.equal(reply.status, 200, reply.body)
      assert.equal(JSON.parse(reply.body).order.status, 'cancelled')
      const { rows } = await app.superuser.query(
        'select state from idempotency_keys where key = $1',
        [key],
      )
      assert.equal(rows[0].state, 'answered')
      await app.assertAddsUp()
    })
  }

  await t.test('lets the expiry of an order wait that is being released', async () => {
    const bought = await held()
    const at = async (reached: string) => {
      if (reached === 'release-begun') assert.equal(await expire(bought), 0)
    }
    const reply = await begin({ act: RELEASE, bought, key: randomUUID(), at })
    assert.equal(reply.status, 200, reply.body)
    await app.assertAddsUp()
  })

  await t.test(
    'as a worker at an expired order is let be: nothing is given back twice',
    async () => {
      const bought = await held()
      const { rows } = await app.superuser.query(
        `select charge_id as ref, txn_id, amount_cents::int, currency from charges where order_id = $1`,
        [bought.id],
      )
      // Taken at the gateway's own desk, and too long ago to be voided.
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
    },
  )

  await t.test('as a worker by a worker is no reason to call anybody', async () => {
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

  await t.test('as the watch of late approvals still tells what was given back', async () => {
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

  await t.test('leaves alone what somebody else has under way with the order', async () => {
    const act = ACTS['an edit that charges'] as Act
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
      second = begin({ act, bought, key: randomUUID(), at: under })
      await other.promise
    }
    const first = await begin({ act, bought, key: randomUUID(), at })
    end.resolve()
    assert.deepEqual([first.status, (await second)?.status], [402, 200])
    assert.equal(await netOf(bought), 3_000)
    await app.assertAddsUp()
  })
})
