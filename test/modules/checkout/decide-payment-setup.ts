import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { unknownResult, unreachable } from '../../../src/modules/payments/adapters/results.ts'
import type { GatewayResult } from '../../../src/modules/payments/adapters/schema.ts'
import { type CheckoutApp, type GatewayOverride, openCheckoutApp } from './setup.ts'

type Verb = 'authorize' | 'capture' | 'sale' | 'void' | 'refund'

/**
 * A gateway that replies neither to these calls nor to lookups. `done`: it carries the calls out.
 * `lost`: it never gets them.
 */
export const unanswered =
  (done: 'done' | 'lost', ...verbs: Verb[]): GatewayOverride =>
  (real) => {
    const withoutAnswer =
      <What>(send: (what: What) => Promise<GatewayResult>) =>
      async (what: What) => {
        if (done === 'done') await send(what)
        return unknownResult()
      }
    const silent = {
      authorize: withoutAnswer(real.authorize),
      capture: withoutAnswer(real.capture),
      sale: withoutAnswer(real.sale),
      void: withoutAnswer(real.void),
      refund: withoutAnswer(real.refund),
    }
    const chosen = Object.fromEntries(verbs.map((verb) => [verb, silent[verb]]))
    return { ...chosen, lookup: async () => unreachable() }
  }

export interface ResolveApp extends CheckoutApp {
  /**
   * Overrides every gateway of the app, for its routes and its worker; null: the real one again.
   */
  useGateway(override: GatewayOverride | null): void
  /** Makes the open attempt of an order three hours old, ends all leases, and returns its id. */
  agedAttempt(orderId: string, kind?: string): Promise<string>
  attempt(id: string): Promise<{ state: string; txn_id: string | null; amount_cents: number }>
  resolve(id: string, body: object, tenant?: string): ReturnType<CheckoutApp['operator']['post']>
}

export async function openResolveApp(t: TestContext): Promise<ResolveApp> {
  const app = await openCheckoutApp(t)
  const { payments } = app.runtime
  const { forStore } = payments
  let override: GatewayOverride | null = null
  payments.forStore = async (...of) => {
    const real = await forStore(...of)
    return { ...real, ...override?.(real) }
  }
  return {
    ...app,
    useGateway(next) {
      override = next
    },
    async agedAttempt(orderId, kind = 'checkout') {
      const { rows } = await app.superuser.query(
        `update payment_attempts set created_at = created_at - interval '3 hours'
          where order_id = $1 and kind = $2 and state in ('begun', 'unknown') returning id`,
        [orderId, kind],
      )
      assert.ok(rows.length > 0, `no ${kind} waits`)
      await app.expireClaims()
      return rows[0].id
    },
    async attempt(id) {
      const { rows } = await app.superuser.query(
        `select state, txn_id, amount_cents::int from payment_attempts where id = $1`,
        [id],
      )
      return rows[0]
    },
    resolve: (id, body, tenant = 'acme') =>
      app.operator.post(`/v1/stores/${tenant}/payments/${id}/resolve`, body),
  }
}

/** The operator's reason for a decision. */
export const OPERATOR_REASON = { reason: 'Looked at the portal with Kim: see ticket 12.' }

/** The transaction that the gateway's own tables have for a reference. */
export async function txnOf({ superuser }: CheckoutApp, ref: string): Promise<string> {
  const { rows } = await superuser.query(`select txn_id from sim_charges where ref = $1`, [ref])
  return rows[0].txn_id
}
