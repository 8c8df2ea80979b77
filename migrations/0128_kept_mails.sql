-- Mails that are kept for reading and never sent, as those of a sandbox to strangers. They are no dead mails.
alter table mails add column kept boolean not null default false;
alter table mails add constraint mails_kept check (not kept or next_attempt_at is null);

drop index mails_dead;
create index mails_dead on mails (created_at)
       where sent_at is null and next_attempt_at is null and not kept;
