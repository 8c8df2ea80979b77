import type { TenantDb } from '../../db/database.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { defineOperation, type Replies } from '../operations/service.ts'
import { countDecline } from '../order-changes/fraud-check.ts'
import type { ChargeRow, OrderRow, WaitingOrder } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf } from '../orders/show.ts'
import type { Risk } from '../orders/terms-schema.ts'
import * as attempts from '../payments/attempts.ts'
import type { Attempt } from '../payments/schema.ts'
import {
  type CardCharge,
  type Outcome,
  payByCard,
  payByTenders,
  recallPayment,
} from './pay-order.ts'
import { type PlaceRequest, reserveOrder } from './reserve-money.ts'
import type { CheckoutDeps } from './service.ts'
import { failOrder, holdForReview, settleOrder } from './settle-money.ts'

/**
 * Places an order: `begin` reserves it, `ask` charges the card, `end` places, holds or fails it. A renewal is the same
 * for a cycle of a subscription, with the stored card and without the shopper (decision 0043).
 */

interface Work {
  order: OrderRow
  charges: readonly ChargeRow[]
  risk: Risk
  /** The order as `begin` wrote it, with its version, so that `end` need not read it again. */
  waiting: WaitingOrder | null
  /** Null: the other tenders cover the total. */
  charge: CardCharge | null
  /** The charge of a resumed checkout. */
  attempt: Attempt | null
}

interface CheckoutOutcome extends Replies {
  outcome: Outcome
}

const withUnknown = (outcome: Outcome): CheckoutOutcome => ({
  outcome,
  unknown: outcome.kind === 'unknown' ? [outcome.attempt_id] : [],
})

/**
 * How long a checkout relies on its claim without a check: half of the lease. No other process takes the claim over in
 * that time, so that no statement is spent on the check. A request that a machine sends after its own clock stood still
 * is found later as a late reply.
 */
const TRUST_CLAIM_MS = (idempotency.CLAIM_LEASE_SECONDS * 1_000) / 2

const definePlacing = (name: 'checkout' | 'renewal') =>
  defineOperation<CheckoutDeps, PlaceRequest, Work, CheckoutOutcome>({
    name,
    trustClaimMs: TRUST_CLAIM_MS,
    async begin(deps, db, caller, request) {
      await deps.at?.('claimed')
      const { waiting, risk, charge, claim } = await reserveOrder(deps, db, caller, request)
      const { order, charges } = waiting
      const work = { order, charges, risk, waiting, charge, attempt: null }
      return { state: 'begun', claim, work, source: request.source }
    },
    load: (db, orderId) => load(db, orderId, name),
    async ask(deps, db, { waiting, charge, risk }, source) {
      if (waiting === null || charge === null || source === null)
        return withUnknown(payByTenders(risk))
      return withUnknown(await payByCard(deps, db, waiting, { charge, risk, source }))
    },
    async recall(deps, db, { order, attempt, risk }) {
      if (attempt === null) return withUnknown(payByTenders(risk))
      return withUnknown(await recallPayment(deps, db, attempt, { order, risk }))
    },
    async markUnknown(tx, { order }) {
      const locked = await orders.lock(tx, order.id)
      if (locked.payment !== 'unknown') await orders.change(tx, locked, { payment: 'unknown' })
    },
    end(tx, deps, { claim, work, replies: { outcome } }) {
      const { waiting, order } = work
      if (outcome.kind === 'captured' || outcome.kind === 'covered') {
        return settleOrder(tx, deps, { order_id: order.id, waiting, paid: outcome }, (body) =>
          idempotency.finish(tx, claim, 201, body),
        )
      }
      if (outcome.kind === 'review') return holdForReview(tx, claim, order.id, outcome)
      if (outcome.kind !== 'unknown')
        return failOrder(tx, deps, claim, { order_id: order.id, failed: outcome })
      throw new Error(`a ${name} cannot end with an unknown outcome`)
    },
    async after(deps, db, { order, charges }, { outcome }) {
      const isShoppers = name === 'checkout'
      if (!isShoppers || (outcome.kind !== 'declined' && outcome.kind !== 'rejected')) return
      const card = charges.find(({ tender }) => tender === 'card')
      await countDecline(deps, db, order, { card_fingerprint: card?.card_fingerprint ?? null })
    },
    orderOf: ({ order }) => briefOf(order),
  })

export const checkoutOperation = definePlacing('checkout')
export const renewalOperation = definePlacing('renewal')

async function load(db: TenantDb, orderId: string, name: 'checkout' | 'renewal'): Promise<Work> {
  const order = await orders.get(db, orderId)
  const [charges, all] = await Promise.all([
    orders.listCharges(db, order.id),
    attempts.listAttempts(db, order.id),
  ])
  const attempt = all.find(({ kind }) => kind === name) ?? null
  return { order, charges, risk: order.risk, waiting: null, charge: null, attempt }
}
