-- The answers of corrections are kept for good: repeated after its key was forgotten, a correction would take back a
-- later one.
drop index idempotency_keys_old;
create index idempotency_keys_old on idempotency_keys (tenant_ref, answered_at)
 where state = 'answered'
   and (operation not in ('refund', 'cancel', 'cancel_remaining', 'edit', 'correct', 'release', 'return_receive',
                          'exchange', 'pay', 'renewal', 'gift_card_issue', 'gift_card_batch', 'gift_card_adjust',
                          'store_credit_credit', 'store_credit_debit')
        or (operation = 'renewal' and starts_with(key, 'sub:'))
        or (response_status >= 300 and recovery_point = 'started'));
