import { Type } from 'typebox'
import type { AllStores, Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { type Runner, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { OpenObject } from '../../kernel/schema.ts'
import { GlobalSuppression, Suppression, type SuppressionReason } from './suppression-schema.ts'

const columns = sql`m.id, m.email, m.reason, m.detail, m.created_by, m.suppressed_at, m.created_at`

interface Address {
  email: string
  email_folded: string
}

export interface NewRow extends Address {
  reason: Exclude<SuppressionReason, 'soft_bounces'>
  detail: string | null
  created_by: string
}

/** The reasons by rank. A reason gives way to those behind it: a complaint stays one when the address bounces later. */
const RANKED = sql`array['soft_bounces', 'manual', 'hard_bounce', 'complaint']`

/** Suppresses an address. Returns null if it is already suppressed for this reason or one of higher rank. */
export const suppress = (tx: Tx, row: NewRow) =>
  tx.maybe(
    Suppression,
    sql`
    insert into mail_suppressions as m (tenant_ref, email, email_folded, reason, detail, created_by,
                                        suppressed_at)
    values (${tx.tenant}, ${row.email}, ${row.email_folded}, ${row.reason}, ${row.detail},
            ${row.created_by}, fd_now())
        on conflict (tenant_ref, email_folded) do update
       set reason = excluded.reason, detail = excluded.detail, created_by = excluded.created_by,
           suppressed_at = coalesce(m.suppressed_at, excluded.suppressed_at)
     where array_position(${RANKED}, m.reason) < array_position(${RANKED}, excluded.reason)
    returning ${columns}`,
  )

export interface SoftBounce extends Address {
  event_id: string
  detail: string | null
  created_by: string
}

/**
 * Counts a soft bounce, and suppresses the address when the count reaches `max`. The count starts again after
 * `days` without a bounce. The same event counts once. Returns whether this bounce has suppressed the address.
 */
export const countSoftBounce = async (
  tx: Tx,
  bounce: SoftBounce,
  { max, days }: { max: number; days: number },
): Promise<boolean> => {
  const counted = sql`
    case when m.last_soft_at > fd_now() - make_interval(days => ${days}) then m.soft_bounces + 1
         else 1 end`
  const row = await tx.maybe(
    Type.Object({ is_last: Type.Boolean() }),
    sql`
    insert into mail_suppressions as m (tenant_ref, email, email_folded, reason, soft_bounces,
                                        last_soft_at, last_event_id, detail, created_by)
    values (${tx.tenant}, ${bounce.email}, ${bounce.email_folded}, 'soft_bounces', 1, fd_now(),
            ${bounce.event_id}, ${bounce.detail}, ${bounce.created_by})
        on conflict (tenant_ref, email_folded) do update
       set soft_bounces = ${counted}, last_soft_at = excluded.last_soft_at,
           last_event_id = excluded.last_event_id, detail = excluded.detail,
           suppressed_at = case when ${counted} >= ${max} then excluded.last_soft_at end
     where m.suppressed_at is null and m.last_event_id is distinct from excluded.last_event_id
    returning m.suppressed_at is not null as is_last`,
  )
  return row?.is_last ?? false
}

export const findByAddress = (db: Db, email_folded: string) =>
  db.maybe(
    Suppression,
    sql`
    select ${columns}
      from mail_suppressions m
     where m.tenant_ref = ${db.tenant} and m.email_folded = ${email_folded}
       and m.suppressed_at is not null`,
  )

export const lock = (tx: Tx, id: string) =>
  tx.maybe(
    Suppression,
    sql`
    select ${columns}
      from mail_suppressions m
     where m.tenant_ref = ${tx.tenant} and m.id = ${id} and m.suppressed_at is not null
       for update`,
  )

export const remove = (tx: Tx, id: string) =>
  tx.run(sql`delete from mail_suppressions where tenant_ref = ${tx.tenant} and id = ${id}`)

/**
 * Lifts the suppressions of an address whose reader has opened a mail and wants more. The
 * merchant's own entries stay.
 */
export const removeConfirmed = (tx: Tx, email_folded: string) =>
  tx.run(sql`
    delete from mail_suppressions
     where tenant_ref = ${tx.tenant} and email_folded = ${email_folded} and reason <> 'manual'`)

/** Lists the suppressions of a store, newest first. */
export const list = (
  db: Db,
  {
    email_folded,
    reason,
  }: { email_folded: string | undefined; reason: SuppressionReason | undefined },
  page: Page,
) =>
  readList(
    db,
    {
      shape: Suppression,
      table: sql`mail_suppressions`,
      as: sql`m`,
      scope: sql`m.tenant_ref = ${db.tenant}`,
      filters: [
        sql`m.suppressed_at is not null`,
        ...(email_folded === undefined ? [] : [sql`m.email_folded = ${email_folded}`]),
        ...(reason === undefined ? [] : [sql`m.reason = ${reason}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

const byEmail = (db: Db, emails: readonly string[]) =>
  sql`m.tenant_ref = ${db.tenant} and m.email_folded = any(${emails}::text[])`

export const listWhole = (db: Db, emails: readonly string[]) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(m) - array['tenant_ref', 'email_folded', 'created_by', 'last_event_id'] as data
      from mail_suppressions m
     where ${byEmail(db, emails)}
     order by m.id`,
  )

export const erase = (tx: Tx, emails: readonly string[]) =>
  tx.run(sql`delete from mail_suppressions m where ${byEmail(tx, emails)}`)

export interface NewGlobalRow {
  email_hash: Buffer
  domain: string
  reason: GlobalSuppression['reason']
  detail: string | null
}

/** Suppresses an address in all stores. Returns false if it was suppressed before. */
export const suppressGlobally = async (db: Runner, row: NewGlobalRow): Promise<boolean> =>
  (await db.run(sql`
    insert into global_mail_suppressions (email_hash, domain, reason, detail)
    values (${row.email_hash}, ${row.domain}, ${row.reason}, ${row.detail})
        on conflict (email_hash) do nothing`)) > 0

export const removeGlobally = (db: Runner, email_hash: Buffer) =>
  db.run(sql`delete from global_mail_suppressions where email_hash = ${email_hash}`)

/** Lists the suppressions of all stores, newest first, as fd_operator. */
export const listGlobal = (operator: AllStores, page: Page) =>
  readList(
    operator,
    {
      shape: GlobalSuppression,
      table: sql`global_mail_suppressions`,
      as: sql`g`,
      scope: sql`true`,
      filters: [],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`g.id, g.domain, g.reason, g.detail, g.created_at`,
    },
    page,
  )
