-- What a card network said of a charge, in its own codes. They say what may be tried again, and when; a gateway's code is
-- only its summary of them.
call fd_unbundle_checks('payment_attempts');
alter table payment_attempts
  add column network_code text check (length(network_code) between 1 and 8),
  add column advice_code  text check (length(advice_code) between 1 and 8);
call fd_bundle_checks('payment_attempts');

alter table subscription_declines
  add column network_code text check (length(network_code) between 1 and 8),
  add column advice_code  text check (length(advice_code) between 1 and 8);
