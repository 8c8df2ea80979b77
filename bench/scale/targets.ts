import type pg from 'pg'
import { joinNamed } from '../../src/compose/join.ts'
import { RESOURCES } from '../../test/harness/all-resources.ts'

/** The values that requests name in one store, by the name of the parameter. */
export type Target = Readonly<Record<string, string>>

const RESOURCE_TARGETS = Object.entries(
  joinNamed<string>(RESOURCES.map(({ scale }) => scale?.targets)),
).map(([name, query]) => `(${query}) as ${name}`)

/**
 * Reads ids and values of a store, from the middle of its history, where neither end is in memory by
 * accident. All stores have the same shares of everything, so that a value matches as large a part of one
 * as of the other.
 */
export async function readTarget(admin: pg.Client, tenant: string): Promise<Target> {
  const { rows } = await admin.query<{ target: Record<string, string | number | null> }>(
    `select row_to_json(t) as target
       from (select o.tenant_ref as tenant, o.id as order_id, o.order_number, o.customer_ref, o.email,
                    o.idempotency_key as key, o.created_at as middle, i.product_id, i.variant_id, i.sku,
                    p.slug, p.name as product_name,
                    (select id from collections where tenant_ref = $1 order by slug limit 1)
                      as collection_id,
                    (select slug from collections where tenant_ref = $1 order by slug limit 1)
                      as collection,
                    (select id from campaigns where tenant_ref = $1 limit 1) as campaign_id,
                    (select id from gift_cards where tenant_ref = $1 order by created_at limit 1)
                      as gift_card_id,
                    (select code_last4 from gift_cards where tenant_ref = $1
                      order by created_at limit 1) as last4,
                    (select customer_ref from store_credit_accounts where tenant_ref = $1
                      order by created_at limit 1) as credit_ref,
                    (select id from pricing_groups where tenant_ref = $1 order by name limit 1)
                      as group_id,
                    (select id from returns where tenant_ref = $1 order by created_at limit 1)
                      as return_id,
                    (select id from webhook_subscriptions where tenant_ref = $1) as subscription_id,
                    (select id from subscriptions where tenant_ref = $1 order by created_at limit 1)
                      as plan_id,
                    (select customer_ref from subscriptions where tenant_ref = $1
                      order by created_at limit 1) as plan_customer_ref,
                    (select id from webhook_events where tenant_ref = $1 order by sequence limit 1)
                      as event_id,
                    (select id from webhook_deliveries where tenant_ref = $1
                      order by created_at limit 1) as delivery_id,
                    (select sha256 from assets where tenant_ref = $1 order by created_at limit 1)
                      as sha256,
                    (select id from fraud_bans where tenant_ref = $1 limit 1) as ban_id,
                    (select id from domains where tenant_ref = $1) as domain_id,
                    (select id from affiliates where tenant_ref = $1 order by created_at limit 1)
                      as affiliate_id,
                    (select id from affiliate_commissions where tenant_ref = $1
                      order by created_at limit 1) as commission_id,
                    (select id from affiliate_payouts where tenant_ref = $1
                      order by created_at limit 1) as payout_id,
                    (select id from entitlement_requests where tenant_ref = $1 limit 1) as request_id,
                    (select key from idempotency_keys where tenant_ref = $1 limit 1) as answered_key,
                    (select id from billing_invoices where tenant_ref = $1 and status = 'open')
                      as billing_invoice_id,
                    (select event_id from gateway_events where tenant_ref = $1 limit 1)
                      as gateway_event_id, ${RESOURCE_TARGETS.join(', ')}
               from orders o
               join order_items i on i.tenant_ref = o.tenant_ref and i.order_id = o.id
               join products p on p.tenant_ref = i.tenant_ref and p.id = i.product_id
              where o.tenant_ref = $1 and o.status in ('delivered', 'shipped', 'placed')
                and p.status = 'active'
              order by abs(o.order_number - (select 1000 + count(*) / 2 from orders
                                              where tenant_ref = $1))
              limit 1) as t`,
    [tenant],
  )
  const found = rows[0]?.target
  if (found === undefined) throw new Error(`the store ${tenant} has no orders to ask for`)
  const named = Object.entries(found).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)]],
  )
  return Object.fromEntries(named)
}
