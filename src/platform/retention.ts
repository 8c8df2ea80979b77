/** The settings that say how long rows are kept, as `config.ts` reads them. */
export interface RetentionPeriods {
  RETENTION_WEBHOOK_DAYS: number
  RETENTION_AUDIT_DAYS: number
  RETENTION_TIMELINE_DAYS: number
  RETENTION_FRAUD_DAYS: number
  RETENTION_MAIL_DAYS: number
  RETENTION_SHOPPER_MAIL_DAYS: number
  RETENTION_GATEWAY_EVENT_DAYS: number
  RETENTION_COMPARISON_DAYS: number
  RETENTION_RESERVATION_DAYS: number
  RETENTION_FUNNEL_DAYS: number
  RETENTION_PRICE_DAYS: number
  /** Unset: for good. */
  SITE_VERSIONS_KEPT: number | undefined
}

export type RetentionSetting = keyof RetentionPeriods

/** How long the rows of a table are kept. */
export type Life =
  /** Kept forever, with the reason. */
  | { forGood: string }
  /** Kept as long as the row that they belong to, of the table `owner`. */
  | { owner: string; note?: string }
  /** Kept until the condition is met; then a loop of the worker removes them. */
  | { until: string; loop: string; setting?: RetentionSetting; archived?: true }

/** The loops of `worker.ts` that only serve retention. */
export const MONTHS_LOOP = 'old months'
export const SLICES_LOOP = 'old rows'

const forGood = (why: string): Life => ({ forGood: why })
const owner = (table: string, note?: string): Life =>
  note === undefined ? { owner: table } : { owner: table, note }
const until = (what: string, loop: string): Life => ({ until: what, loop })
const byMonth = (setting: RetentionSetting, what: string): Life => ({
  until: what,
  loop: MONTHS_LOOP,
  setting,
  archived: true,
})
const bySlice = (setting: RetentionSetting, what: string): Life => ({
  until: what,
  loop: SLICES_LOOP,
  setting,
})

const MONEY = 'Money: books must be provable for as long as the store exists.'
const INVOICES =
  'What the operator bills: kept as the law asks, with the store and no shopper in it.'
const STORE = 'The store itself, and what its merchant set up.'

/**
 * The life of every table. A test fails for a table without a line here, and `npm run retention`
 * writes this list into docs/operations.md (decision 0022).
 */
export const LIVES: Readonly<Record<string, Life>> = {
  activation_requests: owner('products'),
  affiliate_attributions: owner('orders', 'which affiliate it came from, and no shopper'),
  affiliate_clicks: owner('affiliate_codes', 'a number, and no person'),
  affiliate_codes: owner('affiliates'),
  affiliate_commissions: forGood(MONEY),
  affiliate_devices: owner('affiliates', 'hashes of at most 20 browsers, until erased'),
  affiliate_payouts: forGood(MONEY),
  affiliate_settings: owner('stores'),
  affiliates: forGood('To pay what the store owes them, until erased; then amounts alone.'),
  analytics_days: until('their generation was replaced', 'analytics'),
  analytics_facts: until('their generation was replaced', 'analytics'),
  analytics_generations: until('replaced by another, and its rows are deleted', 'analytics'),
  analytics_open_attempts: until(
    'they have an outcome, or their generation was replaced',
    'analytics',
  ),
  analytics_orders: owner('orders', 'country and state, and no person'),
  analytics_payment_days: until('their generation was replaced', 'analytics'),
  analytics_subscription_days: owner('stores', 'one row for each day and currency'),
  analytics_subscription_sums: owner('stores', 'one row for each currency'),
  analytics_subscriptions: owner('subscriptions', 'amounts and times, and no person'),
  api_call_writers: until('their process has added nothing for a week', 'billing upkeep'),
  api_calls: until('their month is closed; its usage has their sum', 'billing'),
  asset_forms: owner('assets'),
  asset_refs: owner('products', 'or its site version'),
  assets: until('deleted for 30 days, or never completed for a day', 'media'),
  audit_log: byMonth('RETENTION_AUDIT_DAYS', 'a whole month is older than the period'),
  campaign_mailings: owner('campaigns', 'one row for each'),
  campaign_recipients: bySlice(
    'RETENTION_SHOPPER_MAIL_DAYS',
    'older than the period, and their campaign is over',
  ),
  campaigns: forGood(STORE),
  billing_accounts: owner('stores', 'one row for each'),
  billing_credit_notes: forGood(INVOICES),
  billing_invoice_lines: owner('billing_invoices'),
  billing_invoices: forGood(`${INVOICES} Drafts go when their month costs nothing.`),
  billing_issuers: forGood(INVOICES),
  billing_payments: forGood(INVOICES),
  billing_plans: forGood('What stores have agreed to pay.'),
  billing_reminders: owner('billing_invoices'),
  billing_store_plans: forGood('What stores have agreed to pay.'),
  billing_usage: forGood(INVOICES),
  carrier_labels: owner('orders', 'what was spent on carriers'),
  charges: forGood(MONEY),
  checkout_reminder_settings: owner('stores', 'one row for each'),
  checkout_reminders: until(
    '30 days after the cart was last seen, or at once when the store switches reminders off',
    'reminder upkeep',
  ),
  collection_products: owner('collections'),
  collections: forGood(STORE),
  consent_texts: forGood('What readers agreed to: proves their consents.'),
  coupon_codes: owner('coupons'),
  coupon_redemptions: owner('orders', 'counts towards the limits of a coupon'),
  coupons: forGood(STORE),
  credentials: forGood('Access: a revoked key still names who acted in the audit log.'),
  customers: forGood('A customer, until erased; then a tombstone keeps the erasure.'),
  domains: forGood(STORE),
  entitlement_requests: forGood(STORE),
  entitlement_tiers: forGood(STORE),
  entitlements: forGood(STORE),
  fulfillment_items: owner('fulfillments'),
  fulfillments: owner('orders'),
  funnel_days: bySlice('RETENTION_FUNNEL_DAYS', 'older than the period'),
  fraud_ban_hits: until('added to their ban', 'fraud hits'),
  fraud_bans: forGood(STORE),
  fraud_settings: forGood(STORE),
  fraud_decisions: {
    ...bySlice('RETENTION_FRAUD_DAYS', 'older than the period, and their order is not on hold'),
    archived: true,
  },
  gateway_accounts: forGood(STORE),
  gateway_events: bySlice(
    'RETENTION_GATEWAY_EVENT_DAYS',
    'older than the period and handled; their bodies go after 30 days (loop `gateway upkeep`)',
  ),
  gift_card_purchases: owner('orders'),
  gift_card_transactions: forGood(MONEY),
  gift_cards: forGood(MONEY),
  global_mail_suppressions: forGood('A hash; until the operator lifts it or its owner confirms.'),
  idempotency_keys: until(
    '30 days after their answer; for good if their operation moved money, except a checkout, whose order has the key',
    'idempotency upkeep',
  ),
  inventory_cost_entries: forGood('What goods have cost: closed books do not change.'),
  inventory_costs: owner('variants'),
  inventory_counts: owner('inventory_levels'),
  inventory_discrepancies: owner('inventory_levels'),
  inventory_levels: owner('variants'),
  inventory_locations: forGood(STORE),
  inventory_movements: forGood('Recounts sum them: the stock of a store is proven by them.'),
  inventory_order_changes: owner('orders', 'so that a change is never made twice'),
  inventory_recounts: owner('stores', 'one row for each'),
  inventory_reservations: bySlice(
    'RETENTION_RESERVATION_DAYS',
    'released for longer than the period; until then with their order',
  ),
  inventory_settings: owner('variants'),
  inventory_unposted: until('posted to the ledger', 'stock journals'),
  ledger_checkpoints: forGood(MONEY),
  ledger_entries: forGood(MONEY),
  ledger_holds: forGood(MONEY),
  ledger_journals: forGood(MONEY),
  ledger_seals: forGood(MONEY),
  ledger_unsealed: until('numbered and chained', 'ledger numbering'),
  ledger_verified: owner('stores', 'one row for each'),
  limit_counters: until('the end of their window', 'limiter upkeep'),
  mail_suppressions: forGood('An address, until it is lifted or the person is erased.'),
  mails: bySlice('RETENTION_MAIL_DAYS', 'older than the period, sent or not'),
  marketing_consents: forGood('Proves who may be written to, until the person is erased.'),
  media_usage: owner('stores'),
  newsletter_subscribers: until(
    '30 days after a request without a confirmation; else until the person is erased',
    'newsletter upkeep',
  ),
  order_counters: owner('stores'),
  order_items: owner('orders'),
  order_line_changes: owner('orders'),
  order_notes: owner('orders'),
  order_timeline: {
    ...bySlice('RETENTION_TIMELINE_DAYS', 'older than the period; 0: kept with their order'),
    archived: true,
  },
  orders: forGood(MONEY),
  outbox: until('handled for 7 days', 'outbox upkeep'),
  owner_callers: until('unused for 90 days', 'session upkeep'),
  owner_sessions: until('expired', 'session upkeep'),
  owners: until('3 days after the sign-up, if not verified', 'session upkeep'),
  past_prices: bySlice('RETENTION_PRICE_DAYS', 'older than the period'),
  payment_accounts: forGood(STORE),
  payment_attempts: forGood(MONEY),
  payment_days: bySlice('RETENTION_COMPARISON_DAYS', 'older than the period and compared'),
  payment_discrepancies: forGood(MONEY),
  payment_requests: owner('orders'),
  pricing_group_members: owner('pricing_groups'),
  pricing_group_prices: owner('pricing_groups'),
  pricing_groups: forGood(STORE),
  privacy_erasures: forGood('Proves that a person was erased; has no personal data when done.'),
  privacy_exports: until('7 days after their request', 'privacy upkeep'),
  product_images: owner('products'),
  product_scans: owner('products'),
  product_search: owner('products'),
  products: forGood(STORE),
  purchase_cost_allocations: owner('purchase_costs'),
  purchase_costs: owner('purchase_orders'),
  purchase_order_counters: owner('stores', 'one row for each'),
  purchase_order_lines: owner('purchase_orders'),
  purchase_orders: forGood('What goods have cost: closed books do not change.'),
  purchase_receipt_lines: owner('purchase_receipts'),
  purchase_receipts: owner('purchase_orders'),
  refund_items: forGood(MONEY),
  refund_tenders: forGood(MONEY),
  refunds: forGood(MONEY),
  return_exchanges: owner('returns'),
  return_lines: owner('returns'),
  return_receipt_lines: owner('return_receipts'),
  return_receipts: owner('returns'),
  return_resolutions: owner('return_lines'),
  returns: owner('orders'),
  retention_archives: forGood('Lists the archives, which have no other list.'),
  installation: forGood('Says which SECRET_KEY the database belongs to.'),
  schema_migrations: forGood('Says what the database looks like.'),
  search_words: until('no product of the store has the word', 'search words'),
  segment_people: owner('orders', 'or the subscriber; counted again when either is erased'),
  segment_positions: owner('stores', 'one row for each'),
  segment_purchases: owner('segment_people'),
  segments: forGood(STORE),
  shopper_mail_settings: owner('stores', 'one row for each'),
  shopper_mails: bySlice('RETENTION_SHOPPER_MAIL_DAYS', 'older than the period, sent or not'),
  sim_charges: forGood('The books of the simulated gateway, which stands in for a real one.'),
  sim_journal: forGood('The books of the simulated gateway, which stands in for a real one.'),
  sim_shipments: forGood('The books of the simulated carrier, which stands in for a real one.'),
  sim_vault: forGood('The books of the simulated gateway, which stands in for a real one.'),
  site_versions: bySlice(
    'SITE_VERSIONS_KEPT',
    'not among the newest of their store, neither published nor published before that, and 28 days old; unset: kept for good',
  ),
  stock_count_lines: owner('stock_counts'),
  stock_counts: forGood('Says why a level was adjusted, as its movements do.'),
  store_credit_accounts: forGood(MONEY),
  store_credit_lots: forGood(MONEY),
  store_credit_spent: forGood(MONEY),
  store_credit_transactions: forGood(MONEY),
  store_usage: owner('stores'),
  stores: forGood(STORE),
  storefront_tokens: owner('stores', 'until it is deleted'),
  subscription_changes: until('counted in the figures', 'analytics'),
  subscription_counters: owner('stores', 'one row for each'),
  subscription_cycles: owner('subscriptions'),
  subscription_declines: forGood('Says how often a card was tried, and why a subscription ended.'),
  subscription_settings: owner('stores', 'one row for each'),
  subscriptions: forGood(MONEY),
  test_clock_runs: until("the store's time is moved again", 'test clocks'),
  test_clocks: owner('stores', 'one row for each sandbox'),
  usage_limits: forGood('What stores may have, as the operator set it.'),
  variants: owner('products'),
  vendors: forGood(STORE),
  webhook_attempts: byMonth('RETENTION_WEBHOOK_DAYS', 'the month of their delivery goes'),
  webhook_deliveries: byMonth(
    'RETENTION_WEBHOOK_DAYS',
    'a whole month is older than the period, and none of it is still to be sent',
  ),
  webhook_events: byMonth('RETENTION_WEBHOOK_DAYS', 'the month of their deliveries is gone'),
  webhook_feeds: owner('stores'),
  webhook_lanes: until('their deliveries are sent', 'webhook dispatch'),
  webhook_queue: until('taken into a lane', 'webhook dispatch'),
  webhook_subscriptions: forGood(STORE),
}
