-- What upkeep deletes or erases, by store: with the time alone, each store's part was found by reading what
-- is old in all stores. In place of the index of the time, so that no write costs more.
drop index idempotency_keys_old;
create index idempotency_keys_old on idempotency_keys (tenant_ref, answered_at)
 where state = 'answered'
   and (operation not in ('refund', 'cancel', 'edit', 'release', 'gift_card_issue', 'gift_card_batch',
                          'gift_card_adjust', 'store_credit_credit', 'store_credit_debit')
        or (response_status >= 300 and recovery_point = 'started'));

drop index outbox_handled;
create index outbox_handled on outbox (tenant_ref, handled_at) where handled_at is not null;

drop index gateway_events_kept;
create index gateway_events_kept on gateway_events (tenant_ref, received_at) where body is not null;

drop index gift_cards_shown;
create index gift_cards_shown on gift_cards (tenant_ref, created_at) where code_sealed is not null;
