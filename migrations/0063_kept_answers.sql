-- Answers of operations that moved money are kept for good: a key that is forgotten would move it again. The index has
-- only the answers that are deleted after 30 days. A checkout is among them: its order has its key for good.
drop index idempotency_keys_old;
create index idempotency_keys_old on idempotency_keys (answered_at)
 where state = 'answered'
   and (operation not in ('refund', 'cancel', 'edit', 'release', 'gift_card_issue', 'gift_card_batch',
                          'gift_card_adjust', 'store_credit_credit', 'store_credit_debit')
        or (response_status >= 300 and recovery_point = 'started'));
