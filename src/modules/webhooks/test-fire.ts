import type { Db } from '../../db/database.ts'
import { machineNow } from '../../kernel/clock.ts'
import { newId } from '../../kernel/id.ts'
import { attempt } from './attempt.ts'
import { writeEnvelope } from './envelope.ts'
import * as queries from './queries.ts'
import { TEST_EVENT, type TestOutcome } from './schema.ts'
import { decryptKeys } from './secrets.ts'
import { assertWithinRate, get, type Webhooks } from './service.ts'

/**
 * How many tests a store may send per minute: a test may hold a connection for ten seconds, to any host that the
 * merchant names.
 */
const TESTS_PER_MINUTE = 10

/**
 * Sends a test event now and returns its outcome. It has one attempt, does not count as a failure of the endpoint,
 * and does not wait for other deliveries.
 */
export async function fireTest(
  { key, fetch, limits }: Webhooks,
  db: Db,
  id: string,
): Promise<TestOutcome> {
  const subscription = await get(db, id)
  await assertWithinRate(limits, `webhook tests:${db.tenant}`, TESTS_PER_MINUTE)
  const event_id = newId()
  const created_at = new Date(db.clock.now()).toISOString()
  const head = { id: event_id, type: TEST_EVENT, tenant_ref: db.tenant, created_at }
  const payload = writeEnvelope(head, JSON.stringify({ test: true }))
  const inOverlap = Date.parse(subscription.previous_until ?? '') > machineNow()
  const secrets = inOverlap ? subscription : { ...subscription, previous_sealed: null }
  const outcome = await attempt(
    { fetch, clock: db.clock },
    {
      url: subscription.url,
      event_id,
      event_type: TEST_EVENT,
      payload,
      keys: decryptKeys(key, secrets, db.tenant, subscription.id),
      attempt: 1,
      replay: false,
    },
  )
  const delivery_id = newId()
  const { delivered, connectionError, ...finished } = outcome
  await queries.insertTest(db, {
    delivery_id,
    event_id,
    subscription,
    payload,
    created_at,
    delivered,
    attempt: finished,
  })
  return {
    delivery_id,
    event_type: TEST_EVENT,
    outcome: delivered ? 'delivered' : 'failed',
    status_code: finished.status_code,
    latency_ms: finished.latency_ms,
    error: connectionError,
  }
}
