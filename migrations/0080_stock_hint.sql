-- What shoppers are told of stock beside whether a variant can be bought: nothing, that it is low, or how many are left.
alter table stores add column stock_hint text not null default 'none'
  check (stock_hint in ('none', 'low', 'count'));
