-- Which stores moved money on a day is asked over all stores, some times a day. Attempts are written in the
-- order of their time, so that the summary of ranges of pages finds them too. Each checkout wrote to the
-- tree of this index twice.
drop index payment_attempts_recent;
create index payment_attempts_recent on payment_attempts using brin (created_at)
  with (pages_per_range = 16, autosummarize = on);
