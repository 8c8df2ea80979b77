import { ApiError } from '../../errors.ts'
import type { GatewayResult } from '../payments/adapters/schema.ts'
import { shownReason } from '../payments/shown-reason.ts'
import type { OrderRow } from './schema.ts'
import { briefOf } from './show.ts'

const NOT_PROCESSED =
  'The payment could not be processed. No bank declined it, and it is not charged. Try again.'

/** Returns the error of a declined payment. The result is null if the gateway has no record. */
export function declinedPayment(result: GatewayResult | null, order: OrderRow): ApiError {
  const decline = {
    reason: shownReason(result?.reason ?? null),
    retryable: result?.retryable ?? true,
  }
  const isOfBank = decline.reason !== 'processing_error'
  return new ApiError('payment_declined', {
    body: { decline, order: briefOf(order) },
    ...(!isOfBank && { message: NOT_PROCESSED }),
  })
}
