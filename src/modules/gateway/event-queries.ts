import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { join, type Runner, sql } from '../../db/sql.ts'
import { type Page, Total } from '../../kernel/page.ts'
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

/** Stores the outcome. The first one stays: an event may be handled twice. */
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

/** Matches accounts, also removed ones, which have events too. */
const ofAccounts = ({ provider, account_ref, tenant_ref }: EventFilters) => {
  const where = [sql`true`]
  if (provider !== undefined) where.push(sql`a.provider = ${provider}`)
  if (account_ref !== undefined) where.push(sql`a.account_ref = ${account_ref}`)
  if (tenant_ref !== undefined) where.push(sql`a.tenant_ref = ${tenant_ref}`)
  return join(where, ' and ')
}

const ofOne = sql`e.tenant_ref = a.tenant_ref and e.provider = a.provider
                  and e.account_ref = a.account_ref`

const inStatus = ({ status }: EventFilters) =>
  status === undefined ? sql`true` : sql`e.status = ${status}`

/**
 * Lists events over all stores, newest first, with the operator's login. At most one page is read of each
 * account, by its index, so the cost does not depend on the number of events.
 */
export const listEvents = (operator: Runner, filters: EventFilters, page: Page) =>
  operator.many(
    GatewayEvent,
    sql`
    select newest.*
      from gateway_accounts as a,
           lateral (select ${shown}
                      from gateway_events as e
                     where ${ofOne} and ${inStatus(filters)}
                     order by e.received_at desc
                     limit ${page.limit + page.offset}) as newest
     where ${ofAccounts(filters)}
     order by newest.received_at desc, newest.event_id
     limit ${page.limit} offset ${page.offset}`,
  )

export const countEvents = (operator: Runner, filters: EventFilters) =>
  operator.one(
    Total,
    sql`
    select count(*) as total
      from gateway_accounts as a
      join gateway_events as e on ${ofOne}
     where ${ofAccounts(filters)} and ${inStatus(filters)}`,
  )

/** Reads an event with its headers and body. If the account has changed its store: the newest event. */
export const readEvent = (operator: Runner, { provider, account_ref }: AccountName, id: string) =>
  operator.maybe(
    Type.Object({
      ...GatewayEvent.properties,
      headers: Type.Record(Type.String(), Type.String()),
      body: EventRow.properties.body,
    }),
    sql`
    select ${shown}, e.headers, e.body
      from gateway_accounts as a
      join gateway_events as e on ${ofOne}
     where a.provider = ${provider} and a.account_ref = ${account_ref} and e.event_id = ${id}
     order by e.received_at desc
     limit 1`,
  )
