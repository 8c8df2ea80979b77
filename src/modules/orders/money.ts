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
  requireFree,
  vacate,
} from './operations.ts'
export {
  endCharges,
  insertCharges,
  insertItems,
  insertOrder,
  insertTimeline,
  type NewCharge,
  settleCharges,
  takeNumber,
} from './queries.ts'
