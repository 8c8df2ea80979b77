/**
 * The rows of an order's money, for whoever places, settles or gives up an order. Each is one
 * statement, so that they travel together; the status follows by `change` of the service.
 */

export { isDisputable, openDispute } from './dispute-money.ts'
export {
  type Asked,
  actorOf,
  occupy,
  type Plan,
  planOf,
  record,
  vacate,
} from './operations.ts'
export { insertWaiting, MovedError, settled, writeSettled } from './place.ts'
export { takeNumber } from './place-queries.ts'
export {
  endCharges,
  findDisputed,
  insertCharges,
  insertTimeline,
  type NewCharge,
} from './queries.ts'
export { findOfAttempt } from './refund-queries.ts'
export { whileHeld } from './words.ts'
