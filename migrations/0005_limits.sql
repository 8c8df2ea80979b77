-- Counters of the rate limiters. Unlogged: a crash forgets one minute of counting, and every count
-- is spared its write-ahead log.

-- Half of each page is left free, and no index but the key's: then a count is rewritten within its
-- page, and the page is cleaned as it is read.
create unlogged table limit_counters (
  bucket       text        not null primary key check (length(bucket) <= 300),
  window_start timestamptz not null,
  hits         integer     not null check (hits >= 0)
) with (fillfactor = 50);

grant select, insert, update on limit_counters to fd_app;
grant select, insert, update, delete on limit_counters to fd_worker;
