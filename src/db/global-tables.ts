/**
 * Tables that belong to no store, and why. Any other table must have a `tenant_ref` and row level
 * security; a test fails on a table that has neither that nor a line here.
 */
export const GLOBAL_TABLES: Readonly<Record<string, string>> = {
  global_mail_suppressions:
    'Hashes of addresses that no store writes to. An address bounces for all stores alike.',
  api_call_writers: 'Belongs to a process, which counts the calls of all stores.',
  billing_issuers: 'The operator, who sends the invoices of all stores.',
  billing_plans: 'What the operator offers to all stores.',
  installation: 'Says which SECRET_KEY the database as a whole belongs to.',
  limit_counters: 'Counts attempts by callers, before it is known whose store they want.',
  mails: 'Goes to people. Its tenant_ref only says which store a mail is about, if any.',
  owner_callers: 'Belongs to an owner, who may have stores in many tenants.',
  owner_sessions: 'Belongs to an owner, who may have stores in many tenants.',
  owners: 'A person who may own stores in many tenants.',
  schema_migrations: 'Says what the database as a whole looks like.',
  usage_limits: 'What every store may have, by its tier.',
}
