/** Keys of tables with a `tenant_ref` that need not start with it, and why. */
export const KEY_EXCEPTIONS: Readonly<Record<string, string>> = {
  assets_due: 'Due index: the worker looks over all tenants for bytes to take away.',
  charges_expiring: 'Due index: the worker looks over all tenants for lapsed authorisations.',
  credentials_gate: 'Finds a key by its public id, before its tenant is known.',
  domains_due: 'Due index: the worker looks over all tenants for names to ask about.',
  domains_gate: 'Finds the store that has a hostname, in any tenant.',
  gateway_accounts_gate: 'Finds whose account an event is about, before a tenant is known.',
  gateway_events_kept: 'Due index: the worker looks over all tenants for bodies to forget.',
  gift_cards_due: 'Due index: the worker looks over all tenants for cards that have expired.',
  gift_cards_shown: 'Due index: the worker looks over all tenants for codes to forget.',
  idempotency_keys_old: 'Due index: the worker looks over all tenants for answers to forget.',
  idempotency_keys_due: 'Due index: the worker looks over all stores for unfinished operations.',
  outbox_due: 'Due index: the worker looks over all tenants for who has work.',
  outbox_handled: 'Due index: the worker looks over all tenants for handled rows to forget.',
  store_credit_lots_due:
    'Due index: the worker looks over all tenants for credit that has expired.',
  payment_attempts_due: 'Due index: the worker looks over all tenants for what was not heard of.',
  payment_attempts_recent: 'The worker looks over all tenants for who has paid on a day.',
  payment_days_due: 'Due index: the worker looks over all tenants for days to compare.',
  stores_by_owner: 'Lists the stores of an owner, before a tenant is known.',
  privacy_exports_due: 'Due index: the worker looks over all tenants for copies to make.',
  privacy_exports_expired: 'Due index: the worker looks over all tenants for copies to delete.',
  webhook_queue_due: 'Due index: the worker looks over all tenants for what is to be sent.',
}

/** Tables whose `tenant_ref` has no foreign key to stores, and why. */
export const TABLES_WITHOUT_STORE: Readonly<Record<string, string>> = {
  charges: 'Their order names the store, and each checkout writes one.',
  customers: 'Each checkout writes one, in the transaction of its order, which names the store.',
  fraud_decisions: 'Each checkout writes one, in the transaction that settles its order.',
  gateway_events: 'Their account names the store; each would lock its row.',
  idempotency_keys: 'Each change of a store writes one, and names the store itself.',
  ledger_entries: 'Their journal names the store; each sale writes several.',
  ledger_unsealed: 'Its journal names the store.',
  order_items: 'Their order names the store, and each checkout writes several.',
  order_notes: 'Their order names the store.',
  order_timeline: 'Its order names the store, and each change writes one.',
  outbox: 'Its cause names the store, in the same transaction; each would lock its row.',
  payment_attempts: 'Each checkout writes one, in the transaction of its order.',
  refund_items: 'Their refund names the store.',
  refund_tenders: 'Their refund names the store.',
  refunds: 'Their order names the store.',
  sim_charges: 'The books of a gateway, which knows nothing of stores.',
  sim_journal: 'The books of a gateway, which knows nothing of stores.',
  webhook_attempts: 'Their delivery names the store; each would lock its row.',
  webhook_deliveries: 'Their event names the store, and each checkout writes some.',
  webhook_events: 'Each change of a store writes one, in its transaction.',
  webhook_lanes: 'What is being sent at this moment; its deliveries name the store.',
  webhook_queue: 'What is to be sent next; its deliveries name the store.',
}

/** Functions that run as the owner of the tables, and why. */
export const OWNER_FUNCTIONS: Readonly<Record<string, string>> = {
  fd_make_partition: 'Creates a partition, which only the owner of its table can.',
  fd_drop_month: 'Drops a partition; refuses a young one and one with pending deliveries.',
  fd_month_rows: 'Counts the rows of each store in one month; shows no row.',
  fd_misplaced_rows: 'Counts the rows of default partitions; shows no row.',
}
