import { SYSTEM } from '../../platform/audit.ts'
import type { OrderRow } from '../orders/schema.ts'

/** The reason of a hold that lasts as long as the dispute. */
export const DISPUTE = 'dispute'

/** Whether an order is held by its dispute alone, and so for as long as the dispute lasts. */
export const isHeldByDispute = ({ hold }: OrderRow): boolean =>
  hold?.reason === DISPUTE && hold.by === SYSTEM.name
