import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, OpenObject } from '../../kernel/schema.ts'

/** Ids of affiliates who are a customer: by the reference they are linked to, or by their address. */
export const listIds = (db: Db, customer_ref: string, emails: readonly string[]) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id from affiliates
     where tenant_ref = ${db.tenant}
       and (customer_ref = ${customer_ref} or email_folded = any(${emails}::text[]))
     order by id`,
  )

/** Commissions that an export has at most: more than fit on a page for a person. The API lists them all. */
const COMMISSIONS_MAX = 10_000

/** Lists the whole data of affiliates. The bank account is left out: it is encrypted, and the person knows it. */
export const listWhole = (db: Db, ids: readonly string[]) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(a) - array['tenant_ref', 'email_folded', 'payout_account']
           || jsonb_build_object(
                'referral_codes',
                (select coalesce(jsonb_agg(to_jsonb(c) - array['tenant_ref', 'code_folded']
                                           order by c.created_at), '[]')
                   from affiliate_codes c
                  where c.tenant_ref = a.tenant_ref and c.affiliate_id = a.id),
                'commissions',
                (select coalesce(jsonb_agg(to_jsonb(m) - 'tenant_ref' order by m.created_at), '[]')
                   from (select * from affiliate_commissions
                          where tenant_ref = a.tenant_ref and affiliate_id = a.id
                          order by created_at desc, id desc
                          limit ${COMMISSIONS_MAX}) as m),
                'payouts',
                (select coalesce(jsonb_agg(to_jsonb(p) - 'tenant_ref' order by p.created_at), '[]')
                   from affiliate_payouts p
                  where p.tenant_ref = a.tenant_ref and p.affiliate_id = a.id)) as data
      from affiliates a
     where a.tenant_ref = ${db.tenant} and a.id = any(${ids}::uuid[])
     order by a.id`,
  )

/**
 * Erases the person of each affiliate. Amounts stay, and so do codes, which orders name. The codes end, and so does the
 * agreement: there is no person left to pay.
 */
export const erase = (tx: Tx, ids: readonly string[]) =>
  tx.run(sql`
    with devices as (
      delete from affiliate_devices
       where tenant_ref = ${tx.tenant} and affiliate_id = any(${ids}::uuid[])
    ), codes as (
      update affiliate_codes set active = false
       where tenant_ref = ${tx.tenant} and affiliate_id = any(${ids}::uuid[])
    )
    update affiliates
       set name = '[erased]', email = null, email_folded = null, customer_ref = null,
           person_id = null, website = null, message = null, address = null,
           payout_account = null, payout_account_end = null, decline_reason = null,
           status = case when status in ('active', 'suspended') then 'suspended'
                         else 'declined' end,
           erased_at = coalesce(erased_at, fd_now()), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = any(${ids}::uuid[])`)

/** Finds the affiliate that a customer is: by the linked reference first, then by the address. */
export const findOfCustomer = (db: Db, customer_ref: string, email_folded: string | null) =>
  db.maybe(
    Type.Object({ id: Id }),
    sql`
    select id from affiliates
     where tenant_ref = ${db.tenant}
       and (customer_ref = ${customer_ref} or email_folded = ${email_folded}::text)
     order by customer_ref = ${customer_ref} desc nulls last, id
     limit 1`,
  )
