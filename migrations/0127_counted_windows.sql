-- How long the window of a counter is. Without it, a window of a day ended with the upkeep of the hour.
alter table limit_counters add column seconds integer not null default 3600 check (seconds > 0);
