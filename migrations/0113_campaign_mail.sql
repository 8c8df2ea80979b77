-- Mails of campaigns: what a mail server refuses is known of the address, and what a stopped campaign had under way is said.

-- The worker writes a bounce down together with the result of the mail.
grant insert, update on mail_suppressions to fd_worker;
grant insert on global_mail_suppressions to fd_worker;

-- Whether nothing more is claimed: the campaign is paused or over. Such a mailing stays due while mails of it are under way, so
-- that those of a killed worker become unknown although nothing more is sent.
alter table campaign_mailings add column stopped boolean not null default false;
update campaign_mailings
   set stopped = true, due_at = case when cardinality(in_flight) > 0 then now() end
 where due_at is null and state <> 'done';
