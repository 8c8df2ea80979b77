import type { TenantDb } from '../../db/database.ts'
import type { ErrorCode } from '../../error-codes.ts'
import { ApiError } from '../../errors.ts'
import { sha256 } from '../../kernel/tokens.ts'
import { SYSTEM } from '../../platform/audit.ts'
import type { StoredAnswer, WonClaim } from '../../platform/idempotency.ts'
import { run } from '../../platform/idempotency-run.ts'
import type { Operation } from '../operations/service.ts'
import { type OperationName, operationAt } from '../operations/table.ts'
import { cancelOperation } from '../order-changes/cancel-money.ts'
import { cancelRemainingOperation } from '../order-changes/cancel-remaining-money.ts'
import { correctOperation } from '../order-changes/correct-money.ts'
import type { OrderChangeDeps } from '../order-changes/deps.ts'
import { editOperation } from '../order-changes/edit-money.ts'
import { refundOperation } from '../order-changes/refund-money.ts'
import * as paymentRequests from '../orders/payment-request.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { receiveOperation } from '../returns/receive-money.ts'
import { exchangeOperation } from './exchange-money.ts'
import { expireCorrection, isCorrection } from './pay-correction-money.ts'
import { payOperation } from './pay-request-money.ts'
import { checkoutOperation, renewalOperation } from './place-money.ts'
import { postponeExpiry } from './queries.ts'
import { releaseOperation } from './release-money.ts'
import type { CheckoutDeps } from './service.ts'

/** The code of every operation in the table of operations. */
const IMPLEMENTATIONS: Record<OperationName, Pick<Operation<CheckoutDeps, never>, 'resume'>> = {
  checkout: checkoutOperation,
  renewal: renewalOperation,
  release: releaseOperation,
  refund: refundOperation,
  cancel: cancelOperation,
  edit: editOperation,
  correct: correctOperation,
  cancel_remaining: cancelRemainingOperation,
  return_receive: receiveOperation,
  exchange: exchangeOperation,
  pay: payOperation,
}

/** Resumes an operation from its recovery point, as the same key would. */
export const resumeOperation = (
  deps: CheckoutDeps,
  db: TenantDb,
  claim: WonClaim,
): Promise<StoredAnswer> =>
  IMPLEMENTATIONS[operationAt(claim.recoveryPoint)].resume(deps, db, claim)

/** Outcomes after which the order is due again later, or is no longer held. They free the key. */
const PASSING: readonly ErrorCode[] = ['order_busy', 'invalid_transition']
const NOT_ENDED: readonly ErrorCode[] = [
  ...PASSING,
  'idempotency_in_progress',
  'payment_unconfirmed',
]

/** Cancels a held order whose authorisation has lapsed. Returns false if it cannot be cancelled now. */
export async function expireHold(
  deps: OrderChangeDeps,
  db: TenantDb,
  order_id: string,
): Promise<boolean> {
  if ((await postponeExpiry(db, order_id)) === 0) return false
  return cancelExpired(deps, db, order_id, `expired hold ${order_id}`)
}

/**
 * Cancels a held order whose shopper was asked to pay and has not paid. A placed order, which was to be corrected,
 * stays as it is. Returns false if that cannot be done now.
 */
export async function expireRequest(
  deps: OrderChangeDeps,
  db: TenantDb,
  order_id: string,
): Promise<boolean> {
  if ((await paymentRequests.postponeExpiry(db, order_id)) === 0) return false
  if (isCorrection(await orders.get(db, order_id))) return expireCorrection(db, order_id)
  return cancelExpired(deps, db, order_id, `expired payment request ${order_id}`)
}

/**
 * Cancels a held order under a key of its own, which no caller can send because of its spaces: so it
 * runs once, and the reconciler resumes it.
 */
async function cancelExpired(
  deps: OrderChangeDeps,
  db: TenantDb,
  order_id: string,
  key: string,
): Promise<boolean> {
  const request = {
    operation: 'cancel',
    key,
    fingerprint: sha256(key),
    passing: PASSING,
    waitMs: 0,
  }
  try {
    await run(db, request, (claim) =>
      cancelOperation.run(
        deps,
        db,
        { actor: SYSTEM, claim },
        {
          orderId: order_id,
          reason: 'expired',
          note: null,
          restock: true,
          as: 'cancel',
          also: async (_, order) => requireHeld(order),
        },
      ),
    )
    return true
  } catch (error) {
    if (error instanceof ApiError && NOT_ENDED.includes(error.code)) return false
    throw error
  }
}

/** Refuses an order that was released in the meantime: it is paid, and only its merchant may cancel it. */
function requireHeld(order: OrderRow): void {
  if (order.placed_at === null) return
  const { allowed } = orders.allowedOf(order)
  throw new ApiError('invalid_transition', { body: { current_status: order.status, allowed } })
}
