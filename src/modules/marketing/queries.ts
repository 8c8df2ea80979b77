import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import {
  Coupon,
  CouponCode,
  type CouponStatus,
  type CouponTerms,
  FoundCoupon,
  Redemption,
} from './schema.ts'

/** The status to show: an active coupon past its end or its limit is expired or exhausted. */
const status = sql`
  case when coupons.status <> 'active' then coupons.status
       when ends_at <= fd_now() then 'expired'
       when is_exhausted then 'exhausted'
       else 'active'
  end`

const terms = sql`type, percent_bps, amount_cents, min_subtotal_cents, max_discount_cents,
                  starts_at, ends_at, usage_limit, usage_limit_per_customer, first_order_only,
                  applies_to, recurring, referral_code`

const columns = sql`coupons.id, coupons.code, ${terms}, used_count, campaign_id,
                    ${status} as status, coupons.created_at, coupons.updated_at`

const valuesOf = (of: CouponTerms) => sql`
  ${of.type}, ${of.percent_bps}, ${of.amount_cents}, ${of.min_subtotal_cents},
  ${of.max_discount_cents}, ${of.starts_at}, ${of.ends_at}, ${of.usage_limit},
  ${of.usage_limit_per_customer}, ${of.first_order_only},
  ${of.applies_to === null ? null : JSON.stringify(of.applies_to)}, ${of.recurring},
  ${of.referral_code}`

export const insertCoupon = (
  tx: Tx,
  coupon: CouponTerms & Pick<Coupon, 'code' | 'campaign_id'> & { status: 'draft' | 'active' },
) =>
  tx.one(
    Coupon,
    sql`
    insert into coupons (tenant_ref, code, status, campaign_id, ${terms})
    values (${tx.tenant}, ${coupon.code}, ${coupon.status}, ${coupon.campaign_id},
            ${valuesOf(coupon)})
    returning ${columns}`,
  )

export const updateTerms = (
  tx: Tx,
  id: string,
  coupon: CouponTerms & Pick<Coupon, 'campaign_id'>,
) =>
  tx.one(
    Coupon,
    sql`
    update coupons
       set (${terms}) = row(${valuesOf(coupon)}), campaign_id = ${coupon.campaign_id},
           updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${columns}`,
  )

export const updateStatus = (tx: Tx, id: string, to: 'active' | 'paused') =>
  tx.one(
    Coupon,
    sql`
    update coupons set status = ${to}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${columns}`,
  )

export const findCoupon = (db: Db, id: string) =>
  db.maybe(
    Coupon,
    sql`select ${columns} from coupons where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const lockCoupon = (tx: Tx, id: string) =>
  tx.maybe(
    Coupon,
    sql`select ${columns} from coupons where tenant_ref = ${tx.tenant} and id = ${id} for update`,
  )

const hasNotEnded = sql`(ends_at is null or ends_at > fd_now())`

/** The status that is shown, in conditions that the indexes have. */
const HAVING_STATUS: Record<CouponStatus, Sql> = {
  draft: sql`status = 'draft'`,
  paused: sql`status = 'paused'`,
  active: sql`status = 'active' and not is_exhausted and ${hasNotEnded}`,
  exhausted: sql`status = 'active' and is_exhausted and ${hasNotEnded}`,
  expired: sql`status = 'active' and ends_at <= fd_now()`,
}

/** Whether any order has ever used a coupon, even if its use was released. */
export const hasRedemptions = (db: Db, coupon_id: string) =>
  db.one(
    Type.Object({ found: Type.Boolean() }),
    sql`
    select exists (select from coupon_redemptions
                    where tenant_ref = ${db.tenant} and coupon_id = ${coupon_id}) as found`,
  )

export interface CouponFilters {
  status: CouponStatus | undefined
  campaign_id: string | undefined
}

/** Lists the coupons of a store, newest first. */
export const listCoupons = (
  db: Db,
  { status: shownStatus, campaign_id }: CouponFilters,
  page: Page,
) =>
  readList(
    db,
    {
      shape: Coupon,
      table: sql`coupons`,
      as: sql`coupons`,
      scope: sql`coupons.tenant_ref = ${db.tenant}`,
      filters: [
        ...(shownStatus === undefined ? [] : [HAVING_STATUS[shownStatus]]),
        ...(campaign_id === undefined ? [] : [sql`coupons.campaign_id = ${campaign_id}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

/** The coupons of a campaign, which are few. */
export const listOfCampaign = (db: Db, campaign_id: string) =>
  db.many(
    Coupon,
    sql`
    select ${columns}
      from coupons
     where tenant_ref = ${db.tenant} and campaign_id = ${campaign_id}
     order by coupons.created_at desc, coupons.id desc`,
  )

/** Finds the coupon of a code, and how often the customer has used it. */
export const findByCode = (db: Db, folded: string, customer_ref: string) =>
  db.maybe(
    FoundCoupon,
    sql`
    select coupons.id, c.code, ${terms}, used_count, campaign_id,
           case when ${status} = 'active' and c.order_id is not null then 'exhausted'
                else ${status}
           end as status,
           coupons.created_at, coupons.updated_at,
           case when c.single_use then c.id end as code_id,
           (select count(*)
              from coupon_redemptions r
             where r.tenant_ref = ${db.tenant} and r.coupon_id = coupons.id
               and r.customer_ref = ${customer_ref} and r.state <> 'released') as customer_used
      from coupon_codes c
      join coupons on coupons.tenant_ref = c.tenant_ref and coupons.id = c.coupon_id
     where c.tenant_ref = ${db.tenant} and c.folded = ${folded}`,
  )

export const hasCode = async (db: Db, folded: string): Promise<boolean> =>
  (await db.maybe(
    Type.Object({}),
    sql`select from coupon_codes where tenant_ref = ${db.tenant} and folded = ${folded}`,
  )) !== null

/** The coupon that an order uses, unless its use was released. */
export const findOfOrder = (db: Db, order_id: string) =>
  db.maybe(
    Coupon,
    sql`
    select ${columns}
      from coupon_redemptions r
      join coupons on coupons.tenant_ref = r.tenant_ref and coupons.id = r.coupon_id
     where r.tenant_ref = ${db.tenant} and r.order_id = ${order_id} and r.state <> 'released'`,
  )

export interface NewCode {
  code: string
  folded: string
}

export const insertMainCode = (tx: Tx, coupon_id: string, { code, folded }: NewCode) =>
  tx.run(sql`
    insert into coupon_codes (tenant_ref, coupon_id, code, folded, single_use)
    values (${tx.tenant}, ${coupon_id}, ${code}, ${folded}, false)`)

/** Inserts the codes that do not exist yet, and returns those. */
export const insertSingleCodes = (tx: Tx, coupon_id: string, codes: readonly NewCode[]) =>
  tx.many(
    Type.Object({ code: Type.String() }),
    sql`
    insert into coupon_codes (tenant_ref, coupon_id, code, folded, single_use)
    select ${tx.tenant}, ${coupon_id}, code, folded, true
      from unnest(${codes.map(({ code }) => code)}::text[],
                  ${codes.map(({ folded }) => folded)}::text[]) as created (code, folded)
        on conflict (tenant_ref, folded) do nothing
    returning code`,
  )

/** Lists the single-use codes of a coupon, oldest first. The code for every customer is not among them. */
export const listCodes = (db: Db, coupon_id: string, page: Page) =>
  readList(
    db,
    {
      shape: CouponCode,
      table: sql`coupon_codes`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: [sql`c.coupon_id = ${coupon_id}`, sql`c.single_use`],
      key: NEWEST_KEY,
      descending: false,
      columns: sql`c.code, c.order_id, c.created_at`,
    },
    page,
  )

/** Lists the redemptions of a coupon, newest first. All have the same coupon, so its code is read once. */
export const listRedemptions = (db: Db, coupon_id: string, page: Page) =>
  readList(
    db,
    {
      shape: Redemption,
      table: sql`coupon_redemptions`,
      as: sql`r`,
      scope: sql`r.tenant_ref = ${db.tenant}`,
      filters: [sql`r.coupon_id = ${coupon_id}`],
      key: [
        { name: sql`created_at`, type: 'timestamp' },
        { name: sql`order_id`, type: 'uuid' },
      ],
      descending: true,
      columns: sql`r.order_id,
                   coalesce(c.code, (select code from coupons
                                      where tenant_ref = ${db.tenant} and id = ${coupon_id})) as code,
                   r.customer_ref, r.state, r.created_at, r.updated_at`,
      joins: sql`left join coupon_codes c on c.tenant_ref = r.tenant_ref and c.id = r.code_id`,
    },
    page,
  )

const OfCampaign = Type.Object({ campaign_id: Nullable(Id) })

/**
 * Reserves one use of a coupon. Returns null if none is left. The row stays locked until the transaction ends, so
 * that a later count of a customer's uses includes all earlier ones.
 */
export const reserveUse = (tx: Tx, coupon_id: string) =>
  tx.maybe(
    OfCampaign,
    sql`
    update coupons set used_count = used_count + 1
     where tenant_ref = ${tx.tenant} and id = ${coupon_id}
       and (usage_limit is null or used_count < usage_limit)
    returning campaign_id`,
  )

export const releaseUse = (tx: Tx, coupon_id: string) =>
  tx.one(
    OfCampaign,
    sql`
    update coupons set used_count = used_count - 1
     where tenant_ref = ${tx.tenant} and id = ${coupon_id}
    returning campaign_id`,
  )

export const reserveCode = (tx: Tx, { coupon_id, code_id, order_id }: Use) =>
  tx.run(sql`
    update coupon_codes set order_id = ${order_id}
     where tenant_ref = ${tx.tenant} and id = ${code_id} and coupon_id = ${coupon_id}
       and single_use and order_id is null`)

export const releaseCode = (tx: Tx, code_id: string, order_id: string) =>
  tx.run(sql`
    update coupon_codes set order_id = null
     where tenant_ref = ${tx.tenant} and id = ${code_id} and order_id = ${order_id}`)

export interface Use {
  coupon_id: string
  code_id: string | null
  order_id: string
  customer_ref: string
  /** The amount that it reserved of the budget of its campaign. */
  budget_taken: number
}

/**
 * Lets a customer's uses of coupons for a first order run one after another: they may be of several coupons and
 * have no row in common. Coupons of other kinds lock nothing.
 */
export const lockFirstOrder = (tx: Tx, { coupon_id, customer_ref }: Use) =>
  tx.run(sql`
    select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/first order/${customer_ref}`}, 0))
      from coupons
     where tenant_ref = ${tx.tenant} and id = ${coupon_id} and first_order_only`)

/**
 * Inserts the redemption, unless the customer has reached the limit. Coupons for a first order
 * share one limit: one use, of whichever coupon.
 */
export const insertRedemption = (tx: Tx, use: Use) =>
  tx.run(sql`
    insert into coupon_redemptions (tenant_ref, order_id, coupon_id, code_id, customer_ref,
                                    budget_taken)
    select tenant_ref, ${use.order_id}::uuid, id, ${use.code_id}::uuid, ${use.customer_ref}::text,
           ${use.budget_taken}::bigint
      from coupons
     where tenant_ref = ${tx.tenant} and id = ${use.coupon_id}
       and (usage_limit_per_customer is null
            or usage_limit_per_customer > (
                 select count(*)
                   from coupon_redemptions r
                  where r.tenant_ref = ${tx.tenant} and r.coupon_id = ${use.coupon_id}
                    and r.customer_ref = ${use.customer_ref} and r.state <> 'released'))
       and (not first_order_only
            or not exists (
                 select
                   from coupons c
                   join coupon_redemptions r
                     on r.tenant_ref = c.tenant_ref and r.coupon_id = c.id
                  where c.tenant_ref = ${tx.tenant} and c.first_order_only
                    and r.customer_ref = ${use.customer_ref} and r.state <> 'released'))`)

export const confirmRedemption = (tx: Tx, order_id: string) =>
  tx.run(sql`
    update coupon_redemptions set state = 'confirmed', updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and order_id = ${order_id} and state = 'claimed'`)

export const releaseRedemption = (tx: Tx, order_id: string) =>
  tx.maybe(
    Type.Object({ coupon_id: Id, code_id: Nullable(Id), budget_taken: Type.Integer() }),
    sql`
    update coupon_redemptions set state = 'released', updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and order_id = ${order_id} and state <> 'released'
    returning coupon_id, code_id, budget_taken`,
  )
