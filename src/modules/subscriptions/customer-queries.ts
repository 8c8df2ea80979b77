import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { OpenObject } from '../../kernel/schema.ts'
import { termColumns } from './queries.ts'
import { SubscriptionTerms } from './schema.ts'

export const countActive = (db: Db, customer_refs: readonly string[]) =>
  db.many(
    Type.Object({ customer_ref: Type.String(), active: Type.Integer() }),
    sql`
    select customer_ref, count(*)::int as active
      from subscriptions
     where tenant_ref = ${db.tenant} and customer_ref = any(${customer_refs}::text[])
       and status = 'active'
     group by customer_ref`,
  )

/**
 * Erases the person and the card, so that the customer is not charged again. Running subscriptions are cancelled, and
 * are returned. The others keep the time of their last change: reports count by it when a subscription expired.
 */
export const erase = (tx: Tx, customer_ref: string, pseudonym: string) =>
  tx.many(
    SubscriptionTerms,
    sql`
    with erased as (
      update subscriptions as s
         set customer_ref = ${pseudonym}, person_id = null, ship_to = null, email = null,
             vault_id = null, initial_txn_id = null, card_brand = null, card_last4 = null,
             card_exp_month = null, card_exp_year = null, card_fingerprint = null,
             next_charge_at = null, due_at = null, paused_until = null, retry_at = null,
             dunning_next_at = null, dunning_ends_at = null, card_told = null,
             cancel_reason = case when s.cancel_reason is not null then '[erased]' end,
             cancelled_at = case when before.running then fd_now() else s.cancelled_at end,
             version = s.version + 1,
             status = case when before.running then 'cancelled' else s.status end,
             updated_at = case when before.running then fd_now() else s.updated_at end
        from (select id as of, status in ('active', 'paused', 'past_due') as running
                from subscriptions
               where tenant_ref = ${tx.tenant} and customer_ref = ${customer_ref}
                 for update) as before
       where s.tenant_ref = ${tx.tenant} and s.id = before.of
      returning ${termColumns}, before.running
    ), declines as (
      update subscription_declines d set card = null
        from erased
       where d.tenant_ref = ${tx.tenant} and d.subscription_id = erased.id
    )
    select ${termColumns} from erased where running`,
  )

export const listWhole = (db: Db, customer_ref: string) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(s) - array['tenant_ref', 'vault_id', 'initial_txn_id', 'card_fingerprint', 'card_blocked',
                              'lease_until', 'lease_token', 'email_folded']
           || jsonb_build_object('cycles', (
                select coalesce(jsonb_agg(to_jsonb(c) - array['tenant_ref', 'subscription_id']
                                          order by c.cycle), '[]')
                  from subscription_cycles c
                 where c.tenant_ref = s.tenant_ref and c.subscription_id = s.id)) as data
      from subscriptions s
     where s.tenant_ref = ${db.tenant} and s.customer_ref = ${customer_ref}
     order by s.created_at, s.id`,
  )
