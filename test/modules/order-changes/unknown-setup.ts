import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { giveUpLabels, listLabels } from '../../../src/modules/carriers/give-up.ts'
import { expireHold } from '../../../src/modules/checkout/operations-money.ts'
import { cancelPending } from '../../../src/modules/fulfillment/service.ts'
import type { OrderChangeDeps } from '../../../src/modules/order-changes/deps.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import type { GatewayResult } from '../../../src/modules/payments/adapters/schema.ts'
import { listWaitingExchanges, openExchange } from '../../../src/modules/returns/exchange-money.ts'
import { cancelOfOrder } from '../../../src/modules/subscriptions/service.ts'
import { claimDue } from '../../../src/platform/idempotency-due.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import type { Answer } from '../../harness/app.ts'
import { cancel, DUE_NOW, expireAllClaims, refund } from '../../harness/operations.ts'
import { movableClock } from '../checkout/setup.ts'
import { shareOrderStore } from '../orders/setup.ts'

export const ACTOR = { name: 'merchant_key:test', correlationId: null }

/** After this time a gateway without a record of a charge will not get it any more. */
export const LATER_MS = 11_000

/** After this time a gateway without a record of a refund will not get it any more. */
export const OVER_AN_HOUR_MS = HOUR_MS + 1_000

type LostAnswer = 'after' | 'before'

export const UNKNOWN = unknownResult()

/**
 * A store for all tests of a file, whose gateway can lose its replies, and the operations as the routes and
 * the processes that resume them run them.
 */
export function shareUnknownOutcomes() {
  const clock = movableClock()
  const shared = shareOrderStore({ clock })

  const db = () => shared.current.app.runtime.database.tenant('acme')
  const alerts: Record<string, unknown>[] = []

  /**
   * The app's deps, whose gateway loses its replies to refunds and voids: after or before it made
   * them.
   */
  const depsOf = (lost?: LostAnswer, laterMs = 0): OrderChangeDeps => {
    clock.reset()
    clock.advance(laterMs)
    const { payments, key } = shared.current.app.runtime
    const losingAnswers = (gateway: Gateway): Gateway => {
      const loseAnswer = async (work: () => Promise<GatewayResult>) => {
        if (lost === 'after') await work()
        return UNKNOWN
      }
      return {
        ...gateway,
        refund: (what) => loseAnswer(() => gateway.refund(what)),
        void: (what) => loseAnswer(() => gateway.void(what)),
      }
    }
    const forStore: typeof payments.forStore = async (...of) => {
      const gateway = await payments.forStore(...of)
      return lost === undefined ? gateway : losingAnswers(gateway)
    }
    return {
      payments: { ...payments, forStore },
      tax: null,
      limits: shared.current.app.runtime.limits,
      velocityLimit: 100_000,
      keys: { fingerprint: key('card fingerprint') },
      cancelParcels: cancelPending,
      openExchange,
      listWaitingExchanges,
      listLabels,
      giveUpLabels,
      endSubscriptions: (tx, order) => cancelOfOrder(tx, order.id),
      onAlert: (about, message) => alerts.push({ message, ...about }),
    }
  }

  const begin = (deps: OrderChangeDeps, orderId: string, amount_cents: number) =>
    run(db(), { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }, (claim) =>
      refund(deps, db(), { actor: ACTOR, claim }, orderId, {
        by: 'merchant',
        body: { amount_cents },
      }),
    )

  const beginCancel = (deps: OrderChangeDeps, orderId: string) => {
    const request = { reason: 'staff', note: null, restock: true, as: 'cancel' } as const
    const claim = { operation: 'cancel', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    return run(db(), claim, (held) =>
      cancel(deps, db(), { actor: ACTOR, claim: held }, orderId, request),
    )
  }

  /** Cancels a held order as if its authorisation had lapsed; null where that cannot end yet. */
  const expire = async (deps: OrderChangeDeps, orderId: string) => {
    const lapse = `update charges set authorized_until = now() where order_id = $1
                      and status = 'authorized'`
    await shared.current.superuser.query(lapse, [orderId])
    await expireAllClaims(shared.current.superuser)
    const isEnded = await expireHold(deps, db(), orderId)
    return isEnded ? (await shared.current.read(orderId)).order : null
  }

  const claimKeys = async (operation: string) => {
    await shared.current.superuser.query(
      `update idempotency_keys set ${DUE_NOW} where state = 'running'`,
    )
    return claimDue(db(), { operations: [operation], limit: 10 })
  }

  /** The one claim that a stopped process left. */
  const claimKey = async (operation: string) => {
    const [claim, ...others] = await claimKeys(operation)
    assert.ok(claim)
    assert.deepEqual(others, [])
    return claim
  }
  const explain = async (orderId: string) =>
    (await shared.current.shop.merchant.get(`/v1/merchant/orders/${orderId}/explain`)).body
  const refusalOf = (explained: Answer['body'], action: string) =>
    explained.refused.find((each: { action: string }) => each.action === action)?.reason

  return { shared, db, alerts, depsOf, begin, beginCancel, expire, claimKey, explain, refusalOf }
}
