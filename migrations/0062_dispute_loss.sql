-- What a bank took by a dispute although the shopper had been refunded already: a loss of the store, and no refund.
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check
      check (account in ('card_clearing', 'gift_card', 'store_credit', 'sales', 'tax_payable', 'shipping_income',
                         'discount', 'refund', 'affiliate_payable', 'breakage', 'suspense', 'dispute_loss')) not valid;
alter table ledger_entries validate constraint ledger_entries_account_check;
