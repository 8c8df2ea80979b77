import { Type } from 'typebox'
import type { AllStores, Db } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Nullable } from '../../kernel/schema.ts'
import {
  type Decision,
  EntitlementRequest,
  type NewRequest,
  Ruling,
  StoreRequest,
} from './schema.ts'

export const findTier = (db: Db) =>
  db.maybe(
    Type.Object({ tier: Type.String() }),
    sql`select tier from entitlement_tiers where tenant_ref = ${db.tenant}`,
  )

export const putTier = (db: Db, tier: string) =>
  db.run(sql`
    insert into entitlement_tiers (tenant_ref, tier) values (${db.tenant}, ${tier})
    on conflict (tenant_ref) do update set tier = excluded.tier, updated_at = fd_now()`)

const Rules = Type.Object({ tier: Nullable(Type.String()), rulings: Type.Array(Ruling) })

/** Reads everything that decides the states of a store's add-ons. */
export const readRules = (db: Db) =>
  db.one(
    Rules,
    sql`
    select (select tier from entitlement_tiers where tenant_ref = ${db.tenant}) as tier,
           coalesce(
             jsonb_agg(jsonb_build_object(
               'feature_key', feature_key, 'source', source, 'state', state)),
             '[]') as rulings
      from entitlements
     where tenant_ref = ${db.tenant}`,
  )

/**
 * The rule of `stateOf` as a condition, for use in other statements: whether an add-on is on that these
 * tiers include.
 */
export const featureIsOn = (
  db: Pick<Db, 'tenant'>,
  key: string,
  tiers: { including: readonly string[]; default: string },
) => sql`
  coalesce(
    (select state = 'allow'
       from entitlements
      where tenant_ref = ${db.tenant} and feature_key = ${key} and source = 'operator'),
    exists (select
              from entitlements
             where tenant_ref = ${db.tenant} and feature_key = ${key} and source = 'self_serve')
    or coalesce((select tier from entitlement_tiers where tenant_ref = ${db.tenant}),
                ${tiers.default}) = any (${tiers.including}::text[]))`

/** Switches an add-on on for the merchant. Returns 0 if the row exists already. */
export const insertSelfServe = (db: Db, key: string) =>
  db.run(sql`
    insert into entitlements (tenant_ref, feature_key, source, state)
    values (${db.tenant}, ${key}, 'self_serve', 'allow')
    on conflict (tenant_ref, feature_key, source) do nothing`)

export const deleteRuling = (db: Db, key: string, source: Ruling['source']) =>
  db.run(sql`
    delete from entitlements
     where tenant_ref = ${db.tenant} and feature_key = ${key} and source = ${source}`)

export const putOperatorRuling = (db: Db, key: string, state: Ruling['state']) =>
  db.run(sql`
    insert into entitlements (tenant_ref, feature_key, source, state)
    values (${db.tenant}, ${key}, 'operator', ${state})
    on conflict (tenant_ref, feature_key, source) do update set state = excluded.state`)

/**
 * Serialises the changes of one add-on of a store. Enable, disable and an operator's ruling read the state
 * before they write, and a `deny` must not come between.
 */
export const lockFeature = (db: Db, key: string) =>
  db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${db.tenant}/feature/${key}`}, 0))`)

const requestColumns = sql`entitlement_requests.id, feature_key, status, note, requested_by,
                           entitlement_requests.created_at, decided_at, decision_note`

/** Inserts a request. Returns null where one for this add-on is open already. */
export const insertRequest = (db: Db, request: NewRequest, requestedBy: string) =>
  db.maybe(
    EntitlementRequest,
    sql`
    insert into entitlement_requests (tenant_ref, feature_key, note, requested_by)
    values (${db.tenant}, ${request.feature_key}, ${request.note ?? null}, ${requestedBy})
    on conflict (tenant_ref, feature_key) where status = 'pending' do nothing
    returning ${requestColumns}`,
  )

export const findOpenRequest = (db: Db, key: string) =>
  db.maybe(
    EntitlementRequest,
    sql`
    select ${requestColumns}
      from entitlement_requests
     where tenant_ref = ${db.tenant} and feature_key = ${key} and status = 'pending'`,
  )

export const findRequest = (db: Db, id: string) =>
  db.maybe(
    EntitlementRequest,
    sql`
    select ${requestColumns}
      from entitlement_requests
     where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const lockRequest = (db: Db, id: string) =>
  db.maybe(
    EntitlementRequest,
    sql`
    select ${requestColumns}
      from entitlement_requests
     where tenant_ref = ${db.tenant} and id = ${id}
       for update`,
  )

const newestRequests = {
  table: sql`entitlement_requests`,
  as: sql`entitlement_requests`,
  key: NEWEST_KEY,
  descending: true,
}

export const listRequests = (db: Db, page: Page) =>
  readList(
    db,
    {
      ...newestRequests,
      shape: EntitlementRequest,
      scope: sql`entitlement_requests.tenant_ref = ${db.tenant}`,
      filters: [],
      columns: requestColumns,
    },
    page,
  )

export const countOpenRequests = (db: Db) =>
  db.one(
    Type.Object({ open: Type.Integer() }),
    sql`
    select count(*) as open
      from entitlement_requests
     where tenant_ref = ${db.tenant} and status = 'pending'`,
  )

export const closeRequest = (db: Db, id: string, { status, decision_note }: Decision) =>
  db.one(
    EntitlementRequest,
    sql`
    update entitlement_requests
       set status = ${status}, decided_at = fd_now(), decision_note = ${decision_note ?? null}
     where tenant_ref = ${db.tenant} and id = ${id}
    returning ${requestColumns}`,
  )

export const withdrawRequest = (db: Db, id: string) =>
  db.one(
    EntitlementRequest,
    sql`
    update entitlement_requests set status = 'withdrawn'
     where tenant_ref = ${db.tenant} and id = ${id}
    returning ${requestColumns}`,
  )

/** Lists the requests of every store, with the operator's login. */
export const listAllRequests = (
  operator: AllStores,
  status: EntitlementRequest['status'] | undefined,
  page: Page,
) =>
  readList(
    operator,
    {
      ...newestRequests,
      shape: StoreRequest,
      scope: sql`true`,
      filters: status === undefined ? [] : [sql`status = ${status}`],
      columns: sql`tenant_ref, ${requestColumns}`,
    },
    page,
  )

/** Finds the store of a request, which an operator names by its id alone. */
export const findTenantOfRequest = (operator: AllStores, id: string) =>
  operator.maybe(
    Type.Object({ tenant_ref: Type.String() }),
    sql`select tenant_ref from entitlement_requests where id = ${id}`,
  )
