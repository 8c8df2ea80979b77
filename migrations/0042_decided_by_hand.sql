-- Whoever says by hand how a payment ended, which its gateway never tells, ends its discrepancy with it.
grant update (resolved_at) on payment_discrepancies to fd_app;
