-- What one unit of a variant contains, so that shoppers see the price of a kilogram or a litre of it.
alter table variants
  add column content_amount integer check (content_amount between 1 and 1000000),
  add column content_unit text check (content_unit in ('g', 'kg', 'ml', 'l', 'cm', 'm', 'cm2', 'm2', 'piece')),
  add constraint variants_content check ((content_amount is null) = (content_unit is null));
