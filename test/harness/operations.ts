import type pg from 'pg'
import type { TenantDb } from '../../src/db/database.ts'
import { checkoutOperation } from '../../src/modules/checkout/place-money.ts'
import { releaseOperation } from '../../src/modules/checkout/release-money.ts'
import type { PlaceRequest } from '../../src/modules/checkout/reserve-money.ts'
import type { CheckoutDeps } from '../../src/modules/checkout/service.ts'
import type { Caller } from '../../src/modules/operations/schema.ts'
import {
  type CancelRequest,
  cancelOperation,
} from '../../src/modules/order-changes/cancel-money.ts'
import type { OrderChangeDeps } from '../../src/modules/order-changes/deps.ts'
import { type EditRequest, editOrder } from '../../src/modules/order-changes/edit-money.ts'
import {
  type RefundRequest,
  refundOperation,
} from '../../src/modules/order-changes/refund-money.ts'
import { SYSTEM } from '../../src/platform/audit.ts'
import type { WonClaim } from '../../src/platform/idempotency.ts'

/** The operations as their routes run them, for tests that stop or overtake them half-way. */

export const place = (deps: CheckoutDeps, db: TenantDb, claim: WonClaim, placing: PlaceRequest) =>
  checkoutOperation.run(deps, db, { actor: SYSTEM, claim }, placing)

export const release = (deps: CheckoutDeps, db: TenantDb, caller: Caller, orderId: string) =>
  releaseOperation.run(deps, db, caller, { orderId })

export const refund = (
  deps: OrderChangeDeps,
  db: TenantDb,
  caller: Caller,
  orderId: string,
  request: RefundRequest,
) => refundOperation.run(deps, db, caller, { orderId, request })

export const cancel = (
  deps: OrderChangeDeps,
  db: TenantDb,
  caller: Caller,
  orderId: string,
  terms: Omit<CancelRequest, 'orderId'>,
) => cancelOperation.run(deps, db, caller, { orderId, ...terms })

export const edit = (
  deps: OrderChangeDeps,
  db: TenantDb,
  caller: Caller,
  orderId: string,
  request: Omit<EditRequest, 'orderId'>,
) => editOrder(deps, db, caller, { orderId, ...request })

/** Assignments that make a running key due: its lease has expired, or its next attempt has come. */
export const DUE_NOW = `
  lease_until = case when lease_until is not null then now() end,
  next_attempt_at = case when next_attempt_at is not null then now() end`

/** Makes all running keys due, as if their processes had stopped and their waits were over. */
export const expireAllClaims = (superuser: pg.Client) =>
  superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
