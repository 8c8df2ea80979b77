-- A store's currency is what its customers' sums are shown in and its gift cards are issued in. Once
-- there is an order, a card or credit, another one would make other money of them.

-- Whoever changes it has locked the store's row for update before, as stores/service.ts does: what
-- refers to the store is written either before that, and seen here, or waits for the change.
create function fd_keep_currency() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (select from orders where tenant_ref = new.tenant_ref)
     or exists (select from gift_cards where tenant_ref = new.tenant_ref)
     or exists (select from store_credit_accounts where tenant_ref = new.tenant_ref) then
    raise exception 'the currency of % is fixed', new.tenant_ref
      using errcode = 'check_violation', constraint = 'stores_currency_fixed';
  end if;
  return new;
end $$;
revoke all on function fd_keep_currency() from public;

create trigger currency_fixed before update of currency on stores
  for each row when (new.currency <> old.currency) execute function fd_keep_currency();
