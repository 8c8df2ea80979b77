-- A unit may be worth less than a cent. Its refund counts the unit and moves nothing; the last unit gets what is left.
alter table refunds
  drop constraint refunds_amount_cents_check,
  add constraint refunds_amount_cents_check check (amount_cents > 0 or (amount_cents = 0 and kind = 'refund')) not valid;
alter table refunds validate constraint refunds_amount_cents_check;
