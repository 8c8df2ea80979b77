import type { Database, TenantDb } from '../../db/database.ts'
import { countLateRefund, recallLateRefund } from '../order-changes/late-refund-money.ts'
import { addToTimeline } from '../orders/service.ts'
import type { Gateway } from '../payments/adapters/gateway.ts'
import { resultOfLookup } from '../payments/adapters/results.ts'
import type { Lookup } from '../payments/adapters/schema.ts'
import * as attempts from '../payments/attempts.ts'
import { isActive, reversePayment } from '../payments/gateway.ts'
import { fencedPayments } from '../payments/service.ts'
import type { CheckoutDeps } from './service.ts'

/** An attempt that was closed as `not_found`, under a lease. */
export type LateAttempt = Awaited<ReturnType<typeof attempts.lateQueue.claim>>[number]

/** States of a charge that a worker reversed before it stopped. */
const REVERSED: readonly Lookup['state'][] = ['voided', 'refunded']

/**
 * Looks up an attempt that was given up because its gateway had no record of it. A late charge is
 * reversed: its attempt counts as failed, and its order has gone on without it. A process that lost its lease
 * reverses nothing.
 */
export async function watchLate(
  deps: CheckoutDeps,
  database: Database,
  late: LateAttempt,
): Promise<void> {
  const db = database.tenant(late.tenant_ref)
  const payments = fencedPayments(deps.payments, () => attempts.renewLookup(db, late))
  const gateway = await payments.forStore(db, late.gateway)
  if (late.kind === 'refund') return watchRefund(deps, db, gateway, late)
  const lookup = await gateway.lookup({ ref: late.id })
  if (lookup.found === 'unreachable') return attempts.postponeLookup(db, late)
  const { id: attempt_id, order_id, amount_cents, currency, kind } = late
  const about = { tenant: db.tenant, order_id, attempt_id, kind, amount_cents }
  const { txn_id } = lookup
  const isReversed = REVERSED.includes(lookup.state)
  if (lookup.found === 'no' || txn_id === null || !(isReversed || isActive(lookup)))
    return attempts.postponeLateLookup(db, late)
  const amount = { ref: attempt_id, txn_id, amount_cents: lookup.amount_cents, currency }
  const reversed = isReversed ? null : await reversePayment(gateway, amount)
  if (reversed !== null && reversed.outcome !== 'approved') {
    if (await attempts.isAlertDue(db, attempt_id)) {
      const alert = { ...about, reason: reversed.reason }
      deps.onAlert(alert, 'the late approval of a failed payment could not be reversed yet')
    }
    return attempts.postponeLookup(db, late)
  }
  await db.transaction('checkout: late approval', async (tx) => {
    await attempts.markVoided(tx, attempt_id, reversed ?? resultOfLookup(gateway, lookup))
    await attempts.endLookup(tx, late)
    await addToTimeline(tx, order_id, {
      type: 'late_approval_returned',
      actor: 'system',
      data: { attempt_id, amount_cents },
    })
  })
  deps.onAlert(about, 'the late approval of a failed payment was reversed')
}

/**
 * Looks up a refund that was given up. A late refund cannot be undone: it counts, and is an alert.
 */
async function watchRefund(
  deps: CheckoutDeps,
  db: TenantDb,
  gateway: Gateway,
  late: LateAttempt,
): Promise<void> {
  const found = await recallLateRefund(gateway, late)
  if (found.reply.kind === 'unknown') return attempts.postponeLookup(db, late)
  const outcome = await db.transaction('checkout: late refund', async (tx) => {
    const counted = await countLateRefund(tx, late, found)
    if (counted === 'counted') await attempts.endLookup(tx, late)
    return counted
  })
  if (outcome === 'busy') return attempts.postponeLookup(db, late)
  const { id: attempt_id, order_id, amount_cents, kind } = late
  const about = { tenant: db.tenant, order_id, attempt_id, kind, amount_cents }
  if (outcome === 'counted') {
    return deps.onAlert(about, 'a refund that had counted as failed went through and is recorded')
  }
  if (outcome === 'nothing') return attempts.postponeLateLookup(db, late)
  // The alert comes before the watch ends: a process that stops in between alerts twice, otherwise it would never
  // alert.
  deps.onAlert(
    about,
    'a refund that had counted as failed went through beside another: the shopper was paid twice',
  )
  await attempts.endLateLookups(db, late)
}
