import type { Database, TenantDb } from '../../db/database.ts'
import { countLateRefund, hearLateRefund } from '../orders/late-refund-money.ts'
import * as orderRows from '../orders/money.ts'
import type { Lookup } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import type { CheckoutDeps } from './service.ts'

type Late = Awaited<ReturnType<typeof payments.lateQueue.claim>>[number]

/** What it took and has given back: by a worker that did not come to say so. */
const RETURNED: readonly Lookup['state'][] = ['voided', 'refunded']

/**
 * Asks once more about an attempt that was given up because its gateway had never heard of it. What
 * it turns out to have charged is given back: the order has failed, and is not brought back to life.
 */
export async function watchLate(deps: CheckoutDeps, database: Database, late: Late): Promise<void> {
  const db = database.tenant(late.tenant_ref)
  const gateway = await deps.payments.forStore(db, late.gateway)
  if (late.kind === 'refund') return watchRefund(deps, db, gateway, late)
  const lookup = await gateway.lookup({ ref: late.id })
  if (lookup.found === 'unreachable') return payments.deferCheck(db, late)
  const { id: attempt_id, order_id, amount_cents, currency, kind } = late
  const about = { tenant: db.tenant, order_id, attempt_id, kind, amount_cents }
  const { txn_id } = lookup
  const isReturned = RETURNED.includes(lookup.state)
  if (lookup.found === 'no' || txn_id === null || !(isReturned || payments.stands(lookup)))
    return payments.watchOn(db, late)
  const what = { ref: attempt_id, txn_id, amount_cents: lookup.amount_cents, currency }
  const back = isReturned ? null : await payments.giveBack(gateway, what)
  if (back !== null && back.outcome !== 'approved') {
    if (await payments.isAlertDue(db, attempt_id)) {
      deps.onAlert(
        { ...about, reason: back.reason },
        'the late approval of a failed order could not be reversed yet',
      )
    }
    return payments.deferCheck(db, late)
  }
  await db.transaction('checkout: late approval', async (tx) => {
    await payments.markVoided(tx, attempt_id, back ?? payments.resultOfLookup(lookup))
    await payments.endCheck(tx, late)
    await orderRows.insertTimeline(tx, order_id, {
      type: 'late_approval_returned',
      actor: 'system',
      data: { attempt_id, amount_cents },
    })
  })
  deps.onAlert(about, 'the late approval of a failed order was reversed')
}

/** The same of a refund. Nothing can undo it: it counts from now on, and somebody is told. */
async function watchRefund(
  deps: CheckoutDeps,
  db: TenantDb,
  gateway: payments.Gateway,
  late: Late,
): Promise<void> {
  const heard = await hearLateRefund(gateway, late)
  if (heard.word.kind === 'unknown') return payments.deferCheck(db, late)
  const came = await db.transaction('checkout: late refund', async (tx) => {
    const counted = await countLateRefund(tx, late, heard)
    if (counted === 'counted') await payments.endCheck(tx, late)
    return counted
  })
  if (came === 'busy') return payments.deferCheck(db, late)
  const { id: attempt_id, order_id, amount_cents, kind } = late
  const about = { tenant: db.tenant, order_id, attempt_id, kind, amount_cents }
  if (came === 'counted') {
    return deps.onAlert(about, 'a refund that had counted as failed went through and is recorded')
  }
  if (came === 'nothing') return payments.watchOn(db, late)
  // Before the watch ends: who dies in between tells it twice, and else nobody would.
  deps.onAlert(
    about,
    'a refund that had counted as failed went through beside another: the shopper was paid twice',
  )
  await payments.endWatch(db, late)
}
