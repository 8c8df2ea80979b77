import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  noRecord,
  unknownResult,
  unreachable,
} from '../../../src/modules/payments/adapters/results.ts'
import { runDue } from '../../../src/modules/renewals/jobs.ts'
import { hasten } from '../../../src/platform/idempotency-due.ts'
import type { GatewayOverride } from '../checkout/setup.ts'
import { type RenewalApp, type RenewalShop, shareRenewalApp } from './setup.ts'

/** Where a process may be killed. */
const STEPS = [
  'claimed',
  'renewal-begun',
  'authorize-sent',
  'authorized',
  'captured',
  'renewal-answered',
  'renewal-ended',
] as const

/** Steps after which the gateway has got nothing. */
const UNSENT: readonly string[] = ['claimed', 'renewal-begun', 'authorize-sent']

describe('a renewal', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })

  const due = async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const { id } = await app.subscribe(shop)
    app.setTime(shop, '2027-02-10T06:01:00Z')
    return { shop, id }
  }

  /** A worker that is killed at a step: it never goes on, and cleans nothing up. */
  const killAt = async (shop: RenewalShop, step: string) => {
    const { promise: reached, resolve } = Promise.withResolvers<void>()
    const deps = app.depsWith({
      at: (point) => {
        if (point !== step) return
        resolve()
        return new Promise<void>(() => {})
      },
    })
    void runDue(deps, app.runtime.workerDatabase.tenant(shop.tenant))
    await reached
  }

  /** All leases of the killed process are over, and what it sent has arrived or never will. */
  const letLeasesEnd = async () => {
    await app.expireClaims()
    await app.superuser.query(
      'update subscriptions set lease_until = now() where lease_until is not null',
    )
    app.clock.advance(11_000)
  }

  const assertRenewedOnce = async (shop: RenewalShop, id: string) => {
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    const placed = (await app.orders(id)).filter(({ placed_at }) => placed_at !== null)
    assert.equal(placed.length, 1)
    const { rows } = await app.superuser.query(
      `select count(*)::int as n, sum(captured_cents)::int as cents from sim_charges
        where tenant_ref = $1 and charged_vault_id is not null and voided_at is null and captured_at is not null`,
      [shop.tenant],
    )
    assert.deepEqual(rows, [{ n: 1, cents: 1_000 }])
    assert.deepEqual(await app.events(id), ['renewed'])
    assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-03-10T05:00:00.000Z')
  }

  for (const step of STEPS) {
    test(`a renewal whose process is killed when ${step} places one order and takes its money once`, async () => {
      const { shop, id } = await due()
      await killAt(shop, step)
      assert.deepEqual(await app.run(shop), [], 'another worker leaves it alone')
      await letLeasesEnd()
      await app.reconcile()
      app.clock.reset()
      if (UNSENT.includes(step)) {
        app.setTime(shop, '2027-02-10T09:00:00Z')
        assert.deepEqual(await app.run(shop), ['charge'])
      }
      assert.deepEqual(await app.run(shop), [])
      await assertRenewedOnce(shop, id)
    })
  }

  const silent: Record<string, GatewayOverride> = {
    'before the authorisation': () => ({ authorize: async () => unknownResult() }),
    'after the authorisation': (real) => ({
      authorize: async (charge) => {
        await real.authorize(charge)
        return unknownResult()
      },
    }),
    'before the capture': () => ({ capture: async () => unknownResult() }),
    'after the capture': (real) => ({
      capture: async (amount) => {
        await real.capture(amount)
        return unknownResult()
      },
    }),
  }

  for (const [when, gateway] of Object.entries(silent)) {
    test(`a renewal whose gateway is silent ${when} is looked up, and charged once`, async () => {
      const { shop, id } = await due()
      await app.run(shop, { gateway })
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 charging'])
      assert.equal((await app.orders(id))[0].payment, 'unknown')
      assert.deepEqual(await app.run(shop), [], 'while it is unknown nothing else is tried')
      await letLeasesEnd()
      await app.reconcile({ gateway: () => ({ lookup: async () => unreachable() }) })
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 charging'])
      await letLeasesEnd()
      await app.reconcile()
      app.clock.reset()
      app.setTime(shop, '2027-02-10T09:00:00Z')
      await app.run(shop)
      await assertRenewedOnce(shop, id)
    })
  }

  test('a renewal whose gateway reports late is found at once', async () => {
    const { shop, id } = await due()
    await app.run(shop, { gateway: silent['after the capture'] as GatewayOverride })
    const [order] = await app.orders(id)
    const db = app.runtime.workerDatabase.tenant(shop.tenant)
    assert.equal(await app.reconcile(), 0, 'not yet its time')
    assert.equal(await hasten(db, order.id), 1)
    assert.equal(await app.reconcile(), 1)
    await assertRenewedOnce(shop, id)
  })

  test('a renewal whose lost charge arrives after its retry was paid reverses that charge', async () => {
    const { shop, id } = await due()
    const sent: (() => Promise<unknown>)[] = []
    await app.run(shop, {
      gateway: (real) => ({
        authorize: async (charge) => {
          sent.push(() => real.sale(charge))
          return unknownResult()
        },
      }),
    })
    await letLeasesEnd()
    await app.reconcile({ gateway: () => ({ lookup: async () => noRecord() }) })
    app.clock.reset()
    assert.equal((await app.orders(id))[0].status, 'payment_failed')
    for (const arrive of sent) await arrive()
    await app.watchLate()
    app.setTime(shop, '2027-02-10T09:00:00Z')
    await app.run(shop)
    await assertRenewedOnce(shop, id)
  })

  for (const [outcome, expected, status] of [
    ['approved', '2 paid', 'active'],
    ['declined', '2 scheduled', 'past_due'],
    ['not_found', '2 scheduled', 'active'],
  ] as const) {
    test(`a renewal that an operator resolves as ${outcome} continues with that outcome`, async () => {
      const { shop, id } = await due()
      const gone: GatewayOverride = (real) => ({
        authorize: async (charge) => {
          if (outcome === 'approved') await real.sale(charge)
          return unknownResult()
        },
        lookup: async () => unreachable(),
      })
      await app.run(shop, { gateway: gone })
      const [order] = await app.orders(id)
      const { rows } = await app.superuser.query(
        `update payment_attempts set created_at = created_at - interval '3 hours'
          where order_id = $1 returning id, amount_cents`,
        [order.id],
      )
      const { rows: made } = await app.superuser.query(
        'select txn_id from sim_charges where ref = $1',
        [rows[0].id],
      )
      await app.expireClaims()
      const { payments } = app.runtime
      const { forStore } = payments
      payments.forStore = async (...of) => {
        const real = await forStore(...of)
        return { ...real, ...gone(real) }
      }
      try {
        const decision = {
          outcome,
          reason: 'seen in the back office',
          ...(outcome === 'approved' && { txn_id: made[0].txn_id, amount_cents: 1_000 }),
        }
        const url = `/v1/stores/${shop.tenant}/payments/${rows[0].id}/resolve`
        const resolved = await app.operator.post(url, decision)
        assert.equal(resolved.status, 200, resolved.text)
      } finally {
        payments.forStore = forStore
      }
      assert.deepEqual(await app.cycles(id), ['1 paid', expected])
      const row = await app.row(id)
      assert.deepEqual([row.status, row.charging_cycle], [status, null])
    })
  }
})
