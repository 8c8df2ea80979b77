-- The public key by which a shopper's browser gets tokens for cards from the gateway's own form fields.
alter table payment_accounts add column tokenization_key text;
