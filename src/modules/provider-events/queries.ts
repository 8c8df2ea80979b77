import type { AllStores, Db, DueLists, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { type Runner, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { publishFrom } from '../../platform/outbox.ts'
import { areOldest, listStoresWithOld } from '../../platform/store-lists.ts'
import {
  type AccountName,
  FoundAccount,
  GatewayAccount,
  type Scheme,
  WEBHOOK_RECEIVED,
  type WebhookReceived,
} from './schema.ts'

/** How many days an operator can read the exact body of an event. */
const BODY_DAYS = 30

/** Rows of one update: it takes some milliseconds, and holds its locks no longer. */
const BATCH_ROWS = 500

const columns = sql`gateway_accounts.provider, gateway_accounts.account_ref, tenant_ref, scheme,
                    created_at, updated_at`

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

const matching = ({ provider, account_ref, tenant_ref }: AccountFilters): Sql[] => {
  const where: Sql[] = []
  if (provider !== undefined) where.push(sql`gateway_accounts.provider = ${provider}`)
  if (account_ref !== undefined) where.push(sql`gateway_accounts.account_ref = ${account_ref}`)
  if (tenant_ref !== undefined) where.push(sql`tenant_ref = ${tenant_ref}`)
  return where
}

/** Lists the accounts of all stores by name, with the operator's login. */
export const listAccounts = (operator: AllStores, filters: AccountFilters, page: Page) =>
  readList(
    operator,
    {
      shape: GatewayAccount,
      table: sql`gateway_accounts`,
      as: sql`gateway_accounts`,
      // A removed account may have the same name as another, so the key is unique only without removed ones.
      scope: sql`removed_at is null`,
      filters: matching(filters),
      key: [
        { name: sql`provider`, type: 'text' },
        { name: sql`account_ref`, type: 'text' },
      ],
      descending: false,
      columns,
    },
    page,
  )

/** Finds an account of any store, with the operator's login. */
export const findAccountOfAny = (operator: AllStores, { provider, account_ref }: AccountName) =>
  operator.maybe(
    GatewayAccount,
    sql`
    select ${columns}
      from gateway_accounts
     where provider = ${provider} and account_ref = ${account_ref} and removed_at is null`,
  )

export interface NewEvent extends WebhookReceived {
  scheme: Scheme
  status: 'received' | 'unhandled'
  reason: 'unreadable' | null
  body: Buffer
  headers: Readonly<Record<string, string>>
}

/**
 * Stores an event and publishes it to the outbox, in one statement and so in one commit. Returns 0 if the event was
 * stored before. Concurrent copies wait for the first one to commit.
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

const BODIES = {
  table: sql`gateway_events`,
  only: sql`body is not null`,
  since: sql`received_at`,
  before: sql`fd_now() - make_interval(days => ${BODY_DAYS})`,
}

/** Stores with bodies that are old enough to be erased, as fd_worker over all stores. */
export const listStoresWithOldBodies = (worker: DueLists) => listStoresWithOld(worker, BODIES)

export const eraseOldBodies = (db: Db) =>
  db.run(sql`
    update gateway_events set body = null, headers = '{}'
     where ${areOldest(db, BODIES, BATCH_ROWS)}`)
