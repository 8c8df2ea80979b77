/** Keys of tenant tables that need not start with `tenant_ref`, and why. */
export const KEY_EXCEPTIONS: Readonly<Record<string, string>> = {
  assets_due: 'Due index: the worker looks over all tenants for bytes to take away.',
  charges_expiring: 'Due index: the worker looks over all tenants for lapsed authorisations.',
  credentials_gate: 'Finds a key by its public id, before its tenant is known.',
  domains_due: 'Due index: the worker looks over all tenants for names to ask about.',
  domains_gate: 'Finds who holds a hostname, whoever that is.',
  gateway_accounts_gate: 'Finds whose account an event is about, before a tenant is known.',
  gateway_events_kept: 'Due index: the worker looks over all tenants for bodies to forget.',
  gift_cards_due: 'Due index: the worker looks over all tenants for cards that have expired.',
  gift_cards_shown: 'Due index: the worker looks over all tenants for codes to forget.',
  idempotency_keys_old: 'Due index: the worker looks over all tenants for answers to forget.',
  idempotency_keys_stale: 'Due index: the worker looks over all tenants for lapsed leases.',
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
  webhook_deliveries_due: 'Due index: the worker looks over all tenants for what is to be sent.',
}

/** Tenant tables whose `tenant_ref` has no foreign key to stores, and why. */
export const STORELESS_TABLES: Readonly<Record<string, string>> = {
  gateway_events: 'Their account names the store; each would lock its row.',
  ledger_entries: 'Their journal names the store; each sale writes several.',
  ledger_unsealed: 'Its journal names the store.',
  charges: 'Their order names the store, and each checkout writes one.',
  order_items: 'Their order names the store, and each checkout writes several.',
  order_notes: 'Their order names the store.',
  order_timeline: 'Its order names the store, and each change writes one.',
  refund_items: 'Their refund names the store.',
  refund_tenders: 'Their refund names the store.',
  refunds: 'Their order names the store.',
  webhook_attempts: 'Their delivery names the store; each would lock its row.',
  webhook_deliveries: 'Their event names the store, and each checkout writes some.',
}
