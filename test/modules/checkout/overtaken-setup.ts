import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, type TestContext } from 'node:test'
import type { TenantDb } from '../../../src/db/database.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import type { CheckoutDeps } from '../../../src/modules/checkout/service.ts'
import type { Caller } from '../../../src/modules/operations/schema.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { refused } from '../../../src/modules/payments/adapters/results.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import type { StoredAnswer } from '../../../src/platform/idempotency.ts'
import { run, type SentAnswer } from '../../../src/platform/idempotency-run.ts'
import type { Answer } from '../../harness/app.ts'
import { cancel } from '../../harness/operations.ts'
import { share } from '../../harness/scope.ts'
import {
  addVariant,
  type CheckoutApp,
  cart,
  checkout,
  type Overrides,
  openCheckoutApp,
  openShop,
  type Shop,
  stock,
} from './setup.ts'

/** Longer than a claim is leased for. */
const PAUSE_MS = 61_000

/** The members of a cart whose order is to be held for review. */
export const REVIEWED = { email: 'review@example.com' }

export interface Bought {
  id: string
  item: string
}

/** An operation on an order, as its route begins it. */
export interface Scenario {
  operation: string
  begin(deps: CheckoutDeps, db: TenantDb, caller: Caller, bought: Bought): Promise<StoredAnswer>
}

export const CANCELLATION: Scenario = {
  operation: 'cancel',
  begin: (deps, db, caller, { id }) =>
    cancel(deps, db, caller, id, { reason: 'staff', note: null, restock: true, as: 'cancel' }),
}

interface SlowCaller extends Pick<Overrides, 'at' | 'gateway'> {
  scenario: Scenario
  bought: Bought
  key: string
}

/** An app with one live store, in which a process is paused until another one has overtaken it. */
export interface OvertakeApp extends CheckoutApp {
  shop: Shop
  /** A variant at 1,000 cents, of which there is enough for all tests. */
  counted: string
  /** Buys two units by card. */
  buy(more?: object): Promise<Bought>
  /** A request of the merchant about an order, under a key of its own. */
  ask(bought: Bought, verb: string, body?: object): Promise<Answer>
  /** What the simulated gateway has captured and not refunded of an order, by its own tables. */
  netOf(bought: Bought): Promise<number>
  /** An operation whose process can be paused at each named step and at each call of its gateway. */
  begin(slow: SlowCaller): Promise<SentAnswer>
  /** Lets the worker resume the one operation that is open, as if its process had been paused. */
  overtake(overrides?: Overrides): Promise<void>
}

export async function openOvertakeApp(t: TestContext): Promise<OvertakeApp> {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  const db = app.runtime.database.tenant(shop.tenant)
  const counted = await addVariant(merchant, 1_000)
  await stock(merchant, counted, 10_000)
  const ban = { kind: 'email', value: REVIEWED.email, action: 'review' }
  assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  return {
    ...app,
    shop,
    counted,
    async buy(more = {}) {
      const items = [{ variant_id: counted, quantity: 2 }]
      const { body, status, text } = await checkout(app, shop, cart(counted, { items, ...more }))
      assert.ok(status < 300, text)
      return { id: body.order.id, item: body.items[0].id }
    },
    ask: ({ id }, verb, body) =>
      merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, { 'idempotency-key': randomUUID() }),
    async netOf({ id }) {
      const { rows } = await app.superuser.query(
        `select coalesce(sum(s.captured_cents - s.refunded_cents), 0)::int as net
           from sim_charges s join payment_attempts a on a.tenant_ref = s.tenant_ref and a.id = s.ref
          where a.order_id = $1 and s.voided_at is null`,
        [id],
      )
      return rows[0].net
    },
    begin({ scenario, bought, key, at, gateway }) {
      const deps = openCheckout(app.runtime)
      const forStore: typeof deps.payments.forStore = async (...of) => {
        const real = withoutDeduplication(await deps.payments.forStore(...of))
        return { ...real, ...gateway?.(real) }
      }
      const payments = { ...deps.payments, forStore }
      const slow = { ...deps, ...(at && { at }), payments, trustClocks: [app.clock] }
      const { operation } = scenario
      const claim = { operation, key, fingerprint: Buffer.alloc(32), waitMs: 0 }
      return run(db, claim, (held) =>
        scenario.begin(slow, db, { actor: SYSTEM, claim: held }, bought),
      )
    },
    async overtake(overrides) {
      app.clock.advance(PAUSE_MS)
      await app.expireClaims()
      assert.equal(await app.reconcile(overrides), 1)
    },
  }
}

/** A gateway that does not recognise our references: a request that it gets twice is done twice. */
function withoutDeduplication(real: Gateway): Gateway {
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

/** Shares one app among all tests of a file. Each test begins at the present time, and without alerts. */
export function shareOvertakeApp(): { current: OvertakeApp } {
  const shared = share(openOvertakeApp)
  beforeEach(async () => {
    const app = shared.current
    app.clock.reset()
    app.alerts.length = 0
    // Attempts of earlier tests need no more lookups.
    await app.superuser.query(
      `update payment_attempts set next_check_at = null where state = 'not_found'`,
    )
  })
  return shared
}
