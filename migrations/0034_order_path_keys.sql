-- Keys that a checkout pays for and nobody needs. PostgreSQL looks the other row up, and locks it, for each
-- row that is written: nineteen times in an order.
--
-- The store of a row is the tenant of its transaction, by the table's policy, and no role may delete or
-- rename a store. Orders and journals keep their key to it.
alter table customers drop constraint customers_tenant_ref_fkey;
alter table fraud_decisions drop constraint fraud_decisions_tenant_ref_fkey;
alter table idempotency_keys drop constraint idempotency_keys_tenant_ref_fkey;
alter table payment_attempts drop constraint payment_attempts_tenant_ref_fkey;
alter table sim_charges drop constraint sim_charges_tenant_ref_fkey;
alter table sim_journal drop constraint sim_journal_tenant_ref_fkey;
alter table webhook_events drop constraint webhook_events_tenant_ref_fkey;

-- These are written in one statement with the row that they name, or under its lock.
alter table ledger_unsealed drop constraint ledger_unsealed_tenant_ref_journal_id_fkey;
alter table sim_journal drop constraint sim_journal_tenant_ref_txn_id_fkey;
