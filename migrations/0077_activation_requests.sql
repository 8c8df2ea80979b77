-- What a merchant asks for where only the operator may act: that a draft product becomes active. Every change of
-- a request is made under the lock of its product.

create table activation_requests (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  product_id    uuid        not null,
  status        text        not null default 'pending'
                check (status in ('pending', 'approved', 'declined', 'withdrawn')),
  note          text        check (length(note) <= 2000),
  requested_by  text        not null check (length(requested_by) <= 200),
  created_at    timestamptz not null default fd_now(),
  decided_at    timestamptz,
  decision_note text        check (length(decision_note) <= 2000),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, product_id) references products,
  check ((status = 'pending') = (decided_at is null))
);
call fd_fence('activation_requests', app => 'select, insert, update', worker => 'select');

-- One open request of a product at a time.
create unique index activation_requests_open
    on activation_requests (tenant_ref, product_id) where status = 'pending';
-- A product shows its latest request.
create index activation_requests_of_product
    on activation_requests (tenant_ref, product_id, created_at desc, id desc);
create unique index activation_requests_by_id on activation_requests (id);
create index activation_requests_all_newest on activation_requests (created_at desc, id desc);
create index activation_requests_all_of_status on activation_requests (status, created_at desc, id desc);
