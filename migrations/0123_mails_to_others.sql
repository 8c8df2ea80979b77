-- A merchant may have a mail sent again to another address: it goes there once. A note that was wrong can be deleted.

alter table shopper_mails
  add column resend_to text check (length(resend_to) <= 254);

grant delete on order_notes to fd_app;
