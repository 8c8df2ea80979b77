import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import type { Attempt } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import { chargeOf, settle } from './give-back-money.ts'
import { listCharges } from './queries.ts'
import { atLeastNothing, less, partsOf, splitAmount } from './refund-plan.ts'
import * as queries from './refund-queries.ts'
import { lock } from './service.ts'
import { recallVoid, type Word, wordOf } from './words.ts'

/**
 * Money that a gateway gave back after we had given the refund up: the shopper has it, so that it
 * counts, whatever the refund was meant for. The failed refund stays on record as what it was.
 */

interface Heard {
  word: Word
  /** It shows in the charge that was undone, and not under our reference. */
  byVoid: boolean
}

/** What the gateway knows now of a refund it knew nothing of. */
export async function hearLateRefund(gateway: payments.Gateway, attempt: Attempt): Promise<Heard> {
  const { id: attempt_id } = attempt
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'unreachable') {
    return { word: { kind: 'unknown', attempt_id }, byVoid: false }
  }
  if (lookup.found === 'yes') {
    return { word: wordOf(attempt_id, payments.resultOfLookup(lookup)), byVoid: false }
  }
  const voided = await recallVoid(gateway, attempt)
  return { word: voided ?? { kind: 'lost', attempt_id }, byVoid: true }
}

/**
 * Counts it, in a transaction of its own, and answers what came of it. `beyond`: as much has been
 * given back by another way, so that the shopper has had it twice. `nothing`: the charge was voided
 * by somebody else, who has counted that. `busy`: whatever is under way must end first.
 */
export async function countLateRefund(
  tx: Tx,
  attempt: Attempt,
  { word, byVoid }: Heard,
): Promise<'counted' | 'beyond' | 'nothing' | 'busy'> {
  if (word.kind !== 'approved') return 'nothing'
  const order = await lock(tx, attempt.order_id)
  const [charges, promised] = await Promise.all([
    listCharges(tx, order.id),
    queries.sumPromised(tx, order.id),
  ])
  // What another refund has promised comes back if the gateway refuses it, as it may because of this.
  if (order.busy || promised.pending > 0) return 'busy'
  const { charge_id, captured_cents } = chargeOf(charges, attempt.charge_id ?? '')
  const { amount_cents, currency } = attempt
  if (byVoid && amount_cents !== captured_cents) return 'nothing'
  if ((await queries.takeFromCharge(tx, charge_id, amount_cents)) === 0) {
    const isCounted = byVoid && (await queries.findWhole(tx, charge_id)) !== null
    return isCounted ? 'nothing' : 'beyond'
  }
  const parts = splitAmount(amount_cents, atLeastNothing(less(partsOf(order), promised)))
  const refund_id = randomUUID()
  await queries.insertRefund(tx, {
    ...{ refund_id, order_id: order.id, amount_cents, currency, ...parts },
    ...{ kind: 'refund', method: 'original', reason: null, actor: 'system' },
  })
  const share = { charge_id, tender: 'card', amount_cents, attempt_id: attempt.id }
  await queries.insertTenders(tx, refund_id, [share])
  const refund = await queries.findRefund(tx, refund_id)
  if (refund === null) throw new Error('the refund is gone')
  await payments.closeLate(tx, attempt.id, word.result)
  await settle(tx, order, refund, charges, new Map([[charge_id, word]]))
  return 'counted'
}
