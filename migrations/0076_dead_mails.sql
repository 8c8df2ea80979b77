-- Mails that are no longer tried, for the metrics: without it each scrape would read all mails of a month.
create index mails_dead on mails (created_at) where sent_at is null and next_attempt_at is null;
