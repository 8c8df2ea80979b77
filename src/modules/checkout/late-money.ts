import type { Database } from '../../db/database.ts'
import * as orderRows from '../orders/money.ts'
import type { Lookup } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import type { CheckoutDeps } from './service.ts'

type Late = Awaited<ReturnType<typeof payments.lateQueue.claim>>[number]

/** What a gateway holds or has taken. */
const STANDS: readonly Lookup['state'][] = ['authorized', 'captured', 'settled']

/**
 * Asks once more about an attempt that was given up because its gateway had never heard of it. What
 * it turns out to have charged is given back: the order has failed, and is not brought back to life.
 */
export async function watchLate(deps: CheckoutDeps, database: Database, late: Late): Promise<void> {
  const db = database.tenant(late.tenant_ref)
  const gateway = await deps.payments.forStore(db, late.gateway)
  const lookup = await gateway.lookup({ ref: late.id })
  if (lookup.found === 'unreachable') return payments.deferCheck(db, late)
  const { id: attempt_id, order_id, amount_cents, currency, kind } = late
  const about = { tenant: db.tenant, order_id, attempt_id, kind, amount_cents }
  if (kind === 'refund' && lookup.found === 'yes') {
    deps.onAlert(about, 'a refund that was given up has gone through: give it to nobody twice')
    return payments.watchOn(db, late)
  }
  const { txn_id } = lookup
  if (lookup.found === 'no' || txn_id === null || !STANDS.includes(lookup.state))
    return payments.watchOn(db, late)
  const back = await payments.giveBack(gateway, {
    ref: attempt_id,
    txn_id,
    amount_cents: lookup.amount_cents,
    currency,
  })
  if (back.outcome !== 'approved') {
    deps.onAlert({ ...about, reason: back.reason }, 'a late approval could not be given back yet')
    return payments.deferCheck(db, late)
  }
  await db.transaction('checkout: late approval', async (tx) => {
    await payments.markVoided(tx, attempt_id, back)
    await payments.endCheck(tx, late)
    await orderRows.insertTimeline(tx, order_id, {
      type: 'late_approval_returned',
      actor: 'system',
      data: { attempt_id, amount_cents },
    })
  })
  deps.onAlert(about, 'the payment of a failed order was approved late, and was given back')
}
