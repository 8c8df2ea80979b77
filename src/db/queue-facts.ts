import { Type } from 'typebox'
import type { AllStores } from './database.ts'
import { machineTime, type Sql, sql } from './sql.ts'

const Facts = Type.Object({
  kind: Type.String(),
  count: Type.Integer(),
  /** For how long the oldest row of this kind has waited; 0 if no row is due. */
  oldest_seconds: Type.Number(),
})
export type Facts = Type.Static<typeof Facts>

/** How much work waits in the queues of all stores, for the metrics of an operator. */
export interface QueueFacts {
  queues: Facts[]
  deadLetters: Facts[]
  unsettled: Facts
}

/** The most rows that are counted of one kind, so that a scrape costs little while a queue is long. */
export const COUNT_MAX = 100_000

/**
 * How long a gateway may take to answer before an operator may decide; the list of unsettled payments waits as long.
 */
const UNSETTLED_HOURS = 2

const count = (kind: string, rows: Sql) => sql`
  select ${kind}::text as kind, count(*)::int as count,
         greatest(0, coalesce(extract(epoch from ${machineTime} - min(since)), 0))::float8 as oldest_seconds
    from (select since from (${rows}) as all_of_them limit ${COUNT_MAX}) as some_of_them`

const union = ([first, ...rest]: readonly [Sql, ...Sql[]]) =>
  rest.reduce((all, each) => sql`${all} union all ${each}`, first)

/**
 * The rows that wait, by queue. Each is read by the index that its loop claims by, so that the oldest are counted
 * first.
 */
const queues = union([
  count(
    'outbox',
    sql`select next_attempt_at as since from outbox where next_attempt_at is not null order by next_attempt_at`,
  ),
  count(
    'mail',
    sql`select next_attempt_at as since from mails where next_attempt_at is not null order by next_attempt_at`,
  ),
  count(
    'shopper_mail',
    sql`select next_attempt_at as since from shopper_mails where next_attempt_at is not null order by next_attempt_at`,
  ),
  count(
    'campaign_mail',
    sql`select due_at as since from campaign_mailings where due_at is not null order by due_at`,
  ),
  count('webhooks', sql`select due_at as since from webhook_queue order by due_at`),
  count(
    'event_numbering',
    sql`select emitted_at as since from webhook_events where payload is null`,
  ),
  count(
    'operations',
    sql`select due_at as since from idempotency_keys where state = 'running' order by due_at`,
  ),
  count(
    'privacy_exports',
    sql`select due_at as since from privacy_exports where due_at is not null order by due_at`,
  ),
])

const deadLetters = union([
  count(
    'webhooks',
    sql`select dead_lettered_at as since from webhook_deliveries where dead_lettered_at is not null`,
  ),
  count(
    'mail',
    sql`select created_at as since from mails where sent_at is null and next_attempt_at is null and not kept order by created_at`,
  ),
  count(
    'shopper_mail',
    sql`select created_at as since from shopper_mails where state = 'dead' order by created_at`,
  ),
  count(
    'provider_events',
    sql`select received_at as since from gateway_events where status = 'unhandled'`,
  ),
])

const unsettled = count(
  'unsettled',
  sql`select created_at as since from payment_attempts
       where next_check_at is not null and state in ('begun', 'unknown')
         and created_at < ${machineTime} - make_interval(hours => ${UNSETTLED_HOURS})`,
)

/** Reads the facts of all queues with the rights of the operator, who sees all stores. */
export async function readQueueFacts(operator: AllStores): Promise<QueueFacts> {
  const [waiting, dead, payments] = await Promise.all([
    operator.many(Facts, queues),
    operator.many(Facts, deadLetters),
    operator.one(Facts, unsettled),
  ])
  return { queues: waiting, deadLetters: dead, unsettled: payments }
}
