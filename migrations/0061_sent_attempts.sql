-- When an attempt was sent to its gateway. Refunds, and the refunds of voids, are written down unsent and marked before
-- the gateway is asked, so that a process that stops before that leaves a refund that can be sent, and not one that may
-- be on its way. Null: not sent yet, or closed before this column existed. Other attempts count as sent from the start.
alter table payment_attempts add column sent_at timestamptz;
alter table payment_attempts alter column sent_at set default fd_now();
update payment_attempts set sent_at = created_at where state in ('begun', 'unknown');
