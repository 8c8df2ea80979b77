-- Since when a store has the credentials of a gateway. What was asked before may be in the record of another
-- account, so that the one it has now cannot say that it never was. Null: since always.
alter table payment_accounts add column credentials_at timestamptz;

update payment_accounts set credentials_at = updated_at where credentials is not null;
