-- Which add-ons a store may use. What the tier gives, what the merchant switched on and what the
-- operator ruled are three things, kept apart: the operator's word outlives the merchant's.

create table entitlement_tiers (
  tenant_ref text        not null references stores,
  tier       text        not null check (length(tier) <= 40),
  updated_at timestamptz not null default now(),
  primary key (tenant_ref)
);

create table entitlements (
  tenant_ref  text        not null references stores,
  feature_key text        not null check (length(feature_key) <= 60),
  source      text        not null check (source in ('self_serve', 'operator')),
  state       text        not null check (state in ('allow', 'deny')),
  created_at  timestamptz not null default now(),
  primary key (tenant_ref, feature_key, source),
  check (source = 'operator' or state = 'allow')
);

create table entitlement_requests (
  tenant_ref    text        not null references stores,
  id            uuid        not null default gen_random_uuid(),
  feature_key   text        not null check (length(feature_key) <= 60),
  status        text        not null default 'pending'
                check (status in ('pending', 'approved', 'declined', 'withdrawn')),
  note          text        check (length(note) <= 2000),
  requested_by  text        not null check (length(requested_by) <= 200),
  created_at    timestamptz not null default now(),
  decided_at    timestamptz,
  decision_note text        check (length(decision_note) <= 2000),
  primary key (tenant_ref, id),
  check ((status in ('approved', 'declined')) = (decided_at is not null))
);

call fd_fence('entitlement_tiers', app => 'select, insert, update', worker => 'select');
call fd_fence('entitlements', app => 'select, insert, update, delete', worker => 'select');
call fd_fence('entitlement_requests', app => 'select, insert, update', worker => 'select');

-- One open request for a feature at a time.
create unique index entitlement_requests_open
    on entitlement_requests (tenant_ref, feature_key) where status = 'pending';
