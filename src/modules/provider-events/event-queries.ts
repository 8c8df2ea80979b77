import { Type } from 'typebox'
import type { AllStores, Db } from '../../db/database.ts'
import { type KeyColumn, readList } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import {
  type AccountName,
  EventRow,
  type EventStatus,
  GatewayEvent,
  type Outcome,
  type WebhookReceived,
} from './schema.ts'

const rowOf = (db: Db, { provider, account_ref, provider_event_id }: WebhookReceived) =>
  sql`tenant_ref = ${db.tenant} and provider = ${provider} and account_ref = ${account_ref}
      and event_id = ${provider_event_id}`

export const findEvent = (db: Db, event: WebhookReceived) =>
  db.maybe(
    EventRow,
    sql`select scheme, status, event_type, body from gateway_events where ${rowOf(db, event)}`,
  )

/** Stores the outcome of an event. A second outcome does not replace the first: an event may be handled twice. */
export const writeOutcome = (db: Db, event: WebhookReceived, { status, reason }: Outcome) =>
  db.run(sql`
    update gateway_events set status = ${status}, reason = ${reason}, handled_at = fd_now()
     where ${rowOf(db, event)} and status = 'received'`)

export interface EventFilters {
  provider?: string | undefined
  account_ref?: string | undefined
  tenant_ref?: string | undefined
  status?: EventStatus | undefined
}

const shown = sql`e.tenant_ref, e.provider, e.account_ref, e.event_id, e.event_type, e.scheme,
                  e.status, e.reason, e.received_at, e.handled_at`

const AccountKey = Type.Object({
  tenant_ref: Type.String(),
  provider: Type.String(),
  account_ref: Type.String(),
})

const whereOf = ({ provider, account_ref, tenant_ref, status }: EventFilters): Sql[] => [
  ...(tenant_ref === undefined ? [] : [sql`e.tenant_ref = ${tenant_ref}`]),
  ...(provider === undefined ? [] : [sql`e.provider = ${provider}`]),
  ...(account_ref === undefined ? [] : [sql`e.account_ref = ${account_ref}`]),
  ...(status === undefined ? [] : inStatus(status)),
]

/** The most accounts whose events are read one account after another. */
const ACCOUNTS_MAX = 20

/**
 * Divides a list of events by the accounts that its filters name. The index of an account has its events in the
 * order of the list, so each account can be read as a part. Removed accounts count too: they still have their
 * events. Returns null if the filters name no account or match too many.
 */
async function partsOfAccounts(
  operator: AllStores,
  { provider, account_ref }: EventFilters,
): Promise<Sql[] | null> {
  if (provider === undefined && account_ref === undefined) return null
  const accounts = await operator.many(
    AccountKey,
    sql`
    select tenant_ref, provider, account_ref
      from gateway_accounts
     where ${provider === undefined ? sql`true` : sql`provider = ${provider}`}
       and ${account_ref === undefined ? sql`true` : sql`account_ref = ${account_ref}`}
     limit ${ACCOUNTS_MAX + 1}`,
  )
  if (accounts.length === 0) return [sql`false`]
  if (accounts.length > ACCOUNTS_MAX) return null
  return accounts.map(
    (account) => sql`e.tenant_ref = ${account.tenant_ref} and e.provider = ${account.provider}
                     and e.account_ref = ${account.account_ref}`,
  )
}

/**
 * The conditions of a status, written as the index has them: `gateway_events_to_watch`
 * has all but the applied events.
 */
const inStatus = (status: EventStatus): Sql[] =>
  status === 'applied'
    ? [sql`e.status = 'applied'`]
    : [sql`e.status = ${status}`, sql`e.status <> 'applied'`]

/**
 * The order of the list. The index has the first two columns, which are almost always unique; the
 * last three make the key unique.
 */
const NEWEST_RECEIVED: readonly KeyColumn[] = [
  { name: sql`received_at`, type: 'timestamp' },
  { name: sql`event_id`, type: 'text' },
  { name: sql`tenant_ref`, type: 'text' },
  { name: sql`provider`, type: 'text' },
  { name: sql`account_ref`, type: 'text' },
]

/** Lists events over all stores, newest first, with the operator's login. */
export async function listEvents(operator: AllStores, filters: EventFilters, page: Page) {
  const { provider, account_ref, status } = filters
  const parts = await partsOfAccounts(operator, filters)
  return readList(
    operator,
    {
      shape: GatewayEvent,
      table: sql`gateway_events`,
      as: sql`e`,
      scope: sql`true`,
      filters: whereOf(filters),
      ...(parts !== null && { parts }),
      // No index has these events in the order of the list: each event is read to see whether it matches.
      isCostly: provider !== undefined || account_ref !== undefined || status === 'applied',
      key: NEWEST_RECEIVED,
      descending: true,
      columns: shown,
    },
    page,
  )
}

/** Reads an event with its headers and body. If the account has changed its store: the newest event. */
export const readEvent = (
  operator: AllStores,
  { provider, account_ref }: AccountName,
  id: string,
) =>
  operator.maybe(
    Type.Object({
      ...GatewayEvent.properties,
      headers: Type.Record(Type.String(), Type.String()),
      body: EventRow.properties.body,
    }),
    sql`
    select ${shown}, e.headers, e.body
      from gateway_accounts as a
      join gateway_events as e
        on e.tenant_ref = a.tenant_ref and e.provider = a.provider
       and e.account_ref = a.account_ref
     where a.provider = ${provider} and a.account_ref = ${account_ref} and e.event_id = ${id}
     order by e.received_at desc
     limit 1`,
  )
