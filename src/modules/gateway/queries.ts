import type { Db, GlobalDb, Tx } from '../../db/database.ts'
import { join, type Runner, sql } from '../../db/sql.ts'
import { type Page, Total } from '../../kernel/page.ts'
import { publishFrom } from '../../platform/outbox.ts'
import { listStoresDue } from '../../platform/store-lists.ts'
import {
  type AccountName,
  FoundAccount,
  GatewayAccount,
  type Scheme,
  WEBHOOK_RECEIVED,
  type WebhookReceived,
} from './schema.ts'

/** How long an operator can read the exact body. */
const BODY_DAYS = 30

/** Rows of one update: it takes some milliseconds, and holds its locks no longer. */
const BATCH_ROWS = 500

const columns = sql`provider, account_ref, tenant_ref, scheme, created_at, updated_at`

/** Finds an account of any store, with the gate role. */
export const findByName = (db: Runner, { provider, account_ref }: AccountName) =>
  db.maybe(FoundAccount, sql`select * from fd_find_gateway_account(${provider}, ${account_ref})`)

export const findAccount = (db: Db, { provider, account_ref }: AccountName) =>
  db.maybe(
    GatewayAccount,
    sql`
    select ${columns}
      from gateway_accounts
     where tenant_ref = ${db.tenant} and provider = ${provider} and account_ref = ${account_ref}
       and removed_at is null`,
  )

export const saveAccount = (
  tx: Tx,
  { provider, account_ref }: AccountName,
  { scheme, signing_key }: { scheme: Scheme; signing_key: Buffer },
) =>
  tx.one(
    GatewayAccount,
    sql`
    insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
    values (${tx.tenant}, ${provider}, ${account_ref}, ${scheme}, ${signing_key})
        on conflict (tenant_ref, provider, account_ref) do update
       set scheme = excluded.scheme, signing_key = excluded.signing_key, updated_at = fd_now(),
           removed_at = null
    returning ${columns}`,
  )

export const removeAccount = (tx: Tx, { provider, account_ref }: AccountName) =>
  tx.maybe(
    GatewayAccount,
    sql`
    update gateway_accounts set removed_at = fd_now(), signing_key = null, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and provider = ${provider} and account_ref = ${account_ref}
       and removed_at is null
    returning ${columns}`,
  )

export interface AccountFilters {
  provider?: string | undefined
  account_ref?: string | undefined
  tenant_ref?: string | undefined
}

/** Matches accounts over all stores, with the operator's login. */
const matching = (filters: AccountFilters) => {
  const where = [sql`removed_at is null`]
  if (filters.provider !== undefined) where.push(sql`provider = ${filters.provider}`)
  if (filters.account_ref !== undefined) where.push(sql`account_ref = ${filters.account_ref}`)
  if (filters.tenant_ref !== undefined) where.push(sql`tenant_ref = ${filters.tenant_ref}`)
  return sql`from gateway_accounts where ${join(where, ' and ')}`
}

export const listAccounts = (operator: Runner, filters: AccountFilters, page: Page) =>
  operator.many(
    GatewayAccount,
    sql`
    select ${columns} ${matching(filters)}
     order by provider, account_ref
     limit ${page.limit} offset ${page.offset}`,
  )

export const countAccounts = (operator: Runner, filters: AccountFilters) =>
  operator.one(Total, sql`select count(*) as total ${matching(filters)}`)

export interface NewEvent extends WebhookReceived {
  scheme: Scheme
  status: 'received' | 'unhandled'
  reason: 'unreadable' | null
  body: Buffer
  headers: Readonly<Record<string, string>>
}

/**
 * Stores an event and publishes it to the outbox, in one statement and so in one commit. Answers 0 if the
 * event was stored before. Concurrent copies wait for the first one to commit.
 */
export const insertEvent = (
  db: Db,
  { scheme, status, reason, body, headers, ...published }: NewEvent,
): Promise<number> =>
  db.run(sql`
    with fresh as (
      insert into gateway_events
             (tenant_ref, provider, account_ref, event_id, event_type, scheme, status, reason, body,
              headers)
      values (${db.tenant}, ${published.provider}, ${published.account_ref},
              ${published.provider_event_id}, ${published.event_type}, ${scheme}, ${status},
              ${reason}, ${body}, ${JSON.stringify(headers)}::jsonb)
          on conflict do nothing
      returning event_id
    )
    ${publishFrom(db, WEBHOOK_RECEIVED, published, sql`fresh`)}`)

const old = sql`body is not null
                and received_at < fd_now() - make_interval(days => ${BODY_DAYS})`

/** Stores with bodies that are old enough to be erased, as fd_worker over all stores. */
export const listStoresWithOldBodies = (worker: GlobalDb) =>
  listStoresDue(worker, {
    table: sql`gateway_events`,
    due: old,
    oldestBy: sql`received_at`,
    limit: BATCH_ROWS,
  })

export const eraseOldBodies = (db: Db) =>
  db.run(sql`
    update gateway_events set body = null, headers = '{}'
     where tenant_ref = ${db.tenant}
       and (provider, account_ref, event_id) in
           (select provider, account_ref, event_id
              from gateway_events
             where tenant_ref = ${db.tenant} and ${old}
             order by received_at
             limit ${BATCH_ROWS}
               for update skip locked)`)
