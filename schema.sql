-- The migrated database, written from its catalogs. The migrations are what is run.

create role fd_app login;
alter role fd_app set TimeZone=UTC;
alter role fd_app set idle_in_transaction_session_timeout=15s;
alter role fd_app set statement_timeout=10s;

create role fd_gate nologin;

create role fd_operator login;
alter role fd_operator set TimeZone=UTC;
alter role fd_operator set idle_in_transaction_session_timeout=15s;
alter role fd_operator set statement_timeout=30s;

create role fd_owner nologin;
grant fd_gate to fd_owner;
grant fd_search to fd_owner;

create role fd_search nologin;

create role fd_worker login;
alter role fd_worker set TimeZone=UTC;
alter role fd_worker set idle_in_transaction_session_timeout=30s;
alter role fd_worker set statement_timeout=30s;

create sequence store_numbers as bigint start 1 increment 1;
alter sequence store_numbers owner to fd_owner;
grant usage on sequence store_numbers to fd_app;

create table audit_log (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  actor text not null,
  action text not null,
  entity text not null,
  before jsonb,
  after jsonb,
  reason text,
  correlation_id uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint audit_log_action_check CHECK ((length(action) <= 100)),
  constraint audit_log_actor_check CHECK ((length(actor) <= 200)),
  constraint audit_log_entity_check CHECK ((length(entity) <= 300)),
  constraint audit_log_pkey PRIMARY KEY (tenant_ref, id),
  constraint audit_log_reason_check CHECK ((length(reason) <= 2000)),
  constraint audit_log_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table audit_log owner to fd_owner;
alter table audit_log enable row level security;
alter table audit_log force row level security;
CREATE INDEX audit_log_newest ON audit_log USING btree (tenant_ref, created_at DESC, id DESC);
create policy operator on audit_log for select to fd_operator using true;
create policy owner on audit_log for all to fd_owner using true with check true;
create policy tenant on audit_log for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on audit_log to fd_app;
grant insert, select on audit_log to fd_worker;
grant select on audit_log to fd_operator;

create table collection_products (
  tenant_ref text not null,
  collection_id uuid not null,
  product_id uuid not null,
  "position" integer not null,
  constraint collection_products_pkey PRIMARY KEY (tenant_ref, collection_id, product_id),
  constraint collection_products_tenant_ref_collection_id_fkey FOREIGN KEY (tenant_ref, collection_id) REFERENCES collections(tenant_ref, id) ON DELETE CASCADE,
  constraint collection_products_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id)
);
alter table collection_products owner to fd_owner;
alter table collection_products enable row level security;
alter table collection_products force row level security;
CREATE INDEX collection_products_of_product ON collection_products USING btree (tenant_ref, product_id);
create policy operator on collection_products for select to fd_operator using true;
create policy owner on collection_products for all to fd_owner using true with check true;
create policy tenant on collection_products for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on collection_products to fd_app;
grant select on collection_products to fd_operator;
grant select on collection_products to fd_worker;

create table collections (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  slug text not null,
  title text not null,
  description text,
  "position" integer not null default 0,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint collections_description_check CHECK ((length(description) <= 100000)),
  constraint collections_pkey PRIMARY KEY (tenant_ref, id),
  constraint collections_slug UNIQUE (tenant_ref, slug),
  constraint collections_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 200))),
  constraint collections_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint collections_title_check CHECK (((length(title) >= 1) AND (length(title) <= 300)))
);
alter table collections owner to fd_owner;
alter table collections enable row level security;
alter table collections force row level security;
create policy operator on collections for select to fd_operator using true;
create policy owner on collections for all to fd_owner using true with check true;
create policy tenant on collections for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on collections to fd_app;
grant select on collections to fd_operator;
grant select on collections to fd_worker;

create table credentials (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  public_id text not null,
  secret_hash bytea not null,
  label text not null,
  scopes text[] not null,
  initial_stage text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint credentials_initial_stage_check CHECK ((initial_stage = ANY (ARRAY['pre_live'::text, 'live'::text]))),
  constraint credentials_label_check CHECK (((length(label) >= 1) AND (length(label) <= 80))),
  constraint credentials_pkey PRIMARY KEY (tenant_ref, id),
  constraint credentials_public_id_check CHECK ((public_id ~ '^[0-9A-Za-z]{8}$'::text)),
  constraint credentials_scopes_check CHECK ((cardinality(scopes) > 0)),
  constraint credentials_secret_hash_check CHECK ((length(secret_hash) = 32)),
  constraint credentials_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table credentials owner to fd_owner;
alter table credentials enable row level security;
alter table credentials force row level security;
CREATE INDEX credentials_gate ON credentials USING btree (public_id);
CREATE UNIQUE INDEX credentials_initial ON credentials USING btree (tenant_ref, initial_stage) WHERE ((initial_stage IS NOT NULL) AND (revoked_at IS NULL));
create policy gate on credentials for select to fd_gate using true;
create policy operator on credentials for select to fd_operator using true;
create policy owner on credentials for all to fd_owner using true with check true;
create policy tenant on credentials for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on credentials to fd_app;
grant select on credentials to fd_gate;
grant select on credentials to fd_operator;
grant select on credentials to fd_worker;

create table domains (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  hostname text not null,
  status text not null default 'pending_verification'::text,
  verification_value text not null,
  tls_status text not null default 'pending'::text,
  last_error text,
  is_primary boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  last_checked_at timestamp with time zone,
  verified_at timestamp with time zone,
  activated_at timestamp with time zone,
  lapsed_at timestamp with time zone,
  removed_at timestamp with time zone,
  quarantined_until timestamp with time zone,
  next_check_at timestamp with time zone default (now() + '00:05:00'::interval),
  lease_until timestamp with time zone,
  lease_token uuid,
  constraint domains_check CHECK (((status = 'removed'::text) = (removed_at IS NOT NULL))),
  constraint domains_check1 CHECK (((status <> 'active'::text) OR (activated_at IS NOT NULL))),
  constraint domains_check2 CHECK (((NOT is_primary) OR (status = 'active'::text))),
  constraint domains_check3 CHECK (((quarantined_until IS NULL) OR ((status = 'removed'::text) AND (activated_at IS NOT NULL)))),
  constraint domains_check4 CHECK (((next_check_at IS NULL) OR (status <> ALL (ARRAY['failed'::text, 'removed'::text])))),
  constraint domains_hostname_check CHECK (((length(hostname) <= 253) AND (hostname ~ '^[a-z0-9-]+(\.[a-z0-9-]+)+$'::text))),
  constraint domains_last_error_check CHECK ((last_error = ANY (ARRAY['record_not_found'::text, 'dns_unavailable'::text, 'record_lapsed'::text, 'hostname_taken'::text]))),
  constraint domains_pkey PRIMARY KEY (tenant_ref, id),
  constraint domains_status_check CHECK ((status = ANY (ARRAY['pending_verification'::text, 'verified'::text, 'provisioning'::text, 'active'::text, 'failed'::text, 'removed'::text]))),
  constraint domains_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint domains_tls_status_check CHECK ((tls_status = ANY (ARRAY['pending'::text, 'external'::text]))),
  constraint domains_verification_value_check CHECK (((length(verification_value) >= 20) AND (length(verification_value) <= 100)))
);
alter table domains owner to fd_owner;
alter table domains enable row level security;
alter table domains force row level security;
CREATE INDEX domains_due ON domains USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX domains_due_of_tenant ON domains USING btree (tenant_ref, next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX domains_gate ON domains USING btree (hostname) WHERE ((status = ANY (ARRAY['verified'::text, 'provisioning'::text, 'active'::text])) OR (quarantined_until IS NOT NULL));
CREATE INDEX domains_newest ON domains USING btree (tenant_ref, created_at DESC, id DESC);
CREATE UNIQUE INDEX domains_claimed ON domains USING btree (tenant_ref, hostname) WHERE (status <> 'removed'::text);
CREATE UNIQUE INDEX domains_primary ON domains USING btree (tenant_ref) WHERE is_primary;
create policy due on domains for select to fd_worker using true;
create policy gate on domains for select to fd_gate using true;
create policy operator on domains for select to fd_operator using true;
create policy owner on domains for all to fd_owner using true with check true;
create policy tenant on domains for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on domains to fd_app;
grant select on domains to fd_gate;
grant select on domains to fd_operator;
grant select, update on domains to fd_worker;

create table entitlement_requests (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  feature_key text not null,
  status text not null default 'pending'::text,
  note text,
  requested_by text not null,
  created_at timestamp with time zone not null default now(),
  decided_at timestamp with time zone,
  decision_note text,
  constraint entitlement_requests_check CHECK (((status = ANY (ARRAY['approved'::text, 'declined'::text])) = (decided_at IS NOT NULL))),
  constraint entitlement_requests_decision_note_check CHECK ((length(decision_note) <= 2000)),
  constraint entitlement_requests_feature_key_check CHECK ((length(feature_key) <= 60)),
  constraint entitlement_requests_note_check CHECK ((length(note) <= 2000)),
  constraint entitlement_requests_pkey PRIMARY KEY (tenant_ref, id),
  constraint entitlement_requests_requested_by_check CHECK ((length(requested_by) <= 200)),
  constraint entitlement_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'declined'::text, 'withdrawn'::text]))),
  constraint entitlement_requests_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table entitlement_requests owner to fd_owner;
alter table entitlement_requests enable row level security;
alter table entitlement_requests force row level security;
CREATE UNIQUE INDEX entitlement_requests_open ON entitlement_requests USING btree (tenant_ref, feature_key) WHERE (status = 'pending'::text);
create policy operator on entitlement_requests for select to fd_operator using true;
create policy owner on entitlement_requests for all to fd_owner using true with check true;
create policy tenant on entitlement_requests for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on entitlement_requests to fd_app;
grant select on entitlement_requests to fd_operator;
grant select on entitlement_requests to fd_worker;

create table entitlement_tiers (
  tenant_ref text not null,
  tier text not null,
  updated_at timestamp with time zone not null default now(),
  constraint entitlement_tiers_pkey PRIMARY KEY (tenant_ref),
  constraint entitlement_tiers_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint entitlement_tiers_tier_check CHECK ((length(tier) <= 40))
);
alter table entitlement_tiers owner to fd_owner;
alter table entitlement_tiers enable row level security;
alter table entitlement_tiers force row level security;
create policy operator on entitlement_tiers for select to fd_operator using true;
create policy owner on entitlement_tiers for all to fd_owner using true with check true;
create policy tenant on entitlement_tiers for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on entitlement_tiers to fd_app;
grant select on entitlement_tiers to fd_operator;
grant select on entitlement_tiers to fd_worker;

create table entitlements (
  tenant_ref text not null,
  feature_key text not null,
  source text not null,
  state text not null,
  created_at timestamp with time zone not null default now(),
  constraint entitlements_check CHECK (((source = 'operator'::text) OR (state = 'allow'::text))),
  constraint entitlements_feature_key_check CHECK ((length(feature_key) <= 60)),
  constraint entitlements_pkey PRIMARY KEY (tenant_ref, feature_key, source),
  constraint entitlements_source_check CHECK ((source = ANY (ARRAY['self_serve'::text, 'operator'::text]))),
  constraint entitlements_state_check CHECK ((state = ANY (ARRAY['allow'::text, 'deny'::text]))),
  constraint entitlements_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table entitlements owner to fd_owner;
alter table entitlements enable row level security;
alter table entitlements force row level security;
create policy operator on entitlements for select to fd_operator using true;
create policy owner on entitlements for all to fd_owner using true with check true;
create policy tenant on entitlements for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on entitlements to fd_app;
grant select on entitlements to fd_operator;
grant select on entitlements to fd_worker;

create table idempotency_keys (
  tenant_ref text not null,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  state text not null default 'running'::text,
  recovery_point text not null default 'started'::text,
  resource_id uuid,
  lease_until timestamp with time zone,
  lease_token uuid,
  response_status integer,
  response_body text,
  created_at timestamp with time zone not null default now(),
  answered_at timestamp with time zone,
  constraint idempotency_keys_check CHECK (((state = 'answered'::text) = ((answered_at IS NOT NULL) AND (response_status IS NOT NULL)))),
  constraint idempotency_keys_check1 CHECK (((state = 'answered'::text) OR (lease_until IS NOT NULL))),
  constraint idempotency_keys_fingerprint_check CHECK ((length(fingerprint) = 32)),
  constraint idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
  constraint idempotency_keys_operation_check CHECK ((length(operation) <= 40)),
  constraint idempotency_keys_pkey PRIMARY KEY (tenant_ref, operation, key),
  constraint idempotency_keys_recovery_point_check CHECK ((length(recovery_point) <= 40)),
  constraint idempotency_keys_response_status_check CHECK (((response_status >= 200) AND (response_status <= 499))),
  constraint idempotency_keys_state_check CHECK ((state = ANY (ARRAY['running'::text, 'answered'::text]))),
  constraint idempotency_keys_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table idempotency_keys owner to fd_owner;
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
CREATE INDEX idempotency_keys_old ON idempotency_keys USING btree (answered_at) WHERE (state = 'answered'::text);
CREATE INDEX idempotency_keys_stale ON idempotency_keys USING btree (lease_until) WHERE (state = 'running'::text);
create policy due on idempotency_keys for select to fd_worker using true;
create policy operator on idempotency_keys for select to fd_operator using true;
create policy owner on idempotency_keys for all to fd_owner using true with check true;
create policy tenant on idempotency_keys for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on idempotency_keys to fd_app;
grant delete, insert, select, update on idempotency_keys to fd_worker;
grant select on idempotency_keys to fd_operator;

create unlogged table limit_counters (
  bucket text not null,
  window_start timestamp with time zone not null,
  hits integer not null,
  constraint limit_counters_bucket_check CHECK ((length(bucket) <= 300)),
  constraint limit_counters_hits_check CHECK ((hits >= 0)),
  constraint limit_counters_pkey PRIMARY KEY (bucket)
) with (fillfactor=50);
alter table limit_counters owner to fd_owner;
grant delete, insert, select, update on limit_counters to fd_worker;
grant insert, select, update on limit_counters to fd_app;

create table mails (
  id uuid not null default gen_random_uuid(),
  tenant_ref text,
  recipient text not null,
  subject text not null,
  body text not null,
  attempt_count integer not null default 0,
  next_attempt_at timestamp with time zone default now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  last_error text,
  created_at timestamp with time zone not null default now(),
  sent_at timestamp with time zone,
  constraint mails_attempt_count_check CHECK ((attempt_count >= 0)),
  constraint mails_body_check CHECK ((length(body) <= 20000)),
  constraint mails_last_error_check CHECK ((length(last_error) <= 500)),
  constraint mails_pkey PRIMARY KEY (id),
  constraint mails_recipient_check CHECK ((length(recipient) <= 254)),
  constraint mails_subject_check CHECK ((length(subject) <= 200))
);
alter table mails owner to fd_owner;
CREATE INDEX mails_due ON mails USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
grant delete, insert, select, update on mails to fd_worker;
grant insert on mails to fd_app;
grant select on mails to fd_operator;

create table outbox (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  type text not null,
  payload jsonb not null,
  attempt_count integer not null default 0,
  next_attempt_at timestamp with time zone default now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  last_error text,
  created_at timestamp with time zone not null default now(),
  handled_at timestamp with time zone,
  constraint outbox_attempt_count_check CHECK ((attempt_count >= 0)),
  constraint outbox_check CHECK (((handled_at IS NULL) = (next_attempt_at IS NOT NULL))),
  constraint outbox_last_error_check CHECK ((length(last_error) <= 500)),
  constraint outbox_pkey PRIMARY KEY (tenant_ref, id),
  constraint outbox_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint outbox_type_check CHECK ((length(type) <= 100))
);
alter table outbox owner to fd_owner;
alter table outbox enable row level security;
alter table outbox force row level security;
CREATE INDEX outbox_due ON outbox USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX outbox_due_of_tenant ON outbox USING btree (tenant_ref, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX outbox_handled ON outbox USING btree (handled_at) WHERE (handled_at IS NOT NULL);
create policy due on outbox for select to fd_worker using true;
create policy operator on outbox for select to fd_operator using true;
create policy owner on outbox for all to fd_owner using true with check true;
create policy tenant on outbox for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on outbox to fd_worker;
grant insert, select on outbox to fd_app;
grant select on outbox to fd_operator;

create table owner_sessions (
  token_hash bytea not null,
  owner_id uuid not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint owner_sessions_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners(id) ON DELETE CASCADE,
  constraint owner_sessions_pkey PRIMARY KEY (token_hash),
  constraint owner_sessions_token_hash_check CHECK ((length(token_hash) = 32))
);
alter table owner_sessions owner to fd_owner;
CREATE INDEX owner_sessions_by_owner ON owner_sessions USING btree (owner_id);
CREATE INDEX owner_sessions_expired ON owner_sessions USING btree (expires_at);
grant delete, insert, select, update on owner_sessions to fd_app;
grant delete, select on owner_sessions to fd_worker;

create table owners (
  id uuid not null default gen_random_uuid(),
  email text not null,
  name text not null,
  password_hash text,
  email_verified_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint owners_email_check CHECK ((length(email) <= 254)),
  constraint owners_email_key UNIQUE (email),
  constraint owners_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint owners_pkey PRIMARY KEY (id)
);
alter table owners owner to fd_owner;
grant insert, select, update on owners to fd_app;
grant select (created_at) on owners to fd_operator;
grant select (email) on owners to fd_operator;
grant select (email_verified_at) on owners to fd_operator;
grant select (id) on owners to fd_operator;
grant select (name) on owners to fd_operator;

create table product_images (
  tenant_ref text not null,
  product_id uuid not null,
  asset_ref text not null,
  alt text,
  "position" integer not null,
  constraint product_images_alt_check CHECK ((length(alt) <= 1000)),
  constraint product_images_asset_ref_check CHECK ((length(asset_ref) <= 200)),
  constraint product_images_pkey PRIMARY KEY (tenant_ref, product_id, asset_ref),
  constraint product_images_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id)
);
alter table product_images owner to fd_owner;
alter table product_images enable row level security;
alter table product_images force row level security;
create policy operator on product_images for select to fd_operator using true;
create policy owner on product_images for all to fd_owner using true with check true;
create policy tenant on product_images for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on product_images to fd_app;
grant select on product_images to fd_operator;
grant select on product_images to fd_worker;

create table products (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  slug text not null,
  name text not null,
  description text,
  status text not null default 'active'::text,
  is_subscription boolean not null default false,
  subscription_interval text,
  subscription_interval_count integer,
  subscription_price_cents bigint,
  metadata jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint products_check CHECK ((is_subscription = (subscription_interval IS NOT NULL))),
  constraint products_check1 CHECK ((is_subscription = (subscription_interval_count IS NOT NULL))),
  constraint products_description_check CHECK ((length(description) <= 100000)),
  constraint products_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint products_name_check CHECK (((length(name) >= 1) AND (length(name) <= 300))),
  constraint products_pkey PRIMARY KEY (tenant_ref, id),
  constraint products_slug UNIQUE (tenant_ref, slug),
  constraint products_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 200))),
  constraint products_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'archived'::text]))),
  constraint products_subscription_interval_check CHECK ((subscription_interval = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  constraint products_subscription_interval_count_check CHECK (((subscription_interval_count >= 1) AND (subscription_interval_count <= 1000))),
  constraint products_subscription_price_cents_check CHECK ((subscription_price_cents >= 0)),
  constraint products_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table products owner to fd_owner;
alter table products enable row level security;
alter table products force row level security;
create policy operator on products for select to fd_operator using true;
create policy owner on products for all to fd_owner using true with check true;
create policy tenant on products for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on products to fd_app;
grant select on products to fd_operator;
grant select on products to fd_worker;

create table schema_migrations (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);
alter table schema_migrations owner to fd_owner;
grant select on schema_migrations to fd_app;
grant select on schema_migrations to fd_operator;
grant select on schema_migrations to fd_worker;

create table site_versions (
  tenant_ref text not null,
  version integer not null,
  manifest text not null,
  row_hash text not null,
  brand_name text,
  rules_version text not null,
  created_by text not null,
  created_at timestamp with time zone not null default now(),
  constraint site_versions_brand_name_check CHECK ((length(brand_name) <= 200)),
  constraint site_versions_created_by_check CHECK ((length(created_by) <= 200)),
  constraint site_versions_pkey PRIMARY KEY (tenant_ref, version),
  constraint site_versions_row_hash_check CHECK ((row_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint site_versions_rules_version_check CHECK ((length(rules_version) <= 40)),
  constraint site_versions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint site_versions_version_check CHECK ((version > 0))
);
alter table site_versions owner to fd_owner;
alter table site_versions enable row level security;
alter table site_versions force row level security;
create policy operator on site_versions for select to fd_operator using true;
create policy owner on site_versions for all to fd_owner using true with check true;
create policy tenant on site_versions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON site_versions FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on site_versions to fd_app;
grant select on site_versions to fd_operator;
grant select on site_versions to fd_worker;

create table stores (
  tenant_ref text not null,
  store_number bigint not null default nextval('store_numbers'::regclass),
  display_name text not null,
  status text not null default 'draft'::text,
  owner_email text,
  currency text not null default 'USD'::text,
  language text not null default 'en'::text,
  time_zone text not null default 'UTC'::text,
  active_version integer,
  primary_hostname text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint stores_active_version_check CHECK ((active_version > 0)),
  constraint stores_active_version_fkey FOREIGN KEY (tenant_ref, active_version) REFERENCES site_versions(tenant_ref, version),
  constraint stores_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint stores_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200))),
  constraint stores_language_check CHECK ((length(language) <= 35)),
  constraint stores_owner_email_check CHECK ((length(owner_email) <= 254)),
  constraint stores_pkey PRIMARY KEY (tenant_ref),
  constraint stores_primary_hostname_check CHECK ((length(primary_hostname) <= 253)),
  constraint stores_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'live'::text, 'suspended'::text]))),
  constraint stores_tenant_ref_check CHECK ((tenant_ref ~ '^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$'::text)),
  constraint stores_time_zone_check CHECK ((length(time_zone) <= 64))
);
alter table stores owner to fd_owner;
alter table stores enable row level security;
alter table stores force row level security;
CREATE INDEX stores_by_owner ON stores USING btree (owner_email) WHERE (owner_email IS NOT NULL);
create policy gate on stores for select to fd_gate using true;
create policy operator on stores for select to fd_operator using true;
create policy owner on stores for all to fd_owner using true with check true;
create policy tenant on stores for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on stores to fd_app;
grant select on stores to fd_gate;
grant select on stores to fd_operator;
grant select, update on stores to fd_worker;

create table variants (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  product_id uuid not null,
  sku text not null,
  label text,
  price_cents bigint not null,
  currency text not null,
  "position" integer not null default 0,
  metadata jsonb not null default '{}'::jsonb,
  archived_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint variants_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint variants_label_check CHECK ((length(label) <= 300)),
  constraint variants_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint variants_pkey PRIMARY KEY (tenant_ref, id),
  constraint variants_price_cents_check CHECK (((price_cents >= 0) AND (price_cents <= '100000000000'::bigint))),
  constraint variants_sku UNIQUE (tenant_ref, sku),
  constraint variants_sku_check CHECK (((length(sku) >= 1) AND (length(sku) <= 100))),
  constraint variants_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id)
);
alter table variants owner to fd_owner;
alter table variants enable row level security;
alter table variants force row level security;
CREATE INDEX variants_of_product ON variants USING btree (tenant_ref, product_id, "position", id);
create policy operator on variants for select to fd_operator using true;
create policy owner on variants for all to fd_owner using true with check true;
create policy tenant on variants for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on variants to fd_app;
grant select on variants to fd_operator;
grant select on variants to fd_worker;

create table webhook_attempts (
  tenant_ref text not null,
  delivery_id uuid not null,
  attempt integer not null,
  at timestamp with time zone not null,
  status_code integer,
  latency_ms integer,
  error text,
  constraint webhook_attempts_attempt_check CHECK ((attempt > 0)),
  constraint webhook_attempts_error_check CHECK ((length(error) <= 500)),
  constraint webhook_attempts_latency_ms_check CHECK ((latency_ms >= 0)),
  constraint webhook_attempts_pkey PRIMARY KEY (tenant_ref, delivery_id, attempt),
  constraint webhook_attempts_tenant_ref_delivery_id_fkey FOREIGN KEY (tenant_ref, delivery_id) REFERENCES webhook_deliveries(tenant_ref, id),
  constraint webhook_attempts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table webhook_attempts owner to fd_owner;
alter table webhook_attempts enable row level security;
alter table webhook_attempts force row level security;
create policy operator on webhook_attempts for select to fd_operator using true;
create policy owner on webhook_attempts for all to fd_owner using true with check true;
create policy tenant on webhook_attempts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON webhook_attempts FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on webhook_attempts to fd_app;
grant insert, select on webhook_attempts to fd_worker;
grant select on webhook_attempts to fd_operator;

create table webhook_deliveries (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  subscription_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  endpoint_url text not null,
  status text not null default 'pending'::text,
  attempt_count integer not null default 0,
  ladder_from integer not null default 0,
  next_retry_at timestamp with time zone default now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  last_status_code integer,
  last_attempt_error text,
  created_at timestamp with time zone not null default now(),
  delivered_at timestamp with time zone,
  dead_lettered_at timestamp with time zone,
  constraint webhook_deliveries_check CHECK ((attempt_count >= ladder_from)),
  constraint webhook_deliveries_check1 CHECK (((status = 'pending'::text) = (next_retry_at IS NOT NULL))),
  constraint webhook_deliveries_check2 CHECK (((status = 'delivered'::text) = (delivered_at IS NOT NULL))),
  constraint webhook_deliveries_check3 CHECK (((status = 'dead_lettered'::text) = (dead_lettered_at IS NOT NULL))),
  constraint webhook_deliveries_check4 CHECK (((lease_token IS NULL) OR (status = 'pending'::text))),
  constraint webhook_deliveries_ladder_from_check CHECK ((ladder_from >= 0)),
  constraint webhook_deliveries_last_attempt_error_check CHECK ((length(last_attempt_error) <= 500)),
  constraint webhook_deliveries_pkey PRIMARY KEY (tenant_ref, id),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead_lettered'::text]))),
  constraint webhook_deliveries_tenant_ref_event_id_fkey FOREIGN KEY (tenant_ref, event_id) REFERENCES webhook_events(tenant_ref, id),
  constraint webhook_deliveries_tenant_ref_event_id_subscription_id_key UNIQUE (tenant_ref, event_id, subscription_id),
  constraint webhook_deliveries_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (fillfactor=70);
alter table webhook_deliveries owner to fd_owner;
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (next_retry_at) WHERE (next_retry_at IS NOT NULL);
CREATE INDEX webhook_deliveries_due_of_endpoint ON webhook_deliveries USING btree (tenant_ref, subscription_id, next_retry_at) WHERE (next_retry_at IS NOT NULL);
CREATE INDEX webhook_deliveries_due_of_tenant ON webhook_deliveries USING btree (tenant_ref, next_retry_at) WHERE (next_retry_at IS NOT NULL);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries USING btree (tenant_ref, created_at DESC, id DESC);
create policy due on webhook_deliveries for select to fd_worker using true;
create policy operator on webhook_deliveries for select to fd_operator using true;
create policy owner on webhook_deliveries for all to fd_owner using true with check true;
create policy tenant on webhook_deliveries for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on webhook_deliveries to fd_app;
grant insert, select, update on webhook_deliveries to fd_worker;
grant select on webhook_deliveries to fd_operator;

create table webhook_events (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  type text not null,
  data text,
  payload bytea,
  sequence bigint,
  order_id uuid,
  customer_ref text,
  emitted_at timestamp with time zone not null default now(),
  created_at timestamp with time zone,
  erase_requested_at timestamp with time zone,
  erased_at timestamp with time zone,
  constraint webhook_events_check CHECK (((payload IS NULL) = (created_at IS NULL))),
  constraint webhook_events_check1 CHECK (((data IS NULL) = (payload IS NOT NULL))),
  constraint webhook_events_check2 CHECK (((sequence IS NOT NULL) = ((payload IS NOT NULL) AND (type <> 'platform.test.v1'::text)))),
  constraint webhook_events_check3 CHECK (((erased_at IS NULL) OR ((payload IS NOT NULL) AND (erase_requested_at IS NOT NULL)))),
  constraint webhook_events_pkey PRIMARY KEY (tenant_ref, id),
  constraint webhook_events_sequence_check CHECK ((sequence > 0)),
  constraint webhook_events_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint webhook_events_tenant_ref_sequence_key UNIQUE (tenant_ref, sequence),
  constraint webhook_events_type_check CHECK ((length(type) <= 100))
);
alter table webhook_events owner to fd_owner;
alter table webhook_events enable row level security;
alter table webhook_events force row level security;
CREATE INDEX webhook_events_of_customer ON webhook_events USING btree (tenant_ref, customer_ref) WHERE (customer_ref IS NOT NULL);
CREATE INDEX webhook_events_to_erase ON webhook_events USING btree (tenant_ref, id) WHERE ((erase_requested_at IS NOT NULL) AND (erased_at IS NULL));
CREATE INDEX webhook_events_unsealed ON webhook_events USING btree (tenant_ref, emitted_at, id) WHERE (payload IS NULL);
create policy due on webhook_events for select to fd_worker using true;
create policy operator on webhook_events for select to fd_operator using true;
create policy owner on webhook_events for all to fd_owner using true with check true;
create policy tenant on webhook_events for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on webhook_events to fd_app;
grant insert, select, update on webhook_events to fd_worker;
grant select on webhook_events to fd_operator;

create table webhook_feeds (
  tenant_ref text not null,
  sealed_to bigint not null default 0,
  constraint webhook_feeds_pkey PRIMARY KEY (tenant_ref),
  constraint webhook_feeds_sealed_to_check CHECK ((sealed_to >= 0)),
  constraint webhook_feeds_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table webhook_feeds owner to fd_owner;
alter table webhook_feeds enable row level security;
alter table webhook_feeds force row level security;
create policy operator on webhook_feeds for select to fd_operator using true;
create policy owner on webhook_feeds for all to fd_owner using true with check true;
create policy tenant on webhook_feeds for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on webhook_feeds to fd_worker;
grant select on webhook_feeds to fd_app;
grant select on webhook_feeds to fd_operator;

create table webhook_subscriptions (
  tenant_ref text not null,
  id uuid not null default gen_random_uuid(),
  url text not null,
  description text,
  events text[] not null,
  secret_sealed bytea,
  previous_sealed bytea,
  previous_until timestamp with time zone,
  active boolean not null default true,
  consecutive_failures integer not null default 0,
  auto_paused_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  constraint webhook_subscriptions_check CHECK (((deleted_at IS NULL) = (secret_sealed IS NOT NULL))),
  constraint webhook_subscriptions_check1 CHECK (((deleted_at IS NULL) OR ((NOT active) AND (previous_sealed IS NULL)))),
  constraint webhook_subscriptions_check2 CHECK (((previous_sealed IS NULL) = (previous_until IS NULL))),
  constraint webhook_subscriptions_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
  constraint webhook_subscriptions_description_check CHECK ((length(description) <= 500)),
  constraint webhook_subscriptions_events_check CHECK ((cardinality(events) > 0)),
  constraint webhook_subscriptions_pkey PRIMARY KEY (tenant_ref, id),
  constraint webhook_subscriptions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint webhook_subscriptions_url_check CHECK ((length(url) <= 2048))
);
alter table webhook_subscriptions owner to fd_owner;
alter table webhook_subscriptions enable row level security;
alter table webhook_subscriptions force row level security;
CREATE INDEX webhook_subscriptions_kept ON webhook_subscriptions USING btree (tenant_ref, created_at, id) WHERE (deleted_at IS NULL);
create policy operator on webhook_subscriptions for select to fd_operator using true;
create policy owner on webhook_subscriptions for all to fd_owner using true with check true;
create policy tenant on webhook_subscriptions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on webhook_subscriptions to fd_app;
grant select on webhook_subscriptions to fd_operator;
grant select, update on webhook_subscriptions to fd_worker;

create procedure fd_fence(IN target regclass, IN app text, IN worker text)
language plpgsql volatile as
$$
begin
  execute format('alter table %s enable row level security, force row level security', target);
  execute format('create policy tenant on %s to fd_app, fd_worker
                  using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant())', target);
  execute format('create policy owner on %s to fd_owner using (true) with check (true)', target);
  execute format('create policy operator on %s for select to fd_operator using (true)', target);
  execute format('grant select on %s to fd_operator', target);
  execute format('grant %s on %s to fd_app', app, target);
  execute format('grant %s on %s to fd_worker', worker, target);
end $$;
alter routine fd_fence(regclass,text,text) owner to fd_owner;

create function fd_find_credential(wanted text)
returns TABLE(tenant_ref text, id uuid, scopes text[], secret_hash bytea, active boolean)
language sql stable security definer set search_path=public, pg_temp as
$$
  select c.tenant_ref, c.id, c.scopes, c.secret_hash,
         c.revoked_at is null and (c.expires_at is null or c.expires_at > now())
    from credentials c
   where c.public_id = wanted
   limit 1
$$;
alter routine fd_find_credential(text) owner to fd_gate;
grant execute on routine fd_find_credential(text) to fd_app;

create function fd_find_hostname(wanted text)
returns TABLE(tenant_ref text, status text)
language sql stable security definer set search_path=public, pg_temp as
$$
  select d.tenant_ref, d.status
    from domains d
   where d.hostname = wanted
     and (d.status in ('verified', 'provisioning', 'active') or d.quarantined_until is not null)
     and (d.status <> 'removed' or d.quarantined_until > now())
   order by d.status = 'removed', d.quarantined_until desc
   limit 1
$$;
alter routine fd_find_hostname(text) owner to fd_gate;
grant execute on routine fd_find_hostname(text) to fd_app;
grant execute on routine fd_find_hostname(text) to fd_worker;

create procedure fd_freeze(IN target regclass)
language plpgsql volatile as
$$
begin
  execute format('create trigger frozen before update or delete or truncate on %s
                  for each statement execute function fd_refuse_change()', target);
end $$;
alter routine fd_freeze(regclass) owner to fd_owner;

create function fd_no_tenant()
returns text
language plpgsql stable as
$$
begin
  raise exception 'no tenant is set' using errcode = 'FD001';
end $$;
alter routine fd_no_tenant() owner to fd_owner;
grant execute on routine fd_no_tenant() to fd_app;
grant execute on routine fd_no_tenant() to fd_operator;
grant execute on routine fd_no_tenant() to fd_search;
grant execute on routine fd_no_tenant() to fd_worker;

create function fd_owned_stores(owner text)
returns TABLE(tenant_ref text, display_name text, status text)
language sql stable security definer set search_path=public, pg_temp as
$$
  select s.tenant_ref, s.display_name, s.status
    from stores s
   where s.owner_email = owner
   order by s.tenant_ref
   limit 1000
$$;
alter routine fd_owned_stores(text) owner to fd_gate;
grant execute on routine fd_owned_stores(text) to fd_app;

create function fd_refuse_change()
returns trigger
language plpgsql volatile as
$$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'FD002';
end $$;
alter routine fd_refuse_change() owner to fd_owner;

create function fd_tenant()
returns text
language sql stable as
$$
  select coalesce(nullif(current_setting('app.tenant', true), ''), fd_no_tenant())
$$;
alter routine fd_tenant() owner to fd_owner;
grant execute on routine fd_tenant() to fd_app;
grant execute on routine fd_tenant() to fd_operator;
grant execute on routine fd_tenant() to fd_search;
grant execute on routine fd_tenant() to fd_worker;
