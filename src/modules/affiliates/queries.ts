import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { jsonTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { Referred } from './commission-schema.ts'
import {
  type Address,
  Affiliate,
  AffiliateRow,
  type AffiliateStatus,
  Settings,
  type Terms,
} from './schema.ts'

const termColumns = sql`commission_type, rate_bps, amount_cents, cookie_days, approval_delay_days,
                        payout_minimum_cents`

const termValues = (of: Terms) => sql`
  ${of.commission_type}, ${of.rate_bps}, ${of.amount_cents}, ${of.cookie_days},
  ${of.approval_delay_days}, ${of.payout_minimum_cents}`

export const findSettings = (db: Db) =>
  db.maybe(
    Settings,
    sql`
    select applications_open, pays_renewals, ${termColumns}
      from affiliate_settings
     where tenant_ref = ${db.tenant}`,
  )

export const writeSettings = (tx: Tx, settings: Settings) =>
  tx.one(
    Settings,
    sql`
    insert into affiliate_settings (tenant_ref, applications_open, pays_renewals, ${termColumns})
    values (${tx.tenant}, ${settings.applications_open}, ${settings.pays_renewals},
            ${termValues(settings)})
        on conflict (tenant_ref) do update
       set (applications_open, pays_renewals, ${termColumns}) =
           row(excluded.applications_open, excluded.pays_renewals, excluded.commission_type,
               excluded.rate_bps, excluded.amount_cents, excluded.cookie_days,
               excluded.approval_delay_days, excluded.payout_minimum_cents)
    returning applications_open, pays_renewals, ${termColumns}`,
  )

/** Makes changes of the settings wait for each other: a second change begins with the result of the first. */
export const lockSettings = (tx: Tx) =>
  tx.run(sql`
    select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/affiliate settings`}, 0))`)

const clicksOf = sql`
  coalesce((select sum(n.clicks)
              from affiliate_clicks n
             where n.tenant_ref = c.tenant_ref and n.code_folded = c.code_folded), 0)::bigint`

const codesOf = sql`
  coalesce((select jsonb_agg(jsonb_build_object(
                     'code', c.code, 'active', c.active, 'clicks', ${clicksOf}, 'created_at',
                     ${jsonTime(sql`c.created_at`)})
                     order by c.created_at, c.code_folded)
              from affiliate_codes c
             where c.tenant_ref = a.tenant_ref and c.affiliate_id = a.id), '[]')`

const shownColumns = sql`
  a.id, a.name, a.email, a.status, ${codesOf} as referral_codes, a.commission_type, a.rate_bps,
  a.amount_cents, a.cookie_days, a.approval_delay_days, a.payout_minimum_cents, a.customer_ref,
  a.person_id, a.website, a.message, a.address, a.payout_account_end, a.decline_reason,
  a.created_at, a.updated_at`

const ofId = (db: Db, id: string) => sql`a.tenant_ref = ${db.tenant} and a.id = ${id}`

export interface NewRow extends Terms {
  name: string
  email: string
  email_folded: string
  status: AffiliateStatus
  customer_ref: string | null
  person_id: string | null
  website: string | null
  message: string | null
  address: Address | null
  payout_account: Buffer | null
  payout_account_end: string | null
}

const json = (value: object | null) => (value === null ? null : JSON.stringify(value))

/** Inserts an affiliate. Returns null where the store has one with this address already. */
export const insertAffiliate = (tx: Tx, id: string, row: NewRow) =>
  tx.maybe(
    Type.Object({ id: Id }),
    sql`
    insert into affiliates (tenant_ref, id, name, email, email_folded, status, customer_ref,
                            person_id, website, message, address, payout_account,
                            payout_account_end, ${termColumns})
    values (${tx.tenant}, ${id}, ${row.name}, ${row.email}, ${row.email_folded}, ${row.status},
            ${row.customer_ref}, ${row.person_id}, ${row.website}, ${row.message},
            ${json(row.address)}, ${row.payout_account}, ${row.payout_account_end},
            ${termValues(row)})
        on conflict (tenant_ref, email_folded) do nothing
    returning id`,
  )

export const findAffiliate = (db: Db, id: string) =>
  db.maybe(
    AffiliateRow,
    sql`select ${shownColumns}, a.erased_at from affiliates a where ${ofId(db, id)}`,
  )

/** Locks an affiliate. Orders that refer to the row do not wait, because its key does not change. */
export const lockAffiliate = (tx: Tx, id: string) =>
  tx.maybe(
    AffiliateRow,
    sql`
    select ${shownColumns}, a.erased_at from affiliates a
     where ${ofId(tx, id)}
       for no key update`,
  )

export interface ListFilters {
  status: AffiliateStatus | undefined
  email_folded: string | undefined
}

/** Lists affiliates, newest first. */
export const listAffiliates = (db: Db, { status, email_folded }: ListFilters, page: Page) =>
  readList(
    db,
    {
      shape: Affiliate,
      table: sql`affiliates`,
      as: sql`a`,
      scope: sql`a.tenant_ref = ${db.tenant}`,
      filters: [
        ...(status === undefined ? [] : [sql`a.status = ${status}`]),
        ...(email_folded === undefined ? [] : [sql`a.email_folded = ${email_folded}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns: shownColumns,
    },
    page,
  )

export interface Changed extends Terms {
  name: string
  email: string
  email_folded: string
  customer_ref: string | null
  person_id: string | null
  website: string | null
  address: Address | null
  /** If it is absent, the account stays as it is. */
  account?: { payout_account: Buffer | null; payout_account_end: string | null }
}

export const updateAffiliate = (tx: Tx, id: string, { account, ...row }: Changed) =>
  tx.run(sql`
    update affiliates a
       set name = ${row.name}, email = ${row.email}, email_folded = ${row.email_folded},
           customer_ref = ${row.customer_ref}, person_id = ${row.person_id},
           website = ${row.website}, address = ${json(row.address)},
           (${termColumns}) = row(${termValues(row)}), ${accountSet(account)}
           updated_at = fd_now()
     where ${ofId(tx, id)}`)

const accountSet = (account: Changed['account']): Sql =>
  account === undefined
    ? sql``
    : sql`payout_account = ${account.payout_account},
          payout_account_end = ${account.payout_account_end},`

export const setStatus = (
  tx: Tx,
  id: string,
  { status, decline_reason }: { status: AffiliateStatus; decline_reason: string | null },
) =>
  tx.run(sql`
    update affiliates a
       set status = ${status}, decline_reason = ${decline_reason}, updated_at = fd_now()
     where ${ofId(tx, id)}`)

/** Inserts a code. Returns null where another affiliate, or this one, has it already. */
export const insertCode = (tx: Tx, affiliate_id: string, code: string) =>
  tx.maybe(
    Type.Object({ code: Type.String() }),
    sql`
    insert into affiliate_codes (tenant_ref, code_folded, code, affiliate_id)
    values (${tx.tenant}, ${code.toLowerCase()}, ${code}, ${affiliate_id})
        on conflict (tenant_ref, code_folded) do nothing
    returning code`,
  )

export const countCodes = (db: Db, affiliate_id: string) =>
  db.one(
    Type.Object({ count: Type.Integer() }),
    sql`
    select count(*)::integer as count
      from affiliate_codes
     where tenant_ref = ${db.tenant} and affiliate_id = ${affiliate_id}`,
  )

export const setCodeActive = (tx: Tx, affiliate_id: string, code: string, active: boolean) =>
  tx.run(sql`
    update affiliate_codes set active = ${active}
     where tenant_ref = ${tx.tenant} and code_folded = ${code.toLowerCase()}
       and affiliate_id = ${affiliate_id}`)

/** Finds the active code of an active affiliate, for a link that is followed. */
export const findLinkable = (db: Db, code: string, isOn: Sql) =>
  db.maybe(
    Type.Object({ code: Type.String(), cookie_days: Type.Integer() }),
    sql`
    select c.code, a.cookie_days
      from affiliate_codes c
      join affiliates a on a.tenant_ref = c.tenant_ref and a.id = c.affiliate_id
     where c.tenant_ref = ${db.tenant} and c.code_folded = ${code.toLowerCase()}
       and c.active and a.status = 'active' and ${isOn}`,
  )

export const countClick = (db: Db, code: string, shard: number) =>
  db.run(sql`
    insert into affiliate_clicks as n (tenant_ref, code_folded, shard, clicks)
    values (${db.tenant}, ${code.toLowerCase()}, ${shard}, 1)
        on conflict (tenant_ref, code_folded, shard) do update set clicks = n.clicks + 1`)

/** Finds the affiliate behind a code, while the store has the add-on. */
export const findReferred = (tx: Tx, code: string, device_hash: Buffer | null, isOn: Sql) =>
  tx.maybe(
    Referred,
    sql`
    select a.id as affiliate_id, c.code, c.active as code_active, a.status, a.email_folded,
           a.customer_ref, a.person_id, a.address, a.commission_type, a.rate_bps, a.amount_cents,
           a.cookie_days, a.approval_delay_days,
           coalesce((select s.pays_renewals from affiliate_settings s
                      where s.tenant_ref = ${tx.tenant}), true) as pays_renewals,
           exists (select from affiliate_devices d
                    where d.tenant_ref = a.tenant_ref and d.affiliate_id = a.id
                      and d.device_hash = ${device_hash}::bytea) as is_device
      from affiliate_codes c
      join affiliates a on a.tenant_ref = c.tenant_ref and a.id = c.affiliate_id
     where c.tenant_ref = ${tx.tenant} and c.code_folded = ${code.toLowerCase()} and ${isOn}`,
  )

/** Browsers that are stored for an affiliate: more than a person has. A new one replaces the oldest. */
const DEVICES_MAX = 20

export const seeDevice = (tx: Tx, affiliate_id: string, device_hash: Buffer) =>
  tx.run(sql`
    with seen as (
      insert into affiliate_devices as d (tenant_ref, affiliate_id, device_hash)
      values (${tx.tenant}, ${affiliate_id}, ${device_hash})
          on conflict (tenant_ref, affiliate_id, device_hash) do update set seen_at = fd_now()
    )
    delete from affiliate_devices
     where tenant_ref = ${tx.tenant} and affiliate_id = ${affiliate_id}
       and device_hash <> ${device_hash}
       and device_hash <> all (array(select device_hash
                                       from affiliate_devices
                                      where tenant_ref = ${tx.tenant}
                                        and affiliate_id = ${affiliate_id}
                                        and device_hash <> ${device_hash}
                                      order by seen_at desc
                                      limit ${DEVICES_MAX - 1}))`)

/** Lists the names of the affiliates that have codes, by the folded code. */
export const listNames = (db: Db, codes: readonly string[]) =>
  db.many(
    Type.Object({ code_folded: Type.String(), name: Type.String() }),
    sql`
    select c.code_folded, a.name
      from affiliate_codes c
      join affiliates a on a.tenant_ref = c.tenant_ref and a.id = c.affiliate_id
     where c.tenant_ref = ${db.tenant} and c.code_folded = any(${codes}::text[])`,
  )
