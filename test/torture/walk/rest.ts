import { setTimeout as delay } from 'node:timers/promises'
import { OPERATION_NAMES } from '../../../src/modules/operations/table.ts'
import { ERASE } from '../../../src/modules/privacy/erase.ts'
import { DUE_NOW } from '../../harness/operations.ts'
import { type Calls, describeChange, type KeyedCall } from './calls.ts'
import { recovered } from './disturbances.ts'
import type { Installation } from './installation.ts'

/** Operations that a loop resumes. All others are resumed by their caller alone. */
const RESUMED = [...OPERATION_NAMES, ERASE]

/** Operations that a held order keeps from ending, however often they are sent. */
const WAITING_FOR_RELEASE = [ERASE, 'fulfillment_ship', 'cancel_remaining']

/** An hour must pass until a refund without a record counts as failed; see decision 0025. */
const PASSED = `interval '61 minutes'`

const REST_MS = 180_000
const REPLAYS_AT_ONCE = 8

/** Queries that must find nothing before the books are compared. */
const UNREST: Readonly<Record<string, string>> = {
  'running keys': `select tenant_ref, operation, key, recovery_point from idempotency_keys
                    where state = 'running' and operation = any($1)`,
  'orders in progress': `select tenant_ref, id, status, operation from orders
                          where $1::text[] is not null
                            and (status = 'pending_payment' or operation_id is not null)`,
  // Money that waits for the shopper of an exchange is reserved, and no operation.
  'pending refunds': `select tenant_ref, refund_id, order_id from refunds
                       where status = 'pending' and method <> 'exchange'
                         and $1::text[] is not null`,
  'open attempts': `select tenant_ref, id, kind, state, order_id from payment_attempts
                     where state in ('begun', 'unknown') and $1::text[] is not null`,
  'watched attempts': `select tenant_ref, id, kind, state, order_id from payment_attempts
                        where state = 'not_found' and next_check_at is not null
                          and $1::text[] is not null`,
  'events without a number': `select tenant_ref, id, type from webhook_events
                               where payload is null and $1::text[] is not null`,
  'events to erase': `select tenant_ref, id, type from webhook_events
                       where erase_requested_at is not null and erased_at is null
                         and $1::text[] is not null`,
  'unnumbered journals': `select tenant_ref, journal_id from ledger_unsealed
                           where $1::text[] is not null`,
  'costs without a journal': `select tenant_ref, entry_id from inventory_unposted
                               where $1::text[] is not null`,
  'unfinished erasures': `select tenant_ref, id from privacy_erasures
                           where done_at is null and $1::text[] is not null`,
}

/**
 * Ends all disturbances and lets an hour pass: kills both servers, so that no lease is in use, makes
 * everything older by an hour, and starts the servers again.
 */
export async function endDisturbances(installation: Installation): Promise<void> {
  const { servers, gateway, superuser } = installation
  gateway.calm()
  await gateway.delivered()
  await Promise.all(servers.map((each) => each.kill()))
  await recovered(installation)
  await superuser.query(`
    update payment_attempts
       set created_at = created_at - ${PASSED}, sent_at = sent_at - ${PASSED},
           closed_at = closed_at - ${PASSED}, lease_until = null, lease_token = null,
           next_check_at = case when next_check_at is not null then now() end`)
  await superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
  await Promise.all(servers.map((each) => each.start()))
}

/** Waits until no operation is in progress. What is still in progress then is a fault. */
export async function rest({ superuser }: Installation): Promise<string[]> {
  const deadline = performance.now() + REST_MS
  for (;;) {
    const left: string[] = []
    for (const [what, query] of Object.entries(UNREST)) {
      const { rows } = await superuser.query(query, [RESUMED])
      left.push(...rows.map((row) => `${what}: ${JSON.stringify(row)}`))
    }
    if (left.length === 0 || performance.now() > deadline) return left
    // The next look at an open operation, and at a payment without a record, is brought forward.
    await superuser.query(`
      update idempotency_keys set next_attempt_at = now()
       where state = 'running' and next_attempt_at > now()`)
    await superuser.query(`
      update payment_attempts set next_check_at = now(), closed_at = closed_at - ${PASSED}
       where state = 'not_found' and next_check_at > now()`)
    await delay(1_000)
  }
}

/** Sends every key again until it has a final answer. Lists the keys without one. */
export async function replayAll(calls: Calls, mustReplay: boolean): Promise<string[]> {
  const faults: string[] = []
  const waiting = [...calls.all]
  const replayOne = async (call: KeyedCall) => {
    const { first } = call
    const mayWait = WAITING_FOR_RELEASE.includes(call.operation)
    const received = await calls.settle(call, mayWait ? 3 : 30)
    if (received === null && mayWait) return
    if (received === null) faults.push(`${call.operation} ${call.key} has no final answer`)
    else if (mustReplay && !received.isReplay && first !== null) {
      faults.push(`${describeChange(call, first, received)}\n  which is not a replay`)
    }
  }
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await replayOne(next)
  }
  await Promise.all(Array.from({ length: REPLAYS_AT_ONCE }, work))
  return faults
}
