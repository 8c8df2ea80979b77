-- The answer of a cancellation of the rest is kept for good: repeated after its key was forgotten, it would return money
-- again.
drop index idempotency_keys_old;
create index idempotency_keys_old on idempotency_keys (tenant_ref, answered_at)
 where state = 'answered'
   and (operation not in ('refund', 'cancel', 'cancel_remaining', 'edit', 'release', 'return_receive', 'gift_card_issue',
                          'gift_card_batch', 'gift_card_adjust', 'store_credit_credit',
                          'store_credit_debit')
        or (response_status >= 300 and recovery_point = 'started'));
