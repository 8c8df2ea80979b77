import { DEFAULT_SETTINGS } from '../../src/modules/fraud/settings.ts'

const CARD = '{"brand":"visa","last4":"1111","exp_month":1,"exp_year":2040}'

const MEASURES = `gross_cents, discount_cents, refund_cents, tax_cents, refunded_tax_cents, shipping_cents,
  refunded_shipping_cents, dispute_loss_cents, markdown_cents, orders_count, units_count,
  new_customers_count, repeat_customers_count, active_customers_count`
const ZEROS = MEASURES.replaceAll(/\w+/g, '0')

/**
 * A row of a store for each table that the fixtures of the contract tests leave empty. The tests of
 * tenancy fail for a table without rows, so that none is ever left out. `$1` is the store.
 */
export const TENANT_ROWS: Readonly<Record<string, string>> = {
  customers: `insert into customers (tenant_ref, ref_hash, customer_ref)
              values ($1, sha256('x'), 'x')`,
  activation_requests: `insert into activation_requests (tenant_ref, product_id, requested_by)
                        select tenant_ref, id, 'test' from products where tenant_ref = $1 limit 1`,
  analytics_days: `insert into analytics_days (tenant_ref, generation, calendar, dimension, currency,
                          day, key, ${MEASURES})
                   values ($1, 1, 'booked', 'all', 'USD', '2026-01-01', '', ${ZEROS})`,
  analytics_facts: `insert into analytics_facts (tenant_ref, generation, sequence, order_id, kind, at,
                           day, sale_day, currency, is_test, coupon, affiliate, source, place, customer,
                           cohort, lines, ${MEASURES})
                    values ($1, 1, 1, gen_random_uuid(), 'x', now(), now(), now(), 'USD', false, '', '',
                            'checkout', '', 'new', '2026-01', '[]', ${ZEROS})`,
  analytics_generations: `insert into analytics_generations (tenant_ref, generation, state, time_zone)
                          values ($1, 1, 'serving', 'UTC')`,
  analytics_open_attempts: `insert into analytics_open_attempts (tenant_ref, generation, day, attempt_id)
                            values ($1, 1, '2026-01-01', gen_random_uuid())`,
  analytics_orders: `insert into analytics_orders (tenant_ref, order_id, sale_sequence, sale_at, place,
                            nth, first_at)
                     values ($1, gen_random_uuid(), 1, now(), '', 1, now())`,
  analytics_payment_days: `insert into analytics_payment_days (tenant_ref, generation, day, currency,
                                  outcome, reason, attempts, amount_cents)
                           values ($1, 1, '2026-01-01', 'USD', 'approved', '', 1, 1)`,
  analytics_subscription_days: `insert into analytics_subscription_days (tenant_ref, currency, day,
                                       started_count, ended_count)
                                values ($1, 'USD', '2026-01-01', 1, 0)`,
  analytics_subscription_sums: `insert into analytics_subscription_sums (tenant_ref, currency,
                                       active_count, past_due_count, running_count, mrr_cents)
                                values ($1, 'USD', 1, 0, 1, 100)`,
  analytics_subscriptions: `insert into analytics_subscriptions (tenant_ref, subscription_id, currency,
                                   status, monthly_cents, started_at)
                            values ($1, gen_random_uuid(), 'USD', 'active', 100, now())`,
  subscription_changes: `insert into subscription_changes (tenant_ref, subscription_id)
                         values ($1, gen_random_uuid())`,
  api_calls: `insert into api_calls (tenant_ref, credential_id, day, calls)
              values ($1, gen_random_uuid(), '2026-01-01', 1)`,
  billing_store_plans: `insert into billing_store_plans (tenant_ref, plan_key, plan_version, from_day, set_by)
                        values ($1, 'default', 1, '2026-01-01', 'test')`,
  billing_usage: `insert into billing_usage values ($1, '2999-01-01', 'orders', '', '', 1, 1, 1)`,
  billing_invoices: `
    with draft as (insert into billing_invoices (tenant_ref, month, currency)
                   values ($1, '2999-01-01', 'USD') returning id),
         line as (insert into billing_invoice_lines (tenant_ref, invoice_id, kind, description, amount_cents,
                         request_key)
                  select $1, id, 'charge', 'x', 1, 'x' from draft),
         payment as (insert into billing_payments (tenant_ref, invoice_id, kind, amount_cents, paid_on,
                            created_by, request_key)
                     select $1, id, 'payment', 1, '2026-01-01', 'x', 'x' from draft),
         note as (insert into billing_credit_notes (tenant_ref, invoice_id, issuer_id, sequence, number, issuer,
                         recipient, amount_cents, reason, created_by, request_key)
                  select $1, id, $1, 1, 'x', '{}', '{}', 1, 'x', 'x', 'x' from draft)
    insert into billing_reminders (tenant_ref, invoice_id, step) select $1, id, 0 from draft`,
  funnel_days: `insert into funnel_days (tenant_ref, day, type, product_id, shard, count)
                values ($1, '2026-01-01', 'view', gen_random_uuid(), 0, 1)`,
  asset_forms: `insert into asset_forms (tenant_ref, sha256, width, form_sha256, bytes)
                select tenant_ref, sha256, 160, sha256, 1 from assets where tenant_ref = $1`,
  asset_refs: `insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
               values ($1, repeat('a', 64), 'site', '1')`,
  collection_products: `insert into collection_products (tenant_ref, collection_id, product_id, position)
                        select tenant_ref, c.id, p.id, 1
                          from collections c join products p using (tenant_ref)
                         where tenant_ref = $1`,
  entitlements: `insert into entitlements (tenant_ref, feature_key, source, state)
                 values ($1, 'funnel_gate', 'self_serve', 'allow')`,
  entitlement_tiers: `insert into entitlement_tiers (tenant_ref, tier) values ($1, 'growth')`,
  storefront_tokens: `insert into storefront_tokens (tenant_ref, label, token_hash, hint)
                      values ($1, 'a test', sha256('x'), 'abcd')`,
  fraud_settings: `insert into fraud_settings (tenant_ref, settings, updated_by)
    values ($1, '${JSON.stringify(DEFAULT_SETTINGS)}', 'a test')`,
  fraud_decisions: `insert into fraud_decisions (tenant_ref, decision, score, signals)
                    values ($1, 'accepted', 0, '[]')`,
  fraud_ban_hits: `insert into fraud_ban_hits (tenant_ref, ban_id)
                   values ($1, gen_random_uuid())`,
  shopper_mail_settings: `insert into shopper_mail_settings (tenant_ref) values ($1)`,
  shopper_mails: `insert into shopper_mails (tenant_ref, kind, about_id)
                  values ($1, 'order_placed', gen_random_uuid())`,
  test_clock_runs: `insert into test_clock_runs (tenant_ref, move, place, at, kind, outcome)
                    values ($1, 1, 1, now(), 'none', 'none')`,
  test_clocks: `insert into test_clocks (tenant_ref) values ($1)`,
  store_usage: `insert into store_usage (tenant_ref, limit_key, used) values ($1, 'none', 1)`,
  store_credit_spent: `insert into store_credit_spent (tenant_ref, order_id, lot_id, amount_cents)
                       select tenant_ref, gen_random_uuid(), id, 1
                         from store_credit_lots where tenant_ref = $1 limit 1`,
  inventory_levels: `
    with product as (insert into products (tenant_ref, slug, name)
                     values ($1, 'counted', 'Counted') returning id),
         variant as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                     select $1, id, 'counted', 100, 'USD' from product returning id),
         place as (insert into inventory_locations (tenant_ref, id, name)
                   values ($1, 'shelf', 'Shelf')),
         setting as (insert into inventory_settings (tenant_ref, variant_id)
                     select $1, id from variant),
         movement as (insert into inventory_movements (tenant_ref, variant_id, location_id, kind,
                             quantity, on_hand_after, allocated_after, actor)
                      select $1, id, 'shelf', 'received', 1, 1, 0, 'test' from variant),
         hold as (insert into inventory_reservations
                         (tenant_ref, order_id, variant_id, location_id)
                  select $1, gen_random_uuid(), id, 'shelf' from variant),
         change as (insert into inventory_order_changes (tenant_ref, order_id, change_id)
                    values ($1, gen_random_uuid(), gen_random_uuid())),
         wrong as (insert into inventory_discrepancies
                          (tenant_ref, variant_id, location_id, counter, kept, counted)
                   select $1, id, 'shelf', 'held', 1, 0 from variant),
         count as (insert into inventory_counts (tenant_ref, variant_id, location_id, seq, on_hand,
                          allocated, again_at)
                   select $1, id, 'shelf', 1, 1, 0, now() from variant),
         recount as (insert into inventory_recounts (tenant_ref, due_at) values ($1, now())),
         cost as (insert into inventory_costs (tenant_ref, variant_id, units, value_cents, last_units,
                         last_value_cents)
                  select $1, id, 1, 100, 1, 100 from variant),
         entry as (insert into inventory_cost_entries (tenant_ref, variant_id, kind, units,
                          value_cents, units_after, value_after_cents)
                   select $1, id, 'opening', 1, 100, 1, 100 from variant),
         stocktake as (insert into stock_counts (tenant_ref, location_id, created_by)
                       values ($1, 'shelf', 'x') returning id),
         counted as (insert into stock_count_lines (tenant_ref, count_id, variant_id, location_id,
                            expected)
                     select $1, stocktake.id, variant.id, 'shelf', 1 from stocktake, variant),
         vendor as (insert into vendors (tenant_ref, name) values ($1, 'x') returning id),
         numbers as (insert into purchase_order_counters (tenant_ref, last_number)
                     values ($1, 2001)),
         bought as (insert into purchase_orders (tenant_ref, po_number, vendor_id, location_id,
                           currency, subtotal_cents, created_by)
                    select $1, 'PO-1', id, 'shelf', 'USD', 100, 'x' from vendor returning id),
         line as (insert into purchase_order_lines (tenant_ref, purchase_order_id, position,
                         variant_id, sku, quantity, unit_cost_cents)
                  select $1, bought.id, 0, variant.id, 'x', 1, 100 from bought, variant returning id),
         receipt as (insert into purchase_receipts (tenant_ref, purchase_order_id, number,
                            created_by)
                     select $1, id, 1, 'x' from bought returning id),
         arrived as (insert into purchase_receipt_lines (tenant_ref, receipt_id, line_id, added,
                            rejected)
                     select $1, receipt.id, line.id, 1, 0 from receipt, line),
         landed as (insert into purchase_costs (tenant_ref, purchase_order_id, number, description,
                           amount_cents, split_by, created_by)
                    select $1, id, 1, 'x', 1, 'value', 'x' from bought returning id),
         share as (insert into purchase_cost_allocations (tenant_ref, cost_id, line_id, amount_cents,
                          on_hand_units, on_hand_cents, sold_units, sold_cents)
                   select $1, landed.id, line.id, 1, 1, 1, 0, 0 from landed, line)
    insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand)
    select $1, id, 'shelf', 1 from variant`,
  orders: `
    with counter as (insert into order_counters (tenant_ref) values ($1)),
         placed as (insert into orders (tenant_ref, id, order_number, customer_ref, status,
                           payment_status, fulfillment_status, subtotal_cents, discount_cents,
                           shipping_cents, tax_cents, total_cents, currency, idempotency_key,
                           pricing)
                    values ($1, gen_random_uuid(), 1001, 'x', 'placed', 'paid', 'unfulfilled', 100,
                            0, 0, 0, 100, 'USD', 'x', '{}') returning id),
         item as (insert into order_items (tenant_ref, id, order_id, product_id, variant_id,
                         product_name, sku, quantity, original_quantity, unit_price_cents,
                         list_price_cents, line_total_cents, position)
                  select $1, gen_random_uuid(), id, id, id, 'x', 'x', 1, 1, 100, 100, 100, 0
                    from placed returning id),
         parcel as (insert into fulfillments (tenant_ref, order_id, number, fulfillment_number,
                           location_id, created_by)
                    select $1, id, 1, '1001-F1', 'default', 'x' from placed returning id),
         packed as (insert into fulfillment_items (tenant_ref, fulfillment_id, order_item_id,
                           position, variant_id, sku, product_name, quantity, stock_quantity)
                    select $1, parcel.id, item.id, 0, item.id, 'x', 'x', 1, 0 from parcel, item),
         back as (insert into returns (tenant_ref, order_id, number, return_number, status,
                         requested_by, approved_at, created_by)
                  select $1, id, 1, '1001-R1', 'approved', 'merchant', now(), 'x'
                    from placed returning id),
         came as (insert into return_lines (tenant_ref, return_id, order_item_id, position,
                         variant_id, sku, product_name, quantity)
                  select $1, back.id, item.id, 0, item.id, 'x', 'x', 1 from back, item
                  returning id),
         receipt as (insert into return_receipts (tenant_ref, id, return_id, number, status,
                            method, location_id, created_by, settled_at)
                     select $1, id, id, 1, 'settled', 'none', 'default', 'x', now()
                       from back returning id),
         arrived as (insert into return_receipt_lines (tenant_ref, receipt_id, return_line_id,
                            disposition, quantity, stock_quantity)
                     select $1, receipt.id, came.id, 'missing', 1, 0 from receipt, came),
         resolved as (insert into return_resolutions (tenant_ref, return_line_id, disposition,
                             quantity, stock_quantity, created_by)
                      select $1, id, 'damaged', 1, 0, 'x' from came),
         exchanged as (insert into return_exchanges (tenant_ref, return_id, order_id, advance, status,
                              amount_cents, pay_days, created_by)
                       select $1, back.id, placed.id, false, 'waiting', 1, 7, 'x' from back, placed),
         asked as (insert into payment_requests (tenant_ref, order_id, amount_cents, currency,
                          status, expires_at, due_at, created_by)
                   select $1, id, 1, 'USD', 'open', now(), now(), 'x' from placed),
         label as (insert into carrier_labels (tenant_ref, fulfillment_id, order_id, carrier,
                          service, currency, weight_grams, created_by)
                   select $1, parcel.id, placed.id, 'simulated', 'standard', 'USD', 1, 'x'
                     from parcel, placed),
         paid as (insert into charges (tenant_ref, charge_id, order_id, tender, status,
                         amount_cents, captured_cents, refunded_cents, currency)
                  select $1, gen_random_uuid(), id, 'card', 'captured', 100, 100, 1, 'USD'
                    from placed returning charge_id),
         given as (insert into refunds (tenant_ref, refund_id, order_id, status, amount_cents,
                          product_cents, currency, actor)
                   select $1, gen_random_uuid(), id, 'succeeded', 1, 1, 'USD', 'x'
                     from placed returning refund_id),
         tender as (insert into refund_tenders (tenant_ref, refund_id, charge_id, tender,
                           amount_cents, status)
                    select $1, refund_id, charge_id, 'card', 1, 'succeeded' from given, paid),
         unit as (insert into refund_items (tenant_ref, refund_id, order_item_id, quantity,
                         amount_cents)
                  select $1, refund_id, item.id, 1, 1 from given, item),
         edited as (insert into order_line_changes (tenant_ref, order_id, order_item_id, change_id,
                           quantity, line_total_cents, discount_cents, tax_cents, shipping_cents)
                    select $1, placed.id, item.id, placed.id, 1, 1, 0, 0, 0 from placed, item),
         line as (insert into order_timeline (tenant_ref, order_id, type, actor)
                  select $1, id, 'x', 'x' from placed)
    insert into order_notes (tenant_ref, order_id, note, actor)
    select $1, id, 'x', 'x' from placed`,
  subscriptions: `with started as (
                    insert into subscriptions (tenant_ref, id, customer_ref, product_id, variant_id,
                           quantity, interval, interval_count, unit_price_cents, currency,
                           origin_order_id, anchor_on, current_period_start, subscription_number)
                    values ($1, gen_random_uuid(), 'x', gen_random_uuid(), gen_random_uuid(), 1,
                            'month', 1, 100, 'USD', gen_random_uuid(), now(), now(), 1)
                    returning id)
                  , declined as (
                    insert into subscription_declines (tenant_ref, subscription_id, cycle, order_id,
                           amount_cents, currency, class)
                    select $1, id, 2, id, 100, 'USD', 'soft' from started)
                  insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at,
                         order_id)
                  select $1, id, 1, 'paid', now(), id from started`,
  subscription_counters: `insert into subscription_counters (tenant_ref, last_number) values ($1, 1001)`,
  subscription_settings: `insert into subscription_settings (tenant_ref) values ($1)`,
  affiliate_settings: `insert into affiliate_settings (tenant_ref) values ($1)`,
  affiliate_commissions: `
    with who as (select c.affiliate_id as id, c.code_folded from affiliate_codes c
                  where c.tenant_ref = $1 limit 1),
         placed as (select id from orders where tenant_ref = $1 limit 1),
         click as (insert into affiliate_clicks (tenant_ref, code_folded, shard, clicks)
                   select $1, code_folded, 0, 1 from who),
         device as (insert into affiliate_devices (tenant_ref, affiliate_id, device_hash)
                    select $1, id, sha256('x') from who),
         payout as (insert into affiliate_payouts (tenant_ref, id, affiliate_id, currency, amount_cents,
                           created_by)
                    select $1, gen_random_uuid(), id, 'USD', 1, 'x' from who),
         source as (insert into affiliate_attributions (tenant_ref, order_id, affiliate_id, code, source,
                           touched_at, window_days, model, currency, commission_type, rate_bps,
                           approval_delay_days, base_cents, left_cents, booked_cents)
                    select $1, placed.id, who.id, 'x', 'code', now(), 30, 'x', 'USD', 'percent', 1000,
                           30, 10, 10, 1 from placed, who
                    returning order_id, affiliate_id)
    insert into affiliate_commissions (tenant_ref, id, affiliate_id, order_id, type, currency, base_cents,
                                       amount_cents, status, approves_at)
    select $1, gen_random_uuid(), affiliate_id, order_id, 'sale', 'USD', 10, 1, 'pending', now()
      from source`,
  newsletter_subscribers: `insert into newsletter_subscribers (tenant_ref, email, email_folded)
                           values ($1, 'x@x.example', 'x@x.example')`,
  marketing_consents: `with shown as (
                         insert into consent_texts (tenant_ref, sha256, version, locale, text)
                         values ($1, repeat('a', 64), 'x', 'en', 'x') returning tenant_ref)
                       insert into marketing_consents (tenant_ref, email, email_folded, state, source)
                       select tenant_ref, 'x@x.example', 'x@x.example', 'given', 'form' from shown`,
  mail_suppressions: `insert into mail_suppressions (tenant_ref, email, email_folded, reason, created_by,
                             suppressed_at)
                      values ($1, 'x@x.example', 'x@x.example', 'manual', 'test', now())`,
  segment_people: `with person as (
                     insert into segment_people (tenant_ref, email_folded, email, consent)
                     values ($1, 'x@x.example', 'x@x.example', 'given')
                     returning tenant_ref, email_folded)
                   insert into segment_purchases (tenant_ref, product_id, email_folded)
                   select tenant_ref, gen_random_uuid(), email_folded from person`,
  segment_positions: `insert into segment_positions (tenant_ref) values ($1)
                      on conflict do nothing`,
  campaign_mailings: `insert into campaign_mailings (tenant_ref, id)
                      select tenant_ref, id from campaigns where tenant_ref = $1 limit 1`,
  campaign_recipients: `insert into campaign_recipients (tenant_ref, campaign_id, email, email_folded)
                        select tenant_ref, id, 'x@x.example', 'x@x.example'
                          from campaigns where tenant_ref = $1 limit 1`,
  checkout_reminder_settings: `insert into checkout_reminder_settings (tenant_ref) values ($1)`,
  checkout_reminders: `insert into checkout_reminders (tenant_ref, email, email_folded, items,
                              next_attempt_at)
                       values ($1, 'x@x.example', 'x@x.example', '[]', now())`,
  coupon_redemptions: `insert into coupon_redemptions (tenant_ref, order_id, coupon_id, customer_ref)
                       select $1, gen_random_uuid(), id, 'a canary'
                         from coupons where tenant_ref = $1 limit 1`,
  pricing_group_members: `insert into pricing_group_members (tenant_ref, group_id, customer_ref)
                          select $1, id, 'a canary'
                            from pricing_groups where tenant_ref = $1 limit 1`,
  pricing_group_prices: `with p as (insert into products (tenant_ref, slug, name)
                                    values ($1, 'priced', 'Priced') returning id),
                              v as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                                    select $1, id, 'priced', 1, 'USD' from p returning id)
                         insert into pricing_group_prices
                                (tenant_ref, group_id, variant_id, min_quantity, price_cents)
                         select $1, g.id, v.id, 1, 1
                           from pricing_groups g, v where g.tenant_ref = $1 limit 1`,
  idempotency_keys: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, lease_until)
                     values ($1, 'checkout', 'k', sha256('x'), now())`,
  ledger_checkpoints: `insert into ledger_checkpoints
                              (tenant_ref, sequence, account, currency, balance_cents)
                       values ($1, 1000, 'sales', 'USD', 0)`,
  gift_card_purchases: `insert into gift_card_purchases (tenant_ref, order_item_id, order_id, quantity,
                                                         amount_cents, for_buyer)
                        values ($1, gen_random_uuid(), gen_random_uuid(), 1, 1, true)`,
  ledger_holds: `insert into ledger_holds (tenant_ref, account, ref, currency, amount_cents, order_id)
                 values ($1, 'gift_card', 'a card', 'USD', 1, gen_random_uuid())`,
  ledger_seals: `insert into ledger_seals (tenant_ref, sequence, journal_id, hash)
                 select $1, 1, id, sha256('x') from ledger_journals where tenant_ref = $1 limit 1`,
  ledger_verified: `insert into ledger_verified (tenant_ref, newest, due_at)
                    values ($1, 1, now()) on conflict do nothing`,
  gateway_accounts: `insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
                     values ($1, 'sim', $1, 'standard', 'sealed')`,
  gateway_events: `insert into gateway_events (tenant_ref, provider, account_ref, event_id, scheme,
                                               body, headers)
                   values ($1, 'sim', $1, 'an event', 'standard', 'x', '{}')`,
  payment_accounts: `insert into payment_accounts (tenant_ref, gateway) values ($1, 'simulated')`,
  payment_attempts: `insert into payment_attempts (tenant_ref, id, order_id, kind, gateway,
                                                   amount_cents, currency)
                     values ($1, gen_random_uuid(), gen_random_uuid(), 'checkout', 'simulated', 1,
                             'USD')`,
  payment_days: `insert into payment_days (tenant_ref, day) values ($1, current_date)`,
  payment_discrepancies: `insert into payment_discrepancies (tenant_ref, day, gateway, problem, ref)
                          values ($1, current_date, 'simulated', 'missing_here', 'x')`,
  sim_charges: `insert into sim_charges (tenant_ref, ref, amount_cents, currency, outcome, code, card,
                                         fingerprint)
                values ($1, gen_random_uuid(), 1, 'USD', 'approved', '100', '${CARD}', 'x')`,
  sim_journal: `with charge as (
                  insert into sim_charges (tenant_ref, ref, amount_cents, currency, outcome, code,
                                           card, fingerprint)
                  values ($1, gen_random_uuid(), 1, 'USD', 'approved', '100', '${CARD}', 'x')
                  returning tenant_ref, txn_id, ref
                )
                insert into sim_journal (tenant_ref, txn_id, ref, kind, amount_cents, outcome)
                select tenant_ref, txn_id, ref, 'authorize', 1, 'approved' from charge`,
  sim_shipments: `insert into sim_shipments (tenant_ref, ref, service, tracking_number, cost_cents,
                                             currency)
                  values ($1, gen_random_uuid(), 'standard', 'SIM1', 1, 'USD')`,
  sim_vault: `insert into sim_vault (tenant_ref, vault_id, card, fingerprint, behaviour)
              values ($1, gen_random_uuid(), '${CARD}', 'x', '100')`,
  privacy_erasures: `insert into privacy_erasures (tenant_ref, id, customer_ref, pseudonym, actor)
                     values ($1, gen_random_uuid(), 'x', 'erased:x', 'x')`,
  retention_archives: `insert into retention_archives (tenant_ref, table_name, month, part, row_count,
                              file_sha256, rows_sha256, bytes, last_key)
                       values ($1, 'audit_log', '2020-01-01', 1, 1, repeat('a', 64),
                               repeat('b', 64), 1, '[]')`,
  webhook_events: `insert into webhook_events (tenant_ref, id, type, data)
                   values ($1, '00000000-0000-4000-8000-000000000001', 'commerce.order.placed.v1', '{}')`,
  webhook_feeds: `insert into webhook_feeds (tenant_ref) values ($1)`,
  webhook_deliveries: `insert into webhook_deliveries (tenant_ref, id, subscription_id, event_id,
                                                       event_type, endpoint_url)
                       values ($1, '00000000-0000-4000-8000-000000000001', gen_random_uuid(),
                               '00000000-0000-4000-8000-000000000001', 'commerce.order.placed.v1',
                               'https://hook.example/')`,
  webhook_lanes: `insert into webhook_lanes (tenant_ref, lease_token, lane, lease_until,
                                             subscription_id, deliveries)
                  values ($1, gen_random_uuid(), 1, now(), gen_random_uuid(), '{}')`,
  webhook_queue: `insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id,
                                             due_at, attempt_count, ladder_from)
                  values ($1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), 0, 0)`,
  webhook_attempts: `insert into webhook_attempts (tenant_ref, delivery_id, attempt, at)
                     values ($1, '00000000-0000-4000-8000-000000000001', 1, now())`,
  product_scans: `insert into product_scans (tenant_ref, product_id, text_hash, rules_version, passed)
                  select tenant_ref, id, sha256('x'), 'x', true
                    from products where tenant_ref = $1 limit 1`,
  product_images: `insert into product_images (tenant_ref, product_id, asset_ref, position)
                   select tenant_ref, id, 'asset:x', 1 from products where tenant_ref = $1`,
  variants: `insert into variants (tenant_ref, product_id, sku, price_cents, currency)
             select tenant_ref, id, gen_random_uuid(), 1, 'USD' from products where tenant_ref = $1`,
  past_prices: `insert into past_prices (tenant_ref, variant_id, price_cents, currency)
                select tenant_ref, id, 100, currency from variants where tenant_ref = $1`,
}
