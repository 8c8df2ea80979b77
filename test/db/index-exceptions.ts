/** Keys of tenant tables that need not start with `tenant_ref`, and why. */
export const KEY_EXCEPTIONS: Readonly<Record<string, string>> = {
  credentials_gate: 'Finds a key by its public id, before its tenant is known.',
  domains_due: 'Due index: the worker looks over all tenants for names to ask about.',
  domains_gate: 'Finds who holds a hostname, whoever that is.',
  idempotency_keys_old: 'Due index: the worker looks over all tenants for answers to forget.',
  idempotency_keys_stale: 'Due index: the worker looks over all tenants for lapsed leases.',
  outbox_due: 'Due index: the worker looks over all tenants for who has work.',
  outbox_handled: 'Due index: the worker looks over all tenants for handled rows to forget.',
  stores_by_owner: 'Lists the stores of an owner, before a tenant is known.',
  webhook_deliveries_due: 'Due index: the worker looks over all tenants for what is to be sent.',
}

/** Tenant tables whose `tenant_ref` has no foreign key to stores, and why. */
export const STORELESS_TABLES: Readonly<Record<string, string>> = {}
