-- The migrated database, written from its catalogs. The migrations are what is run.

create extension btree_gin;

create extension fuzzystrmatch;

create extension pg_trgm;

create extension unaccent;

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

create sequence fraud_ban_hits_id_seq as bigint start 1 increment 1;
alter sequence fraud_ban_hits_id_seq owner to fd_owner;

create sequence inventory_cost_entries_seq_seq as bigint start 1 increment 1;
alter sequence inventory_cost_entries_seq_seq owner to fd_owner;

create sequence inventory_movements_seq_seq as bigint start 1 increment 1;
alter sequence inventory_movements_seq_seq owner to fd_owner;

create sequence order_timeline_id_seq as bigint start 1 increment 1;
alter sequence order_timeline_id_seq owner to fd_owner;

create sequence store_numbers as bigint start 1 increment 1;
alter sequence store_numbers owner to fd_owner;
grant usage on sequence store_numbers to fd_app;

create table activation_requests (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  product_id uuid not null,
  status text not null default 'pending'::text,
  note text,
  requested_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  decided_at timestamp with time zone,
  decision_note text,
  constraint activation_requests_check CHECK (((status = 'pending'::text) = (decided_at IS NULL))),
  constraint activation_requests_decision_note_check CHECK ((length(decision_note) <= 2000)),
  constraint activation_requests_note_check CHECK ((length(note) <= 2000)),
  constraint activation_requests_pkey PRIMARY KEY (tenant_ref, id),
  constraint activation_requests_requested_by_check CHECK ((length(requested_by) <= 200)),
  constraint activation_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'declined'::text, 'withdrawn'::text]))),
  constraint activation_requests_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint activation_requests_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id)
);
alter table activation_requests owner to fd_owner;
alter table activation_requests enable row level security;
alter table activation_requests force row level security;
CREATE INDEX activation_requests_all_newest ON activation_requests USING btree (created_at DESC, id DESC);
CREATE INDEX activation_requests_all_of_status ON activation_requests USING btree (status, created_at DESC, id DESC);
CREATE INDEX activation_requests_of_product ON activation_requests USING btree (tenant_ref, product_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX activation_requests_by_id ON activation_requests USING btree (id);
CREATE UNIQUE INDEX activation_requests_open ON activation_requests USING btree (tenant_ref, product_id) WHERE (status = 'pending'::text);
create policy operator on activation_requests for select to fd_operator using true;
create policy owner on activation_requests for all to fd_owner using true with check true;
create policy tenant on activation_requests for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on activation_requests to fd_app;
grant select on activation_requests to fd_operator;
grant select on activation_requests to fd_worker;

create table affiliate_attributions (
  tenant_ref text not null,
  order_id uuid not null,
  affiliate_id uuid not null,
  code text not null,
  source text not null,
  touched_at timestamp with time zone not null,
  window_days integer not null,
  model text not null,
  refusal text,
  currency text not null,
  commission_type text not null,
  rate_bps integer,
  amount_cents bigint,
  approval_delay_days integer not null,
  base_cents bigint not null,
  left_cents bigint not null,
  booked_cents bigint not null,
  declined boolean not null default false,
  created_at timestamp with time zone not null default fd_now(),
  constraint affiliate_attributions_base_cents_check CHECK ((base_cents >= 0)),
  constraint affiliate_attributions_booked_cents_check CHECK ((booked_cents >= 0)),
  constraint affiliate_attributions_check CHECK (((refusal IS NULL) OR (booked_cents = 0))),
  constraint affiliate_attributions_check1 CHECK (((commission_type = 'percent'::text) = (rate_bps IS NOT NULL))),
  constraint affiliate_attributions_check2 CHECK (((commission_type = 'fixed'::text) = (amount_cents IS NOT NULL))),
  constraint affiliate_attributions_commission_type_check CHECK ((commission_type = ANY (ARRAY['percent'::text, 'fixed'::text]))),
  constraint affiliate_attributions_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint affiliate_attributions_left_cents_check CHECK ((left_cents >= 0)),
  constraint affiliate_attributions_model_check CHECK ((length(model) <= 40)),
  constraint affiliate_attributions_pkey PRIMARY KEY (tenant_ref, order_id),
  constraint affiliate_attributions_refusal_check CHECK ((length(refusal) <= 40)),
  constraint affiliate_attributions_source_check CHECK ((source = ANY (ARRAY['code'::text, 'link'::text, 'coupon'::text, 'subscription'::text, 'exchange'::text]))),
  constraint affiliate_attributions_tenant_ref_affiliate_id_fkey FOREIGN KEY (tenant_ref, affiliate_id) REFERENCES affiliates(tenant_ref, id),
  constraint affiliate_attributions_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id)
);
alter table affiliate_attributions owner to fd_owner;
alter table affiliate_attributions enable row level security;
alter table affiliate_attributions force row level security;
create policy operator on affiliate_attributions for select to fd_operator using true;
create policy owner on affiliate_attributions for all to fd_owner using true with check true;
create policy tenant on affiliate_attributions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on affiliate_attributions to fd_app;
grant insert, select, update on affiliate_attributions to fd_worker;
grant select on affiliate_attributions to fd_operator;

create table affiliate_clicks (
  tenant_ref text not null,
  code_folded text not null,
  shard integer not null,
  clicks bigint not null,
  constraint affiliate_clicks_clicks_check CHECK ((clicks > 0)),
  constraint affiliate_clicks_pkey PRIMARY KEY (tenant_ref, code_folded, shard),
  constraint affiliate_clicks_shard_check CHECK (((shard >= 0) AND (shard <= 7))),
  constraint affiliate_clicks_tenant_ref_code_folded_fkey FOREIGN KEY (tenant_ref, code_folded) REFERENCES affiliate_codes(tenant_ref, code_folded),
  constraint affiliate_clicks_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table affiliate_clicks owner to fd_owner;
alter table affiliate_clicks enable row level security;
alter table affiliate_clicks force row level security;
create policy operator on affiliate_clicks for select to fd_operator using true;
create policy owner on affiliate_clicks for all to fd_owner using true with check true;
create policy tenant on affiliate_clicks for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on affiliate_clicks to fd_app;
grant select on affiliate_clicks to fd_operator;
grant select on affiliate_clicks to fd_worker;

create table affiliate_codes (
  tenant_ref text not null,
  code_folded text not null,
  code text not null,
  affiliate_id uuid not null,
  active boolean not null default true,
  created_at timestamp with time zone not null default fd_now(),
  constraint affiliate_codes_check CHECK ((lower(code) = code_folded)),
  constraint affiliate_codes_code_folded_check CHECK ((code_folded ~ '^[a-z0-9_-]{1,64}$'::text)),
  constraint affiliate_codes_pkey PRIMARY KEY (tenant_ref, code_folded),
  constraint affiliate_codes_tenant_ref_affiliate_id_fkey FOREIGN KEY (tenant_ref, affiliate_id) REFERENCES affiliates(tenant_ref, id),
  constraint affiliate_codes_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table affiliate_codes owner to fd_owner;
alter table affiliate_codes enable row level security;
alter table affiliate_codes force row level security;
CREATE INDEX affiliate_codes_of_affiliate ON affiliate_codes USING btree (tenant_ref, affiliate_id, code_folded);
create policy operator on affiliate_codes for select to fd_operator using true;
create policy owner on affiliate_codes for all to fd_owner using true with check true;
create policy tenant on affiliate_codes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on affiliate_codes to fd_app;
grant select on affiliate_codes to fd_operator;
grant select, update on affiliate_codes to fd_worker;

create table affiliate_commissions (
  tenant_ref text not null,
  id uuid not null,
  affiliate_id uuid not null,
  order_id uuid not null,
  type text not null,
  currency text not null,
  base_cents bigint not null,
  amount_cents bigint not null,
  status text not null,
  reason text,
  cause_ref text,
  approves_at timestamp with time zone not null,
  payout_id uuid,
  created_at timestamp with time zone not null default fd_clock(),
  constraint affiliate_commissions_cause_ref_check CHECK ((length(cause_ref) <= 200)),
  constraint affiliate_commissions_check CHECK ((((type = 'clawback'::text) = (amount_cents < 0)) OR (status = 'declined'::text))),
  constraint affiliate_commissions_check1 CHECK (((status = 'declined'::text) OR (amount_cents <> 0))),
  constraint affiliate_commissions_check2 CHECK (((status <> 'paid'::text) OR (payout_id IS NOT NULL))),
  constraint affiliate_commissions_check3 CHECK (((payout_id IS NULL) OR (status = ANY (ARRAY['approved'::text, 'paid'::text])))),
  constraint affiliate_commissions_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint affiliate_commissions_pkey PRIMARY KEY (tenant_ref, id),
  constraint affiliate_commissions_reason_check CHECK ((length(reason) <= 200)),
  constraint affiliate_commissions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'paid'::text, 'declined'::text, 'reversed'::text]))),
  constraint affiliate_commissions_tenant_ref_affiliate_id_fkey FOREIGN KEY (tenant_ref, affiliate_id) REFERENCES affiliates(tenant_ref, id),
  constraint affiliate_commissions_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES affiliate_attributions(tenant_ref, order_id),
  constraint affiliate_commissions_tenant_ref_payout_id_fkey FOREIGN KEY (tenant_ref, payout_id) REFERENCES affiliate_payouts(tenant_ref, id),
  constraint affiliate_commissions_type_check CHECK ((type = ANY (ARRAY['sale'::text, 'renewal'::text, 'clawback'::text])))
);
alter table affiliate_commissions owner to fd_owner;
alter table affiliate_commissions enable row level security;
alter table affiliate_commissions force row level security;
CREATE INDEX affiliate_commissions_due ON affiliate_commissions USING btree (approves_at) WHERE (status = 'pending'::text);
CREATE INDEX affiliate_commissions_due_of_store ON affiliate_commissions USING btree (tenant_ref, approves_at) WHERE (status = 'pending'::text);
CREATE INDEX affiliate_commissions_newest ON affiliate_commissions USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX affiliate_commissions_of_affiliate ON affiliate_commissions USING btree (tenant_ref, affiliate_id, created_at DESC, id DESC);
CREATE INDEX affiliate_commissions_of_order ON affiliate_commissions USING btree (tenant_ref, order_id, created_at DESC, id DESC);
CREATE INDEX affiliate_commissions_of_payout ON affiliate_commissions USING btree (tenant_ref, payout_id) WHERE (payout_id IS NOT NULL);
CREATE INDEX affiliate_commissions_of_status ON affiliate_commissions USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX affiliate_commissions_open ON affiliate_commissions USING btree (tenant_ref, affiliate_id, currency) INCLUDE (status, payout_id, amount_cents) WHERE (status = ANY (ARRAY['pending'::text, 'approved'::text]));
CREATE INDEX affiliate_commissions_payable ON affiliate_commissions USING btree (tenant_ref, affiliate_id, currency) INCLUDE (amount_cents) WHERE ((status = 'approved'::text) AND (payout_id IS NULL));
create policy due on affiliate_commissions for select to fd_worker using true;
create policy operator on affiliate_commissions for select to fd_operator using true;
create policy owner on affiliate_commissions for all to fd_owner using true with check true;
create policy tenant on affiliate_commissions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on affiliate_commissions for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER keep_paid BEFORE DELETE OR UPDATE ON affiliate_commissions FOR EACH ROW WHEN ((old.status = 'paid'::text)) EXECUTE FUNCTION fd_keep_paid();
grant insert, select, update on affiliate_commissions to fd_app;
grant insert, select, update on affiliate_commissions to fd_worker;
grant select on affiliate_commissions to fd_operator;

create table affiliate_devices (
  tenant_ref text not null,
  affiliate_id uuid not null,
  device_hash bytea not null,
  seen_at timestamp with time zone not null default fd_now(),
  constraint affiliate_devices_device_hash_check CHECK ((length(device_hash) = 32)),
  constraint affiliate_devices_pkey PRIMARY KEY (tenant_ref, affiliate_id, device_hash),
  constraint affiliate_devices_tenant_ref_affiliate_id_fkey FOREIGN KEY (tenant_ref, affiliate_id) REFERENCES affiliates(tenant_ref, id),
  constraint affiliate_devices_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table affiliate_devices owner to fd_owner;
alter table affiliate_devices enable row level security;
alter table affiliate_devices force row level security;
create policy operator on affiliate_devices for select to fd_operator using true;
create policy owner on affiliate_devices for all to fd_owner using true with check true;
create policy tenant on affiliate_devices for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on affiliate_devices to fd_app;
grant delete, select on affiliate_devices to fd_worker;
grant select on affiliate_devices to fd_operator;

create table affiliate_payouts (
  tenant_ref text not null,
  id uuid not null,
  affiliate_id uuid not null,
  currency text not null,
  amount_cents bigint not null,
  status text not null default 'pending'::text,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  paid_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  constraint affiliate_payouts_amount_cents_check CHECK ((amount_cents > 0)),
  constraint affiliate_payouts_check CHECK (((status = 'paid'::text) = (paid_at IS NOT NULL))),
  constraint affiliate_payouts_check1 CHECK (((status = 'cancelled'::text) = (cancelled_at IS NOT NULL))),
  constraint affiliate_payouts_created_by_check CHECK ((length(created_by) <= 200)),
  constraint affiliate_payouts_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint affiliate_payouts_pkey PRIMARY KEY (tenant_ref, id),
  constraint affiliate_payouts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'paid'::text, 'cancelled'::text]))),
  constraint affiliate_payouts_tenant_ref_affiliate_id_fkey FOREIGN KEY (tenant_ref, affiliate_id) REFERENCES affiliates(tenant_ref, id),
  constraint affiliate_payouts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table affiliate_payouts owner to fd_owner;
alter table affiliate_payouts enable row level security;
alter table affiliate_payouts force row level security;
CREATE INDEX affiliate_payouts_newest ON affiliate_payouts USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX affiliate_payouts_of_affiliate ON affiliate_payouts USING btree (tenant_ref, affiliate_id, created_at DESC, id DESC);
CREATE INDEX affiliate_payouts_of_status ON affiliate_payouts USING btree (tenant_ref, status, created_at DESC, id DESC);
create policy operator on affiliate_payouts for select to fd_operator using true;
create policy owner on affiliate_payouts for all to fd_owner using true with check true;
create policy tenant on affiliate_payouts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on affiliate_payouts to fd_app;
grant select on affiliate_payouts to fd_operator;
grant select on affiliate_payouts to fd_worker;

create table affiliate_settings (
  tenant_ref text not null,
  applications_open boolean not null default false,
  pays_renewals boolean not null default true,
  commission_type text not null default 'percent'::text,
  rate_bps integer default 1000,
  amount_cents bigint,
  cookie_days integer not null default 30,
  approval_delay_days integer not null default 30,
  payout_minimum_cents bigint not null default 0,
  constraint affiliate_settings_amount_cents_check CHECK (((amount_cents >= 1) AND (amount_cents <= '100000000000'::bigint))),
  constraint affiliate_settings_approval_delay_days_check CHECK (((approval_delay_days >= 0) AND (approval_delay_days <= 365))),
  constraint affiliate_settings_check CHECK (((commission_type = 'percent'::text) = (rate_bps IS NOT NULL))),
  constraint affiliate_settings_check1 CHECK (((commission_type = 'fixed'::text) = (amount_cents IS NOT NULL))),
  constraint affiliate_settings_commission_type_check CHECK ((commission_type = ANY (ARRAY['percent'::text, 'fixed'::text]))),
  constraint affiliate_settings_cookie_days_check CHECK (((cookie_days >= 1) AND (cookie_days <= 365))),
  constraint affiliate_settings_payout_minimum_cents_check CHECK (((payout_minimum_cents >= 0) AND (payout_minimum_cents <= '100000000000'::bigint))),
  constraint affiliate_settings_pkey PRIMARY KEY (tenant_ref),
  constraint affiliate_settings_rate_bps_check CHECK (((rate_bps >= 1) AND (rate_bps <= 10000))),
  constraint affiliate_settings_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table affiliate_settings owner to fd_owner;
alter table affiliate_settings enable row level security;
alter table affiliate_settings force row level security;
create policy operator on affiliate_settings for select to fd_operator using true;
create policy owner on affiliate_settings for all to fd_owner using true with check true;
create policy tenant on affiliate_settings for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on affiliate_settings to fd_app;
grant select on affiliate_settings to fd_operator;
grant select on affiliate_settings to fd_worker;

create table affiliates (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  name text not null,
  email text,
  email_folded text,
  status text not null,
  customer_ref text,
  person_id uuid,
  website text,
  message text,
  address jsonb,
  commission_type text not null,
  rate_bps integer,
  amount_cents bigint,
  cookie_days integer not null,
  approval_delay_days integer not null,
  payout_minimum_cents bigint not null,
  payout_account bytea,
  payout_account_end text,
  decline_reason text,
  erased_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint affiliates_address_check CHECK ((length((address)::text) <= 5000)),
  constraint affiliates_amount_cents_check CHECK (((amount_cents >= 1) AND (amount_cents <= '100000000000'::bigint))),
  constraint affiliates_approval_delay_days_check CHECK (((approval_delay_days >= 0) AND (approval_delay_days <= 365))),
  constraint affiliates_check CHECK (((email IS NULL) = (erased_at IS NOT NULL))),
  constraint affiliates_check1 CHECK (((email_folded IS NULL) = (email IS NULL))),
  constraint affiliates_check2 CHECK (((commission_type = 'percent'::text) = (rate_bps IS NOT NULL))),
  constraint affiliates_check3 CHECK (((commission_type = 'fixed'::text) = (amount_cents IS NOT NULL))),
  constraint affiliates_check4 CHECK (((payout_account IS NULL) = (payout_account_end IS NULL))),
  constraint affiliates_check5 CHECK (((erased_at IS NULL) OR ((customer_ref IS NULL) AND (person_id IS NULL) AND (website IS NULL) AND (message IS NULL) AND (address IS NULL) AND (payout_account IS NULL) AND (decline_reason IS NULL)))),
  constraint affiliates_commission_type_check CHECK ((commission_type = ANY (ARRAY['percent'::text, 'fixed'::text]))),
  constraint affiliates_cookie_days_check CHECK (((cookie_days >= 1) AND (cookie_days <= 365))),
  constraint affiliates_customer_ref_check CHECK (((length(customer_ref) >= 1) AND (length(customer_ref) <= 200))),
  constraint affiliates_decline_reason_check CHECK ((length(decline_reason) <= 2000)),
  constraint affiliates_email UNIQUE (tenant_ref, email_folded),
  constraint affiliates_email_check CHECK ((length(email) <= 254)),
  constraint affiliates_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint affiliates_message_check CHECK ((length(message) <= 2000)),
  constraint affiliates_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint affiliates_payout_account_check CHECK ((length(payout_account) <= 1000)),
  constraint affiliates_payout_account_end_check CHECK ((length(payout_account_end) <= 4)),
  constraint affiliates_payout_minimum_cents_check CHECK (((payout_minimum_cents >= 0) AND (payout_minimum_cents <= '100000000000'::bigint))),
  constraint affiliates_pkey PRIMARY KEY (tenant_ref, id),
  constraint affiliates_rate_bps_check CHECK (((rate_bps >= 1) AND (rate_bps <= 10000))),
  constraint affiliates_status_check CHECK ((status = ANY (ARRAY['applied'::text, 'invited'::text, 'active'::text, 'suspended'::text, 'declined'::text]))),
  constraint affiliates_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint affiliates_website_check CHECK ((length(website) <= 2000))
);
alter table affiliates owner to fd_owner;
alter table affiliates enable row level security;
alter table affiliates force row level security;
CREATE INDEX affiliates_newest ON affiliates USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX affiliates_of_customer ON affiliates USING btree (tenant_ref, customer_ref) WHERE (customer_ref IS NOT NULL);
CREATE INDEX affiliates_of_status ON affiliates USING btree (tenant_ref, status, created_at DESC, id DESC);
create policy operator on affiliates for select to fd_operator using true;
create policy owner on affiliates for all to fd_owner using true with check true;
create policy tenant on affiliates for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON affiliates REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_affiliates();
CREATE TRIGGER meter_insert AFTER INSERT ON affiliates REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_affiliates();
grant insert, select, update on affiliates to fd_app;
grant select on affiliates to fd_operator;
grant select, update on affiliates to fd_worker;

create table analytics_days (
  tenant_ref text not null,
  generation integer not null,
  calendar text not null,
  dimension text not null,
  currency text not null,
  day date not null,
  key text not null,
  gross_cents bigint not null,
  discount_cents bigint not null,
  refund_cents bigint not null,
  tax_cents bigint not null,
  refunded_tax_cents bigint not null,
  shipping_cents bigint not null,
  refunded_shipping_cents bigint not null,
  dispute_loss_cents bigint not null,
  markdown_cents bigint not null,
  orders_count bigint not null,
  units_count bigint not null,
  new_customers_count bigint not null,
  repeat_customers_count bigint not null,
  active_customers_count bigint not null,
  restated_at timestamp with time zone,
  constraint analytics_days_calendar_check CHECK ((calendar = ANY (ARRAY['booked'::text, 'cohort'::text]))),
  constraint analytics_days_dimension_check CHECK ((dimension = ANY (ARRAY['all'::text, 'product'::text, 'variant'::text, 'coupon'::text, 'coupon_id'::text, 'affiliate'::text, 'source'::text, 'place'::text, 'customer'::text, 'cohort'::text]))),
  constraint analytics_days_key_check CHECK ((length(key) <= 300)),
  constraint analytics_days_pkey PRIMARY KEY (tenant_ref, generation, calendar, dimension, currency, day, key),
  constraint analytics_days_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (fillfactor=80);
alter table analytics_days owner to fd_owner;
alter table analytics_days enable row level security;
alter table analytics_days force row level security;
CREATE INDEX analytics_days_of_key ON analytics_days USING btree (tenant_ref, generation, calendar, dimension, currency, key, day);
create policy operator on analytics_days for select to fd_operator using true;
create policy owner on analytics_days for all to fd_owner using true with check true;
create policy tenant on analytics_days for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on analytics_days to fd_worker;
grant insert, select, update on analytics_days to fd_app;
grant select on analytics_days to fd_operator;

create table analytics_facts (
  tenant_ref text not null,
  generation integer not null,
  sequence bigint not null,
  order_id uuid not null,
  kind text not null,
  at timestamp with time zone not null,
  day date not null,
  sale_day date not null,
  currency text not null,
  is_test boolean not null,
  coupon text not null,
  affiliate text not null,
  source text not null,
  place text not null,
  customer text not null,
  cohort text not null,
  gross_cents bigint not null,
  discount_cents bigint not null,
  refund_cents bigint not null,
  tax_cents bigint not null,
  refunded_tax_cents bigint not null,
  shipping_cents bigint not null,
  refunded_shipping_cents bigint not null,
  dispute_loss_cents bigint not null,
  markdown_cents bigint not null,
  orders_count bigint not null,
  units_count bigint not null,
  new_customers_count bigint not null,
  repeat_customers_count bigint not null,
  active_customers_count bigint not null,
  lines jsonb not null,
  coupon_id text not null default ''::text,
  constraint analytics_facts_cohort_check CHECK ((cohort ~ '^\d{4}-\d{2}$'::text)),
  constraint analytics_facts_customer_check CHECK ((customer = ANY (ARRAY['new'::text, 'returning'::text]))),
  constraint analytics_facts_pkey PRIMARY KEY (tenant_ref, generation, sequence),
  constraint analytics_facts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table analytics_facts owner to fd_owner;
alter table analytics_facts enable row level security;
alter table analytics_facts force row level security;
CREATE INDEX analytics_facts_of_day ON analytics_facts USING btree (tenant_ref, generation, day, sequence);
CREATE INDEX analytics_facts_of_order ON analytics_facts USING btree (tenant_ref, generation, order_id);
CREATE INDEX analytics_facts_of_sale_day ON analytics_facts USING btree (tenant_ref, generation, sale_day, sequence);
create policy operator on analytics_facts for select to fd_operator using true;
create policy owner on analytics_facts for all to fd_owner using true with check true;
create policy tenant on analytics_facts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on analytics_facts to fd_worker;
grant select on analytics_facts to fd_operator;
grant select, update on analytics_facts to fd_app;

create table analytics_generations (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  generation integer not null,
  state text not null,
  time_zone text not null,
  sequence bigint not null default 0,
  counted_at timestamp with time zone,
  due_at timestamp with time zone default now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  payments_to timestamp with time zone,
  constraint analytics_generations_generation_check CHECK ((generation > 0)),
  constraint analytics_generations_pkey PRIMARY KEY (tenant_ref, generation),
  constraint analytics_generations_sequence_check CHECK ((sequence >= 0)),
  constraint analytics_generations_state_check CHECK ((state = ANY (ARRAY['serving'::text, 'building'::text, 'retired'::text]))),
  constraint analytics_generations_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint analytics_generations_tenant_ref_id_key UNIQUE (tenant_ref, id),
  constraint analytics_generations_time_zone_check CHECK ((length(time_zone) <= 64))
);
alter table analytics_generations owner to fd_owner;
alter table analytics_generations enable row level security;
alter table analytics_generations force row level security;
CREATE INDEX analytics_generations_due ON analytics_generations USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX analytics_generations_due_of_tenant ON analytics_generations USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX analytics_generations_building ON analytics_generations USING btree (tenant_ref) WHERE (state = 'building'::text);
CREATE UNIQUE INDEX analytics_generations_serving ON analytics_generations USING btree (tenant_ref) WHERE (state = 'serving'::text);
create policy due on analytics_generations for select to fd_worker using true;
create policy operator on analytics_generations for select to fd_operator using true;
create policy owner on analytics_generations for all to fd_owner using true with check true;
create policy tenant on analytics_generations for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on analytics_generations for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on analytics_generations to fd_worker;
grant insert, select, update on analytics_generations to fd_app;
grant select on analytics_generations to fd_operator;

create table analytics_open_attempts (
  tenant_ref text not null,
  generation integer not null,
  day date not null,
  attempt_id uuid not null,
  constraint analytics_open_attempts_pkey PRIMARY KEY (tenant_ref, generation, day, attempt_id),
  constraint analytics_open_attempts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table analytics_open_attempts owner to fd_owner;
alter table analytics_open_attempts enable row level security;
alter table analytics_open_attempts force row level security;
create policy operator on analytics_open_attempts for select to fd_operator using true;
create policy owner on analytics_open_attempts for all to fd_owner using true with check true;
create policy tenant on analytics_open_attempts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select on analytics_open_attempts to fd_worker;
grant select on analytics_open_attempts to fd_app;
grant select on analytics_open_attempts to fd_operator;

create table analytics_orders (
  tenant_ref text not null,
  order_id uuid not null,
  sale_sequence bigint not null,
  sale_at timestamp with time zone not null,
  place text not null,
  nth smallint not null,
  first_at timestamp with time zone not null,
  previous_at timestamp with time zone,
  constraint analytics_orders_nth_check CHECK (((nth >= 1) AND (nth <= 3))),
  constraint analytics_orders_pkey PRIMARY KEY (tenant_ref, order_id),
  constraint analytics_orders_place_check CHECK ((length(place) <= 80)),
  constraint analytics_orders_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table analytics_orders owner to fd_owner;
alter table analytics_orders enable row level security;
alter table analytics_orders force row level security;
create policy operator on analytics_orders for select to fd_operator using true;
create policy owner on analytics_orders for all to fd_owner using true with check true;
create policy tenant on analytics_orders for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on analytics_orders to fd_worker;
grant select on analytics_orders to fd_app;
grant select on analytics_orders to fd_operator;

create table analytics_payment_days (
  tenant_ref text not null,
  generation integer not null,
  day date not null,
  currency text not null,
  outcome text not null,
  reason text not null,
  attempts bigint not null,
  amount_cents bigint not null,
  constraint analytics_payment_days_outcome_check CHECK ((outcome = ANY (ARRAY['approved'::text, 'declined'::text, 'failed'::text, 'open'::text, 'recovered'::text]))),
  constraint analytics_payment_days_pkey PRIMARY KEY (tenant_ref, generation, day, currency, outcome, reason),
  constraint analytics_payment_days_reason_check CHECK ((length(reason) <= 60)),
  constraint analytics_payment_days_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table analytics_payment_days owner to fd_owner;
alter table analytics_payment_days enable row level security;
alter table analytics_payment_days force row level security;
create policy operator on analytics_payment_days for select to fd_operator using true;
create policy owner on analytics_payment_days for all to fd_owner using true with check true;
create policy tenant on analytics_payment_days for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on analytics_payment_days to fd_worker;
grant insert, select, update on analytics_payment_days to fd_app;
grant select on analytics_payment_days to fd_operator;

create table analytics_subscription_days (
  tenant_ref text not null,
  currency text not null,
  day date not null,
  started_count bigint not null,
  ended_count bigint not null,
  constraint analytics_subscription_days_pkey PRIMARY KEY (tenant_ref, currency, day) INCLUDE (started_count, ended_count),
  constraint analytics_subscription_days_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table analytics_subscription_days owner to fd_owner;
alter table analytics_subscription_days enable row level security;
alter table analytics_subscription_days force row level security;
create policy operator on analytics_subscription_days for select to fd_operator using true;
create policy owner on analytics_subscription_days for all to fd_owner using true with check true;
create policy tenant on analytics_subscription_days for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on analytics_subscription_days to fd_worker;
grant select on analytics_subscription_days to fd_app;
grant select on analytics_subscription_days to fd_operator;

create table analytics_subscription_sums (
  tenant_ref text not null,
  currency text not null,
  active_count bigint not null,
  past_due_count bigint not null,
  running_count bigint not null,
  mrr_cents bigint not null,
  constraint analytics_subscription_sums_pkey PRIMARY KEY (tenant_ref, currency),
  constraint analytics_subscription_sums_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table analytics_subscription_sums owner to fd_owner;
alter table analytics_subscription_sums enable row level security;
alter table analytics_subscription_sums force row level security;
create policy operator on analytics_subscription_sums for select to fd_operator using true;
create policy owner on analytics_subscription_sums for all to fd_owner using true with check true;
create policy tenant on analytics_subscription_sums for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on analytics_subscription_sums to fd_worker;
grant select on analytics_subscription_sums to fd_app;
grant select on analytics_subscription_sums to fd_operator;

create table analytics_subscriptions (
  tenant_ref text not null,
  subscription_id uuid not null,
  currency text not null,
  status text not null,
  monthly_cents bigint not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint analytics_subscriptions_pkey PRIMARY KEY (tenant_ref, subscription_id),
  constraint analytics_subscriptions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table analytics_subscriptions owner to fd_owner;
alter table analytics_subscriptions enable row level security;
alter table analytics_subscriptions force row level security;
CREATE INDEX analytics_subscriptions_ended ON analytics_subscriptions USING btree (tenant_ref, currency, ended_at, subscription_id) WHERE (ended_at IS NOT NULL);
CREATE INDEX analytics_subscriptions_of_status ON analytics_subscriptions USING btree (tenant_ref, currency, status, started_at, subscription_id);
CREATE INDEX analytics_subscriptions_started ON analytics_subscriptions USING btree (tenant_ref, currency, started_at, subscription_id);
create policy operator on analytics_subscriptions for select to fd_operator using true;
create policy owner on analytics_subscriptions for all to fd_owner using true with check true;
create policy tenant on analytics_subscriptions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on analytics_subscriptions to fd_worker;
grant select on analytics_subscriptions to fd_app;
grant select on analytics_subscriptions to fd_operator;

create table api_call_writers (
  id uuid not null,
  sequence bigint not null,
  written_at timestamp with time zone not null default fd_now(),
  constraint api_call_writers_pkey PRIMARY KEY (id),
  constraint api_call_writers_sequence_check CHECK ((sequence > 0))
);
alter table api_call_writers owner to fd_owner;
grant delete, select on api_call_writers to fd_worker;
grant insert, select, update on api_call_writers to fd_gate;

create table api_calls (
  tenant_ref text not null,
  credential_id uuid not null,
  day date not null,
  calls bigint not null,
  counted_calls bigint not null default 0,
  constraint api_calls_calls_check CHECK ((calls > 0)),
  constraint api_calls_check CHECK (((counted_calls >= 0) AND (counted_calls <= calls))),
  constraint api_calls_pkey PRIMARY KEY (tenant_ref, credential_id, day),
  constraint api_calls_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (fillfactor=70);
alter table api_calls owner to fd_owner;
alter table api_calls enable row level security;
alter table api_calls force row level security;
CREATE INDEX api_calls_uncounted ON api_calls USING btree (tenant_ref, credential_id, day) WHERE (calls > counted_calls);
create policy gate on api_calls for all to fd_gate using true with check true;
create policy operator on api_calls for select to fd_operator using true;
create policy owner on api_calls for all to fd_owner using true with check true;
create policy tenant on api_calls for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, select, update on api_calls to fd_worker;
grant insert, select, update on api_calls to fd_gate;
grant select on api_calls to fd_app;
grant select on api_calls to fd_operator;

create table asset_forms (
  tenant_ref text not null,
  sha256 text not null,
  width integer not null,
  form_sha256 text not null,
  bytes integer not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint asset_forms_bytes_check CHECK ((bytes > 0)),
  constraint asset_forms_form_sha256_check CHECK ((form_sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint asset_forms_pkey PRIMARY KEY (tenant_ref, sha256, width),
  constraint asset_forms_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint asset_forms_tenant_ref_sha256_fkey FOREIGN KEY (tenant_ref, sha256) REFERENCES assets(tenant_ref, sha256) ON DELETE CASCADE,
  constraint asset_forms_width_check CHECK ((width > 0))
);
alter table asset_forms owner to fd_owner;
alter table asset_forms enable row level security;
alter table asset_forms force row level security;
create policy operator on asset_forms for select to fd_operator using true;
create policy owner on asset_forms for all to fd_owner using true with check true;
create policy tenant on asset_forms for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on asset_forms to fd_app;
grant select on asset_forms to fd_operator;
grant select on asset_forms to fd_worker;

create table asset_refs (
  tenant_ref text not null,
  sha256 text not null,
  owner_kind text not null,
  owner_id text not null,
  constraint asset_refs_owner_id_check CHECK (((length(owner_id) >= 1) AND (length(owner_id) <= 100))),
  constraint asset_refs_owner_kind_check CHECK ((owner_kind = ANY (ARRAY['product'::text, 'site'::text]))),
  constraint asset_refs_pkey PRIMARY KEY (tenant_ref, sha256, owner_kind, owner_id),
  constraint asset_refs_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint asset_refs_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table asset_refs owner to fd_owner;
alter table asset_refs enable row level security;
alter table asset_refs force row level security;
CREATE INDEX asset_refs_of_owner ON asset_refs USING btree (tenant_ref, owner_kind, owner_id);
create policy operator on asset_refs for select to fd_operator using true;
create policy owner on asset_refs for all to fd_owner using true with check true;
create policy tenant on asset_refs for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER used_delete AFTER DELETE ON asset_refs REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_note_uses();
CREATE TRIGGER used_insert AFTER INSERT ON asset_refs REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_note_uses();
grant delete, insert, select on asset_refs to fd_app;
grant delete, select on asset_refs to fd_worker;
grant select on asset_refs to fd_operator;

create table assets (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  sha256 text not null,
  extension text not null,
  content_type text not null,
  bytes integer not null,
  width integer,
  height integer,
  alt text,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  stored_at timestamp with time zone,
  deleted_at timestamp with time zone,
  collect_at timestamp with time zone,
  collecting_at timestamp with time zone,
  lease_until timestamp with time zone,
  lease_token uuid,
  is_used boolean not null default false,
  constraint assets_alt_check CHECK ((length(alt) <= 1000)),
  constraint assets_bytes_check CHECK ((bytes > 0)),
  constraint assets_check CHECK (((collect_at IS NOT NULL) = ((stored_at IS NULL) OR (deleted_at IS NOT NULL)))),
  constraint assets_check1 CHECK (((collecting_at IS NULL) OR (collect_at IS NOT NULL))),
  constraint assets_content_type_check CHECK ((((content_type ~~ 'image/%'::text) OR (content_type = 'font/woff2'::text)) AND (length(content_type) <= 40))),
  constraint assets_extension_check CHECK ((extension = ANY (ARRAY['png'::text, 'jpg'::text, 'webp'::text, 'gif'::text, 'avif'::text, 'svg'::text, 'woff2'::text]))),
  constraint assets_height_check CHECK ((height > 0)),
  constraint assets_pkey PRIMARY KEY (tenant_ref, sha256),
  constraint assets_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint assets_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint assets_tenant_ref_id_key UNIQUE (tenant_ref, id),
  constraint assets_width_check CHECK ((width > 0))
);
alter table assets owner to fd_owner;
alter table assets enable row level security;
alter table assets force row level security;
CREATE INDEX assets_due ON assets USING btree (collect_at) WHERE (collect_at IS NOT NULL);
CREATE INDEX assets_due_of_tenant ON assets USING btree (tenant_ref, collect_at) WHERE (collect_at IS NOT NULL);
CREATE INDEX assets_newest ON assets USING btree (tenant_ref, created_at DESC, sha256 DESC) WHERE ((stored_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX assets_of_type ON assets USING btree (tenant_ref, content_type, created_at DESC, sha256 DESC) WHERE ((stored_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX assets_unused ON assets USING btree (tenant_ref, created_at DESC, sha256 DESC) WHERE ((stored_at IS NOT NULL) AND (deleted_at IS NULL) AND (NOT is_used));
CREATE UNIQUE INDEX assets_of_id ON assets USING btree (tenant_ref, id);
create policy due on assets for select to fd_worker using true;
create policy operator on assets for select to fd_operator using true;
create policy owner on assets for all to fd_owner using true with check true;
create policy tenant on assets for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on assets for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER media_added AFTER INSERT ON assets FOR EACH ROW EXECUTE FUNCTION fd_media_added();
CREATE TRIGGER media_removed AFTER DELETE ON assets FOR EACH ROW EXECUTE FUNCTION fd_media_removed();
grant delete, select, update on assets to fd_worker;
grant insert, select, update on assets to fd_app;
grant select on assets to fd_operator;

create table audit_log (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
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
  constraint audit_log_pkey PRIMARY KEY (tenant_ref, id, created_at),
  constraint audit_log_reason_check CHECK ((length(reason) <= 2000)),
  constraint audit_log_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) partition by RANGE (created_at);
alter table audit_log owner to fd_owner;
alter table audit_log enable row level security;
alter table audit_log force row level security;
CREATE INDEX audit_log_all_newest ON audit_log USING btree (created_at DESC, id DESC);
CREATE INDEX audit_log_all_of_action ON audit_log USING btree (action, created_at DESC, id DESC);
CREATE INDEX audit_log_all_of_actor ON audit_log USING btree (actor, created_at DESC, id DESC);
CREATE INDEX audit_log_newest ON audit_log USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX audit_log_of_action ON audit_log USING btree (tenant_ref, action, created_at DESC, id DESC);
CREATE INDEX audit_log_of_actor ON audit_log USING btree (tenant_ref, actor, created_at DESC, id DESC);
create policy operator on audit_log for select to fd_operator using true;
create policy owner on audit_log for all to fd_owner using true with check true;
create policy tenant on audit_log for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on audit_log to fd_app;
grant insert, select on audit_log to fd_worker;
grant select on audit_log to fd_operator;

create table billing_accounts (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  open_month date not null,
  currency text,
  ledger_position bigint not null default 0,
  event_position bigint not null default 0,
  ledger_start bigint not null default 0,
  media_day date,
  counted_at timestamp with time zone,
  due_at timestamp with time zone default fd_now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  constraint billing_accounts_check CHECK (((ledger_start >= 0) AND (ledger_start <= ledger_position))),
  constraint billing_accounts_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint billing_accounts_event_position_check CHECK ((event_position >= 0)),
  constraint billing_accounts_ledger_position_check CHECK ((ledger_position >= 0)),
  constraint billing_accounts_open_month_check CHECK ((EXTRACT(day FROM open_month) = (1)::numeric)),
  constraint billing_accounts_pkey PRIMARY KEY (tenant_ref),
  constraint billing_accounts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint billing_accounts_tenant_ref_id_key UNIQUE (tenant_ref, id)
);
alter table billing_accounts owner to fd_owner;
alter table billing_accounts enable row level security;
alter table billing_accounts force row level security;
CREATE INDEX billing_accounts_due ON billing_accounts USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX billing_accounts_due_of_tenant ON billing_accounts USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
create policy due on billing_accounts for select to fd_worker using true;
create policy operator on billing_accounts for select to fd_operator using true;
create policy owner on billing_accounts for all to fd_owner using true with check true;
create policy tenant on billing_accounts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on billing_accounts for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on billing_accounts to fd_app;
grant insert, select, update on billing_accounts to fd_worker;
grant select on billing_accounts to fd_operator;

create table billing_credit_notes (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  invoice_id uuid not null,
  issuer_id text not null,
  sequence bigint not null,
  number text not null,
  issuer jsonb not null,
  recipient jsonb not null,
  amount_cents bigint not null,
  reason text not null,
  created_by text not null,
  request_key text not null,
  created_at timestamp with time zone not null default fd_clock(),
  constraint billing_credit_notes_amount_cents_check CHECK ((amount_cents > 0)),
  constraint billing_credit_notes_once UNIQUE (tenant_ref, request_key),
  constraint billing_credit_notes_pkey PRIMARY KEY (tenant_ref, id),
  constraint billing_credit_notes_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500))),
  constraint billing_credit_notes_request_key_check CHECK ((length(request_key) <= 255)),
  constraint billing_credit_notes_sequence_check CHECK ((sequence > 0)),
  constraint billing_credit_notes_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint billing_credit_notes_tenant_ref_invoice_id_fkey FOREIGN KEY (tenant_ref, invoice_id) REFERENCES billing_invoices(tenant_ref, id)
);
alter table billing_credit_notes owner to fd_owner;
alter table billing_credit_notes enable row level security;
alter table billing_credit_notes force row level security;
CREATE INDEX billing_credit_notes_of_invoice ON billing_credit_notes USING btree (tenant_ref, invoice_id, created_at, id);
CREATE UNIQUE INDEX billing_credit_notes_number ON billing_credit_notes USING btree (issuer_id, sequence);
create policy operator on billing_credit_notes for select to fd_operator using true;
create policy owner on billing_credit_notes for all to fd_owner using true with check true;
create policy tenant on billing_credit_notes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_credit_notes FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on billing_credit_notes to fd_app;
grant select on billing_credit_notes to fd_operator;
grant select on billing_credit_notes to fd_worker;

create table billing_invoice_lines (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  invoice_id uuid not null,
  kind text not null,
  description text not null,
  amount_cents bigint not null,
  plan_key text,
  plan_version integer,
  from_day date,
  to_day date,
  meter text,
  quantity bigint,
  price jsonb,
  from_position bigint,
  to_position bigint,
  created_by text,
  request_key text,
  created_at timestamp with time zone not null default fd_clock(),
  constraint billing_charges_once UNIQUE (tenant_ref, request_key),
  constraint billing_invoice_lines_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint billing_invoice_lines_check CHECK (((kind = 'charge'::text) = (request_key IS NOT NULL))),
  constraint billing_invoice_lines_check1 CHECK (((kind = 'usage'::text) = (meter IS NOT NULL))),
  constraint billing_invoice_lines_check2 CHECK (((kind = 'plan'::text) = (from_day IS NOT NULL))),
  constraint billing_invoice_lines_description_check CHECK ((length(description) <= 500)),
  constraint billing_invoice_lines_kind_check CHECK ((kind = ANY (ARRAY['plan'::text, 'usage'::text, 'charge'::text]))),
  constraint billing_invoice_lines_pkey PRIMARY KEY (tenant_ref, id),
  constraint billing_invoice_lines_request_key_check CHECK ((length(request_key) <= 255)),
  constraint billing_invoice_lines_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint billing_invoice_lines_tenant_ref_invoice_id_fkey FOREIGN KEY (tenant_ref, invoice_id) REFERENCES billing_invoices(tenant_ref, id)
);
alter table billing_invoice_lines owner to fd_owner;
alter table billing_invoice_lines enable row level security;
alter table billing_invoice_lines force row level security;
CREATE INDEX billing_invoice_lines_of_invoice ON billing_invoice_lines USING btree (tenant_ref, invoice_id, created_at, id);
create policy operator on billing_invoice_lines for select to fd_operator using true;
create policy owner on billing_invoice_lines for all to fd_owner using true with check true;
create policy tenant on billing_invoice_lines for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER final BEFORE INSERT OR DELETE OR UPDATE ON billing_invoice_lines FOR EACH ROW EXECUTE FUNCTION fd_keep_invoice_line();
CREATE TRIGGER not_emptied BEFORE TRUNCATE ON billing_invoice_lines FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant delete, insert, select on billing_invoice_lines to fd_worker;
grant insert, select on billing_invoice_lines to fd_app;
grant select on billing_invoice_lines to fd_operator;

create table billing_invoices (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  month date not null,
  status text not null default 'draft'::text,
  currency text not null,
  total_cents bigint not null default 0,
  issuer_id text,
  sequence bigint,
  number text,
  issuer jsonb,
  recipient jsonb,
  issued_at timestamp with time zone,
  due_at timestamp with time zone,
  paid_cents bigint not null default 0,
  credited_cents bigint not null default 0,
  reminders_sent integer not null default 0,
  remind_at timestamp with time zone,
  lease_until timestamp with time zone,
  lease_token uuid,
  created_at timestamp with time zone not null default fd_clock(),
  constraint billing_invoices_check CHECK (((credited_cents >= 0) AND (credited_cents <= total_cents))),
  constraint billing_invoices_check1 CHECK (((status = 'draft'::text) = (number IS NULL))),
  constraint billing_invoices_check2 CHECK ((((number IS NULL) = (sequence IS NULL)) AND ((number IS NULL) = (issuer_id IS NULL)) AND ((number IS NULL) = (issuer IS NULL)) AND ((number IS NULL) = (recipient IS NULL)) AND ((number IS NULL) = (issued_at IS NULL)) AND ((number IS NULL) = (due_at IS NULL)))),
  constraint billing_invoices_check3 CHECK (((status = 'open'::text) OR (remind_at IS NULL))),
  constraint billing_invoices_check4 CHECK (((status <> 'draft'::text) OR ((paid_cents = 0) AND (credited_cents = 0)))),
  constraint billing_invoices_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint billing_invoices_month UNIQUE (tenant_ref, month),
  constraint billing_invoices_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  constraint billing_invoices_paid_cents_check CHECK ((paid_cents >= 0)),
  constraint billing_invoices_pkey PRIMARY KEY (tenant_ref, id),
  constraint billing_invoices_reminders_sent_check CHECK ((reminders_sent >= 0)),
  constraint billing_invoices_sequence_check CHECK ((sequence > 0)),
  constraint billing_invoices_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'open'::text, 'paid'::text, 'void'::text]))),
  constraint billing_invoices_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint billing_invoices_total_cents_check CHECK ((total_cents >= 0))
);
alter table billing_invoices owner to fd_owner;
alter table billing_invoices enable row level security;
alter table billing_invoices force row level security;
CREATE INDEX billing_invoices_all_newest ON billing_invoices USING btree (created_at DESC, id DESC);
CREATE INDEX billing_invoices_all_of_status ON billing_invoices USING btree (status, created_at DESC, id DESC);
CREATE INDEX billing_invoices_due ON billing_invoices USING btree (remind_at) WHERE (remind_at IS NOT NULL);
CREATE INDEX billing_invoices_due_of_tenant ON billing_invoices USING btree (tenant_ref, remind_at) WHERE (remind_at IS NOT NULL);
CREATE INDEX billing_invoices_newest ON billing_invoices USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX billing_invoices_of_status ON billing_invoices USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE UNIQUE INDEX billing_invoices_number ON billing_invoices USING btree (issuer_id, sequence) WHERE (sequence IS NOT NULL);
create policy due on billing_invoices for select to fd_worker using true;
create policy operator on billing_invoices for select to fd_operator using true;
create policy owner on billing_invoices for all to fd_owner using true with check true;
create policy tenant on billing_invoices for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on billing_invoices for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER final BEFORE DELETE OR UPDATE ON billing_invoices FOR EACH ROW EXECUTE FUNCTION fd_keep_invoice();
CREATE TRIGGER not_emptied BEFORE TRUNCATE ON billing_invoices FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant delete, insert, select, update on billing_invoices to fd_worker;
grant insert, select, update on billing_invoices to fd_app;
grant select on billing_invoices to fd_operator;

create table billing_issuers (
  id text not null,
  name text not null,
  lines text[] not null,
  note text,
  invoice_prefix text not null,
  credit_prefix text not null,
  payment_days integer not null,
  reminders jsonb not null,
  next_invoice bigint not null default 1,
  next_credit_note bigint not null default 1,
  updated_at timestamp with time zone not null default fd_now(),
  constraint billing_issuers_check CHECK ((invoice_prefix <> credit_prefix)),
  constraint billing_issuers_credit_prefix_check CHECK ((credit_prefix ~ '^[A-Z0-9-]{1,12}$'::text)),
  constraint billing_issuers_id_check CHECK ((id ~ '^[a-z0-9_]{1,40}$'::text)),
  constraint billing_issuers_invoice_prefix_check CHECK ((invoice_prefix ~ '^[A-Z0-9-]{1,12}$'::text)),
  constraint billing_issuers_lines_check CHECK ((cardinality(lines) <= 10)),
  constraint billing_issuers_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint billing_issuers_next_credit_note_check CHECK ((next_credit_note > 0)),
  constraint billing_issuers_next_invoice_check CHECK ((next_invoice > 0)),
  constraint billing_issuers_note_check CHECK ((length(note) <= 1000)),
  constraint billing_issuers_payment_days_check CHECK (((payment_days >= 0) AND (payment_days <= 120))),
  constraint billing_issuers_pkey PRIMARY KEY (id)
);
alter table billing_issuers owner to fd_owner;
grant insert, select, update on billing_issuers to fd_app;
grant select on billing_issuers to fd_operator;
grant select, update on billing_issuers to fd_worker;

create table billing_payments (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  invoice_id uuid not null,
  kind text not null,
  amount_cents bigint not null,
  paid_on date not null,
  reference text,
  created_by text not null,
  request_key text not null,
  created_at timestamp with time zone not null default fd_clock(),
  constraint billing_payments_amount_cents_check CHECK ((amount_cents > 0)),
  constraint billing_payments_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'payout'::text]))),
  constraint billing_payments_once UNIQUE (tenant_ref, request_key),
  constraint billing_payments_pkey PRIMARY KEY (tenant_ref, id),
  constraint billing_payments_reference_check CHECK ((length(reference) <= 200)),
  constraint billing_payments_request_key_check CHECK ((length(request_key) <= 255)),
  constraint billing_payments_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint billing_payments_tenant_ref_invoice_id_fkey FOREIGN KEY (tenant_ref, invoice_id) REFERENCES billing_invoices(tenant_ref, id)
);
alter table billing_payments owner to fd_owner;
alter table billing_payments enable row level security;
alter table billing_payments force row level security;
CREATE INDEX billing_payments_of_invoice ON billing_payments USING btree (tenant_ref, invoice_id, created_at, id);
create policy operator on billing_payments for select to fd_operator using true;
create policy owner on billing_payments for all to fd_owner using true with check true;
create policy tenant on billing_payments for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_payments FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on billing_payments to fd_app;
grant select on billing_payments to fd_operator;
grant select on billing_payments to fd_worker;

create table billing_plans (
  plan_key text not null,
  version integer not null,
  id uuid not null default fd_uuid(),
  name text not null,
  tier text not null,
  currency text not null,
  base_cents bigint not null,
  meters jsonb not null,
  features text[] not null,
  is_public boolean not null,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint billing_plans_base_cents_check CHECK ((base_cents >= 0)),
  constraint billing_plans_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint billing_plans_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint billing_plans_pkey PRIMARY KEY (plan_key, version),
  constraint billing_plans_plan_key_check CHECK ((plan_key ~ '^[a-z0-9_-]{1,40}$'::text)),
  constraint billing_plans_tier_check CHECK ((length(tier) <= 40)),
  constraint billing_plans_version_check CHECK ((version > 0))
);
alter table billing_plans owner to fd_owner;
CREATE INDEX billing_plans_newest ON billing_plans USING btree (created_at DESC, id DESC);
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_plans FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on billing_plans to fd_app;
grant select on billing_plans to fd_operator;
grant select on billing_plans to fd_worker;

create table billing_reminders (
  tenant_ref text not null,
  invoice_id uuid not null,
  step integer not null,
  recipient text,
  created_at timestamp with time zone not null default fd_clock(),
  constraint billing_reminders_pkey PRIMARY KEY (tenant_ref, invoice_id, step),
  constraint billing_reminders_recipient_check CHECK ((length(recipient) <= 254)),
  constraint billing_reminders_step_check CHECK ((step >= 0)),
  constraint billing_reminders_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint billing_reminders_tenant_ref_invoice_id_fkey FOREIGN KEY (tenant_ref, invoice_id) REFERENCES billing_invoices(tenant_ref, id)
);
alter table billing_reminders owner to fd_owner;
alter table billing_reminders enable row level security;
alter table billing_reminders force row level security;
create policy operator on billing_reminders for select to fd_operator using true;
create policy owner on billing_reminders for all to fd_owner using true with check true;
create policy tenant on billing_reminders for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_reminders FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on billing_reminders to fd_worker;
grant select on billing_reminders to fd_app;
grant select on billing_reminders to fd_operator;

create table billing_store_plans (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  plan_key text not null,
  plan_version integer not null,
  from_day date not null,
  set_by text not null,
  created_at timestamp with time zone not null default fd_clock(),
  constraint billing_store_plans_pkey PRIMARY KEY (tenant_ref, id),
  constraint billing_store_plans_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table billing_store_plans owner to fd_owner;
alter table billing_store_plans enable row level security;
alter table billing_store_plans force row level security;
CREATE INDEX billing_store_plans_newest ON billing_store_plans USING btree (tenant_ref, from_day DESC, created_at DESC, id DESC);
create policy operator on billing_store_plans for select to fd_operator using true;
create policy owner on billing_store_plans for all to fd_owner using true with check true;
create policy tenant on billing_store_plans for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON billing_store_plans FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on billing_store_plans to fd_app;
grant select on billing_store_plans to fd_operator;
grant select on billing_store_plans to fd_worker;

create table billing_usage (
  tenant_ref text not null,
  month date not null,
  meter text not null,
  currency text not null,
  key text not null,
  quantity bigint not null,
  from_position bigint not null,
  to_position bigint not null,
  constraint billing_usage_check CHECK ((to_position >= from_position)),
  constraint billing_usage_meter_check CHECK ((meter = ANY (ARRAY['orders'::text, 'gross_volume'::text, 'webhook_deliveries'::text, 'media_byte_days'::text, 'api_calls'::text]))),
  constraint billing_usage_pkey PRIMARY KEY (tenant_ref, month, meter, currency, key),
  constraint billing_usage_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (fillfactor=80);
alter table billing_usage owner to fd_owner;
alter table billing_usage enable row level security;
alter table billing_usage force row level security;
create policy operator on billing_usage for select to fd_operator using true;
create policy owner on billing_usage for all to fd_owner using true with check true;
create policy tenant on billing_usage for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER kept BEFORE INSERT OR DELETE OR UPDATE ON billing_usage FOR EACH ROW EXECUTE FUNCTION fd_keep_usage();
grant insert, select, update on billing_usage to fd_app;
grant insert, select, update on billing_usage to fd_worker;
grant select on billing_usage to fd_operator;

create table campaign_mailings (
  tenant_ref text not null,
  id uuid not null,
  state text not null default 'listing'::text,
  listed_to text not null default ''::text,
  recipients_count bigint not null default 0,
  left_out_count bigint not null default 0,
  sent_count bigint not null default 0,
  skipped_count bigint not null default 0,
  failed_count bigint not null default 0,
  unknown_count bigint not null default 0,
  in_flight uuid[] not null default '{}'::uuid[],
  due_at timestamp with time zone default fd_now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  created_at timestamp with time zone not null default fd_now(),
  stopped boolean not null default false,
  constraint campaign_mailings_check CHECK (((state <> 'done'::text) OR (due_at IS NULL))),
  constraint campaign_mailings_check1 CHECK (((((sent_count + skipped_count) + failed_count) + unknown_count) <= recipients_count)),
  constraint campaign_mailings_failed_count_check CHECK ((failed_count >= 0)),
  constraint campaign_mailings_in_flight_check CHECK ((cardinality(in_flight) <= 1000)),
  constraint campaign_mailings_left_out_count_check CHECK ((left_out_count >= 0)),
  constraint campaign_mailings_pkey PRIMARY KEY (tenant_ref, id),
  constraint campaign_mailings_recipients_count_check CHECK ((recipients_count >= 0)),
  constraint campaign_mailings_sent_count_check CHECK ((sent_count >= 0)),
  constraint campaign_mailings_skipped_count_check CHECK ((skipped_count >= 0)),
  constraint campaign_mailings_state_check CHECK ((state = ANY (ARRAY['listing'::text, 'sending'::text, 'done'::text]))),
  constraint campaign_mailings_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint campaign_mailings_tenant_ref_id_fkey FOREIGN KEY (tenant_ref, id) REFERENCES campaigns(tenant_ref, id),
  constraint campaign_mailings_unknown_count_check CHECK ((unknown_count >= 0))
) with (fillfactor=50);
alter table campaign_mailings owner to fd_owner;
alter table campaign_mailings enable row level security;
alter table campaign_mailings force row level security;
CREATE INDEX campaign_mailings_due ON campaign_mailings USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX campaign_mailings_due_of_tenant ON campaign_mailings USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
create policy due on campaign_mailings for select to fd_worker using true;
create policy operator on campaign_mailings for select to fd_operator using true;
create policy owner on campaign_mailings for all to fd_owner using true with check true;
create policy tenant on campaign_mailings for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on campaign_mailings for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on campaign_mailings to fd_app;
grant insert, select, update on campaign_mailings to fd_worker;
grant select on campaign_mailings to fd_operator;

create table campaign_recipients (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  campaign_id uuid not null,
  email text,
  email_folded text,
  customer_ref text,
  state text not null default 'queued'::text,
  reason text,
  attempt_count integer not null default 0,
  next_attempt_at timestamp with time zone default fd_now(),
  last_error text,
  sent_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  constraint campaign_recipients_attempt_count_check CHECK ((attempt_count >= 0)),
  constraint campaign_recipients_check CHECK (((state = 'queued'::text) = (next_attempt_at IS NOT NULL))),
  constraint campaign_recipients_check1 CHECK (((state = 'sent'::text) = (sent_at IS NOT NULL))),
  constraint campaign_recipients_check2 CHECK (((email IS NULL) = (email_folded IS NULL))),
  constraint campaign_recipients_check3 CHECK (((email IS NOT NULL) OR (state <> 'queued'::text))),
  constraint campaign_recipients_customer_ref_check CHECK ((length(customer_ref) <= 200)),
  constraint campaign_recipients_email_check CHECK ((length(email) <= 320)),
  constraint campaign_recipients_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint campaign_recipients_last_error_check CHECK ((length(last_error) <= 500)),
  constraint campaign_recipients_once UNIQUE (tenant_ref, email_folded, campaign_id),
  constraint campaign_recipients_pkey PRIMARY KEY (tenant_ref, campaign_id, id),
  constraint campaign_recipients_reason_check CHECK ((length(reason) <= 40)),
  constraint campaign_recipients_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'skipped'::text, 'failed'::text, 'unknown'::text]))),
  constraint campaign_recipients_tenant_ref_campaign_id_fkey FOREIGN KEY (tenant_ref, campaign_id) REFERENCES campaigns(tenant_ref, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table campaign_recipients owner to fd_owner;
alter table campaign_recipients enable row level security;
alter table campaign_recipients force row level security;
CREATE INDEX campaign_recipients_of_customer ON campaign_recipients USING btree (tenant_ref, customer_ref, id) WHERE (customer_ref IS NOT NULL);
CREATE INDEX campaign_recipients_of_state ON campaign_recipients USING btree (tenant_ref, campaign_id, state, id);
CREATE INDEX campaign_recipients_old ON campaign_recipients USING btree (tenant_ref, created_at);
create policy due on campaign_recipients for select to fd_worker using true;
create policy operator on campaign_recipients for select to fd_operator using true;
create policy owner on campaign_recipients for all to fd_owner using true with check true;
create policy tenant on campaign_recipients for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on campaign_recipients for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on campaign_recipients to fd_worker;
grant select on campaign_recipients to fd_operator;
grant select, update on campaign_recipients to fd_app;

create table campaigns (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  name text not null,
  channel text not null,
  status text not null default 'draft'::text,
  pause_reason text,
  starts_at timestamp with time zone,
  ends_at timestamp with time zone,
  budget_type text,
  budget_limit bigint,
  budget_used bigint not null default 0,
  utm_source text,
  utm_medium text,
  utm_campaign text,
  coupon_count integer not null default 0,
  segment_id uuid,
  subject text,
  body_markdown text,
  sender_name text,
  reply_to text,
  due_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint campaigns_body_markdown_check CHECK (((length(body_markdown) >= 1) AND (length(body_markdown) <= 16000))),
  constraint campaigns_budget_limit_check CHECK ((budget_limit > 0)),
  constraint campaigns_budget_type_check CHECK ((budget_type = ANY (ARRAY['spend'::text, 'uses'::text]))),
  constraint campaigns_budget_used_check CHECK ((budget_used >= 0)),
  constraint campaigns_channel_check CHECK ((channel ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
  constraint campaigns_check CHECK (((budget_type IS NULL) = (budget_limit IS NULL))),
  constraint campaigns_check1 CHECK (((status = 'paused'::text) = (pause_reason IS NOT NULL))),
  constraint campaigns_check2 CHECK ((ends_at > starts_at)),
  constraint campaigns_check3 CHECK (((status = ANY (ARRAY['draft'::text, 'cancelled'::text])) OR (starts_at IS NOT NULL))),
  constraint campaigns_check4 CHECK (((due_at IS NULL) OR (status = ANY (ARRAY['scheduled'::text, 'active'::text, 'paused'::text])))),
  constraint campaigns_check5 CHECK (((channel = 'email'::text) OR (COALESCE((segment_id)::text, subject, body_markdown, sender_name, reply_to) IS NULL))),
  constraint campaigns_coupon_count_check CHECK ((coupon_count >= 0)),
  constraint campaigns_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint campaigns_pause_reason_check CHECK ((pause_reason = ANY (ARRAY['merchant'::text, 'late'::text, 'claims'::text, 'segment'::text]))),
  constraint campaigns_pkey PRIMARY KEY (tenant_ref, id),
  constraint campaigns_reply_to_check CHECK ((length(reply_to) <= 254)),
  constraint campaigns_sender_name_check CHECK (((length(sender_name) >= 1) AND (length(sender_name) <= 100))),
  constraint campaigns_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'scheduled'::text, 'active'::text, 'paused'::text, 'ended'::text, 'cancelled'::text]))),
  constraint campaigns_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 200))),
  constraint campaigns_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint campaigns_utm_campaign_check CHECK (((length(utm_campaign) >= 1) AND (length(utm_campaign) <= 200))),
  constraint campaigns_utm_medium_check CHECK (((length(utm_medium) >= 1) AND (length(utm_medium) <= 200))),
  constraint campaigns_utm_source_check CHECK (((length(utm_source) >= 1) AND (length(utm_source) <= 200)))
) with (fillfactor=80);
alter table campaigns owner to fd_owner;
alter table campaigns enable row level security;
alter table campaigns force row level security;
CREATE INDEX campaigns_due ON campaigns USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX campaigns_due_of_tenant ON campaigns USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX campaigns_newest ON campaigns USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX campaigns_of_channel ON campaigns USING btree (tenant_ref, channel, created_at DESC, id DESC);
CREATE INDEX campaigns_of_status ON campaigns USING btree (tenant_ref, status, created_at DESC, id DESC);
create policy due on campaigns for select to fd_worker using true;
create policy operator on campaigns for select to fd_operator using true;
create policy owner on campaigns for all to fd_owner using true with check true;
create policy tenant on campaigns for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on campaigns for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER meter_delete AFTER DELETE ON campaigns REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_campaigns();
CREATE TRIGGER meter_insert AFTER INSERT ON campaigns REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_campaigns();
grant delete, insert, select, update on campaigns to fd_app;
grant select on campaigns to fd_operator;
grant select, update on campaigns to fd_worker;

create table carrier_labels (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  fulfillment_id uuid not null,
  order_id uuid not null,
  carrier text not null,
  service text not null,
  status text not null default 'buying'::text,
  refusal text,
  tracking_number text,
  tracking_url text,
  cost_cents bigint,
  currency text not null,
  weight_grams integer not null,
  progress text,
  progress_at timestamp with time zone,
  voids_refused integer not null default 0,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  bought_at timestamp with time zone,
  voided_at timestamp with time zone,
  unused boolean not null default false,
  constraint carrier_labels_carrier_check CHECK ((length(carrier) <= 50)),
  constraint carrier_labels_check CHECK (((status = ANY (ARRAY['bought'::text, 'voiding'::text, 'voided'::text])) = (bought_at IS NOT NULL))),
  constraint carrier_labels_check1 CHECK (((bought_at IS NOT NULL) = (cost_cents IS NOT NULL))),
  constraint carrier_labels_check2 CHECK (((status = 'voided'::text) = (voided_at IS NOT NULL))),
  constraint carrier_labels_check3 CHECK (((progress IS NULL) = (progress_at IS NULL))),
  constraint carrier_labels_cost_cents_check CHECK ((cost_cents >= 0)),
  constraint carrier_labels_created_by_check CHECK ((length(created_by) <= 200)),
  constraint carrier_labels_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint carrier_labels_pkey PRIMARY KEY (tenant_ref, id),
  constraint carrier_labels_progress_check CHECK ((progress = ANY (ARRAY['in_transit'::text, 'delivered'::text, 'returned'::text]))),
  constraint carrier_labels_refusal_check CHECK ((length(refusal) <= 500)),
  constraint carrier_labels_service_check CHECK ((length(service) <= 50)),
  constraint carrier_labels_status_check CHECK ((status = ANY (ARRAY['buying'::text, 'bought'::text, 'refused'::text, 'voiding'::text, 'voided'::text]))),
  constraint carrier_labels_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint carrier_labels_tenant_ref_fulfillment_id_fkey FOREIGN KEY (tenant_ref, fulfillment_id) REFERENCES fulfillments(tenant_ref, id),
  constraint carrier_labels_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id),
  constraint carrier_labels_tracking_number_check CHECK ((length(tracking_number) <= 200)),
  constraint carrier_labels_tracking_url_check CHECK ((length(tracking_url) <= 2000)),
  constraint carrier_labels_weight_grams_check CHECK ((weight_grams > 0))
);
alter table carrier_labels owner to fd_owner;
alter table carrier_labels enable row level security;
alter table carrier_labels force row level security;
CREATE INDEX carrier_labels_of_order ON carrier_labels USING btree (tenant_ref, order_id);
CREATE UNIQUE INDEX carrier_labels_current ON carrier_labels USING btree (tenant_ref, fulfillment_id) WHERE (status = ANY (ARRAY['buying'::text, 'bought'::text, 'voiding'::text]));
create policy operator on carrier_labels for select to fd_operator using true;
create policy owner on carrier_labels for all to fd_owner using true with check true;
create policy tenant on carrier_labels for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on carrier_labels to fd_app;
grant insert, select, update on carrier_labels to fd_worker;
grant select on carrier_labels to fd_operator;

create table charges (
  tenant_ref text not null,
  charge_id uuid not null,
  order_id uuid not null,
  tender text not null,
  status text not null,
  amount_cents bigint not null,
  captured_cents bigint not null default 0,
  refunded_cents bigint not null default 0,
  currency text not null,
  gateway text,
  txn_id text,
  vault_id text,
  card_brand text,
  card_last4 text,
  card_fingerprint text,
  gift_card_id uuid,
  gift_card_last4 text,
  authorized_until timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  moved_from uuid,
  constraint charges_checks CHECK (fd_check_charges(charges.*)),
  constraint charges_moved_from_fkey FOREIGN KEY (tenant_ref, moved_from) REFERENCES charges(tenant_ref, charge_id),
  constraint charges_pkey PRIMARY KEY (tenant_ref, charge_id),
  constraint charges_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table charges owner to fd_owner;
alter table charges enable row level security;
alter table charges force row level security;
CREATE INDEX charges_expiring ON charges USING btree (authorized_until) WHERE (authorized_until IS NOT NULL);
CREATE INDEX charges_expiring_of_tenant ON charges USING btree (tenant_ref, authorized_until) WHERE (authorized_until IS NOT NULL);
CREATE INDEX charges_moved ON charges USING btree (tenant_ref, moved_from) WHERE (moved_from IS NOT NULL);
CREATE INDEX charges_of_order ON charges USING btree (tenant_ref, order_id, created_at);
create policy due on charges for select to fd_worker using true;
create policy operator on charges for select to fd_operator using true;
create policy owner on charges for all to fd_owner using true with check true;
create policy tenant on charges for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on charges for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on charges to fd_app;
grant insert, select, update on charges to fd_worker;
grant select on charges to fd_operator;

create table checkout_reminder_settings (
  tenant_ref text not null,
  enabled boolean not null default false,
  basis text not null default 'consent'::text,
  first_after_minutes integer not null default 60,
  second_after_minutes integer default 1440,
  law_confirmed_by text,
  law_confirmed_at timestamp with time zone,
  updated_at timestamp with time zone not null default fd_now(),
  constraint checkout_reminder_settings_basis_check CHECK ((basis = ANY (ARRAY['consent'::text, 'soft_opt_in'::text]))),
  constraint checkout_reminder_settings_check CHECK (((NOT enabled) OR (law_confirmed_at IS NOT NULL))),
  constraint checkout_reminder_settings_first_after_minutes_check CHECK (((first_after_minutes >= 30) AND (first_after_minutes <= 10080))),
  constraint checkout_reminder_settings_law_confirmed_by_check CHECK ((length(law_confirmed_by) <= 200)),
  constraint checkout_reminder_settings_pkey PRIMARY KEY (tenant_ref),
  constraint checkout_reminder_settings_second_after_minutes_check CHECK (((second_after_minutes >= 60) AND (second_after_minutes <= 20160))),
  constraint checkout_reminder_settings_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table checkout_reminder_settings owner to fd_owner;
alter table checkout_reminder_settings enable row level security;
alter table checkout_reminder_settings force row level security;
create policy operator on checkout_reminder_settings for select to fd_operator using true;
create policy owner on checkout_reminder_settings for all to fd_owner using true with check true;
create policy tenant on checkout_reminder_settings for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on checkout_reminder_settings to fd_app;
grant select on checkout_reminder_settings to fd_operator;
grant select on checkout_reminder_settings to fd_worker;

create table checkout_reminders (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  email text not null,
  email_folded text not null,
  customer_ref text,
  items jsonb not null,
  state text not null default 'waiting'::text,
  reason text,
  sent_count integer not null default 0,
  next_attempt_at timestamp with time zone,
  lease_until timestamp with time zone,
  lease_token uuid,
  last_sent_at timestamp with time zone,
  last_error text,
  began_at timestamp with time zone not null default fd_now(),
  seen_at timestamp with time zone not null default fd_now(),
  created_at timestamp with time zone not null default fd_now(),
  constraint checkout_reminders_check CHECK (((state = 'waiting'::text) = (next_attempt_at IS NOT NULL))),
  constraint checkout_reminders_check1 CHECK (((state = 'stopped'::text) = (reason IS NOT NULL))),
  constraint checkout_reminders_customer_ref_check CHECK ((length(customer_ref) <= 200)),
  constraint checkout_reminders_email UNIQUE (tenant_ref, email_folded),
  constraint checkout_reminders_email_check CHECK ((length(email) <= 254)),
  constraint checkout_reminders_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint checkout_reminders_items_check CHECK (((jsonb_typeof(items) = 'array'::text) AND (length((items)::text) <= 65536))),
  constraint checkout_reminders_last_error_check CHECK ((length(last_error) <= 500)),
  constraint checkout_reminders_pkey PRIMARY KEY (tenant_ref, id),
  constraint checkout_reminders_reason_check CHECK ((length(reason) <= 40)),
  constraint checkout_reminders_sent_count_check CHECK (((sent_count >= 0) AND (sent_count <= 2))),
  constraint checkout_reminders_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'stopped'::text]))),
  constraint checkout_reminders_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (fillfactor=80);
alter table checkout_reminders owner to fd_owner;
alter table checkout_reminders enable row level security;
alter table checkout_reminders force row level security;
CREATE INDEX checkout_reminders_due ON checkout_reminders USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX checkout_reminders_due_of_tenant ON checkout_reminders USING btree (tenant_ref, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX checkout_reminders_newest ON checkout_reminders USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX checkout_reminders_of_customer ON checkout_reminders USING btree (tenant_ref, customer_ref) WHERE (customer_ref IS NOT NULL);
CREATE INDEX checkout_reminders_of_state ON checkout_reminders USING btree (tenant_ref, state, created_at DESC, id DESC);
CREATE INDEX checkout_reminders_seen ON checkout_reminders USING btree (tenant_ref, seen_at);
create policy due on checkout_reminders for select to fd_worker using true;
create policy operator on checkout_reminders for select to fd_operator using true;
create policy owner on checkout_reminders for all to fd_owner using true with check true;
create policy tenant on checkout_reminders for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on checkout_reminders for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on checkout_reminders to fd_app;
grant delete, select, update on checkout_reminders to fd_worker;
grant select on checkout_reminders to fd_operator;

create table collection_products (
  tenant_ref text not null,
  collection_id uuid not null,
  product_id uuid not null,
  "position" integer not null,
  on_sale boolean not null default false,
  constraint collection_products_pkey PRIMARY KEY (tenant_ref, collection_id, product_id),
  constraint collection_products_tenant_ref_collection_id_fkey FOREIGN KEY (tenant_ref, collection_id) REFERENCES collections(tenant_ref, id) ON DELETE CASCADE,
  constraint collection_products_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint collection_products_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id)
);
alter table collection_products owner to fd_owner;
alter table collection_products enable row level security;
alter table collection_products force row level security;
CREATE INDEX collection_products_in_order ON collection_products USING btree (tenant_ref, collection_id, "position", product_id);
CREATE INDEX collection_products_of_product ON collection_products USING btree (tenant_ref, product_id);
CREATE INDEX collection_products_on_sale ON collection_products USING btree (tenant_ref, collection_id, "position", product_id) WHERE on_sale;
create policy operator on collection_products for select to fd_operator using true;
create policy owner on collection_products for all to fd_owner using true with check true;
create policy search on collection_products for select to fd_search using true;
create policy tenant on collection_products for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER on_sale BEFORE INSERT ON collection_products FOR EACH ROW EXECUTE FUNCTION fd_member_on_sale();
CREATE TRIGGER search_delete AFTER DELETE ON collection_products REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_collections();
CREATE TRIGGER search_insert AFTER INSERT ON collection_products REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_collections();
grant delete, insert, select, update on collection_products to fd_app;
grant select on collection_products to fd_operator;
grant select on collection_products to fd_worker;
grant select ("position") on collection_products to fd_search;
grant select (collection_id) on collection_products to fd_search;
grant select (on_sale) on collection_products to fd_search;
grant select (product_id) on collection_products to fd_search;
grant select (tenant_ref) on collection_products to fd_search;

create table collections (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  slug text not null,
  title text not null,
  description text,
  "position" integer not null default 0,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  title_words tsvector not null default ''::tsvector,
  constraint collections_description_check CHECK ((length(description) <= 20000)),
  constraint collections_pkey PRIMARY KEY (tenant_ref, id),
  constraint collections_slug UNIQUE (tenant_ref, slug),
  constraint collections_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 200))),
  constraint collections_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint collections_title_check CHECK (((length(title) >= 1) AND (length(title) <= 300)))
);
alter table collections owner to fd_owner;
alter table collections enable row level security;
alter table collections force row level security;
CREATE INDEX collections_in_order ON collections USING btree (tenant_ref, "position", created_at, id);
create policy operator on collections for select to fd_operator using true;
create policy owner on collections for all to fd_owner using true with check true;
create policy search on collections for select to fd_search using true;
create policy tenant on collections for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON collections REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_collections();
CREATE TRIGGER meter_insert AFTER INSERT ON collections REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_collections();
CREATE TRIGGER meter_update AFTER UPDATE ON collections REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_collections();
CREATE TRIGGER search_title BEFORE INSERT OR UPDATE OF title ON collections FOR EACH ROW EXECUTE FUNCTION fd_search_note_title();
grant delete, insert, select, update on collections to fd_app;
grant select on collections to fd_operator;
grant select on collections to fd_worker;
grant select (id) on collections to fd_search;
grant select (slug) on collections to fd_search;
grant select (tenant_ref) on collections to fd_search;
grant select (title) on collections to fd_search;
grant select (title_words) on collections to fd_search;
grant update (title_words) on collections to fd_worker;

create table consent_texts (
  tenant_ref text not null,
  sha256 text not null,
  version text not null,
  locale text not null,
  text text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint consent_texts_locale_check CHECK ((length(locale) <= 35)),
  constraint consent_texts_pkey PRIMARY KEY (tenant_ref, sha256),
  constraint consent_texts_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint consent_texts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint consent_texts_text_check CHECK ((length(text) <= 2000)),
  constraint consent_texts_version_check CHECK ((length(version) <= 40))
);
alter table consent_texts owner to fd_owner;
alter table consent_texts enable row level security;
alter table consent_texts force row level security;
create policy operator on consent_texts for select to fd_operator using true;
create policy owner on consent_texts for all to fd_owner using true with check true;
create policy tenant on consent_texts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on consent_texts to fd_app;
grant insert, select on consent_texts to fd_worker;
grant select on consent_texts to fd_operator;

create table coupon_codes (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  coupon_id uuid not null,
  code text not null,
  folded text not null,
  single_use boolean not null,
  order_id uuid,
  created_at timestamp with time zone not null default fd_now(),
  constraint coupon_codes_check CHECK (((order_id IS NULL) OR single_use)),
  constraint coupon_codes_code_check CHECK (((length(code) >= 1) AND (length(code) <= 64))),
  constraint coupon_codes_folded UNIQUE (tenant_ref, folded),
  constraint coupon_codes_folded_check CHECK (((length(folded) >= 1) AND (length(folded) <= 256))),
  constraint coupon_codes_pkey PRIMARY KEY (tenant_ref, id),
  constraint coupon_codes_tenant_ref_coupon_id_fkey FOREIGN KEY (tenant_ref, coupon_id) REFERENCES coupons(tenant_ref, id),
  constraint coupon_codes_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table coupon_codes owner to fd_owner;
alter table coupon_codes enable row level security;
alter table coupon_codes force row level security;
CREATE INDEX coupon_codes_of_coupon ON coupon_codes USING btree (tenant_ref, coupon_id, single_use, created_at, id);
create policy operator on coupon_codes for select to fd_operator using true;
create policy owner on coupon_codes for all to fd_owner using true with check true;
create policy tenant on coupon_codes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON coupon_codes REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_coupon_codes();
CREATE TRIGGER meter_insert AFTER INSERT ON coupon_codes REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_coupon_codes();
grant insert, select, update on coupon_codes to fd_app;
grant select on coupon_codes to fd_operator;
grant select, update on coupon_codes to fd_worker;

create table coupon_redemptions (
  tenant_ref text not null,
  order_id uuid not null,
  coupon_id uuid not null,
  code_id uuid,
  customer_ref text not null,
  state text not null default 'claimed'::text,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  budget_taken bigint not null default 0,
  constraint coupon_redemptions_budget_taken_check CHECK ((budget_taken >= 0)),
  constraint coupon_redemptions_customer_ref_check CHECK (((length(customer_ref) >= 1) AND (length(customer_ref) <= 200))),
  constraint coupon_redemptions_pkey PRIMARY KEY (tenant_ref, order_id),
  constraint coupon_redemptions_state_check CHECK ((state = ANY (ARRAY['claimed'::text, 'confirmed'::text, 'released'::text]))),
  constraint coupon_redemptions_tenant_ref_code_id_fkey FOREIGN KEY (tenant_ref, code_id) REFERENCES coupon_codes(tenant_ref, id),
  constraint coupon_redemptions_tenant_ref_coupon_id_fkey FOREIGN KEY (tenant_ref, coupon_id) REFERENCES coupons(tenant_ref, id),
  constraint coupon_redemptions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table coupon_redemptions owner to fd_owner;
alter table coupon_redemptions enable row level security;
alter table coupon_redemptions force row level security;
CREATE INDEX coupon_redemptions_newest ON coupon_redemptions USING btree (tenant_ref, coupon_id, created_at DESC, order_id DESC);
CREATE INDEX coupon_redemptions_of_customer ON coupon_redemptions USING btree (tenant_ref, coupon_id, customer_ref) WHERE (state <> 'released'::text);
create policy operator on coupon_redemptions for select to fd_operator using true;
create policy owner on coupon_redemptions for all to fd_owner using true with check true;
create policy tenant on coupon_redemptions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on coupon_redemptions to fd_app;
grant insert, select, update on coupon_redemptions to fd_worker;
grant select on coupon_redemptions to fd_operator;

create table coupons (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  code text not null,
  type text not null,
  percent_bps integer,
  amount_cents bigint,
  min_subtotal_cents bigint,
  max_discount_cents bigint,
  starts_at timestamp with time zone,
  ends_at timestamp with time zone,
  usage_limit integer,
  usage_limit_per_customer integer,
  used_count integer not null default 0,
  first_order_only boolean not null default false,
  applies_to jsonb,
  recurring boolean not null default false,
  campaign_id uuid,
  status text not null default 'active'::text,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  is_exhausted boolean not null generated always as (COALESCE((used_count >= usage_limit), false)) stored,
  referral_code text,
  constraint coupons_amount_cents_check CHECK (((amount_cents >= 1) AND (amount_cents <= '100000000000'::bigint))),
  constraint coupons_applies_to_check CHECK ((jsonb_typeof(applies_to) = 'object'::text)),
  constraint coupons_check CHECK (((type = 'percent'::text) = (percent_bps IS NOT NULL))),
  constraint coupons_check1 CHECK (((type = 'fixed'::text) = (amount_cents IS NOT NULL))),
  constraint coupons_check2 CHECK ((ends_at > starts_at)),
  constraint coupons_code_check CHECK (((length(code) >= 1) AND (length(code) <= 64))),
  constraint coupons_max_discount_cents_check CHECK ((max_discount_cents >= 0)),
  constraint coupons_min_subtotal_cents_check CHECK ((min_subtotal_cents >= 0)),
  constraint coupons_of_campaign FOREIGN KEY (tenant_ref, campaign_id) REFERENCES campaigns(tenant_ref, id),
  constraint coupons_percent_bps_check CHECK (((percent_bps >= 1) AND (percent_bps <= 10000))),
  constraint coupons_pkey PRIMARY KEY (tenant_ref, id),
  constraint coupons_referral_code_check CHECK ((referral_code ~ '^[A-Za-z0-9_-]{1,64}$'::text)),
  constraint coupons_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'paused'::text]))),
  constraint coupons_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint coupons_type_check CHECK ((type = ANY (ARRAY['percent'::text, 'fixed'::text, 'free_shipping'::text]))),
  constraint coupons_usage_limit_check CHECK ((usage_limit >= 1)),
  constraint coupons_usage_limit_per_customer_check CHECK ((usage_limit_per_customer >= 1)),
  constraint coupons_used_count_check CHECK ((used_count >= 0))
);
alter table coupons owner to fd_owner;
alter table coupons enable row level security;
alter table coupons force row level security;
CREATE INDEX coupons_by_end ON coupons USING btree (tenant_ref, ends_at, is_exhausted) WHERE (status = 'active'::text);
CREATE INDEX coupons_by_status ON coupons USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX coupons_in_campaign ON coupons USING btree (tenant_ref, campaign_id, created_at DESC, id DESC) WHERE (campaign_id IS NOT NULL);
CREATE INDEX coupons_newest ON coupons USING btree (tenant_ref, created_at DESC, id DESC);
create policy operator on coupons for select to fd_operator using true;
create policy owner on coupons for all to fd_owner using true with check true;
create policy tenant on coupons for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on coupons to fd_app;
grant select on coupons to fd_operator;
grant select, update on coupons to fd_worker;

create table credentials (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
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
CREATE INDEX credentials_newest ON credentials USING btree (tenant_ref, created_at, id);
CREATE UNIQUE INDEX credentials_initial ON credentials USING btree (tenant_ref, initial_stage) WHERE ((initial_stage IS NOT NULL) AND (revoked_at IS NULL));
create policy gate on credentials for select to fd_gate using true;
create policy operator on credentials for select to fd_operator using true;
create policy owner on credentials for all to fd_owner using true with check true;
create policy tenant on credentials for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON credentials REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_credentials();
CREATE TRIGGER meter_insert AFTER INSERT ON credentials REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_credentials();
grant insert, select, update on credentials to fd_app;
grant select on credentials to fd_gate;
grant select on credentials to fd_operator;
grant select on credentials to fd_worker;

create table customers (
  tenant_ref text not null,
  ref_hash bytea not null,
  customer_ref text,
  person_id uuid,
  email text,
  email_folded text,
  name text,
  tags text[] not null default '{}'::text[],
  first_seen_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  erased_at timestamp with time zone,
  ref_folded text generated always as (lower(customer_ref)) stored,
  name_folded text generated always as (lower(name)) stored,
  last_name_folded text generated always as (lower("substring"(name, '\s(\S+)\s*$'::text))) stored,
  constraint customers_checks CHECK (fd_check_customers(customers.*)),
  constraint customers_pkey PRIMARY KEY (tenant_ref, ref_hash)
) with (fillfactor=90, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table customers owner to fd_owner;
alter table customers enable row level security;
alter table customers force row level security;
CREATE INDEX customers_by_email ON customers USING btree (tenant_ref, email_folded text_pattern_ops) INCLUDE (first_seen_at, ref_hash) WHERE (email_folded IS NOT NULL);
CREATE INDEX customers_by_last_name ON customers USING btree (tenant_ref, last_name_folded text_pattern_ops) INCLUDE (first_seen_at, ref_hash) WHERE (last_name_folded IS NOT NULL);
CREATE INDEX customers_by_name ON customers USING btree (tenant_ref, name_folded text_pattern_ops) INCLUDE (first_seen_at, ref_hash) WHERE (name_folded IS NOT NULL);
CREATE INDEX customers_by_ref ON customers USING btree (tenant_ref, ref_folded text_pattern_ops) INCLUDE (first_seen_at, ref_hash) WHERE (ref_folded IS NOT NULL);
CREATE INDEX customers_newest ON customers USING btree (tenant_ref, first_seen_at DESC, ref_hash DESC) WHERE (erased_at IS NULL);
create policy operator on customers for select to fd_operator using true;
create policy owner on customers for all to fd_owner using true with check true;
create policy tenant on customers for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on customers to fd_app;
grant insert, select, update on customers to fd_worker;
grant select on customers to fd_operator;

create table domains (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
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
CREATE INDEX domains_newest ON domains USING btree (tenant_ref, created_at DESC, id DESC) WHERE (status <> 'removed'::text);
CREATE INDEX domains_of_status ON domains USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE UNIQUE INDEX domains_claimed ON domains USING btree (tenant_ref, hostname) WHERE (status <> 'removed'::text);
CREATE UNIQUE INDEX domains_primary ON domains USING btree (tenant_ref) WHERE is_primary;
create policy due on domains for select to fd_worker using true;
create policy gate on domains for select to fd_gate using true;
create policy operator on domains for select to fd_operator using true;
create policy owner on domains for all to fd_owner using true with check true;
create policy tenant on domains for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on domains for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on domains to fd_app;
grant select on domains to fd_gate;
grant select on domains to fd_operator;
grant select, update on domains to fd_worker;

create table entitlement_requests (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  feature_key text not null,
  status text not null default 'pending'::text,
  note text,
  requested_by text not null,
  created_at timestamp with time zone not null default fd_now(),
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
CREATE INDEX entitlement_requests_all_newest ON entitlement_requests USING btree (created_at DESC, id DESC);
CREATE INDEX entitlement_requests_all_of_status ON entitlement_requests USING btree (status, created_at DESC, id DESC);
CREATE INDEX entitlement_requests_newest ON entitlement_requests USING btree (tenant_ref, created_at DESC, id DESC);
CREATE UNIQUE INDEX entitlement_requests_by_id ON entitlement_requests USING btree (id);
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
  updated_at timestamp with time zone not null default fd_now(),
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
  created_at timestamp with time zone not null default fd_now(),
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

create table fraud_ban_hits (
  tenant_ref text not null,
  id bigint not null generated by default as identity,
  ban_id uuid not null,
  constraint fraud_ban_hits_pkey PRIMARY KEY (tenant_ref, id),
  constraint fraud_ban_hits_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table fraud_ban_hits owner to fd_owner;
alter table fraud_ban_hits enable row level security;
alter table fraud_ban_hits force row level security;
CREATE INDEX fraud_ban_hits_of_ban ON fraud_ban_hits USING btree (tenant_ref, ban_id);
create policy due on fraud_ban_hits for select to fd_worker using true;
create policy operator on fraud_ban_hits for select to fd_operator using true;
create policy owner on fraud_ban_hits for all to fd_owner using true with check true;
create policy tenant on fraud_ban_hits for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on fraud_ban_hits for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select on fraud_ban_hits to fd_worker;
grant insert, select on fraud_ban_hits to fd_app;
grant select on fraud_ban_hits to fd_operator;

create table fraud_bans (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  kind text not null,
  value text not null,
  action text not null,
  reason text,
  expires_at timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  hits bigint not null default 0,
  lifted_at timestamp with time zone,
  lifted_by text,
  constraint fraud_bans_action_check CHECK ((action = ANY (ARRAY['block'::text, 'review'::text]))),
  constraint fraud_bans_check CHECK (((lifted_at IS NULL) = (lifted_by IS NULL))),
  constraint fraud_bans_hits_check CHECK ((hits >= 0)),
  constraint fraud_bans_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'email_domain'::text, 'ip'::text, 'cidr'::text, 'customer_ref'::text, 'card_fingerprint'::text, 'card_bin'::text, 'address'::text]))),
  constraint fraud_bans_pkey PRIMARY KEY (tenant_ref, id),
  constraint fraud_bans_reason_check CHECK ((length(reason) <= 500)),
  constraint fraud_bans_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint fraud_bans_value_check CHECK (((length(value) >= 1) AND (length(value) <= 500)))
);
alter table fraud_bans owner to fd_owner;
alter table fraud_bans enable row level security;
alter table fraud_bans force row level security;
CREATE INDEX fraud_bans_lifted ON fraud_bans USING btree (tenant_ref, created_at DESC, id DESC) WHERE (lifted_at IS NOT NULL);
CREATE INDEX fraud_bans_newest ON fraud_bans USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX fraud_bans_of_kind ON fraud_bans USING btree (tenant_ref, kind, created_at DESC, id DESC);
CREATE INDEX fraud_bans_unlifted ON fraud_bans USING btree (tenant_ref, expires_at) WHERE (lifted_at IS NULL);
CREATE UNIQUE INDEX fraud_bans_standing ON fraud_bans USING btree (tenant_ref, kind, value) WHERE (lifted_at IS NULL);
create policy operator on fraud_bans for select to fd_operator using true;
create policy owner on fraud_bans for all to fd_owner using true with check true;
create policy tenant on fraud_bans for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON fraud_bans REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_fraud_bans();
CREATE TRIGGER meter_insert AFTER INSERT ON fraud_bans REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_fraud_bans();
grant insert, select, update on fraud_bans to fd_app;
grant select on fraud_bans to fd_operator;
grant select, update on fraud_bans to fd_worker;

create table fraud_decisions (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  order_id uuid,
  decision text not null,
  score integer not null,
  signals jsonb not null,
  ban_ids uuid[] not null default '{}'::uuid[],
  created_at timestamp with time zone not null default fd_now(),
  constraint fraud_decisions_decision_check CHECK ((decision = ANY (ARRAY['accepted'::text, 'review'::text, 'rejected'::text]))),
  constraint fraud_decisions_pkey PRIMARY KEY (tenant_ref, id),
  constraint fraud_decisions_score_check CHECK ((score >= 0)),
  constraint fraud_decisions_signals_check CHECK ((jsonb_typeof(signals) = 'array'::text))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table fraud_decisions owner to fd_owner;
alter table fraud_decisions enable row level security;
alter table fraud_decisions force row level security;
CREATE INDEX fraud_decisions_by_decision ON fraud_decisions USING btree (tenant_ref, decision, created_at DESC, id DESC) WHERE (decision <> 'accepted'::text);
CREATE INDEX fraud_decisions_newest ON fraud_decisions USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX fraud_decisions_of_order ON fraud_decisions USING btree (tenant_ref, order_id) WHERE (order_id IS NOT NULL);
create policy due on fraud_decisions for select to fd_worker using true;
create policy operator on fraud_decisions for select to fd_operator using true;
create policy owner on fraud_decisions for all to fd_owner using true with check true;
create policy tenant on fraud_decisions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on fraud_decisions for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER frozen BEFORE UPDATE OR TRUNCATE ON fraud_decisions FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
CREATE TRIGGER young BEFORE DELETE ON fraud_decisions FOR EACH ROW EXECUTE FUNCTION fd_refuse_young('created_at', '28 days');
grant delete, insert, select on fraud_decisions to fd_worker;
grant insert, select on fraud_decisions to fd_app;
grant select on fraud_decisions to fd_operator;

create table fraud_settings (
  tenant_ref text not null,
  settings jsonb not null,
  updated_by text not null,
  updated_at timestamp with time zone not null default fd_now(),
  constraint fraud_settings_pkey PRIMARY KEY (tenant_ref),
  constraint fraud_settings_settings_check CHECK ((jsonb_typeof(settings) = 'object'::text)),
  constraint fraud_settings_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint fraud_settings_updated_by_check CHECK ((length(updated_by) <= 200))
);
alter table fraud_settings owner to fd_owner;
alter table fraud_settings enable row level security;
alter table fraud_settings force row level security;
create policy operator on fraud_settings for select to fd_operator using true;
create policy owner on fraud_settings for all to fd_owner using true with check true;
create policy tenant on fraud_settings for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on fraud_settings to fd_app;
grant select on fraud_settings to fd_operator;
grant select on fraud_settings to fd_worker;

create table fulfillment_items (
  tenant_ref text not null,
  fulfillment_id uuid not null,
  order_item_id uuid not null,
  "position" integer not null,
  variant_id uuid not null,
  sku text not null,
  product_name text not null,
  label text,
  quantity integer not null,
  stock_quantity integer not null,
  constraint fulfillment_items_check CHECK (((stock_quantity >= 0) AND (stock_quantity <= quantity))),
  constraint fulfillment_items_pkey PRIMARY KEY (tenant_ref, fulfillment_id, order_item_id),
  constraint fulfillment_items_quantity_check CHECK ((quantity > 0)),
  constraint fulfillment_items_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint fulfillment_items_tenant_ref_fulfillment_id_fkey FOREIGN KEY (tenant_ref, fulfillment_id) REFERENCES fulfillments(tenant_ref, id),
  constraint fulfillment_items_tenant_ref_order_item_id_fkey FOREIGN KEY (tenant_ref, order_item_id) REFERENCES order_items(tenant_ref, id)
);
alter table fulfillment_items owner to fd_owner;
alter table fulfillment_items enable row level security;
alter table fulfillment_items force row level security;
CREATE INDEX fulfillment_items_of_line ON fulfillment_items USING btree (tenant_ref, order_item_id);
create policy operator on fulfillment_items for select to fd_operator using true;
create policy owner on fulfillment_items for all to fd_owner using true with check true;
create policy tenant on fulfillment_items for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on fulfillment_items to fd_app;
grant insert, select on fulfillment_items to fd_worker;
grant select on fulfillment_items to fd_operator;

create table fulfillments (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  order_id uuid not null,
  number integer not null,
  fulfillment_number text not null,
  location_id text not null,
  status text not null default 'pending'::text,
  carrier text,
  service text,
  tracking_number text,
  tracking_url text,
  weight_grams integer,
  cancel_reason text,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  shipped_at timestamp with time zone,
  delivered_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  deliver_at timestamp with time zone,
  constraint fulfillments_cancel_reason_check CHECK ((cancel_reason = ANY (ARRAY['lost'::text, 'returned_to_sender'::text, 'error'::text, 'order_cancelled'::text]))),
  constraint fulfillments_carrier_check CHECK ((length(carrier) <= 100)),
  constraint fulfillments_check CHECK (((status = ANY (ARRAY['shipped'::text, 'delivered'::text])) <= (shipped_at IS NOT NULL))),
  constraint fulfillments_check1 CHECK (((status = 'delivered'::text) <= (delivered_at IS NOT NULL))),
  constraint fulfillments_check2 CHECK (((status = 'cancelled'::text) = (cancelled_at IS NOT NULL))),
  constraint fulfillments_created_by_check CHECK ((length(created_by) <= 200)),
  constraint fulfillments_fulfillment_number_check CHECK ((length(fulfillment_number) <= 50)),
  constraint fulfillments_number_check CHECK ((number > 0)),
  constraint fulfillments_pkey PRIMARY KEY (tenant_ref, id),
  constraint fulfillments_service_check CHECK ((length(service) <= 100)),
  constraint fulfillments_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'shipped'::text, 'delivered'::text, 'cancelled'::text]))),
  constraint fulfillments_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint fulfillments_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id),
  constraint fulfillments_tenant_ref_order_id_number_key UNIQUE (tenant_ref, order_id, number),
  constraint fulfillments_tracking_number_check CHECK ((length(tracking_number) <= 200)),
  constraint fulfillments_tracking_url_check CHECK ((length(tracking_url) <= 2000)),
  constraint fulfillments_weight_grams_check CHECK (((weight_grams >= 1) AND (weight_grams <= 1000000000)))
);
alter table fulfillments owner to fd_owner;
alter table fulfillments enable row level security;
alter table fulfillments force row level security;
CREATE INDEX fulfillments_due ON fulfillments USING btree (deliver_at) WHERE ((deliver_at IS NOT NULL) AND (status = 'shipped'::text));
CREATE INDEX fulfillments_due_of_tenant ON fulfillments USING btree (tenant_ref, deliver_at) WHERE ((deliver_at IS NOT NULL) AND (status = 'shipped'::text));
CREATE INDEX fulfillments_newest ON fulfillments USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX fulfillments_of_status ON fulfillments USING btree (tenant_ref, status, created_at DESC, id DESC);
create policy due on fulfillments for select to fd_worker using true;
create policy operator on fulfillments for select to fd_operator using true;
create policy owner on fulfillments for all to fd_owner using true with check true;
create policy tenant on fulfillments for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on fulfillments for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on fulfillments to fd_app;
grant insert, select, update on fulfillments to fd_worker;
grant select on fulfillments to fd_operator;

create table funnel_days (
  tenant_ref text not null,
  day date not null,
  type text not null,
  product_id uuid not null,
  shard smallint not null,
  count bigint not null,
  constraint funnel_days_count_check CHECK ((count > 0)),
  constraint funnel_days_pkey PRIMARY KEY (tenant_ref, day, type, product_id, shard),
  constraint funnel_days_shard_check CHECK (((shard >= 0) AND (shard <= 7))),
  constraint funnel_days_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint funnel_days_type_check CHECK ((type = ANY (ARRAY['view'::text, 'search'::text, 'add_to_cart'::text, 'begin_checkout'::text])))
) with (fillfactor=70);
alter table funnel_days owner to fd_owner;
alter table funnel_days enable row level security;
alter table funnel_days force row level security;
CREATE INDEX funnel_days_of_all ON funnel_days USING btree (tenant_ref, day) WHERE (product_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid);
create policy due on funnel_days for select to fd_worker using true;
create policy operator on funnel_days for select to fd_operator using true;
create policy owner on funnel_days for all to fd_owner using true with check true;
create policy tenant on funnel_days for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on funnel_days for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, select on funnel_days to fd_worker;
grant insert, select, update on funnel_days to fd_app;
grant select on funnel_days to fd_operator;

create table gateway_accounts (
  tenant_ref text not null,
  provider text not null,
  account_ref text not null,
  scheme text not null,
  signing_key bytea,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  removed_at timestamp with time zone,
  constraint gateway_accounts_account_ref_check CHECK ((account_ref ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$'::text)),
  constraint gateway_accounts_check CHECK (((removed_at IS NULL) = (signing_key IS NOT NULL))),
  constraint gateway_accounts_pkey PRIMARY KEY (tenant_ref, provider, account_ref),
  constraint gateway_accounts_provider_check CHECK ((provider ~ '^[a-z0-9][a-z0-9_-]{0,39}$'::text)),
  constraint gateway_accounts_scheme_check CHECK ((scheme ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
  constraint gateway_accounts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table gateway_accounts owner to fd_owner;
alter table gateway_accounts enable row level security;
alter table gateway_accounts force row level security;
CREATE INDEX gateway_accounts_of_ref ON gateway_accounts USING btree (account_ref, provider);
CREATE UNIQUE INDEX gateway_accounts_gate ON gateway_accounts USING btree (provider, account_ref) WHERE (removed_at IS NULL);
create policy gate on gateway_accounts for select to fd_gate using true;
create policy operator on gateway_accounts for select to fd_operator using true;
create policy owner on gateway_accounts for all to fd_owner using true with check true;
create policy tenant on gateway_accounts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on gateway_accounts to fd_app;
grant select on gateway_accounts to fd_gate;
grant select on gateway_accounts to fd_operator;
grant select on gateway_accounts to fd_worker;

create table gateway_events (
  tenant_ref text not null,
  provider text not null,
  account_ref text not null,
  event_id text not null,
  event_type text,
  scheme text not null,
  status text not null default 'received'::text,
  body bytea,
  headers jsonb not null,
  received_at timestamp with time zone not null default fd_now(),
  handled_at timestamp with time zone,
  reason text,
  constraint gateway_events_event_id_check CHECK (((length(event_id) >= 1) AND (length(event_id) <= 200))),
  constraint gateway_events_event_type_check CHECK ((length(event_type) <= 100)),
  constraint gateway_events_pkey PRIMARY KEY (tenant_ref, provider, account_ref, event_id),
  constraint gateway_events_reason_check CHECK ((length(reason) <= 40)),
  constraint gateway_events_status_check CHECK ((status = ANY (ARRAY['received'::text, 'applied'::text, 'ignored'::text, 'unhandled'::text])))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table gateway_events owner to fd_owner;
alter table gateway_events enable row level security;
alter table gateway_events force row level security;
CREATE INDEX gateway_events_all_newest ON gateway_events USING btree (received_at DESC, event_id DESC);
CREATE INDEX gateway_events_kept ON gateway_events USING btree (tenant_ref, received_at) WHERE (body IS NOT NULL);
CREATE INDEX gateway_events_newest ON gateway_events USING btree (tenant_ref, provider, account_ref, received_at DESC);
CREATE INDEX gateway_events_old ON gateway_events USING btree (tenant_ref, received_at);
CREATE INDEX gateway_events_to_watch ON gateway_events USING btree (status, received_at DESC, event_id DESC) WHERE (status <> 'applied'::text);
create policy due on gateway_events for select to fd_worker using true;
create policy operator on gateway_events for select to fd_operator using true;
create policy owner on gateway_events for all to fd_owner using true with check true;
create policy tenant on gateway_events for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on gateway_events for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, select, update on gateway_events to fd_worker;
grant insert, select on gateway_events to fd_app;
grant select on gateway_events to fd_operator;

create table gift_card_purchases (
  tenant_ref text not null,
  order_item_id uuid not null,
  order_id uuid not null,
  quantity integer not null,
  amount_cents bigint not null,
  for_buyer boolean not null,
  recipient_email text,
  recipient_folded text generated always as (lower(recipient_email)) stored,
  recipient_name text,
  message text,
  send_at timestamp with time zone,
  constraint gift_card_purchases_amount_cents_check CHECK (((amount_cents >= 1) AND (amount_cents <= '100000000000'::bigint))),
  constraint gift_card_purchases_message_check CHECK ((length(message) <= 1000)),
  constraint gift_card_purchases_pkey PRIMARY KEY (tenant_ref, order_item_id),
  constraint gift_card_purchases_quantity_check CHECK ((quantity > 0)),
  constraint gift_card_purchases_recipient_email_check CHECK ((length(recipient_email) <= 254)),
  constraint gift_card_purchases_recipient_name_check CHECK ((length(recipient_name) <= 200)),
  constraint gift_card_purchases_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table gift_card_purchases owner to fd_owner;
alter table gift_card_purchases enable row level security;
alter table gift_card_purchases force row level security;
CREATE INDEX gift_card_purchases_of_order ON gift_card_purchases USING btree (tenant_ref, order_id);
CREATE INDEX gift_card_purchases_of_recipient ON gift_card_purchases USING btree (tenant_ref, recipient_folded) WHERE (recipient_folded IS NOT NULL);
create policy operator on gift_card_purchases for select to fd_operator using true;
create policy owner on gift_card_purchases for all to fd_owner using true with check true;
create policy tenant on gift_card_purchases for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on gift_card_purchases to fd_app;
grant select on gift_card_purchases to fd_operator;
grant select, update on gift_card_purchases to fd_worker;

create table gift_card_transactions (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  gift_card_id uuid not null,
  type text not null,
  event text not null,
  amount_cents bigint not null,
  balance_after_cents bigint not null,
  order_id uuid,
  reason text,
  actor text not null,
  created_at timestamp with time zone not null default fd_clock(),
  constraint gift_card_transactions_amount_cents_check CHECK ((amount_cents > 0)),
  constraint gift_card_transactions_balance_after_cents_check CHECK ((balance_after_cents >= 0)),
  constraint gift_card_transactions_event_check CHECK ((event = ANY (ARRAY['issue'::text, 'adjustment'::text, 'order'::text, 'refund'::text, 'expiration'::text]))),
  constraint gift_card_transactions_pkey PRIMARY KEY (tenant_ref, id),
  constraint gift_card_transactions_reason_check CHECK ((length(reason) <= 500)),
  constraint gift_card_transactions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint gift_card_transactions_tenant_ref_gift_card_id_fkey FOREIGN KEY (tenant_ref, gift_card_id) REFERENCES gift_cards(tenant_ref, id),
  constraint gift_card_transactions_type_check CHECK ((type = ANY (ARRAY['credit'::text, 'debit'::text, 'hold'::text, 'capture'::text, 'void'::text, 'expire'::text])))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table gift_card_transactions owner to fd_owner;
alter table gift_card_transactions enable row level security;
alter table gift_card_transactions force row level security;
CREATE INDEX gift_card_transactions_newest ON gift_card_transactions USING btree (tenant_ref, gift_card_id, created_at DESC, id DESC);
create policy operator on gift_card_transactions for select to fd_operator using true;
create policy owner on gift_card_transactions for all to fd_owner using true with check true;
create policy tenant on gift_card_transactions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on gift_card_transactions to fd_app;
grant insert, select on gift_card_transactions to fd_worker;
grant select on gift_card_transactions to fd_operator;
grant update (reason) on gift_card_transactions to fd_app;
grant update (reason) on gift_card_transactions to fd_worker;

create table gift_cards (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  code_hmac bytea not null,
  code_last4 text not null,
  code_sealed bytea,
  initial_balance_cents bigint not null,
  balance_cents bigint not null,
  held_cents bigint not null default 0,
  currency text not null,
  expires_at timestamp with time zone,
  expired_at timestamp with time zone,
  disabled_at timestamp with time zone,
  status text not null generated always as (
CASE
    WHEN (expired_at IS NOT NULL) THEN 'expired'::text
    WHEN (disabled_at IS NOT NULL) THEN 'disabled'::text
    WHEN (balance_cents = 0) THEN 'depleted'::text
    ELSE 'active'::text
END) stored,
  issued_order_id uuid,
  recipient_email text,
  customer_ref text,
  note text,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  recipient_folded text generated always as (lower(recipient_email)) stored,
  order_item_id uuid,
  send_at timestamp with time zone,
  sent_at timestamp with time zone,
  code_until timestamp with time zone default (fd_now() + '24:00:00'::interval),
  pending_refund_id uuid,
  pending_refund_cents bigint,
  constraint gift_cards_balance_cents_check CHECK (((balance_cents >= 0) AND (balance_cents <= '9007199254740991'::bigint))),
  constraint gift_cards_check CHECK ((held_cents <= balance_cents)),
  constraint gift_cards_check1 CHECK (((expired_at IS NULL) OR (expires_at IS NOT NULL))),
  constraint gift_cards_check2 CHECK (((expired_at IS NULL) OR (disabled_at IS NULL))),
  constraint gift_cards_code UNIQUE (tenant_ref, code_hmac),
  constraint gift_cards_code_hmac_check CHECK ((length(code_hmac) = 32)),
  constraint gift_cards_code_last4_check CHECK ((length(code_last4) = 4)),
  constraint gift_cards_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint gift_cards_customer_ref_check CHECK (((length(customer_ref) >= 1) AND (length(customer_ref) <= 200))),
  constraint gift_cards_held_cents_check CHECK ((held_cents >= 0)),
  constraint gift_cards_initial_balance_cents_check CHECK (((initial_balance_cents >= 1) AND (initial_balance_cents <= '100000000000'::bigint))),
  constraint gift_cards_note_check CHECK ((length(note) <= 2000)),
  constraint gift_cards_pending_refund_check CHECK ((((pending_refund_id IS NULL) = (pending_refund_cents IS NULL)) AND ((pending_refund_cents >= 1) AND (pending_refund_cents <= (balance_cents - held_cents))))),
  constraint gift_cards_pkey PRIMARY KEY (tenant_ref, id),
  constraint gift_cards_recipient_email_check CHECK ((length(recipient_email) <= 254)),
  constraint gift_cards_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table gift_cards owner to fd_owner;
alter table gift_cards enable row level security;
alter table gift_cards force row level security;
CREATE INDEX gift_cards_by_status ON gift_cards USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX gift_cards_due ON gift_cards USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (disabled_at IS NULL) AND ((expired_at IS NULL) OR (balance_cents > held_cents)));
CREATE INDEX gift_cards_due_of_tenant ON gift_cards USING btree (tenant_ref, expires_at) WHERE ((expires_at IS NOT NULL) AND (disabled_at IS NULL) AND ((expired_at IS NULL) OR (balance_cents > held_cents)));
CREATE INDEX gift_cards_last4 ON gift_cards USING btree (tenant_ref, code_last4, created_at DESC, id DESC);
CREATE INDEX gift_cards_newest ON gift_cards USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX gift_cards_of_customer ON gift_cards USING btree (tenant_ref, customer_ref) WHERE (customer_ref IS NOT NULL);
CREATE INDEX gift_cards_of_order ON gift_cards USING btree (tenant_ref, issued_order_id) WHERE (issued_order_id IS NOT NULL);
CREATE INDEX gift_cards_of_recipient ON gift_cards USING btree (tenant_ref, recipient_folded) WHERE (recipient_folded IS NOT NULL);
CREATE INDEX gift_cards_of_refund ON gift_cards USING btree (tenant_ref, pending_refund_id) WHERE (pending_refund_id IS NOT NULL);
CREATE INDEX gift_cards_shown ON gift_cards USING btree (tenant_ref, code_until) WHERE (code_sealed IS NOT NULL);
create policy due on gift_cards for select to fd_worker using true;
create policy operator on gift_cards for select to fd_operator using true;
create policy owner on gift_cards for all to fd_owner using true with check true;
create policy tenant on gift_cards for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on gift_cards for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER meter_delete AFTER DELETE ON gift_cards REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_gift_cards();
CREATE TRIGGER meter_insert AFTER INSERT ON gift_cards REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_gift_cards();
grant insert, select, update on gift_cards to fd_app;
grant insert, select, update on gift_cards to fd_worker;
grant select on gift_cards to fd_operator;

create table global_mail_suppressions (
  id uuid not null default fd_uuid(),
  email_hash bytea not null,
  domain text not null,
  reason text not null,
  detail text,
  created_at timestamp with time zone not null default now(),
  constraint global_mail_suppressions_detail_check CHECK ((length(detail) <= 500)),
  constraint global_mail_suppressions_domain_check CHECK ((length(domain) <= 253)),
  constraint global_mail_suppressions_email UNIQUE (email_hash),
  constraint global_mail_suppressions_email_hash_check CHECK ((length(email_hash) = 32)),
  constraint global_mail_suppressions_pkey PRIMARY KEY (id),
  constraint global_mail_suppressions_reason_check CHECK ((reason = ANY (ARRAY['hard_bounce'::text, 'complaint'::text])))
);
alter table global_mail_suppressions owner to fd_owner;
CREATE INDEX global_mail_suppressions_newest ON global_mail_suppressions USING btree (created_at DESC, id DESC);
grant delete, insert, select on global_mail_suppressions to fd_app;
grant insert, select on global_mail_suppressions to fd_worker;
grant select on global_mail_suppressions to fd_operator;

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
  alerted_at timestamp with time zone,
  next_attempt_at timestamp with time zone,
  due_at timestamp with time zone generated always as (COALESCE(next_attempt_at, lease_until)) stored,
  constraint idempotency_keys_checks CHECK (fd_check_idempotency_keys(idempotency_keys.*)),
  constraint idempotency_keys_pkey PRIMARY KEY (tenant_ref, operation, key)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table idempotency_keys owner to fd_owner;
alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
CREATE INDEX idempotency_keys_due ON idempotency_keys USING btree (due_at) WHERE (state = 'running'::text);
CREATE INDEX idempotency_keys_due_of_tenant ON idempotency_keys USING btree (tenant_ref, due_at) WHERE (state = 'running'::text);
CREATE INDEX idempotency_keys_of_resource ON idempotency_keys USING btree (tenant_ref, resource_id) WHERE (resource_id IS NOT NULL);
CREATE INDEX idempotency_keys_old ON idempotency_keys USING btree (tenant_ref, answered_at) WHERE ((state = 'answered'::text) AND ((operation <> ALL (ARRAY['refund'::text, 'cancel'::text, 'cancel_remaining'::text, 'edit'::text, 'correct'::text, 'release'::text, 'return_receive'::text, 'exchange'::text, 'pay'::text, 'renewal'::text, 'gift_card_issue'::text, 'gift_card_batch'::text, 'gift_card_adjust'::text, 'store_credit_credit'::text, 'store_credit_debit'::text])) OR ((operation = 'renewal'::text) AND starts_with(key, 'sub:'::text)) OR ((response_status >= 300) AND (recovery_point = 'started'::text))));
create policy due on idempotency_keys for select to fd_worker using true;
create policy operator on idempotency_keys for select to fd_operator using true;
create policy owner on idempotency_keys for all to fd_owner using true with check true;
create policy tenant on idempotency_keys for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on idempotency_keys for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on idempotency_keys to fd_app;
grant delete, insert, select, update on idempotency_keys to fd_worker;
grant select on idempotency_keys to fd_operator;

create table installation (
  only_row boolean not null default true,
  key_check text not null,
  constraint installation_key_check_check CHECK ((length(key_check) = 64)),
  constraint installation_only_row_check CHECK (only_row),
  constraint installation_pkey PRIMARY KEY (only_row)
);
alter table installation owner to fd_owner;

create table inventory_cost_entries (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  seq bigint not null generated by default as identity,
  variant_id uuid not null,
  kind text not null,
  units bigint not null,
  cost_cents bigint not null default 0,
  value_cents bigint not null,
  sold_cents bigint not null default 0,
  units_after bigint not null,
  value_after_cents bigint not null,
  movement_id uuid,
  order_id uuid,
  purchase_order_id uuid,
  created_at timestamp with time zone not null default fd_clock(),
  constraint inventory_cost_entries_kind_check CHECK ((kind = ANY (ARRAY['opening'::text, 'received'::text, 'shipped'::text, 'adjusted'::text, 'landed_cost'::text]))),
  constraint inventory_cost_entries_pkey PRIMARY KEY (tenant_ref, id),
  constraint inventory_cost_entries_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_cost_entries_tenant_ref_variant_id_fkey FOREIGN KEY (tenant_ref, variant_id) REFERENCES variants(tenant_ref, id)
);
alter table inventory_cost_entries owner to fd_owner;
alter table inventory_cost_entries enable row level security;
alter table inventory_cost_entries force row level security;
CREATE INDEX inventory_cost_entries_of_order ON inventory_cost_entries USING btree (tenant_ref, order_id) WHERE (order_id IS NOT NULL);
CREATE INDEX inventory_cost_entries_of_variant ON inventory_cost_entries USING btree (tenant_ref, variant_id, seq DESC);
create policy operator on inventory_cost_entries for select to fd_operator using true;
create policy owner on inventory_cost_entries for all to fd_owner using true with check true;
create policy tenant on inventory_cost_entries for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON inventory_cost_entries FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
CREATE TRIGGER queued AFTER INSERT ON inventory_cost_entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_queue_cost_entries();
grant insert, select on inventory_cost_entries to fd_app;
grant insert, select on inventory_cost_entries to fd_worker;
grant select on inventory_cost_entries to fd_operator;

create table inventory_costs (
  tenant_ref text not null,
  variant_id uuid not null,
  units bigint not null,
  value_cents bigint not null,
  last_units bigint not null,
  last_value_cents bigint not null,
  arrived bigint not null default 0,
  updated_at timestamp with time zone not null default fd_now(),
  constraint inventory_costs_check CHECK (((units > 0) OR (value_cents = 0))),
  constraint inventory_costs_last_units_check CHECK ((last_units > 0)),
  constraint inventory_costs_last_value_cents_check CHECK ((last_value_cents >= 0)),
  constraint inventory_costs_pkey PRIMARY KEY (tenant_ref, variant_id),
  constraint inventory_costs_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_costs_tenant_ref_variant_id_fkey FOREIGN KEY (tenant_ref, variant_id) REFERENCES variants(tenant_ref, id),
  constraint inventory_costs_value_cents_check CHECK ((value_cents >= 0))
);
alter table inventory_costs owner to fd_owner;
alter table inventory_costs enable row level security;
alter table inventory_costs force row level security;
create policy operator on inventory_costs for select to fd_operator using true;
create policy owner on inventory_costs for all to fd_owner using true with check true;
create policy tenant on inventory_costs for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on inventory_costs to fd_app;
grant insert, select, update on inventory_costs to fd_worker;
grant select on inventory_costs to fd_operator;

create table inventory_counts (
  tenant_ref text not null,
  variant_id uuid not null,
  location_id text not null,
  seq bigint not null,
  on_hand bigint not null,
  allocated bigint not null,
  again_at timestamp with time zone not null,
  constraint inventory_counts_pkey PRIMARY KEY (tenant_ref, variant_id, location_id),
  constraint inventory_counts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_counts_tenant_ref_variant_id_location_id_fkey FOREIGN KEY (tenant_ref, variant_id, location_id) REFERENCES inventory_levels(tenant_ref, variant_id, location_id)
);
alter table inventory_counts owner to fd_owner;
alter table inventory_counts enable row level security;
alter table inventory_counts force row level security;
create policy operator on inventory_counts for select to fd_operator using true;
create policy owner on inventory_counts for all to fd_owner using true with check true;
create policy tenant on inventory_counts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on inventory_counts to fd_worker;
grant select on inventory_counts to fd_app;
grant select on inventory_counts to fd_operator;

create table inventory_discrepancies (
  tenant_ref text not null,
  variant_id uuid not null,
  location_id text not null,
  counter text not null,
  kept bigint not null,
  counted bigint not null,
  first_seen_at timestamp with time zone not null default fd_now(),
  last_seen_at timestamp with time zone not null default fd_now(),
  constraint inventory_discrepancies_counter_check CHECK ((counter = ANY (ARRAY['on_hand'::text, 'allocated'::text, 'reserved'::text, 'held'::text, 'packed'::text]))),
  constraint inventory_discrepancies_pkey PRIMARY KEY (tenant_ref, variant_id, location_id, counter),
  constraint inventory_discrepancies_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_discrepancies_tenant_ref_variant_id_location_id_fkey FOREIGN KEY (tenant_ref, variant_id, location_id) REFERENCES inventory_levels(tenant_ref, variant_id, location_id)
);
alter table inventory_discrepancies owner to fd_owner;
alter table inventory_discrepancies enable row level security;
alter table inventory_discrepancies force row level security;
create policy operator on inventory_discrepancies for select to fd_operator using true;
create policy owner on inventory_discrepancies for all to fd_owner using true with check true;
create policy tenant on inventory_discrepancies for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on inventory_discrepancies to fd_worker;
grant select on inventory_discrepancies to fd_app;
grant select on inventory_discrepancies to fd_operator;

create table inventory_levels (
  tenant_ref text not null,
  variant_id uuid not null,
  location_id text not null,
  on_hand bigint not null default 0,
  allocated bigint not null default 0,
  reserved bigint not null default 0,
  incoming bigint not null default 0,
  updated_at timestamp with time zone not null default fd_now(),
  packed bigint not null default 0,
  constraint inventory_levels_allocated_check CHECK ((allocated >= 0)),
  constraint inventory_levels_incoming_check CHECK ((incoming >= 0)),
  constraint inventory_levels_on_hand_check CHECK (((on_hand >= '-1000000000'::integer) AND (on_hand <= 1000000000))),
  constraint inventory_levels_packed_check CHECK ((packed >= 0)),
  constraint inventory_levels_pkey PRIMARY KEY (tenant_ref, variant_id, location_id),
  constraint inventory_levels_reserved_check CHECK ((reserved >= 0)),
  constraint inventory_levels_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_levels_tenant_ref_location_id_fkey FOREIGN KEY (tenant_ref, location_id) REFERENCES inventory_locations(tenant_ref, id),
  constraint inventory_levels_tenant_ref_variant_id_fkey FOREIGN KEY (tenant_ref, variant_id) REFERENCES variants(tenant_ref, id)
);
alter table inventory_levels owner to fd_owner;
alter table inventory_levels enable row level security;
alter table inventory_levels force row level security;
CREATE INDEX inventory_levels_of_location ON inventory_levels USING btree (tenant_ref, location_id);
create policy due on inventory_levels for select to fd_worker using true;
create policy operator on inventory_levels for select to fd_operator using true;
create policy owner on inventory_levels for all to fd_owner using true with check true;
create policy tenant on inventory_levels for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on inventory_levels for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER low_stock_insert AFTER INSERT ON inventory_levels REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_note_new_stock();
CREATE TRIGGER low_stock_update AFTER UPDATE ON inventory_levels REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_note_stock();
grant insert, select, update on inventory_levels to fd_app;
grant select on inventory_levels to fd_operator;
grant select, update on inventory_levels to fd_worker;

create table inventory_locations (
  tenant_ref text not null,
  id text not null,
  name text not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  archived_at timestamp with time zone,
  constraint inventory_locations_check CHECK (((id <> 'default'::text) OR (archived_at IS NULL))),
  constraint inventory_locations_id_check CHECK ((id ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text)),
  constraint inventory_locations_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint inventory_locations_pkey PRIMARY KEY (tenant_ref, id),
  constraint inventory_locations_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table inventory_locations owner to fd_owner;
alter table inventory_locations enable row level security;
alter table inventory_locations force row level security;
create policy operator on inventory_locations for select to fd_operator using true;
create policy owner on inventory_locations for all to fd_owner using true with check true;
create policy tenant on inventory_locations for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON inventory_locations REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_inventory_locations();
CREATE TRIGGER meter_insert AFTER INSERT ON inventory_locations REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_inventory_locations();
grant insert, select, update on inventory_locations to fd_app;
grant select on inventory_locations to fd_operator;
grant select on inventory_locations to fd_worker;

create table inventory_movements (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  seq bigint not null generated by default as identity,
  variant_id uuid not null,
  location_id text not null,
  kind text not null,
  quantity bigint not null,
  on_hand_after bigint not null,
  allocated_after bigint not null,
  order_id uuid,
  fulfillment_id uuid,
  return_id uuid,
  purchase_order_id uuid,
  actor text not null,
  reason text,
  created_at timestamp with time zone not null default fd_clock(),
  transfer_id uuid,
  count_id uuid,
  cost_cents bigint,
  constraint inventory_movements_check CHECK (((kind <> ALL (ARRAY['received'::text, 'allocated'::text])) OR (quantity > 0))),
  constraint inventory_movements_check1 CHECK (((kind <> ALL (ARRAY['shipped'::text, 'released'::text])) OR (quantity < 0))),
  constraint inventory_movements_cost_cents_check CHECK ((cost_cents >= 0)),
  constraint inventory_movements_kind_check CHECK ((kind = ANY (ARRAY['received'::text, 'allocated'::text, 'shipped'::text, 'released'::text, 'adjusted'::text, 'transferred'::text]))),
  constraint inventory_movements_pkey PRIMARY KEY (tenant_ref, id),
  constraint inventory_movements_quantity_check CHECK ((quantity <> 0)),
  constraint inventory_movements_reason_check CHECK ((length(reason) <= 500)),
  constraint inventory_movements_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_movements_tenant_ref_variant_id_location_id_fkey FOREIGN KEY (tenant_ref, variant_id, location_id) REFERENCES inventory_levels(tenant_ref, variant_id, location_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table inventory_movements owner to fd_owner;
alter table inventory_movements enable row level security;
alter table inventory_movements force row level security;
CREATE INDEX inventory_movements_newest ON inventory_movements USING btree (tenant_ref, seq DESC);
CREATE INDEX inventory_movements_of_kind ON inventory_movements USING btree (tenant_ref, kind, seq DESC) WHERE (kind <> 'allocated'::text);
CREATE INDEX inventory_movements_of_variant ON inventory_movements USING btree (tenant_ref, variant_id, location_id, seq DESC);
create policy operator on inventory_movements for select to fd_operator using true;
create policy owner on inventory_movements for all to fd_owner using true with check true;
create policy tenant on inventory_movements for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON inventory_movements FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
CREATE TRIGGER valued AFTER INSERT ON inventory_movements FOR EACH ROW WHEN ((new.kind = ANY (ARRAY['received'::text, 'shipped'::text, 'adjusted'::text]))) EXECUTE FUNCTION fd_value_movement();
grant insert, select on inventory_movements to fd_app;
grant insert, select on inventory_movements to fd_worker;
grant select on inventory_movements to fd_operator;

create table inventory_order_changes (
  tenant_ref text not null,
  order_id uuid not null,
  change_id uuid not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint inventory_order_changes_pkey PRIMARY KEY (tenant_ref, order_id, change_id),
  constraint inventory_order_changes_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table inventory_order_changes owner to fd_owner;
alter table inventory_order_changes enable row level security;
alter table inventory_order_changes force row level security;
create policy operator on inventory_order_changes for select to fd_operator using true;
create policy owner on inventory_order_changes for all to fd_owner using true with check true;
create policy tenant on inventory_order_changes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON inventory_order_changes FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on inventory_order_changes to fd_app;
grant insert, select on inventory_order_changes to fd_worker;
grant select on inventory_order_changes to fd_operator;

create table inventory_recounts (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  due_at timestamp with time zone not null,
  lease_until timestamp with time zone,
  lease_token uuid,
  variant_id uuid,
  location_id text,
  begun_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint inventory_recounts_check CHECK (((variant_id IS NULL) = (location_id IS NULL))),
  constraint inventory_recounts_pkey PRIMARY KEY (tenant_ref),
  constraint inventory_recounts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table inventory_recounts owner to fd_owner;
alter table inventory_recounts enable row level security;
alter table inventory_recounts force row level security;
CREATE INDEX inventory_recounts_due ON inventory_recounts USING btree (due_at);
create policy due on inventory_recounts for select to fd_worker using true;
create policy operator on inventory_recounts for select to fd_operator using true;
create policy owner on inventory_recounts for all to fd_owner using true with check true;
create policy tenant on inventory_recounts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on inventory_recounts for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on inventory_recounts to fd_worker;
grant select on inventory_recounts to fd_app;
grant select on inventory_recounts to fd_operator;

create table inventory_reservations (
  tenant_ref text not null,
  order_id uuid not null,
  variant_id uuid not null,
  location_id text not null,
  reserved bigint not null default 0,
  allocated bigint not null default 0,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  released_at timestamp with time zone,
  packed bigint not null default 0,
  constraint inventory_reservations_checks CHECK (fd_check_inventory_reservations(inventory_reservations.*)),
  constraint inventory_reservations_pkey PRIMARY KEY (tenant_ref, order_id, variant_id, location_id),
  constraint inventory_reservations_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_reservations_tenant_ref_variant_id_location_id_fkey FOREIGN KEY (tenant_ref, variant_id, location_id) REFERENCES inventory_levels(tenant_ref, variant_id, location_id)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table inventory_reservations owner to fd_owner;
alter table inventory_reservations enable row level security;
alter table inventory_reservations force row level security;
CREATE INDEX inventory_reservations_open ON inventory_reservations USING btree (tenant_ref, variant_id, location_id, order_id) INCLUDE (reserved, allocated, packed) WHERE ((reserved > 0) OR (allocated > 0));
CREATE INDEX inventory_reservations_released ON inventory_reservations USING btree (tenant_ref, released_at) WHERE (released_at IS NOT NULL);
CREATE INDEX inventory_reservations_to_pack ON inventory_reservations USING btree (tenant_ref, location_id, order_id) WHERE (allocated > packed);
create policy due on inventory_reservations for select to fd_worker using true;
create policy operator on inventory_reservations for select to fd_operator using true;
create policy owner on inventory_reservations for all to fd_owner using true with check true;
create policy tenant on inventory_reservations for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on inventory_reservations for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on inventory_reservations to fd_worker;
grant insert, select, update on inventory_reservations to fd_app;
grant select on inventory_reservations to fd_operator;

create table inventory_settings (
  tenant_ref text not null,
  variant_id uuid not null,
  track_inventory boolean not null default false,
  allow_backorder boolean not null default false,
  low_stock_threshold bigint,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint inventory_settings_low_stock_threshold_check CHECK (((low_stock_threshold >= 0) AND (low_stock_threshold <= 1000000000))),
  constraint inventory_settings_pkey PRIMARY KEY (tenant_ref, variant_id),
  constraint inventory_settings_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint inventory_settings_tenant_ref_variant_id_fkey FOREIGN KEY (tenant_ref, variant_id) REFERENCES variants(tenant_ref, id)
);
alter table inventory_settings owner to fd_owner;
alter table inventory_settings enable row level security;
alter table inventory_settings force row level security;
CREATE INDEX inventory_settings_watched ON inventory_settings USING btree (tenant_ref, variant_id) WHERE (track_inventory AND (low_stock_threshold IS NOT NULL));
create policy operator on inventory_settings for select to fd_operator using true;
create policy owner on inventory_settings for all to fd_owner using true with check true;
create policy tenant on inventory_settings for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER low_stock AFTER INSERT OR UPDATE ON inventory_settings FOR EACH ROW EXECUTE FUNCTION fd_note_stock_settings();
CREATE TRIGGER stock_is_of_no_gift_card BEFORE INSERT OR UPDATE OF track_inventory ON inventory_settings FOR EACH ROW WHEN (new.track_inventory) EXECUTE FUNCTION fd_stock_is_of_no_gift_card();
grant insert, select, update on inventory_settings to fd_app;
grant select on inventory_settings to fd_operator;
grant select on inventory_settings to fd_worker;
grant update (updated_at) on inventory_settings to fd_worker;

create table inventory_unposted (
  tenant_ref text not null,
  entry_id uuid not null,
  happened_at timestamp with time zone not null default fd_now(),
  constraint inventory_unposted_pkey PRIMARY KEY (tenant_ref, entry_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table inventory_unposted owner to fd_owner;
alter table inventory_unposted enable row level security;
alter table inventory_unposted force row level security;
create policy due on inventory_unposted for select to fd_worker using true;
create policy operator on inventory_unposted for select to fd_operator using true;
create policy owner on inventory_unposted for all to fd_owner using true with check true;
create policy tenant on inventory_unposted for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on inventory_unposted for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select on inventory_unposted to fd_worker;
grant insert, select on inventory_unposted to fd_app;
grant select on inventory_unposted to fd_operator;

create table ledger_checkpoints (
  tenant_ref text not null,
  sequence bigint not null,
  account text not null,
  currency text not null,
  balance_cents bigint not null,
  constraint ledger_checkpoints_pkey PRIMARY KEY (tenant_ref, sequence, account, currency),
  constraint ledger_checkpoints_sequence_check CHECK ((sequence >= 1)),
  constraint ledger_checkpoints_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table ledger_checkpoints owner to fd_owner;
alter table ledger_checkpoints enable row level security;
alter table ledger_checkpoints force row level security;
create policy operator on ledger_checkpoints for select to fd_operator using true;
create policy owner on ledger_checkpoints for all to fd_owner using true with check true;
create policy tenant on ledger_checkpoints for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on ledger_checkpoints to fd_worker;
grant select on ledger_checkpoints to fd_app;
grant select on ledger_checkpoints to fd_operator;

create table ledger_entries (
  tenant_ref text not null,
  journal_id uuid not null,
  "position" integer not null,
  account text not null,
  ref text not null default ''::text,
  currency text not null,
  amount_cents bigint not null,
  constraint ledger_entries_checks CHECK (fd_check_ledger_entries(ledger_entries.*)),
  constraint ledger_entries_pkey PRIMARY KEY (tenant_ref, journal_id, "position") INCLUDE (account, currency, amount_cents),
  constraint ledger_entries_tenant_ref_journal_id_fkey FOREIGN KEY (tenant_ref, journal_id) REFERENCES ledger_journals(tenant_ref, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table ledger_entries owner to fd_owner;
alter table ledger_entries enable row level security;
alter table ledger_entries force row level security;
CREATE INDEX ledger_entries_of_ref ON ledger_entries USING btree (tenant_ref, account, ref) WHERE (ref <> ''::text);
create policy operator on ledger_entries for select to fd_operator using true;
create policy owner on ledger_entries for all to fd_owner using true with check true;
create policy tenant on ledger_entries for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE CONSTRAINT TRIGGER balanced AFTER INSERT ON ledger_entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fd_check_journal();
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on ledger_entries to fd_app;
grant insert, select on ledger_entries to fd_worker;
grant select on ledger_entries to fd_operator;

create table ledger_holds (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  account text not null,
  ref text not null,
  currency text not null,
  amount_cents bigint not null,
  order_id uuid not null,
  state text not null default 'pending'::text,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  closed_at timestamp with time zone,
  constraint ledger_holds_account_check CHECK ((account = ANY (ARRAY['gift_card'::text, 'store_credit'::text]))),
  constraint ledger_holds_amount_cents_check CHECK (((amount_cents >= 1) AND (amount_cents <= '9007199254740991'::bigint))),
  constraint ledger_holds_check CHECK (((state = 'pending'::text) = (closed_at IS NULL))),
  constraint ledger_holds_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint ledger_holds_pkey PRIMARY KEY (tenant_ref, id),
  constraint ledger_holds_ref_check CHECK (((length(ref) >= 1) AND (length(ref) <= 200))),
  constraint ledger_holds_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'posted'::text, 'voided'::text, 'expired'::text]))),
  constraint ledger_holds_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table ledger_holds owner to fd_owner;
alter table ledger_holds enable row level security;
alter table ledger_holds force row level security;
CREATE INDEX ledger_holds_of_account ON ledger_holds USING btree (tenant_ref, account, ref) WHERE (state = 'pending'::text);
CREATE INDEX ledger_holds_of_order ON ledger_holds USING btree (tenant_ref, order_id);
create policy operator on ledger_holds for select to fd_operator using true;
create policy owner on ledger_holds for all to fd_owner using true with check true;
create policy tenant on ledger_holds for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on ledger_holds to fd_app;
grant insert, select, update on ledger_holds to fd_worker;
grant select on ledger_holds to fd_operator;

create table ledger_journals (
  tenant_ref text not null,
  id uuid not null,
  kind text not null,
  currency text not null,
  order_id uuid,
  ref text,
  created_at timestamp with time zone not null default fd_now(),
  constraint ledger_journals_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint ledger_journals_kind_check CHECK ((kind ~ '^[a-z][a-z_.]{0,59}$'::text)),
  constraint ledger_journals_pkey PRIMARY KEY (tenant_ref, id),
  constraint ledger_journals_ref_check CHECK ((length(ref) <= 200)),
  constraint ledger_journals_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table ledger_journals owner to fd_owner;
alter table ledger_journals enable row level security;
alter table ledger_journals force row level security;
CREATE INDEX ledger_journals_of_order ON ledger_journals USING btree (tenant_ref, order_id) WHERE (order_id IS NOT NULL);
create policy operator on ledger_journals for select to fd_operator using true;
create policy owner on ledger_journals for all to fd_owner using true with check true;
create policy tenant on ledger_journals for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_journals FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on ledger_journals to fd_app;
grant insert, select on ledger_journals to fd_worker;
grant select on ledger_journals to fd_operator;

create table ledger_seals (
  tenant_ref text not null,
  sequence bigint not null,
  journal_id uuid not null,
  hash bytea not null,
  sealed_at timestamp with time zone not null default now(),
  constraint ledger_seals_hash_check CHECK ((length(hash) = 32)),
  constraint ledger_seals_pkey PRIMARY KEY (tenant_ref, sequence),
  constraint ledger_seals_sequence_check CHECK ((sequence >= 1)),
  constraint ledger_seals_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint ledger_seals_tenant_ref_journal_id_fkey FOREIGN KEY (tenant_ref, journal_id) REFERENCES ledger_journals(tenant_ref, id),
  constraint ledger_seals_tenant_ref_journal_id_key UNIQUE (tenant_ref, journal_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table ledger_seals owner to fd_owner;
alter table ledger_seals enable row level security;
alter table ledger_seals force row level security;
create policy operator on ledger_seals for select to fd_operator using true;
create policy owner on ledger_seals for all to fd_owner using true with check true;
create policy tenant on ledger_seals for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_seals FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on ledger_seals to fd_worker;
grant select on ledger_seals to fd_app;
grant select on ledger_seals to fd_operator;

create table ledger_unsealed (
  tenant_ref text not null,
  journal_id uuid not null,
  constraint ledger_unsealed_pkey PRIMARY KEY (tenant_ref, journal_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table ledger_unsealed owner to fd_owner;
alter table ledger_unsealed enable row level security;
alter table ledger_unsealed force row level security;
create policy due on ledger_unsealed for select to fd_worker using true;
create policy operator on ledger_unsealed for select to fd_operator using true;
create policy owner on ledger_unsealed for all to fd_owner using true with check true;
create policy tenant on ledger_unsealed for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on ledger_unsealed for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select on ledger_unsealed to fd_worker;
grant insert, select on ledger_unsealed to fd_app;
grant select on ledger_unsealed to fd_operator;

create table ledger_verified (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  newest bigint not null,
  due_at timestamp with time zone not null,
  lease_until timestamp with time zone,
  lease_token uuid,
  sequence bigint not null default 0,
  hash bytea,
  balances jsonb not null default '[]'::jsonb,
  verified_at timestamp with time zone,
  walk_sequence bigint not null default 0,
  walk_hash bytea,
  walk_balances jsonb not null default '[]'::jsonb,
  walk_journal uuid,
  walk_due_at timestamp with time zone,
  walked_at timestamp with time zone,
  fault text,
  fault_at text,
  fault_since timestamp with time zone,
  mac bytea,
  constraint ledger_verified_check CHECK (((sequence = 0) = (hash IS NULL))),
  constraint ledger_verified_check1 CHECK (((walk_sequence = 0) = (walk_hash IS NULL))),
  constraint ledger_verified_check2 CHECK (((fault IS NULL) = (fault_since IS NULL))),
  constraint ledger_verified_hash_check CHECK ((length(hash) = 32)),
  constraint ledger_verified_mac_check CHECK ((length(mac) = 32)),
  constraint ledger_verified_pkey PRIMARY KEY (tenant_ref),
  constraint ledger_verified_sequence_check CHECK ((sequence >= 0)),
  constraint ledger_verified_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint ledger_verified_walk_hash_check CHECK ((length(walk_hash) = 32)),
  constraint ledger_verified_walk_sequence_check CHECK ((walk_sequence >= 0))
);
alter table ledger_verified owner to fd_owner;
alter table ledger_verified enable row level security;
alter table ledger_verified force row level security;
CREATE INDEX ledger_verified_due ON ledger_verified USING btree (due_at);
CREATE INDEX ledger_verified_faults ON ledger_verified USING btree (tenant_ref) WHERE (fault IS NOT NULL);
create policy due on ledger_verified for select to fd_worker using true;
create policy operator on ledger_verified for select to fd_operator using true;
create policy owner on ledger_verified for all to fd_owner using true with check true;
create policy tenant on ledger_verified for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on ledger_verified for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on ledger_verified to fd_worker;
grant select on ledger_verified to fd_app;
grant select on ledger_verified to fd_operator;

create unlogged table limit_counters (
  bucket text not null,
  window_start timestamp with time zone not null,
  hits integer not null,
  seconds integer not null default 3600,
  constraint limit_counters_bucket_check CHECK ((length(bucket) <= 300)),
  constraint limit_counters_hits_check CHECK ((hits >= 0)),
  constraint limit_counters_pkey PRIMARY KEY (bucket),
  constraint limit_counters_seconds_check CHECK ((seconds > 0))
) with (fillfactor=50);
alter table limit_counters owner to fd_owner;
grant delete, insert, select, update on limit_counters to fd_worker;
grant insert, select, update on limit_counters to fd_app;

create table mail_suppressions (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  email text not null,
  email_folded text not null,
  reason text not null,
  soft_bounces integer not null default 0,
  last_soft_at timestamp with time zone,
  last_event_id text,
  detail text,
  created_by text not null,
  suppressed_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  constraint mail_suppressions_check CHECK (((suppressed_at IS NOT NULL) OR (reason = 'soft_bounces'::text))),
  constraint mail_suppressions_created_by_check CHECK ((length(created_by) <= 200)),
  constraint mail_suppressions_detail_check CHECK ((length(detail) <= 500)),
  constraint mail_suppressions_email UNIQUE (tenant_ref, email_folded),
  constraint mail_suppressions_email_check CHECK ((length(email) <= 254)),
  constraint mail_suppressions_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint mail_suppressions_last_event_id_check CHECK ((length(last_event_id) <= 200)),
  constraint mail_suppressions_pkey PRIMARY KEY (tenant_ref, id),
  constraint mail_suppressions_reason_check CHECK ((reason = ANY (ARRAY['hard_bounce'::text, 'soft_bounces'::text, 'complaint'::text, 'manual'::text]))),
  constraint mail_suppressions_soft_bounces_check CHECK ((soft_bounces >= 0)),
  constraint mail_suppressions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table mail_suppressions owner to fd_owner;
alter table mail_suppressions enable row level security;
alter table mail_suppressions force row level security;
CREATE INDEX mail_suppressions_newest ON mail_suppressions USING btree (tenant_ref, created_at DESC, id DESC) WHERE (suppressed_at IS NOT NULL);
CREATE INDEX mail_suppressions_of_reason ON mail_suppressions USING btree (tenant_ref, reason, created_at DESC, id DESC) WHERE (suppressed_at IS NOT NULL);
create policy operator on mail_suppressions for select to fd_operator using true;
create policy owner on mail_suppressions for all to fd_owner using true with check true;
create policy tenant on mail_suppressions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on mail_suppressions to fd_app;
grant insert, select, update on mail_suppressions to fd_worker;
grant select on mail_suppressions to fd_operator;

create table mails (
  id uuid not null default fd_uuid(),
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
  order_id uuid,
  html text,
  kept boolean not null default false,
  constraint mails_attempt_count_check CHECK ((attempt_count >= 0)),
  constraint mails_body_check CHECK ((length(body) <= 20000)),
  constraint mails_html_check CHECK ((length(html) <= 1000000)),
  constraint mails_kept CHECK (((NOT kept) OR (next_attempt_at IS NULL))),
  constraint mails_last_error_check CHECK ((length(last_error) <= 500)),
  constraint mails_pkey PRIMARY KEY (id),
  constraint mails_recipient_check CHECK ((length(recipient) <= 254)),
  constraint mails_subject_check CHECK ((length(subject) <= 200))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table mails owner to fd_owner;
CREATE INDEX mails_dead ON mails USING btree (created_at) WHERE ((sent_at IS NULL) AND (next_attempt_at IS NULL) AND (NOT kept));
CREATE INDEX mails_due ON mails USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX mails_of_order ON mails USING btree (tenant_ref, order_id) WHERE (order_id IS NOT NULL);
CREATE INDEX mails_old ON mails USING btree (created_at);
grant delete on mails to fd_gate;
grant delete, insert, select, update on mails to fd_worker;
grant insert on mails to fd_app;
grant select on mails to fd_operator;
grant select (id) on mails to fd_gate;
grant select (order_id) on mails to fd_gate;
grant select (tenant_ref) on mails to fd_gate;

create table marketing_consents (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  email text not null,
  email_folded text not null,
  channel text not null default 'email'::text,
  state text not null,
  source text not null,
  text_sha256 text,
  form text,
  form_url text,
  requested_at timestamp with time zone,
  requested_ip text,
  mail_id uuid,
  ip text,
  actor text,
  note text,
  created_at timestamp with time zone not null default fd_clock(),
  constraint marketing_consents_actor_check CHECK ((length(actor) <= 200)),
  constraint marketing_consents_channel_check CHECK ((channel = 'email'::text)),
  constraint marketing_consents_email_check CHECK ((length(email) <= 254)),
  constraint marketing_consents_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint marketing_consents_form_check CHECK ((length(form) <= 100)),
  constraint marketing_consents_form_url_check CHECK ((length(form_url) <= 2000)),
  constraint marketing_consents_ip_check CHECK ((length(ip) <= 50)),
  constraint marketing_consents_note_check CHECK ((length(note) <= 500)),
  constraint marketing_consents_pkey PRIMARY KEY (tenant_ref, id),
  constraint marketing_consents_requested_ip_check CHECK ((length(requested_ip) <= 50)),
  constraint marketing_consents_source_check CHECK ((source = ANY (ARRAY['form'::text, 'import'::text, 'link'::text, 'one_click'::text, 'merchant'::text, 'complaint'::text]))),
  constraint marketing_consents_state_check CHECK ((state = ANY (ARRAY['given'::text, 'withdrawn'::text]))),
  constraint marketing_consents_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint marketing_consents_tenant_ref_text_sha256_fkey FOREIGN KEY (tenant_ref, text_sha256) REFERENCES consent_texts(tenant_ref, sha256)
);
alter table marketing_consents owner to fd_owner;
alter table marketing_consents enable row level security;
alter table marketing_consents force row level security;
CREATE INDEX marketing_consents_newest ON marketing_consents USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX marketing_consents_of_address ON marketing_consents USING btree (tenant_ref, email_folded, created_at DESC, id DESC);
CREATE INDEX marketing_consents_of_state ON marketing_consents USING btree (tenant_ref, state, created_at DESC, id DESC);
create policy operator on marketing_consents for select to fd_operator using true;
create policy owner on marketing_consents for all to fd_owner using true with check true;
create policy tenant on marketing_consents for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select on marketing_consents to fd_app;
grant delete, insert, select on marketing_consents to fd_worker;
grant select on marketing_consents to fd_operator;

create table media_usage (
  tenant_ref text not null,
  bytes bigint not null,
  constraint media_usage_bytes_check CHECK ((bytes >= 0)),
  constraint media_usage_pkey PRIMARY KEY (tenant_ref),
  constraint media_usage_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table media_usage owner to fd_owner;
alter table media_usage enable row level security;
alter table media_usage force row level security;
create policy operator on media_usage for select to fd_operator using true;
create policy owner on media_usage for all to fd_owner using true with check true;
create policy tenant on media_usage for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on media_usage to fd_app;
grant select on media_usage to fd_operator;
grant select, update on media_usage to fd_worker;

create table newsletter_subscribers (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  email text not null,
  email_folded text not null,
  status text not null default 'pending'::text,
  source text,
  requested_at timestamp with time zone not null default fd_now(),
  confirmed_at timestamp with time zone,
  unsubscribed_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  form_url text,
  requested_ip text,
  constraint newsletter_subscribers_check CHECK (((status = 'subscribed'::text) <= (confirmed_at IS NOT NULL))),
  constraint newsletter_subscribers_check1 CHECK (((status = 'unsubscribed'::text) <= (unsubscribed_at IS NOT NULL))),
  constraint newsletter_subscribers_email UNIQUE (tenant_ref, email_folded),
  constraint newsletter_subscribers_email_check CHECK ((length(email) <= 254)),
  constraint newsletter_subscribers_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint newsletter_subscribers_form_url_check CHECK ((length(form_url) <= 2000)),
  constraint newsletter_subscribers_pkey PRIMARY KEY (tenant_ref, id),
  constraint newsletter_subscribers_requested_ip_check CHECK ((length(requested_ip) <= 50)),
  constraint newsletter_subscribers_source_check CHECK ((length(source) <= 100)),
  constraint newsletter_subscribers_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'subscribed'::text, 'unsubscribed'::text]))),
  constraint newsletter_subscribers_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table newsletter_subscribers owner to fd_owner;
alter table newsletter_subscribers enable row level security;
alter table newsletter_subscribers force row level security;
CREATE INDEX newsletter_subscribers_newest ON newsletter_subscribers USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX newsletter_subscribers_of_status ON newsletter_subscribers USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX newsletter_subscribers_unconfirmed ON newsletter_subscribers USING btree (tenant_ref, requested_at) WHERE (status = 'pending'::text);
create policy due on newsletter_subscribers for select to fd_worker using true;
create policy operator on newsletter_subscribers for select to fd_operator using true;
create policy owner on newsletter_subscribers for all to fd_owner using true with check true;
create policy tenant on newsletter_subscribers for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on newsletter_subscribers for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER person_consent AFTER INSERT OR DELETE OR UPDATE OF status ON newsletter_subscribers FOR EACH ROW EXECUTE FUNCTION fd_person_consent();
grant delete, insert, select, update on newsletter_subscribers to fd_app;
grant delete, select, update on newsletter_subscribers to fd_worker;
grant select on newsletter_subscribers to fd_operator;

create table order_counters (
  tenant_ref text not null,
  last_number bigint not null default 1000,
  constraint order_counters_pkey PRIMARY KEY (tenant_ref),
  constraint order_counters_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table order_counters owner to fd_owner;
alter table order_counters enable row level security;
alter table order_counters force row level security;
create policy operator on order_counters for select to fd_operator using true;
create policy owner on order_counters for all to fd_owner using true with check true;
create policy tenant on order_counters for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on order_counters to fd_app;
grant insert, select, update on order_counters to fd_worker;
grant select on order_counters to fd_operator;

create table order_items (
  tenant_ref text not null,
  id uuid not null,
  order_id uuid not null,
  product_id uuid not null,
  variant_id uuid not null,
  product_name text not null,
  name_folded text generated always as (lower(product_name)) stored,
  sku text not null,
  label text,
  quantity integer not null,
  original_quantity integer not null,
  unit_price_cents bigint not null,
  list_price_cents bigint not null,
  line_total_cents bigint not null,
  discount_cents bigint not null default 0,
  tax_cents bigint not null default 0,
  shipping_cents bigint not null default 0,
  is_subscription boolean not null default false,
  refunded_quantity integer not null default 0,
  shipped_quantity integer not null default 0,
  delivered_quantity integer not null default 0,
  "position" integer not null,
  ordered_at timestamp with time zone not null default fd_now(),
  packed_quantity integer not null default 0,
  returning_quantity integer not null default 0,
  returned_quantity integer not null default 0,
  restocked_quantity integer not null default 0,
  gift_card boolean not null default false,
  constraint order_items_checks CHECK (fd_check_order_items(order_items.*)),
  constraint order_items_pkey PRIMARY KEY (tenant_ref, id),
  constraint order_items_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id)
) with (fillfactor=90, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table order_items owner to fd_owner;
alter table order_items enable row level security;
alter table order_items force row level security;
CREATE INDEX order_items_by_name ON order_items USING btree (tenant_ref, name_folded text_pattern_ops);
CREATE INDEX order_items_by_sku ON order_items USING btree (tenant_ref, sku text_pattern_ops, ordered_at DESC) INCLUDE (order_id);
CREATE INDEX order_items_of_order ON order_items USING btree (tenant_ref, order_id, "position");
create policy operator on order_items for select to fd_operator using true;
create policy owner on order_items for all to fd_owner using true with check true;
create policy tenant on order_items for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on order_items to fd_app;
grant insert, select, update on order_items to fd_worker;
grant select on order_items to fd_operator;

create table order_line_changes (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  order_id uuid not null,
  order_item_id uuid not null,
  change_id uuid not null,
  quantity integer not null,
  line_total_cents bigint not null,
  discount_cents bigint not null,
  tax_cents bigint not null,
  shipping_cents bigint not null,
  created_at timestamp with time zone not null default fd_clock(),
  constraint order_line_changes_pkey PRIMARY KEY (tenant_ref, id),
  constraint order_line_changes_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint order_line_changes_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id),
  constraint order_line_changes_tenant_ref_order_item_id_fkey FOREIGN KEY (tenant_ref, order_item_id) REFERENCES order_items(tenant_ref, id)
);
alter table order_line_changes owner to fd_owner;
alter table order_line_changes enable row level security;
alter table order_line_changes force row level security;
CREATE INDEX order_line_changes_of_order ON order_line_changes USING btree (tenant_ref, order_id);
create policy operator on order_line_changes for select to fd_operator using true;
create policy owner on order_line_changes for all to fd_owner using true with check true;
create policy tenant on order_line_changes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on order_line_changes to fd_app;
grant insert, select on order_line_changes to fd_worker;
grant select on order_line_changes to fd_operator;

create table order_notes (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  order_id uuid not null,
  note text not null,
  actor text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint order_notes_note_check CHECK (((length(note) >= 1) AND (length(note) <= 5000))),
  constraint order_notes_pkey PRIMARY KEY (tenant_ref, id),
  constraint order_notes_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id)
);
alter table order_notes owner to fd_owner;
alter table order_notes enable row level security;
alter table order_notes force row level security;
CREATE INDEX order_notes_of_order ON order_notes USING btree (tenant_ref, order_id, created_at);
create policy operator on order_notes for select to fd_operator using true;
create policy owner on order_notes for all to fd_owner using true with check true;
create policy tenant on order_notes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on order_notes to fd_app;
grant insert, select, update on order_notes to fd_worker;
grant select on order_notes to fd_operator;

create table order_timeline (
  tenant_ref text not null,
  id bigint not null generated by default as identity,
  order_id uuid not null,
  type text not null,
  actor text not null,
  at timestamp with time zone not null default fd_clock(),
  data jsonb not null default '{}'::jsonb,
  constraint order_timeline_actor_check CHECK ((length(actor) <= 200)),
  constraint order_timeline_pkey PRIMARY KEY (tenant_ref, id),
  constraint order_timeline_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id),
  constraint order_timeline_type_check CHECK ((length(type) <= 60))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table order_timeline owner to fd_owner;
alter table order_timeline enable row level security;
alter table order_timeline force row level security;
CREATE INDEX order_timeline_of_order ON order_timeline USING btree (tenant_ref, order_id, id);
create policy due on order_timeline for select to fd_worker using true;
create policy operator on order_timeline for select to fd_operator using true;
create policy owner on order_timeline for all to fd_owner using true with check true;
create policy tenant on order_timeline for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on order_timeline for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER frozen BEFORE UPDATE OR TRUNCATE ON order_timeline FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
CREATE TRIGGER young BEFORE DELETE ON order_timeline FOR EACH ROW EXECUTE FUNCTION fd_refuse_young('at', '365 days');
grant delete, insert, select on order_timeline to fd_worker;
grant insert, select on order_timeline to fd_app;
grant select on order_timeline to fd_operator;

create table orders (
  tenant_ref text not null,
  id uuid not null,
  order_number bigint not null,
  customer_ref text not null,
  person_id uuid,
  status text not null,
  payment_status text not null,
  fulfillment_status text not null,
  coupon_code text,
  subtotal_cents bigint not null,
  discount_cents bigint not null,
  shipping_cents bigint not null,
  tax_cents bigint not null,
  total_cents bigint not null,
  currency text not null,
  idempotency_key text not null,
  ship_to jsonb,
  email text,
  email_folded text generated always as (lower(email)) stored,
  ip text,
  referral_code text,
  source text not null default 'checkout'::text,
  pricing jsonb not null,
  risk jsonb not null default '{}'::jsonb,
  is_test boolean not null default false,
  captured_cents bigint not null default 0,
  refunded_cents bigint not null default 0,
  payment text not null default 'pending'::text,
  payment_failure text,
  disputed_at timestamp with time zone,
  placed_at timestamp with time zone,
  processing_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  cancel_reason text,
  hold_reason text,
  hold_at timestamp with time zone,
  hold_by text,
  operation_id uuid,
  operation jsonb,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  customer_name text,
  prices_include_tax boolean not null default false,
  has_work boolean not null default false,
  gift_card_cents bigint not null default 0,
  subscription_id uuid,
  subscription_cycle integer,
  constraint orders_checks CHECK (fd_check_orders(orders.*)),
  constraint orders_key UNIQUE (tenant_ref, idempotency_key),
  constraint orders_number UNIQUE (tenant_ref, order_number),
  constraint orders_pkey PRIMARY KEY (tenant_ref, id),
  constraint orders_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table orders owner to fd_owner;
alter table orders enable row level security;
alter table orders force row level security;
CREATE INDEX orders_by_coupon ON orders USING btree (tenant_ref, coupon_code, created_at DESC, id DESC) WHERE (coupon_code IS NOT NULL);
CREATE INDEX orders_by_folded_email ON orders USING btree (tenant_ref, email_folded text_pattern_ops) WHERE (email_folded IS NOT NULL);
CREATE INDEX orders_by_fulfillment_status ON orders USING btree (tenant_ref, fulfillment_status, created_at DESC, id DESC);
CREATE INDEX orders_by_payment_status ON orders USING btree (tenant_ref, payment_status, created_at DESC, id DESC) WHERE (payment_status <> 'paid'::text);
CREATE INDEX orders_by_status ON orders USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX orders_newest ON orders USING btree (tenant_ref, created_at DESC, id DESC) INCLUDE (is_test, payment_status);
CREATE INDEX orders_of_customer ON orders USING btree (tenant_ref, customer_ref text_pattern_ops, created_at DESC, id DESC);
CREATE INDEX orders_on_hold ON orders USING btree (tenant_ref, hold_reason, hold_at, id) WHERE (status = 'on_hold'::text);
CREATE INDEX orders_tests ON orders USING btree (tenant_ref, created_at DESC, id DESC) WHERE is_test;
CREATE INDEX orders_with_work ON orders USING btree (tenant_ref, created_at, id) WHERE has_work;
CREATE UNIQUE INDEX orders_of_cycle ON orders USING btree (tenant_ref, subscription_id, subscription_cycle) WHERE ((subscription_id IS NOT NULL) AND (payment <> 'failed'::text));
create policy operator on orders for select to fd_operator using true;
create policy owner on orders for all to fd_owner using true with check true;
create policy tenant on orders for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on orders to fd_app;
grant insert, select, update on orders to fd_worker;
grant select on orders to fd_operator;

create table outbox (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
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
  constraint outbox_type_check CHECK ((length(type) <= 100))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table outbox owner to fd_owner;
alter table outbox enable row level security;
alter table outbox force row level security;
CREATE INDEX outbox_due ON outbox USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX outbox_due_of_tenant ON outbox USING btree (tenant_ref, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX outbox_handled ON outbox USING btree (tenant_ref, handled_at) WHERE (handled_at IS NOT NULL);
create policy due on outbox for select to fd_worker using true;
create policy operator on outbox for select to fd_operator using true;
create policy owner on outbox for all to fd_owner using true with check true;
create policy tenant on outbox for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on outbox for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on outbox to fd_worker;
grant insert, select on outbox to fd_app;
grant select on outbox to fd_operator;

create table owner_callers (
  owner_id uuid not null,
  caller_hash bytea not null,
  last_at timestamp with time zone not null,
  constraint owner_callers_caller_hash_check CHECK ((length(caller_hash) = 32)),
  constraint owner_callers_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners(id) ON DELETE CASCADE,
  constraint owner_callers_pkey PRIMARY KEY (owner_id, caller_hash)
);
alter table owner_callers owner to fd_owner;
CREATE INDEX owner_callers_by_time ON owner_callers USING btree (last_at);
grant delete, select on owner_callers to fd_worker;
grant insert, select, update on owner_callers to fd_app;

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
  id uuid not null default fd_uuid(),
  email text not null,
  name text not null,
  password_hash text,
  email_verified_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint owners_email_check CHECK ((length(email) <= 254)),
  constraint owners_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint owners_pkey PRIMARY KEY (id)
);
alter table owners owner to fd_owner;
CREATE INDEX owners_by_email ON owners USING btree (email);
CREATE INDEX owners_pending ON owners USING btree (created_at) WHERE (email_verified_at IS NULL);
CREATE UNIQUE INDEX owners_verified_email ON owners USING btree (email) WHERE (email_verified_at IS NOT NULL);
grant delete on owners to fd_worker;
grant delete, insert, select, update on owners to fd_app;
grant select (created_at) on owners to fd_operator;
grant select (created_at) on owners to fd_worker;
grant select (email) on owners to fd_operator;
grant select (email_verified_at) on owners to fd_operator;
grant select (email_verified_at) on owners to fd_worker;
grant select (id) on owners to fd_operator;
grant select (id) on owners to fd_worker;
grant select (name) on owners to fd_operator;

create view partition_months with (security_invoker=true) as
 SELECT t.name AS parent,
    (c.relname)::text AS name,
    to_date("right"((c.relname)::text, 7), 'YYYY_MM'::text) AS month
   FROM ((partitioned_tables t
     JOIN pg_inherits i ON ((i.inhparent = ((t.name)::regclass)::oid)))
     JOIN pg_class c ON ((c.oid = i.inhrelid)))
  WHERE (c.relname ~ '_[0-9]{4}_[0-9]{2}$'::text);
alter view partition_months owner to fd_owner;
grant select on partition_months to fd_operator;
grant select on partition_months to fd_worker;

create view partitioned_tables with (security_invoker=true) as
 SELECT (c.relname)::text AS name,
    (a.attname)::text AS divided_by,
    (a.atttypid = ('uuid'::regtype)::oid) AS by_id
   FROM ((pg_partitioned_table p
     JOIN pg_class c ON (((c.oid = p.partrelid) AND (c.relnamespace = ('public'::regnamespace)::oid))))
     JOIN pg_attribute a ON (((a.attrelid = p.partrelid) AND (a.attnum = p.partattrs[0]))));
alter view partitioned_tables owner to fd_owner;
grant select on partitioned_tables to fd_operator;
grant select on partitioned_tables to fd_worker;

create table past_prices (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  variant_id uuid not null,
  price_cents bigint not null,
  currency text not null,
  until_at timestamp with time zone not null default fd_now(),
  constraint past_prices_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint past_prices_pkey PRIMARY KEY (tenant_ref, id),
  constraint past_prices_price_cents_check CHECK (((price_cents >= 0) AND (price_cents <= '100000000000'::bigint))),
  constraint past_prices_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint past_prices_tenant_ref_variant_id_fkey FOREIGN KEY (tenant_ref, variant_id) REFERENCES variants(tenant_ref, id)
);
alter table past_prices owner to fd_owner;
alter table past_prices enable row level security;
alter table past_prices force row level security;
CREATE INDEX past_prices_by_age ON past_prices USING btree (tenant_ref, until_at, id);
CREATE INDEX past_prices_of_variant ON past_prices USING btree (tenant_ref, variant_id, until_at);
create policy due on past_prices for select to fd_worker using true;
create policy operator on past_prices for select to fd_operator using true;
create policy owner on past_prices for all to fd_owner using true with check true;
create policy tenant on past_prices for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on past_prices for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER frozen BEFORE UPDATE OR TRUNCATE ON past_prices FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
CREATE TRIGGER young BEFORE DELETE ON past_prices FOR EACH ROW EXECUTE FUNCTION fd_refuse_young('until_at', '60 days');
grant delete, select on past_prices to fd_worker;
grant insert, select on past_prices to fd_app;
grant select on past_prices to fd_operator;

create table payment_accounts (
  tenant_ref text not null,
  gateway text not null,
  in_use boolean not null default true,
  credentials bytea,
  hint text,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  credentials_at timestamp with time zone,
  tokenization_key text,
  constraint payment_accounts_check CHECK (((hint IS NULL) OR (credentials IS NOT NULL))),
  constraint payment_accounts_gateway_check CHECK ((gateway ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
  constraint payment_accounts_hint_check CHECK ((length(hint) = 4)),
  constraint payment_accounts_pkey PRIMARY KEY (tenant_ref, gateway),
  constraint payment_accounts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table payment_accounts owner to fd_owner;
alter table payment_accounts enable row level security;
alter table payment_accounts force row level security;
CREATE UNIQUE INDEX payment_accounts_in_use ON payment_accounts USING btree (tenant_ref) WHERE in_use;
create policy due on payment_accounts for select to fd_worker using true;
create policy operator on payment_accounts for select to fd_operator using true;
create policy owner on payment_accounts for all to fd_owner using true with check true;
create policy tenant on payment_accounts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on payment_accounts for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER no_real_gateway BEFORE INSERT OR UPDATE ON payment_accounts FOR EACH ROW WHEN (((new.gateway <> 'simulated'::text) AND new.in_use)) EXECUTE FUNCTION fd_refuse_real_gateway();
grant insert, select, update on payment_accounts to fd_app;
grant select on payment_accounts to fd_operator;
grant select on payment_accounts to fd_worker;

create table payment_attempts (
  tenant_ref text not null,
  id uuid not null,
  order_id uuid not null,
  kind text not null,
  gateway text not null,
  amount_cents bigint not null,
  currency text not null,
  charge_id uuid,
  parent_txn_id text,
  state text not null default 'begun'::text,
  txn_id text,
  auth_code text,
  avs text,
  cvv text,
  code text,
  reason text,
  fraud_signal boolean not null default false,
  vault_id text,
  card jsonb,
  checks integer not null default 0,
  created_at timestamp with time zone not null default fd_now(),
  closed_at timestamp with time zone,
  next_check_at timestamp with time zone default (fd_now() + '00:00:10'::interval),
  lease_until timestamp with time zone,
  lease_token uuid,
  alerted_at timestamp with time zone,
  sent_at timestamp with time zone default fd_now(),
  network_code text,
  advice_code text,
  constraint payment_attempts_checks CHECK (fd_check_payment_attempts(payment_attempts.*)),
  constraint payment_attempts_pkey PRIMARY KEY (tenant_ref, id)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table payment_attempts owner to fd_owner;
alter table payment_attempts enable row level security;
alter table payment_attempts force row level security;
CREATE INDEX payment_attempts_due_of_tenant ON payment_attempts USING btree (tenant_ref, next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE INDEX payment_attempts_late ON payment_attempts USING btree (next_check_at) WHERE ((next_check_at IS NOT NULL) AND (state = 'not_found'::text));
CREATE INDEX payment_attempts_late_of_tenant ON payment_attempts USING btree (tenant_ref, next_check_at) WHERE ((next_check_at IS NOT NULL) AND (state = 'not_found'::text));
CREATE INDEX payment_attempts_of_day ON payment_attempts USING btree (tenant_ref, created_at);
CREATE INDEX payment_attempts_of_order ON payment_attempts USING btree (tenant_ref, order_id, created_at);
CREATE INDEX payment_attempts_of_parent ON payment_attempts USING btree (tenant_ref, parent_txn_id) WHERE (parent_txn_id IS NOT NULL);
CREATE INDEX payment_attempts_recent ON payment_attempts USING brin (created_at) WITH (pages_per_range='16', autosummarize='on');
create policy due on payment_attempts for select to fd_worker using true;
create policy operator on payment_attempts for select to fd_operator using true;
create policy owner on payment_attempts for all to fd_owner using true with check true;
create policy tenant on payment_attempts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on payment_attempts for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on payment_attempts to fd_app;
grant insert, select, update on payment_attempts to fd_worker;
grant select on payment_attempts to fd_operator;

create table payment_days (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  day date not null,
  due_at timestamp with time zone,
  compared_at timestamp with time zone,
  lease_until timestamp with time zone,
  lease_token uuid,
  constraint payment_days_pkey PRIMARY KEY (tenant_ref, id),
  constraint payment_days_tenant_ref_day_key UNIQUE (tenant_ref, day),
  constraint payment_days_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table payment_days owner to fd_owner;
alter table payment_days enable row level security;
alter table payment_days force row level security;
CREATE INDEX payment_days_due ON payment_days USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX payment_days_due_of_tenant ON payment_days USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
create policy due on payment_days for select to fd_worker using true;
create policy operator on payment_days for select to fd_operator using true;
create policy owner on payment_days for all to fd_owner using true with check true;
create policy tenant on payment_days for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on payment_days for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on payment_days to fd_worker;
grant select on payment_days to fd_app;
grant select on payment_days to fd_operator;

create table payment_discrepancies (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  day date not null,
  gateway text not null,
  problem text not null,
  ref text not null,
  txn_id text,
  order_id uuid,
  our_cents bigint,
  gateway_cents bigint,
  created_at timestamp with time zone not null default fd_now(),
  seen_at timestamp with time zone not null default fd_now(),
  resolved_at timestamp with time zone,
  constraint payment_discrepancies_gateway_check CHECK ((gateway ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
  constraint payment_discrepancies_pkey PRIMARY KEY (tenant_ref, id),
  constraint payment_discrepancies_problem_check CHECK ((problem = ANY (ARRAY['missing_here'::text, 'missing_there'::text, 'amount_differs'::text, 'outcome_unknown'::text]))),
  constraint payment_discrepancies_ref_check CHECK (((length(ref) >= 1) AND (length(ref) <= 100))),
  constraint payment_discrepancies_tenant_ref_day_gateway_problem_ref_key UNIQUE (tenant_ref, day, gateway, problem, ref),
  constraint payment_discrepancies_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table payment_discrepancies owner to fd_owner;
alter table payment_discrepancies enable row level security;
alter table payment_discrepancies force row level security;
CREATE INDEX payment_discrepancies_newest ON payment_discrepancies USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX payment_discrepancies_open ON payment_discrepancies USING btree (tenant_ref, created_at DESC, id DESC) WHERE (resolved_at IS NULL);
create policy operator on payment_discrepancies for select to fd_operator using true;
create policy owner on payment_discrepancies for all to fd_owner using true with check true;
create policy tenant on payment_discrepancies for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on payment_discrepancies to fd_worker;
grant select on payment_discrepancies to fd_app;
grant select on payment_discrepancies to fd_operator;
grant update (resolved_at) on payment_discrepancies to fd_app;

create table payment_requests (
  tenant_ref text not null,
  order_id uuid not null,
  amount_cents bigint not null,
  currency text not null,
  status text not null,
  expires_at timestamp with time zone not null,
  due_at timestamp with time zone,
  sent_count integer not null default 1,
  sent_at timestamp with time zone not null default fd_now(),
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  ended_at timestamp with time zone,
  purpose text not null default 'order'::text,
  correction jsonb,
  constraint payment_requests_amount_cents_check CHECK ((amount_cents > 0)),
  constraint payment_requests_check CHECK (((status = 'open'::text) = (due_at IS NOT NULL))),
  constraint payment_requests_check1 CHECK (((status = 'open'::text) = (ended_at IS NULL))),
  constraint payment_requests_correction CHECK (((correction IS NULL) OR ((purpose = 'correction'::text) AND (status = 'open'::text)))),
  constraint payment_requests_created_by_check CHECK ((length(created_by) <= 200)),
  constraint payment_requests_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint payment_requests_pkey PRIMARY KEY (tenant_ref, order_id),
  constraint payment_requests_purpose_check CHECK ((purpose = ANY (ARRAY['order'::text, 'correction'::text]))),
  constraint payment_requests_sent_count_check CHECK ((sent_count > 0)),
  constraint payment_requests_status_check CHECK ((status = ANY (ARRAY['open'::text, 'paid'::text, 'withdrawn'::text, 'expired'::text]))),
  constraint payment_requests_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint payment_requests_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id)
);
alter table payment_requests owner to fd_owner;
alter table payment_requests enable row level security;
alter table payment_requests force row level security;
CREATE INDEX payment_requests_due ON payment_requests USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX payment_requests_due_of_tenant ON payment_requests USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
create policy due on payment_requests for select to fd_worker using true;
create policy operator on payment_requests for select to fd_operator using true;
create policy owner on payment_requests for all to fd_owner using true with check true;
create policy tenant on payment_requests for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on payment_requests for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on payment_requests to fd_app;
grant insert, select, update on payment_requests to fd_worker;
grant select on payment_requests to fd_operator;

create table pricing_group_members (
  tenant_ref text not null,
  group_id uuid not null,
  customer_ref text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint pricing_group_members_customer_ref_check CHECK (((length(customer_ref) >= 1) AND (length(customer_ref) <= 200))),
  constraint pricing_group_members_group FOREIGN KEY (tenant_ref, group_id) REFERENCES pricing_groups(tenant_ref, id) ON DELETE CASCADE,
  constraint pricing_group_members_pkey PRIMARY KEY (tenant_ref, group_id, customer_ref),
  constraint pricing_group_members_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table pricing_group_members owner to fd_owner;
alter table pricing_group_members enable row level security;
alter table pricing_group_members force row level security;
CREATE INDEX pricing_group_members_of_customer ON pricing_group_members USING btree (tenant_ref, customer_ref, group_id);
create policy operator on pricing_group_members for select to fd_operator using true;
create policy owner on pricing_group_members for all to fd_owner using true with check true;
create policy tenant on pricing_group_members for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON pricing_group_members REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_pricing_group_members();
CREATE TRIGGER meter_insert AFTER INSERT ON pricing_group_members REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_pricing_group_members();
grant delete, insert, select on pricing_group_members to fd_app;
grant delete, select on pricing_group_members to fd_worker;
grant select on pricing_group_members to fd_operator;

create table pricing_group_prices (
  tenant_ref text not null,
  group_id uuid not null,
  variant_id uuid not null,
  min_quantity integer not null,
  price_cents bigint not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint pricing_group_prices_group FOREIGN KEY (tenant_ref, group_id) REFERENCES pricing_groups(tenant_ref, id) ON DELETE CASCADE,
  constraint pricing_group_prices_min_quantity_check CHECK (((min_quantity >= 1) AND (min_quantity <= 10000))),
  constraint pricing_group_prices_pkey PRIMARY KEY (tenant_ref, group_id, variant_id, min_quantity),
  constraint pricing_group_prices_price_cents_check CHECK (((price_cents >= 0) AND (price_cents <= '100000000000'::bigint))),
  constraint pricing_group_prices_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint pricing_group_prices_variant FOREIGN KEY (tenant_ref, variant_id) REFERENCES variants(tenant_ref, id)
);
alter table pricing_group_prices owner to fd_owner;
alter table pricing_group_prices enable row level security;
alter table pricing_group_prices force row level security;
create policy operator on pricing_group_prices for select to fd_operator using true;
create policy owner on pricing_group_prices for all to fd_owner using true with check true;
create policy tenant on pricing_group_prices for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON pricing_group_prices REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_pricing_group_prices();
CREATE TRIGGER meter_insert AFTER INSERT ON pricing_group_prices REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_pricing_group_prices();
grant delete, insert, select, update on pricing_group_prices to fd_app;
grant select on pricing_group_prices to fd_operator;
grant select on pricing_group_prices to fd_worker;

create table pricing_groups (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  name text not null,
  adjustment_bps integer,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint pricing_groups_adjustment_bps_check CHECK (((adjustment_bps >= 1) AND (adjustment_bps <= 10000))),
  constraint pricing_groups_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint pricing_groups_pkey PRIMARY KEY (tenant_ref, id),
  constraint pricing_groups_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table pricing_groups owner to fd_owner;
alter table pricing_groups enable row level security;
alter table pricing_groups force row level security;
CREATE INDEX pricing_groups_newest ON pricing_groups USING btree (tenant_ref, created_at DESC, id DESC);
create policy operator on pricing_groups for select to fd_operator using true;
create policy owner on pricing_groups for all to fd_owner using true with check true;
create policy tenant on pricing_groups for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on pricing_groups to fd_app;
grant select on pricing_groups to fd_operator;
grant select on pricing_groups to fd_worker;

create table privacy_erasures (
  tenant_ref text not null,
  id uuid not null,
  customer_ref text,
  guest_refs text[] not null default '{}'::text[],
  emails text[] not null default '{}'::text[],
  pseudonym text not null,
  actor text not null,
  orders integer not null default 0,
  created_at timestamp with time zone not null default fd_now(),
  done_at timestamp with time zone,
  constraint privacy_erasures_check CHECK (((done_at IS NULL) = (customer_ref IS NOT NULL))),
  constraint privacy_erasures_check1 CHECK (((done_at IS NULL) OR ((guest_refs = '{}'::text[]) AND (emails = '{}'::text[])))),
  constraint privacy_erasures_customer_ref_check CHECK (((length(customer_ref) >= 1) AND (length(customer_ref) <= 200))),
  constraint privacy_erasures_pkey PRIMARY KEY (tenant_ref, id),
  constraint privacy_erasures_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table privacy_erasures owner to fd_owner;
alter table privacy_erasures enable row level security;
alter table privacy_erasures force row level security;
create policy operator on privacy_erasures for select to fd_operator using true;
create policy owner on privacy_erasures for all to fd_owner using true with check true;
create policy tenant on privacy_erasures for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on privacy_erasures to fd_app;
grant select on privacy_erasures to fd_operator;
grant select, update on privacy_erasures to fd_worker;

create table privacy_exports (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  customer_ref text not null,
  status text not null default 'pending'::text,
  sealed bytea,
  error text,
  attempt_count integer not null default 0,
  due_at timestamp with time zone default now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  created_at timestamp with time zone not null default fd_now(),
  done_at timestamp with time zone,
  expires_at timestamp with time zone not null default (fd_now() + '7 days'::interval),
  constraint privacy_exports_check CHECK (((status = 'pending'::text) = (due_at IS NOT NULL))),
  constraint privacy_exports_check1 CHECK (((status = 'done'::text) = (sealed IS NOT NULL))),
  constraint privacy_exports_check2 CHECK (((status = 'failed'::text) = (error IS NOT NULL))),
  constraint privacy_exports_customer_ref_check CHECK (((length(customer_ref) >= 1) AND (length(customer_ref) <= 200))),
  constraint privacy_exports_error_check CHECK ((length(error) <= 60)),
  constraint privacy_exports_pkey PRIMARY KEY (tenant_ref, id),
  constraint privacy_exports_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text]))),
  constraint privacy_exports_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table privacy_exports owner to fd_owner;
alter table privacy_exports enable row level security;
alter table privacy_exports force row level security;
CREATE INDEX privacy_exports_due ON privacy_exports USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX privacy_exports_due_of_tenant ON privacy_exports USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX privacy_exports_expired ON privacy_exports USING btree (expires_at);
CREATE INDEX privacy_exports_of_customer ON privacy_exports USING btree (tenant_ref, customer_ref);
CREATE UNIQUE INDEX privacy_exports_pending ON privacy_exports USING btree (tenant_ref, customer_ref) WHERE (status = 'pending'::text);
create policy due on privacy_exports for select to fd_worker using true;
create policy operator on privacy_exports for select to fd_operator using true;
create policy owner on privacy_exports for all to fd_owner using true with check true;
create policy tenant on privacy_exports for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on privacy_exports for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on privacy_exports to fd_app;
grant delete, select, update on privacy_exports to fd_worker;
grant select on privacy_exports to fd_operator;

create table product_images (
  tenant_ref text not null,
  product_id uuid not null,
  asset_ref text not null,
  alt text,
  "position" integer not null,
  constraint product_images_alt_check CHECK ((length(alt) <= 1000)),
  constraint product_images_asset_ref_check CHECK ((length(asset_ref) <= 200)),
  constraint product_images_pkey PRIMARY KEY (tenant_ref, product_id, asset_ref),
  constraint product_images_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint product_images_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id)
);
alter table product_images owner to fd_owner;
alter table product_images enable row level security;
alter table product_images force row level security;
create policy operator on product_images for select to fd_operator using true;
create policy owner on product_images for all to fd_owner using true with check true;
create policy tenant on product_images for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER search_delete AFTER DELETE ON product_images REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_pictures();
CREATE TRIGGER search_insert AFTER INSERT ON product_images REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_pictures();
CREATE TRIGGER search_update AFTER UPDATE ON product_images REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_picture_texts();
grant delete, insert, select, update on product_images to fd_app;
grant select on product_images to fd_operator;
grant select on product_images to fd_worker;

create table product_scans (
  tenant_ref text not null,
  product_id uuid not null,
  text_hash bytea not null,
  rules_version text not null,
  passed boolean not null,
  scanned_at timestamp with time zone not null default fd_now(),
  constraint product_scans_pkey PRIMARY KEY (tenant_ref, product_id),
  constraint product_scans_rules_version_check CHECK ((length(rules_version) <= 100)),
  constraint product_scans_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint product_scans_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id) ON DELETE CASCADE,
  constraint product_scans_text_hash_check CHECK ((octet_length(text_hash) = 32))
);
alter table product_scans owner to fd_owner;
alter table product_scans enable row level security;
alter table product_scans force row level security;
create policy operator on product_scans for select to fd_operator using true;
create policy owner on product_scans for all to fd_owner using true with check true;
create policy tenant on product_scans for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on product_scans to fd_app;
grant select on product_scans to fd_operator;
grant select on product_scans to fd_worker;

create table product_search (
  tenant_ref text not null,
  product_id uuid not null,
  created_at timestamp with time zone not null,
  price_cents bigint,
  collections uuid[] not null default '{}'::uuid[],
  names text not null default ''::text,
  head tsvector not null default ''::tsvector,
  words tsvector not null default ''::tsvector,
  constraint product_search_pkey PRIMARY KEY (tenant_ref, product_id),
  constraint product_search_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint product_search_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id) ON DELETE CASCADE
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table product_search owner to fd_owner;
alter table product_search enable row level security;
alter table product_search force row level security;
CREATE INDEX product_search_names ON product_search USING gin (tenant_ref, names gin_trgm_ops);
CREATE INDEX product_search_words ON product_search USING gin (tenant_ref, words);
create policy operator on product_search for select to fd_operator using true;
create policy owner on product_search for all to fd_owner using true with check true;
create policy search on product_search for select to fd_search using true;
create policy tenant on product_search for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER search_learn AFTER UPDATE ON product_search REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_learn();
grant insert, select, update on product_search to fd_app;
grant select on product_search to fd_operator;
grant select on product_search to fd_search;
grant select, update on product_search to fd_worker;

create table products (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  slug text not null,
  name text not null,
  description text,
  status text not null default 'active'::text,
  is_subscription boolean not null default false,
  subscription_interval text,
  subscription_interval_count integer,
  subscription_price_cents bigint,
  metadata jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default fd_clock(),
  updated_at timestamp with time zone not null default fd_clock(),
  constraint products_check CHECK ((is_subscription = (subscription_interval IS NOT NULL))),
  constraint products_check1 CHECK ((is_subscription = (subscription_interval_count IS NOT NULL))),
  constraint products_check2 CHECK ((is_subscription OR (subscription_price_cents IS NULL))),
  constraint products_description_check CHECK ((length(description) <= 20000)),
  constraint products_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint products_name_check CHECK (((length(name) >= 1) AND (length(name) <= 300))),
  constraint products_pkey PRIMARY KEY (tenant_ref, id),
  constraint products_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 200))),
  constraint products_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'archived'::text]))),
  constraint products_subscription_interval_check CHECK ((subscription_interval = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  constraint products_subscription_interval_count_check CHECK (((subscription_interval_count >= 1) AND (subscription_interval_count <= 1000))),
  constraint products_subscription_price_cents_check CHECK (((subscription_price_cents >= 0) AND (subscription_price_cents <= '100000000000'::bigint))),
  constraint products_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table products owner to fd_owner;
alter table products enable row level security;
alter table products force row level security;
CREATE INDEX products_by_status ON products USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX products_named ON products USING gin (tenant_ref, lower(NORMALIZE(((name || ' '::text) || slug))) gin_trgm_ops);
CREATE INDEX products_newest ON products USING btree (tenant_ref, created_at DESC, id DESC);
CREATE UNIQUE INDEX products_slug ON products USING btree (tenant_ref, slug) WHERE (status <> 'archived'::text);
create policy operator on products for select to fd_operator using true;
create policy owner on products for all to fd_owner using true with check true;
create policy search on products for select to fd_search using true;
create policy tenant on products for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON products REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_products();
CREATE TRIGGER meter_insert AFTER INSERT ON products REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_products();
CREATE TRIGGER meter_update AFTER UPDATE ON products REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_products();
CREATE TRIGGER on_sale AFTER UPDATE OF status ON products FOR EACH ROW WHEN ((old.status <> new.status)) EXECUTE FUNCTION fd_members_on_sale();
CREATE TRIGGER search_insert AFTER INSERT ON products REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_products();
CREATE TRIGGER search_update AFTER UPDATE ON products REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_texts();
grant insert, select, update on products to fd_app;
grant select on products to fd_operator;
grant select on products to fd_worker;
grant select (created_at) on products to fd_search;
grant select (id) on products to fd_search;
grant select (name) on products to fd_search;
grant select (slug) on products to fd_search;
grant select (status) on products to fd_search;
grant select (tenant_ref) on products to fd_search;

create table purchase_cost_allocations (
  tenant_ref text not null,
  cost_id uuid not null,
  line_id uuid not null,
  amount_cents bigint not null,
  on_hand_units bigint not null,
  on_hand_cents bigint not null,
  sold_units bigint not null,
  sold_cents bigint not null,
  constraint purchase_cost_allocations_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint purchase_cost_allocations_check CHECK (((on_hand_cents + sold_cents) = amount_cents)),
  constraint purchase_cost_allocations_on_hand_cents_check CHECK ((on_hand_cents >= 0)),
  constraint purchase_cost_allocations_on_hand_units_check CHECK ((on_hand_units >= 0)),
  constraint purchase_cost_allocations_pkey PRIMARY KEY (tenant_ref, cost_id, line_id),
  constraint purchase_cost_allocations_sold_cents_check CHECK ((sold_cents >= 0)),
  constraint purchase_cost_allocations_sold_units_check CHECK ((sold_units >= 0)),
  constraint purchase_cost_allocations_tenant_ref_cost_id_fkey FOREIGN KEY (tenant_ref, cost_id) REFERENCES purchase_costs(tenant_ref, id),
  constraint purchase_cost_allocations_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint purchase_cost_allocations_tenant_ref_line_id_fkey FOREIGN KEY (tenant_ref, line_id) REFERENCES purchase_order_lines(tenant_ref, id)
);
alter table purchase_cost_allocations owner to fd_owner;
alter table purchase_cost_allocations enable row level security;
alter table purchase_cost_allocations force row level security;
create policy operator on purchase_cost_allocations for select to fd_operator using true;
create policy owner on purchase_cost_allocations for all to fd_owner using true with check true;
create policy tenant on purchase_cost_allocations for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON purchase_cost_allocations FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on purchase_cost_allocations to fd_app;
grant select on purchase_cost_allocations to fd_operator;
grant select on purchase_cost_allocations to fd_worker;

create table purchase_costs (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  purchase_order_id uuid not null,
  number integer not null,
  description text not null,
  amount_cents bigint not null,
  split_by text not null,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint purchase_costs_amount_cents_check CHECK ((amount_cents > 0)),
  constraint purchase_costs_created_by_check CHECK ((length(created_by) <= 200)),
  constraint purchase_costs_description_check CHECK (((length(description) >= 1) AND (length(description) <= 500))),
  constraint purchase_costs_number_check CHECK ((number > 0)),
  constraint purchase_costs_pkey PRIMARY KEY (tenant_ref, id),
  constraint purchase_costs_split_by_check CHECK ((split_by = ANY (ARRAY['value'::text, 'quantity'::text, 'weight'::text]))),
  constraint purchase_costs_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint purchase_costs_tenant_ref_purchase_order_id_fkey FOREIGN KEY (tenant_ref, purchase_order_id) REFERENCES purchase_orders(tenant_ref, id),
  constraint purchase_costs_tenant_ref_purchase_order_id_number_key UNIQUE (tenant_ref, purchase_order_id, number)
);
alter table purchase_costs owner to fd_owner;
alter table purchase_costs enable row level security;
alter table purchase_costs force row level security;
create policy operator on purchase_costs for select to fd_operator using true;
create policy owner on purchase_costs for all to fd_owner using true with check true;
create policy tenant on purchase_costs for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON purchase_costs FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on purchase_costs to fd_app;
grant select on purchase_costs to fd_operator;
grant select on purchase_costs to fd_worker;

create table purchase_order_counters (
  tenant_ref text not null,
  last_number bigint not null,
  constraint purchase_order_counters_pkey PRIMARY KEY (tenant_ref),
  constraint purchase_order_counters_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table purchase_order_counters owner to fd_owner;
alter table purchase_order_counters enable row level security;
alter table purchase_order_counters force row level security;
create policy operator on purchase_order_counters for select to fd_operator using true;
create policy owner on purchase_order_counters for all to fd_owner using true with check true;
create policy tenant on purchase_order_counters for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on purchase_order_counters to fd_app;
grant select on purchase_order_counters to fd_operator;
grant select on purchase_order_counters to fd_worker;

create table purchase_order_lines (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  purchase_order_id uuid not null,
  "position" integer not null,
  variant_id uuid not null,
  sku text not null,
  quantity bigint not null,
  received_quantity bigint not null default 0,
  rejected_quantity bigint not null default 0,
  unit_cost_cents bigint not null,
  unit_weight_grams integer,
  constraint purchase_order_lines_pkey PRIMARY KEY (tenant_ref, id),
  constraint purchase_order_lines_position_check CHECK (("position" >= 0)),
  constraint purchase_order_lines_quantity_check CHECK (((quantity >= 1) AND (quantity <= 1000000))),
  constraint purchase_order_lines_received_quantity_check CHECK ((received_quantity >= 0)),
  constraint purchase_order_lines_rejected_quantity_check CHECK ((rejected_quantity >= 0)),
  constraint purchase_order_lines_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint purchase_order_lines_tenant_ref_purchase_order_id_fkey FOREIGN KEY (tenant_ref, purchase_order_id) REFERENCES purchase_orders(tenant_ref, id),
  constraint purchase_order_lines_tenant_ref_purchase_order_id_variant_i_key UNIQUE (tenant_ref, purchase_order_id, variant_id),
  constraint purchase_order_lines_tenant_ref_variant_id_fkey FOREIGN KEY (tenant_ref, variant_id) REFERENCES variants(tenant_ref, id),
  constraint purchase_order_lines_unit_cost_cents_check CHECK ((unit_cost_cents >= 0)),
  constraint purchase_order_lines_unit_weight_grams_check CHECK (((unit_weight_grams >= 1) AND (unit_weight_grams <= 1000000000)))
);
alter table purchase_order_lines owner to fd_owner;
alter table purchase_order_lines enable row level security;
alter table purchase_order_lines force row level security;
CREATE INDEX purchase_order_lines_of_variant ON purchase_order_lines USING btree (tenant_ref, variant_id, id DESC);
create policy operator on purchase_order_lines for select to fd_operator using true;
create policy owner on purchase_order_lines for all to fd_owner using true with check true;
create policy tenant on purchase_order_lines for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on purchase_order_lines to fd_app;
grant select on purchase_order_lines to fd_operator;
grant select on purchase_order_lines to fd_worker;

create table purchase_orders (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  po_number text not null,
  vendor_id uuid not null,
  location_id text not null,
  status text not null default 'draft'::text,
  currency text not null,
  expected_at timestamp with time zone,
  notes text,
  subtotal_cents bigint not null,
  shipping_cents bigint not null default 0,
  over_receipt_percent integer not null default 0,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  ordered_at timestamp with time zone,
  received_at timestamp with time zone,
  closed_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  constraint purchase_orders_check CHECK (((status = ANY (ARRAY['ordered'::text, 'partially_received'::text, 'received'::text, 'closed_short'::text])) <= (ordered_at IS NOT NULL))),
  constraint purchase_orders_check1 CHECK (((status = 'received'::text) = (received_at IS NOT NULL))),
  constraint purchase_orders_check2 CHECK (((status = 'closed_short'::text) = (closed_at IS NOT NULL))),
  constraint purchase_orders_check3 CHECK (((status = 'cancelled'::text) = (cancelled_at IS NOT NULL))),
  constraint purchase_orders_created_by_check CHECK ((length(created_by) <= 200)),
  constraint purchase_orders_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint purchase_orders_notes_check CHECK ((length(notes) <= 2000)),
  constraint purchase_orders_over_receipt_percent_check CHECK (((over_receipt_percent >= 0) AND (over_receipt_percent <= 100))),
  constraint purchase_orders_pkey PRIMARY KEY (tenant_ref, id),
  constraint purchase_orders_po_number_check CHECK (((length(po_number) >= 1) AND (length(po_number) <= 50))),
  constraint purchase_orders_shipping_cents_check CHECK ((shipping_cents >= 0)),
  constraint purchase_orders_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'ordered'::text, 'partially_received'::text, 'received'::text, 'closed_short'::text, 'cancelled'::text]))),
  constraint purchase_orders_subtotal_cents_check CHECK ((subtotal_cents >= 0)),
  constraint purchase_orders_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint purchase_orders_tenant_ref_location_id_fkey FOREIGN KEY (tenant_ref, location_id) REFERENCES inventory_locations(tenant_ref, id),
  constraint purchase_orders_tenant_ref_po_number_key UNIQUE (tenant_ref, po_number),
  constraint purchase_orders_tenant_ref_vendor_id_fkey FOREIGN KEY (tenant_ref, vendor_id) REFERENCES vendors(tenant_ref, id)
);
alter table purchase_orders owner to fd_owner;
alter table purchase_orders enable row level security;
alter table purchase_orders force row level security;
CREATE INDEX purchase_orders_newest ON purchase_orders USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX purchase_orders_of_status ON purchase_orders USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX purchase_orders_of_vendor ON purchase_orders USING btree (tenant_ref, vendor_id, created_at DESC, id DESC);
create policy operator on purchase_orders for select to fd_operator using true;
create policy owner on purchase_orders for all to fd_owner using true with check true;
create policy tenant on purchase_orders for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON purchase_orders REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_purchase_orders();
CREATE TRIGGER meter_insert AFTER INSERT ON purchase_orders REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_purchase_orders();
grant insert, select, update on purchase_orders to fd_app;
grant select on purchase_orders to fd_operator;
grant select on purchase_orders to fd_worker;

create table purchase_receipt_lines (
  tenant_ref text not null,
  receipt_id uuid not null,
  line_id uuid not null,
  added bigint not null,
  rejected bigint not null,
  reason text,
  arrived_after bigint,
  constraint purchase_receipt_lines_added_check CHECK ((added >= 0)),
  constraint purchase_receipt_lines_check CHECK (((added + rejected) > 0)),
  constraint purchase_receipt_lines_pkey PRIMARY KEY (tenant_ref, receipt_id, line_id),
  constraint purchase_receipt_lines_reason_check CHECK ((length(reason) <= 500)),
  constraint purchase_receipt_lines_rejected_check CHECK ((rejected >= 0)),
  constraint purchase_receipt_lines_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint purchase_receipt_lines_tenant_ref_line_id_fkey FOREIGN KEY (tenant_ref, line_id) REFERENCES purchase_order_lines(tenant_ref, id),
  constraint purchase_receipt_lines_tenant_ref_receipt_id_fkey FOREIGN KEY (tenant_ref, receipt_id) REFERENCES purchase_receipts(tenant_ref, id)
);
alter table purchase_receipt_lines owner to fd_owner;
alter table purchase_receipt_lines enable row level security;
alter table purchase_receipt_lines force row level security;
CREATE INDEX purchase_receipt_lines_of_line ON purchase_receipt_lines USING btree (tenant_ref, line_id);
create policy operator on purchase_receipt_lines for select to fd_operator using true;
create policy owner on purchase_receipt_lines for all to fd_owner using true with check true;
create policy tenant on purchase_receipt_lines for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON purchase_receipt_lines FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on purchase_receipt_lines to fd_app;
grant select on purchase_receipt_lines to fd_operator;
grant select on purchase_receipt_lines to fd_worker;

create table purchase_receipts (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  purchase_order_id uuid not null,
  number integer not null,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint purchase_receipts_created_by_check CHECK ((length(created_by) <= 200)),
  constraint purchase_receipts_number_check CHECK ((number > 0)),
  constraint purchase_receipts_pkey PRIMARY KEY (tenant_ref, id),
  constraint purchase_receipts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint purchase_receipts_tenant_ref_purchase_order_id_fkey FOREIGN KEY (tenant_ref, purchase_order_id) REFERENCES purchase_orders(tenant_ref, id),
  constraint purchase_receipts_tenant_ref_purchase_order_id_number_key UNIQUE (tenant_ref, purchase_order_id, number)
);
alter table purchase_receipts owner to fd_owner;
alter table purchase_receipts enable row level security;
alter table purchase_receipts force row level security;
create policy operator on purchase_receipts for select to fd_operator using true;
create policy owner on purchase_receipts for all to fd_owner using true with check true;
create policy tenant on purchase_receipts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON purchase_receipts FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on purchase_receipts to fd_app;
grant select on purchase_receipts to fd_operator;
grant select on purchase_receipts to fd_worker;

create table refund_items (
  tenant_ref text not null,
  refund_id uuid not null,
  order_item_id uuid not null,
  quantity integer not null,
  amount_cents bigint not null,
  restocked_quantity integer not null default 0,
  constraint refund_items_pkey PRIMARY KEY (tenant_ref, refund_id, order_item_id),
  constraint refund_items_quantity_check CHECK ((quantity > 0)),
  constraint refund_items_restocked_check CHECK (((restocked_quantity >= 0) AND (restocked_quantity <= quantity))),
  constraint refund_items_tenant_ref_order_item_id_fkey FOREIGN KEY (tenant_ref, order_item_id) REFERENCES order_items(tenant_ref, id),
  constraint refund_items_tenant_ref_refund_id_fkey FOREIGN KEY (tenant_ref, refund_id) REFERENCES refunds(tenant_ref, refund_id)
);
alter table refund_items owner to fd_owner;
alter table refund_items enable row level security;
alter table refund_items force row level security;
create policy operator on refund_items for select to fd_operator using true;
create policy owner on refund_items for all to fd_owner using true with check true;
create policy tenant on refund_items for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on refund_items to fd_app;
grant insert, select on refund_items to fd_worker;
grant select on refund_items to fd_operator;

create table refund_tenders (
  tenant_ref text not null,
  refund_id uuid not null,
  charge_id uuid not null,
  tender text not null,
  amount_cents bigint not null,
  status text not null,
  attempt_id uuid,
  constraint refund_tenders_amount_cents_check CHECK ((amount_cents > 0)),
  constraint refund_tenders_pkey PRIMARY KEY (tenant_ref, refund_id, charge_id),
  constraint refund_tenders_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
  constraint refund_tenders_tenant_ref_charge_id_fkey FOREIGN KEY (tenant_ref, charge_id) REFERENCES charges(tenant_ref, charge_id),
  constraint refund_tenders_tenant_ref_refund_id_fkey FOREIGN KEY (tenant_ref, refund_id) REFERENCES refunds(tenant_ref, refund_id),
  constraint refund_tenders_tender_check CHECK ((tender = ANY (ARRAY['store_credit'::text, 'gift_card'::text, 'card'::text])))
);
alter table refund_tenders owner to fd_owner;
alter table refund_tenders enable row level security;
alter table refund_tenders force row level security;
create policy operator on refund_tenders for select to fd_operator using true;
create policy owner on refund_tenders for all to fd_owner using true with check true;
create policy tenant on refund_tenders for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on refund_tenders to fd_app;
grant insert, select, update on refund_tenders to fd_worker;
grant select on refund_tenders to fd_operator;

create table refunds (
  tenant_ref text not null,
  refund_id uuid not null,
  order_id uuid not null,
  kind text not null default 'refund'::text,
  status text not null,
  method text not null default 'original'::text,
  amount_cents bigint not null,
  product_cents bigint not null default 0,
  tax_cents bigint not null default 0,
  shipping_cents bigint not null default 0,
  currency text not null,
  reason text,
  actor text not null,
  created_at timestamp with time zone not null default fd_now(),
  settled_at timestamp with time zone,
  gift_card_cents bigint not null default 0,
  constraint refunds_amount_cents_check CHECK (((amount_cents > 0) OR ((amount_cents = 0) AND (kind = 'refund'::text)))),
  constraint refunds_gift_card_cents_check CHECK ((gift_card_cents >= 0)),
  constraint refunds_kind_check CHECK ((kind = ANY (ARRAY['refund'::text, 'adjustment'::text]))),
  constraint refunds_method_check CHECK ((method = ANY (ARRAY['original'::text, 'store_credit'::text, 'exchange'::text]))),
  constraint refunds_parts_check CHECK ((amount_cents = (((product_cents + tax_cents) + shipping_cents) + gift_card_cents))),
  constraint refunds_pkey PRIMARY KEY (tenant_ref, refund_id),
  constraint refunds_reason_check CHECK ((length(reason) <= 2000)),
  constraint refunds_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
  constraint refunds_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table refunds owner to fd_owner;
alter table refunds enable row level security;
alter table refunds force row level security;
CREATE INDEX refunds_of_order ON refunds USING btree (tenant_ref, order_id, created_at);
create policy operator on refunds for select to fd_operator using true;
create policy owner on refunds for all to fd_owner using true with check true;
create policy tenant on refunds for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on refunds to fd_app;
grant insert, select, update on refunds to fd_worker;
grant select on refunds to fd_operator;

create table retention_archives (
  tenant_ref text not null,
  table_name text not null,
  month date not null,
  part integer not null,
  row_count integer not null,
  file_sha256 text not null,
  rows_sha256 text not null,
  bytes bigint not null,
  last_key text not null,
  created_at timestamp with time zone not null default now(),
  constraint retention_archives_bytes_check CHECK ((bytes > 0)),
  constraint retention_archives_file_sha256_check CHECK ((file_sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint retention_archives_part_check CHECK ((part > 0)),
  constraint retention_archives_pkey PRIMARY KEY (tenant_ref, table_name, month, part),
  constraint retention_archives_row_count_check CHECK ((row_count > 0)),
  constraint retention_archives_rows_sha256_check CHECK ((rows_sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint retention_archives_table_name_check CHECK ((length(table_name) <= 63)),
  constraint retention_archives_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table retention_archives owner to fd_owner;
alter table retention_archives enable row level security;
alter table retention_archives force row level security;
create policy operator on retention_archives for select to fd_operator using true;
create policy owner on retention_archives for all to fd_owner using true with check true;
create policy tenant on retention_archives for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON retention_archives FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on retention_archives to fd_worker;
grant select on retention_archives to fd_app;
grant select on retention_archives to fd_operator;

create table return_exchanges (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  return_id uuid not null,
  order_id uuid not null,
  advance boolean not null,
  status text not null,
  amount_cents bigint not null,
  from_waived_cents bigint not null default 0,
  pay_days integer not null,
  refund_id uuid,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  placed_at timestamp with time zone,
  released_at timestamp with time zone,
  constraint return_exchanges_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint return_exchanges_check CHECK (((from_waived_cents >= 0) AND (from_waived_cents <= amount_cents))),
  constraint return_exchanges_check1 CHECK (((status = 'released'::text) = (released_at IS NOT NULL))),
  constraint return_exchanges_check2 CHECK (((status = 'placed'::text) <= (placed_at IS NOT NULL))),
  constraint return_exchanges_created_by_check CHECK ((length(created_by) <= 200)),
  constraint return_exchanges_pay_days_check CHECK ((pay_days > 0)),
  constraint return_exchanges_pkey PRIMARY KEY (tenant_ref, id),
  constraint return_exchanges_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'placed'::text, 'released'::text]))),
  constraint return_exchanges_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint return_exchanges_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id),
  constraint return_exchanges_tenant_ref_order_id_key UNIQUE (tenant_ref, order_id),
  constraint return_exchanges_tenant_ref_refund_id_fkey FOREIGN KEY (tenant_ref, refund_id) REFERENCES refunds(tenant_ref, refund_id),
  constraint return_exchanges_tenant_ref_return_id_fkey FOREIGN KEY (tenant_ref, return_id) REFERENCES returns(tenant_ref, id)
);
alter table return_exchanges owner to fd_owner;
alter table return_exchanges enable row level security;
alter table return_exchanges force row level security;
CREATE INDEX return_exchanges_of_return ON return_exchanges USING btree (tenant_ref, return_id, created_at);
create policy operator on return_exchanges for select to fd_operator using true;
create policy owner on return_exchanges for all to fd_owner using true with check true;
create policy tenant on return_exchanges for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on return_exchanges to fd_app;
grant insert, select, update on return_exchanges to fd_worker;
grant select on return_exchanges to fd_operator;

create table return_lines (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  return_id uuid not null,
  order_item_id uuid not null,
  "position" integer not null,
  variant_id uuid not null,
  sku text not null,
  product_name text not null,
  label text,
  reason text,
  quantity integer not null,
  restocked_quantity integer not null default 0,
  damaged_quantity integer not null default 0,
  quarantined_quantity integer not null default 0,
  missing_quantity integer not null default 0,
  quarantine_location_id text,
  refunded_quantity integer not null default 0,
  already_refunded_quantity integer not null default 0,
  waived_quantity integer not null default 0,
  refund_cents bigint not null default 0,
  constraint return_lines_already_refunded_quantity_check CHECK ((already_refunded_quantity >= 0)),
  constraint return_lines_check CHECK (((((restocked_quantity + damaged_quantity) + quarantined_quantity) + missing_quantity) <= quantity)),
  constraint return_lines_check1 CHECK ((((refunded_quantity + already_refunded_quantity) + waived_quantity) <= ((restocked_quantity + damaged_quantity) + quarantined_quantity))),
  constraint return_lines_damaged_quantity_check CHECK ((damaged_quantity >= 0)),
  constraint return_lines_missing_quantity_check CHECK ((missing_quantity >= 0)),
  constraint return_lines_once UNIQUE (tenant_ref, return_id, order_item_id),
  constraint return_lines_pkey PRIMARY KEY (tenant_ref, id),
  constraint return_lines_quantity_check CHECK ((quantity > 0)),
  constraint return_lines_quarantined_quantity_check CHECK ((quarantined_quantity >= 0)),
  constraint return_lines_reason_check CHECK ((length(reason) <= 2000)),
  constraint return_lines_refund_cents_check CHECK ((refund_cents >= 0)),
  constraint return_lines_refunded_quantity_check CHECK ((refunded_quantity >= 0)),
  constraint return_lines_restocked_quantity_check CHECK ((restocked_quantity >= 0)),
  constraint return_lines_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint return_lines_tenant_ref_order_item_id_fkey FOREIGN KEY (tenant_ref, order_item_id) REFERENCES order_items(tenant_ref, id),
  constraint return_lines_tenant_ref_return_id_fkey FOREIGN KEY (tenant_ref, return_id) REFERENCES returns(tenant_ref, id),
  constraint return_lines_waived_quantity_check CHECK ((waived_quantity >= 0))
);
alter table return_lines owner to fd_owner;
alter table return_lines enable row level security;
alter table return_lines force row level security;
CREATE INDEX return_lines_of_item ON return_lines USING btree (tenant_ref, order_item_id);
create policy operator on return_lines for select to fd_operator using true;
create policy owner on return_lines for all to fd_owner using true with check true;
create policy tenant on return_lines for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on return_lines to fd_app;
grant insert, select, update on return_lines to fd_worker;
grant select on return_lines to fd_operator;

create table return_receipt_lines (
  tenant_ref text not null,
  receipt_id uuid not null,
  return_line_id uuid not null,
  disposition text not null,
  quantity integer not null,
  stock_quantity integer not null,
  constraint return_receipt_lines_check CHECK (((stock_quantity >= 0) AND (stock_quantity <= quantity))),
  constraint return_receipt_lines_disposition_check CHECK ((disposition = ANY (ARRAY['restock'::text, 'damaged'::text, 'quarantine'::text, 'missing'::text]))),
  constraint return_receipt_lines_pkey PRIMARY KEY (tenant_ref, receipt_id, return_line_id, disposition),
  constraint return_receipt_lines_quantity_check CHECK ((quantity > 0)),
  constraint return_receipt_lines_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint return_receipt_lines_tenant_ref_receipt_id_fkey FOREIGN KEY (tenant_ref, receipt_id) REFERENCES return_receipts(tenant_ref, id),
  constraint return_receipt_lines_tenant_ref_return_line_id_fkey FOREIGN KEY (tenant_ref, return_line_id) REFERENCES return_lines(tenant_ref, id)
);
alter table return_receipt_lines owner to fd_owner;
alter table return_receipt_lines enable row level security;
alter table return_receipt_lines force row level security;
create policy operator on return_receipt_lines for select to fd_operator using true;
create policy owner on return_receipt_lines for all to fd_owner using true with check true;
create policy tenant on return_receipt_lines for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on return_receipt_lines to fd_app;
grant insert, select on return_receipt_lines to fd_worker;
grant select on return_receipt_lines to fd_operator;

create table return_receipts (
  tenant_ref text not null,
  id uuid not null,
  return_id uuid not null,
  number integer not null,
  status text not null,
  method text not null,
  location_id text not null,
  restocking_fee_cents bigint not null default 0,
  refund_shipping_cents bigint not null default 0,
  deducted_cents bigint not null default 0,
  refund_id uuid,
  shares jsonb not null default '[]'::jsonb,
  movement_ids uuid[] not null default '{}'::uuid[],
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  settled_at timestamp with time zone,
  waived_cents bigint not null default 0,
  constraint return_receipts_check CHECK (((refund_id IS NOT NULL) OR (status = 'settled'::text))),
  constraint return_receipts_check1 CHECK (((status = 'settled'::text) = (settled_at IS NOT NULL))),
  constraint return_receipts_created_by_check CHECK ((length(created_by) <= 200)),
  constraint return_receipts_method_check CHECK ((method = ANY (ARRAY['original'::text, 'store_credit'::text, 'none'::text, 'later'::text]))),
  constraint return_receipts_number_check CHECK ((number > 0)),
  constraint return_receipts_pkey PRIMARY KEY (tenant_ref, id),
  constraint return_receipts_refund_shipping_cents_check CHECK ((refund_shipping_cents >= 0)),
  constraint return_receipts_restocking_fee_cents_check CHECK ((restocking_fee_cents >= 0)),
  constraint return_receipts_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'settled'::text, 'failed'::text]))),
  constraint return_receipts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint return_receipts_tenant_ref_refund_id_fkey FOREIGN KEY (tenant_ref, refund_id) REFERENCES refunds(tenant_ref, refund_id),
  constraint return_receipts_tenant_ref_return_id_fkey FOREIGN KEY (tenant_ref, return_id) REFERENCES returns(tenant_ref, id),
  constraint return_receipts_tenant_ref_return_id_number_key UNIQUE (tenant_ref, return_id, number),
  constraint return_receipts_waived_cents_check CHECK ((waived_cents >= 0))
);
alter table return_receipts owner to fd_owner;
alter table return_receipts enable row level security;
alter table return_receipts force row level security;
CREATE UNIQUE INDEX return_receipts_of_refund ON return_receipts USING btree (tenant_ref, refund_id) WHERE (refund_id IS NOT NULL);
create policy operator on return_receipts for select to fd_operator using true;
create policy owner on return_receipts for all to fd_owner using true with check true;
create policy tenant on return_receipts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on return_receipts to fd_app;
grant insert, select, update on return_receipts to fd_worker;
grant select on return_receipts to fd_operator;

create table return_resolutions (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  return_line_id uuid not null,
  disposition text not null,
  quantity integer not null,
  stock_quantity integer not null,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint return_resolutions_check CHECK (((stock_quantity >= 0) AND (stock_quantity <= quantity))),
  constraint return_resolutions_created_by_check CHECK ((length(created_by) <= 200)),
  constraint return_resolutions_disposition_check CHECK ((disposition = ANY (ARRAY['restock'::text, 'damaged'::text]))),
  constraint return_resolutions_pkey PRIMARY KEY (tenant_ref, id),
  constraint return_resolutions_quantity_check CHECK ((quantity > 0)),
  constraint return_resolutions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint return_resolutions_tenant_ref_return_line_id_fkey FOREIGN KEY (tenant_ref, return_line_id) REFERENCES return_lines(tenant_ref, id)
);
alter table return_resolutions owner to fd_owner;
alter table return_resolutions enable row level security;
alter table return_resolutions force row level security;
CREATE INDEX return_resolutions_of_line ON return_resolutions USING btree (tenant_ref, return_line_id);
create policy operator on return_resolutions for select to fd_operator using true;
create policy owner on return_resolutions for all to fd_owner using true with check true;
create policy tenant on return_resolutions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on return_resolutions to fd_app;
grant insert, select on return_resolutions to fd_worker;
grant select on return_resolutions to fd_operator;

create table returns (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  order_id uuid not null,
  number integer not null,
  return_number text not null,
  status text not null,
  requested_by text not null,
  note text,
  instructions text,
  label_url text,
  decline_reason text,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  approved_at timestamp with time zone,
  declined_at timestamp with time zone,
  received_at timestamp with time zone,
  closed_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  constraint returns_check CHECK (((status = 'declined'::text) = (declined_at IS NOT NULL))),
  constraint returns_check1 CHECK (((status = 'cancelled'::text) = (cancelled_at IS NOT NULL))),
  constraint returns_check2 CHECK (((status = 'closed'::text) = (closed_at IS NOT NULL))),
  constraint returns_check3 CHECK (((status = ANY (ARRAY['approved'::text, 'partially_received'::text, 'received'::text, 'closed'::text])) <= (approved_at IS NOT NULL))),
  constraint returns_check4 CHECK (((status = 'received'::text) <= (received_at IS NOT NULL))),
  constraint returns_created_by_check CHECK ((length(created_by) <= 200)),
  constraint returns_decline_reason_check CHECK ((length(decline_reason) <= 2000)),
  constraint returns_instructions_check CHECK ((length(instructions) <= 5000)),
  constraint returns_label_url_check CHECK ((length(label_url) <= 2000)),
  constraint returns_note_check CHECK ((length(note) <= 2000)),
  constraint returns_number_check CHECK ((number > 0)),
  constraint returns_pkey PRIMARY KEY (tenant_ref, id),
  constraint returns_requested_by_check CHECK ((requested_by = ANY (ARRAY['shopper'::text, 'merchant'::text]))),
  constraint returns_return_number_check CHECK ((length(return_number) <= 50)),
  constraint returns_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'approved'::text, 'declined'::text, 'partially_received'::text, 'received'::text, 'closed'::text, 'cancelled'::text]))),
  constraint returns_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint returns_tenant_ref_order_id_fkey FOREIGN KEY (tenant_ref, order_id) REFERENCES orders(tenant_ref, id),
  constraint returns_tenant_ref_order_id_number_key UNIQUE (tenant_ref, order_id, number)
);
alter table returns owner to fd_owner;
alter table returns enable row level security;
alter table returns force row level security;
CREATE INDEX returns_newest ON returns USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX returns_of_status ON returns USING btree (tenant_ref, status, created_at DESC, id DESC);
create policy operator on returns for select to fd_operator using true;
create policy owner on returns for all to fd_owner using true with check true;
create policy tenant on returns for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on returns to fd_app;
grant insert, select, update on returns to fd_worker;
grant select on returns to fd_operator;

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

create table search_words (
  tenant_ref text not null,
  word text not null,
  constraint search_words_pkey PRIMARY KEY (tenant_ref, word),
  constraint search_words_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint search_words_word_check CHECK (((length(word) >= 3) AND (length(word) <= 50)))
);
alter table search_words owner to fd_owner;
alter table search_words enable row level security;
alter table search_words force row level security;
CREATE INDEX search_words_alike ON search_words USING gin (tenant_ref, word gin_trgm_ops);
create policy due on search_words for select to fd_worker using true;
create policy forget on search_words for delete to fd_search using true;
create policy operator on search_words for select to fd_operator using true;
create policy owner on search_words for all to fd_owner using true with check true;
create policy search on search_words for select to fd_search using true;
create policy tenant on search_words for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on search_words for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, select on search_words to fd_search;
grant insert, select on search_words to fd_app;
grant insert, select on search_words to fd_worker;
grant select on search_words to fd_operator;

create table segment_people (
  tenant_ref text not null,
  email_folded text not null,
  email text not null,
  customer_ref text,
  orders_count integer not null default 0,
  total_spent_cents bigint not null default 0,
  refunded_cents bigint not null default 0,
  first_order_at timestamp with time zone,
  last_order_at timestamp with time zone,
  country text,
  place text,
  consent text not null default 'none'::text,
  constraint segment_people_check CHECK (((orders_count = 0) = (last_order_at IS NULL))),
  constraint segment_people_check1 CHECK (((orders_count > 0) OR (consent <> 'none'::text))),
  constraint segment_people_consent_check CHECK ((consent = ANY (ARRAY['none'::text, 'given'::text, 'withdrawn'::text]))),
  constraint segment_people_country_check CHECK ((length(country) <= 39)),
  constraint segment_people_customer_ref_check CHECK ((length(customer_ref) <= 200)),
  constraint segment_people_email_check CHECK ((length(email) <= 320)),
  constraint segment_people_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint segment_people_orders_count_check CHECK ((orders_count >= 0)),
  constraint segment_people_pkey PRIMARY KEY (tenant_ref, email_folded),
  constraint segment_people_place_check CHECK ((length(place) <= 80)),
  constraint segment_people_refunded_cents_check CHECK ((refunded_cents >= 0)),
  constraint segment_people_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint segment_people_total_spent_cents_check CHECK ((total_spent_cents >= 0))
) with (fillfactor=90);
alter table segment_people owner to fd_owner;
alter table segment_people enable row level security;
alter table segment_people force row level security;
CREATE INDEX segment_people_of_customer ON segment_people USING btree (tenant_ref, customer_ref) WHERE (customer_ref IS NOT NULL);
create policy operator on segment_people for select to fd_operator using true;
create policy owner on segment_people for all to fd_owner using true with check true;
create policy tenant on segment_people for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select, update on segment_people to fd_app;
grant delete, insert, select, update on segment_people to fd_worker;
grant select on segment_people to fd_operator;

create table segment_positions (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  sequence bigint not null default 0,
  due_at timestamp with time zone default now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  constraint segment_positions_pkey PRIMARY KEY (tenant_ref),
  constraint segment_positions_sequence_check CHECK ((sequence >= 0)),
  constraint segment_positions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint segment_positions_tenant_ref_id_key UNIQUE (tenant_ref, id)
);
alter table segment_positions owner to fd_owner;
alter table segment_positions enable row level security;
alter table segment_positions force row level security;
CREATE INDEX segment_positions_due ON segment_positions USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX segment_positions_due_of_tenant ON segment_positions USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
create policy due on segment_positions for select to fd_worker using true;
create policy operator on segment_positions for select to fd_operator using true;
create policy owner on segment_positions for all to fd_owner using true with check true;
create policy tenant on segment_positions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on segment_positions for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on segment_positions to fd_app;
grant insert, select, update on segment_positions to fd_worker;
grant select on segment_positions to fd_operator;

create table segment_purchases (
  tenant_ref text not null,
  product_id uuid not null,
  email_folded text not null,
  constraint segment_purchases_email_folded_check CHECK ((length(email_folded) <= 320)),
  constraint segment_purchases_pkey PRIMARY KEY (tenant_ref, product_id, email_folded),
  constraint segment_purchases_tenant_ref_email_folded_fkey FOREIGN KEY (tenant_ref, email_folded) REFERENCES segment_people(tenant_ref, email_folded) ON DELETE CASCADE,
  constraint segment_purchases_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table segment_purchases owner to fd_owner;
alter table segment_purchases enable row level security;
alter table segment_purchases force row level security;
CREATE INDEX segment_purchases_of_person ON segment_purchases USING btree (tenant_ref, email_folded);
create policy operator on segment_purchases for select to fd_operator using true;
create policy owner on segment_purchases for all to fd_owner using true with check true;
create policy tenant on segment_purchases for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select on segment_purchases to fd_app;
grant delete, insert, select on segment_purchases to fd_worker;
grant select on segment_purchases to fd_operator;

create table segments (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  name text not null,
  match text not null,
  conditions jsonb not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint segments_conditions_check CHECK (((jsonb_typeof(conditions) = 'array'::text) AND (length((conditions)::text) <= 131072))),
  constraint segments_match_check CHECK ((match = ANY (ARRAY['all'::text, 'any'::text]))),
  constraint segments_name UNIQUE (tenant_ref, name),
  constraint segments_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint segments_pkey PRIMARY KEY (tenant_ref, id),
  constraint segments_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table segments owner to fd_owner;
alter table segments enable row level security;
alter table segments force row level security;
CREATE INDEX segments_newest ON segments USING btree (tenant_ref, created_at DESC, id DESC);
create policy operator on segments for select to fd_operator using true;
create policy owner on segments for all to fd_owner using true with check true;
create policy tenant on segments for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON segments REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_segments();
CREATE TRIGGER meter_insert AFTER INSERT ON segments REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_segments();
grant delete, insert, select, update on segments to fd_app;
grant select on segments to fd_operator;
grant select on segments to fd_worker;

create table shopper_mail_settings (
  tenant_ref text not null,
  off_kinds text[] not null default '{}'::text[],
  updated_at timestamp with time zone not null default fd_now(),
  constraint shopper_mail_settings_off_kinds_check CHECK ((cardinality(off_kinds) <= 100)),
  constraint shopper_mail_settings_pkey PRIMARY KEY (tenant_ref),
  constraint shopper_mail_settings_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table shopper_mail_settings owner to fd_owner;
alter table shopper_mail_settings enable row level security;
alter table shopper_mail_settings force row level security;
create policy operator on shopper_mail_settings for select to fd_operator using true;
create policy owner on shopper_mail_settings for all to fd_owner using true with check true;
create policy tenant on shopper_mail_settings for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on shopper_mail_settings to fd_app;
grant select on shopper_mail_settings to fd_operator;
grant select on shopper_mail_settings to fd_worker;

create table shopper_mails (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  kind text not null,
  about_id uuid not null,
  order_id uuid,
  customer_ref text,
  details jsonb,
  recipient text,
  language text,
  state text not null default 'queued'::text,
  reason text,
  attempt_count integer not null default 0,
  resend_count integer not null default 0,
  next_attempt_at timestamp with time zone default fd_now(),
  lease_until timestamp with time zone,
  lease_token uuid,
  sending_at timestamp with time zone,
  interrupted boolean not null default false,
  last_error text,
  queued_at timestamp with time zone not null default fd_now(),
  created_at timestamp with time zone not null default fd_now(),
  sent_at timestamp with time zone,
  resend_to text,
  sent_as jsonb,
  constraint shopper_mails_attempt_count_check CHECK ((attempt_count >= 0)),
  constraint shopper_mails_check CHECK (((state = 'queued'::text) = (next_attempt_at IS NOT NULL))),
  constraint shopper_mails_check1 CHECK (((state = 'sent'::text) <= (sent_at IS NOT NULL))),
  constraint shopper_mails_check2 CHECK (((state = ANY (ARRAY['skipped'::text, 'dead'::text])) = (reason IS NOT NULL))),
  constraint shopper_mails_check3 CHECK (((state = 'erased'::text) <= (recipient IS NULL))),
  constraint shopper_mails_customer_ref_check CHECK ((length(customer_ref) <= 200)),
  constraint shopper_mails_details_check CHECK ((length((details)::text) <= 65536)),
  constraint shopper_mails_kind_check CHECK ((kind ~ '^[a-z_]{1,40}$'::text)),
  constraint shopper_mails_language_check CHECK ((length(language) <= 35)),
  constraint shopper_mails_last_error_check CHECK ((length(last_error) <= 500)),
  constraint shopper_mails_pkey PRIMARY KEY (tenant_ref, id),
  constraint shopper_mails_reason_check CHECK ((length(reason) <= 40)),
  constraint shopper_mails_recipient_check CHECK ((length(recipient) <= 254)),
  constraint shopper_mails_resend_count_check CHECK ((resend_count >= 0)),
  constraint shopper_mails_resend_to_check CHECK ((length(resend_to) <= 254)),
  constraint shopper_mails_sent_as_check CHECK ((length((sent_as)::text) <= 1048576)),
  constraint shopper_mails_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'skipped'::text, 'dead'::text, 'erased'::text]))),
  constraint shopper_mails_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint shopper_mails_tenant_ref_kind_about_id_key UNIQUE (tenant_ref, kind, about_id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table shopper_mails owner to fd_owner;
alter table shopper_mails enable row level security;
alter table shopper_mails force row level security;
CREATE INDEX shopper_mails_all_newest ON shopper_mails USING btree (created_at DESC, id DESC);
CREATE INDEX shopper_mails_all_of_kind ON shopper_mails USING btree (kind, created_at DESC, id DESC);
CREATE INDEX shopper_mails_all_of_state ON shopper_mails USING btree (state, created_at DESC, id DESC);
CREATE INDEX shopper_mails_due ON shopper_mails USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX shopper_mails_due_of_tenant ON shopper_mails USING btree (tenant_ref, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX shopper_mails_newest ON shopper_mails USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX shopper_mails_of_customer ON shopper_mails USING btree (tenant_ref, customer_ref, id) WHERE (customer_ref IS NOT NULL);
CREATE INDEX shopper_mails_of_kind ON shopper_mails USING btree (tenant_ref, kind, created_at DESC, id DESC);
CREATE INDEX shopper_mails_of_order ON shopper_mails USING btree (tenant_ref, order_id, created_at DESC, id DESC) WHERE (order_id IS NOT NULL);
CREATE INDEX shopper_mails_of_state ON shopper_mails USING btree (tenant_ref, state, created_at DESC, id DESC);
CREATE INDEX shopper_mails_to ON shopper_mails USING btree (tenant_ref, lower(recipient)) WHERE (recipient IS NOT NULL);
create policy due on shopper_mails for select to fd_worker using true;
create policy operator on shopper_mails for select to fd_operator using true;
create policy owner on shopper_mails for all to fd_owner using true with check true;
create policy tenant on shopper_mails for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on shopper_mails for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on shopper_mails to fd_worker;
grant select on shopper_mails to fd_operator;
grant select, update on shopper_mails to fd_app;

create table sim_charges (
  tenant_ref text not null,
  txn_id uuid not null default fd_uuid(),
  ref uuid not null,
  amount_cents bigint not null,
  currency text not null,
  outcome text not null,
  code text not null,
  auth_code text,
  avs text,
  cvv text,
  card jsonb not null,
  fingerprint text not null,
  vault_id uuid,
  captured_cents bigint not null default 0,
  refunded_cents bigint not null default 0,
  captured_at timestamp with time zone,
  voided_at timestamp with time zone,
  dispute_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  charged_vault_id uuid,
  constraint sim_charges_checks CHECK (fd_check_sim_charges(sim_charges.*)),
  constraint sim_charges_pkey PRIMARY KEY (tenant_ref, txn_id),
  constraint sim_charges_tenant_ref_ref_key UNIQUE (tenant_ref, ref)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table sim_charges owner to fd_owner;
alter table sim_charges enable row level security;
alter table sim_charges force row level security;
CREATE INDEX sim_charges_newest ON sim_charges USING btree (tenant_ref, created_at DESC, txn_id DESC);
CREATE INDEX sim_charges_of_vault ON sim_charges USING btree (tenant_ref, charged_vault_id) WHERE (charged_vault_id IS NOT NULL);
create policy operator on sim_charges for select to fd_operator using true;
create policy owner on sim_charges for all to fd_owner using true with check true;
create policy tenant on sim_charges for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on sim_charges to fd_app;
grant insert, select, update on sim_charges to fd_worker;
grant select on sim_charges to fd_operator;

create table sim_journal (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  txn_id uuid not null,
  ref uuid not null,
  kind text not null,
  amount_cents bigint not null,
  outcome text not null,
  created_at timestamp with time zone not null default fd_clock(),
  constraint sim_journal_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint sim_journal_kind_check CHECK ((kind = ANY (ARRAY['authorize'::text, 'capture'::text, 'void'::text, 'refund'::text]))),
  constraint sim_journal_outcome_check CHECK ((outcome = ANY (ARRAY['approved'::text, 'declined'::text, 'error'::text]))),
  constraint sim_journal_pkey PRIMARY KEY (tenant_ref, id),
  constraint sim_journal_tenant_ref_ref_kind_key UNIQUE (tenant_ref, ref, kind)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table sim_journal owner to fd_owner;
alter table sim_journal enable row level security;
alter table sim_journal force row level security;
CREATE INDEX sim_journal_of_charge ON sim_journal USING btree (tenant_ref, txn_id, created_at);
create policy operator on sim_journal for select to fd_operator using true;
create policy owner on sim_journal for all to fd_owner using true with check true;
create policy tenant on sim_journal for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER frozen BEFORE DELETE OR UPDATE OR TRUNCATE ON sim_journal FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
grant insert, select on sim_journal to fd_app;
grant insert, select on sim_journal to fd_worker;
grant select on sim_journal to fd_operator;

create table sim_shipments (
  tenant_ref text not null,
  ref uuid not null,
  service text not null,
  tracking_number text not null,
  cost_cents bigint not null,
  currency text not null,
  shipment jsonb,
  state text not null default 'bought'::text,
  state_at timestamp with time zone not null default fd_now(),
  created_at timestamp with time zone not null default fd_now(),
  constraint sim_shipments_cost_cents_check CHECK ((cost_cents >= 0)),
  constraint sim_shipments_pkey PRIMARY KEY (tenant_ref, ref),
  constraint sim_shipments_state_check CHECK ((state = ANY (ARRAY['bought'::text, 'in_transit'::text, 'delivered'::text, 'returned'::text, 'voided'::text]))),
  constraint sim_shipments_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table sim_shipments owner to fd_owner;
alter table sim_shipments enable row level security;
alter table sim_shipments force row level security;
create policy operator on sim_shipments for select to fd_operator using true;
create policy owner on sim_shipments for all to fd_owner using true with check true;
create policy tenant on sim_shipments for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on sim_shipments to fd_app;
grant insert, select, update on sim_shipments to fd_worker;
grant select on sim_shipments to fd_operator;

create table sim_vault (
  tenant_ref text not null,
  vault_id uuid not null,
  card jsonb not null,
  fingerprint text not null,
  behaviour text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint sim_vault_pkey PRIMARY KEY (tenant_ref, vault_id),
  constraint sim_vault_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table sim_vault owner to fd_owner;
alter table sim_vault enable row level security;
alter table sim_vault force row level security;
create policy operator on sim_vault for select to fd_operator using true;
create policy owner on sim_vault for all to fd_owner using true with check true;
create policy tenant on sim_vault for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select on sim_vault to fd_app;
grant delete, insert, select on sim_vault to fd_worker;
grant select on sim_vault to fd_operator;

create table site_versions (
  tenant_ref text not null,
  version integer not null,
  manifest text not null,
  row_hash text not null,
  brand_name text,
  rules_version text not null,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  constraint site_versions_brand_name_check CHECK ((length(brand_name) <= 200)),
  constraint site_versions_created_by_check CHECK ((length(created_by) <= 200)),
  constraint site_versions_pkey PRIMARY KEY (tenant_ref, version),
  constraint site_versions_row_hash_check CHECK ((row_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint site_versions_rules_version_check CHECK ((length(rules_version) <= 40)),
  constraint site_versions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint site_versions_version_check CHECK ((version > 0))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05);
alter table site_versions owner to fd_owner;
alter table site_versions enable row level security;
alter table site_versions force row level security;
create policy due on site_versions for select to fd_worker using true;
create policy operator on site_versions for select to fd_operator using true;
create policy owner on site_versions for all to fd_owner using true with check true;
create policy tenant on site_versions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on site_versions for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER frozen BEFORE UPDATE OR TRUNCATE ON site_versions FOR EACH STATEMENT EXECUTE FUNCTION fd_refuse_change();
CREATE TRIGGER meter_delete AFTER DELETE ON site_versions REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_site_versions();
CREATE TRIGGER meter_insert AFTER INSERT ON site_versions REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_site_versions();
CREATE TRIGGER young BEFORE DELETE ON site_versions FOR EACH ROW EXECUTE FUNCTION fd_refuse_young('created_at', '28 days');
grant delete, select on site_versions to fd_worker;
grant insert, select on site_versions to fd_app;
grant select on site_versions to fd_operator;

create table stock_count_lines (
  tenant_ref text not null,
  count_id uuid not null,
  variant_id uuid not null,
  location_id text not null,
  expected bigint not null,
  counted bigint,
  moved bigint not null default 0,
  reason text,
  is_open boolean not null default true,
  constraint stock_count_lines_counted_check CHECK (((counted >= 0) AND (counted <= 1000000000))),
  constraint stock_count_lines_pkey PRIMARY KEY (tenant_ref, count_id, variant_id),
  constraint stock_count_lines_reason_check CHECK ((length(reason) <= 500)),
  constraint stock_count_lines_tenant_ref_count_id_fkey FOREIGN KEY (tenant_ref, count_id) REFERENCES stock_counts(tenant_ref, id),
  constraint stock_count_lines_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint stock_count_lines_tenant_ref_variant_id_location_id_fkey FOREIGN KEY (tenant_ref, variant_id, location_id) REFERENCES inventory_levels(tenant_ref, variant_id, location_id)
);
alter table stock_count_lines owner to fd_owner;
alter table stock_count_lines enable row level security;
alter table stock_count_lines force row level security;
CREATE UNIQUE INDEX stock_count_lines_open ON stock_count_lines USING btree (tenant_ref, variant_id, location_id) WHERE is_open;
create policy operator on stock_count_lines for select to fd_operator using true;
create policy owner on stock_count_lines for all to fd_owner using true with check true;
create policy tenant on stock_count_lines for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on stock_count_lines to fd_app;
grant select on stock_count_lines to fd_operator;
grant select on stock_count_lines to fd_worker;

create table stock_counts (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  location_id text not null,
  status text not null default 'open'::text,
  created_by text not null,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  posted_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  constraint stock_counts_check CHECK (((status = 'posted'::text) = (posted_at IS NOT NULL))),
  constraint stock_counts_check1 CHECK (((status = 'cancelled'::text) = (cancelled_at IS NOT NULL))),
  constraint stock_counts_created_by_check CHECK ((length(created_by) <= 200)),
  constraint stock_counts_pkey PRIMARY KEY (tenant_ref, id),
  constraint stock_counts_status_check CHECK ((status = ANY (ARRAY['open'::text, 'posted'::text, 'cancelled'::text]))),
  constraint stock_counts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint stock_counts_tenant_ref_location_id_fkey FOREIGN KEY (tenant_ref, location_id) REFERENCES inventory_locations(tenant_ref, id)
);
alter table stock_counts owner to fd_owner;
alter table stock_counts enable row level security;
alter table stock_counts force row level security;
CREATE INDEX stock_counts_newest ON stock_counts USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX stock_counts_of_status ON stock_counts USING btree (tenant_ref, status, created_at DESC, id DESC);
create policy operator on stock_counts for select to fd_operator using true;
create policy owner on stock_counts for all to fd_owner using true with check true;
create policy tenant on stock_counts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON stock_counts REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_stock_counts();
CREATE TRIGGER meter_insert AFTER INSERT ON stock_counts REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_stock_counts();
grant insert, select, update on stock_counts to fd_app;
grant select on stock_counts to fd_operator;
grant select on stock_counts to fd_worker;

create table store_credit_accounts (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  customer_ref text not null,
  currency text not null,
  balance_cents bigint not null default 0,
  held_cents bigint not null default 0,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint store_credit_accounts_balance_cents_check CHECK (((balance_cents >= 0) AND (balance_cents <= '9007199254740991'::bigint))),
  constraint store_credit_accounts_check CHECK ((held_cents <= balance_cents)),
  constraint store_credit_accounts_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint store_credit_accounts_customer_ref_check CHECK (((length(customer_ref) >= 1) AND (length(customer_ref) <= 200))),
  constraint store_credit_accounts_held_cents_check CHECK ((held_cents >= 0)),
  constraint store_credit_accounts_pkey PRIMARY KEY (tenant_ref, id),
  constraint store_credit_accounts_tenant_ref_customer_ref_currency_key UNIQUE (tenant_ref, customer_ref, currency),
  constraint store_credit_accounts_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table store_credit_accounts owner to fd_owner;
alter table store_credit_accounts enable row level security;
alter table store_credit_accounts force row level security;
CREATE INDEX store_credit_accounts_newest ON store_credit_accounts USING btree (tenant_ref, created_at DESC, id DESC);
create policy operator on store_credit_accounts for select to fd_operator using true;
create policy owner on store_credit_accounts for all to fd_owner using true with check true;
create policy tenant on store_credit_accounts for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on store_credit_accounts to fd_app;
grant insert, select, update on store_credit_accounts to fd_worker;
grant select on store_credit_accounts to fd_operator;

create table store_credit_lots (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  account_id uuid not null,
  amount_cents bigint not null,
  remaining_cents bigint not null,
  expires_at timestamp with time zone,
  due_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_clock(),
  constraint store_credit_lots_amount_cents_check CHECK ((amount_cents > 0)),
  constraint store_credit_lots_check CHECK ((remaining_cents <= amount_cents)),
  constraint store_credit_lots_check1 CHECK (((due_at IS NULL) OR (expires_at IS NOT NULL))),
  constraint store_credit_lots_pkey PRIMARY KEY (tenant_ref, id),
  constraint store_credit_lots_remaining_cents_check CHECK ((remaining_cents >= 0)),
  constraint store_credit_lots_tenant_ref_account_id_fkey FOREIGN KEY (tenant_ref, account_id) REFERENCES store_credit_accounts(tenant_ref, id),
  constraint store_credit_lots_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table store_credit_lots owner to fd_owner;
alter table store_credit_lots enable row level security;
alter table store_credit_lots force row level security;
CREATE INDEX store_credit_lots_due ON store_credit_lots USING btree (due_at) WHERE ((due_at IS NOT NULL) AND (remaining_cents > 0));
CREATE INDEX store_credit_lots_due_of_tenant ON store_credit_lots USING btree (tenant_ref, due_at) WHERE ((due_at IS NOT NULL) AND (remaining_cents > 0));
CREATE INDEX store_credit_lots_open ON store_credit_lots USING btree (tenant_ref, account_id, expires_at, created_at, id) WHERE (remaining_cents > 0);
create policy due on store_credit_lots for select to fd_worker using true;
create policy operator on store_credit_lots for select to fd_operator using true;
create policy owner on store_credit_lots for all to fd_owner using true with check true;
create policy tenant on store_credit_lots for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on store_credit_lots for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on store_credit_lots to fd_app;
grant insert, select, update on store_credit_lots to fd_worker;
grant select on store_credit_lots to fd_operator;

create table store_credit_spent (
  tenant_ref text not null,
  order_id uuid not null,
  lot_id uuid not null,
  amount_cents bigint not null,
  returned_cents bigint not null default 0,
  constraint store_credit_spent_amount_cents_check CHECK ((amount_cents > 0)),
  constraint store_credit_spent_check CHECK (((returned_cents >= 0) AND (returned_cents <= amount_cents))),
  constraint store_credit_spent_pkey PRIMARY KEY (tenant_ref, order_id, lot_id),
  constraint store_credit_spent_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint store_credit_spent_tenant_ref_lot_id_fkey FOREIGN KEY (tenant_ref, lot_id) REFERENCES store_credit_lots(tenant_ref, id)
);
alter table store_credit_spent owner to fd_owner;
alter table store_credit_spent enable row level security;
alter table store_credit_spent force row level security;
CREATE INDEX store_credit_spent_by_lot ON store_credit_spent USING btree (tenant_ref, lot_id);
create policy operator on store_credit_spent for select to fd_operator using true;
create policy owner on store_credit_spent for all to fd_owner using true with check true;
create policy tenant on store_credit_spent for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on store_credit_spent to fd_app;
grant insert, select, update on store_credit_spent to fd_worker;
grant select on store_credit_spent to fd_operator;

create table store_credit_transactions (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  account_id uuid not null,
  type text not null,
  event text not null,
  amount_cents bigint not null,
  balance_after_cents bigint not null,
  order_id uuid,
  reason text,
  actor text not null,
  created_at timestamp with time zone not null default fd_clock(),
  constraint store_credit_transactions_amount_cents_check CHECK ((amount_cents > 0)),
  constraint store_credit_transactions_balance_after_cents_check CHECK ((balance_after_cents >= 0)),
  constraint store_credit_transactions_event_check CHECK ((event = ANY (ARRAY['adjustment'::text, 'order'::text, 'refund'::text, 'return'::text, 'expiration'::text]))),
  constraint store_credit_transactions_pkey PRIMARY KEY (tenant_ref, id),
  constraint store_credit_transactions_reason_check CHECK ((length(reason) <= 500)),
  constraint store_credit_transactions_tenant_ref_account_id_fkey FOREIGN KEY (tenant_ref, account_id) REFERENCES store_credit_accounts(tenant_ref, id),
  constraint store_credit_transactions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint store_credit_transactions_type_check CHECK ((type = ANY (ARRAY['credit'::text, 'debit'::text, 'hold'::text, 'capture'::text, 'void'::text, 'expire'::text])))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table store_credit_transactions owner to fd_owner;
alter table store_credit_transactions enable row level security;
alter table store_credit_transactions force row level security;
CREATE INDEX store_credit_transactions_newest ON store_credit_transactions USING btree (tenant_ref, account_id, created_at DESC, id DESC);
create policy operator on store_credit_transactions for select to fd_operator using true;
create policy owner on store_credit_transactions for all to fd_owner using true with check true;
create policy tenant on store_credit_transactions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select on store_credit_transactions to fd_app;
grant insert, select on store_credit_transactions to fd_worker;
grant select on store_credit_transactions to fd_operator;
grant update (reason) on store_credit_transactions to fd_app;
grant update (reason) on store_credit_transactions to fd_worker;

create table store_usage (
  tenant_ref text not null,
  limit_key text not null,
  used bigint not null default 0,
  max_override bigint,
  constraint store_usage_limit_key_check CHECK ((length(limit_key) <= 40)),
  constraint store_usage_max_override_check CHECK ((max_override >= 0)),
  constraint store_usage_pkey PRIMARY KEY (tenant_ref, limit_key),
  constraint store_usage_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
) with (fillfactor=50);
alter table store_usage owner to fd_owner;
alter table store_usage enable row level security;
alter table store_usage force row level security;
create policy operator on store_usage for select to fd_operator using true;
create policy owner on store_usage for all to fd_owner using true with check true;
create policy tenant on store_usage for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on store_usage to fd_app;
grant insert, select, update on store_usage to fd_worker;
grant select on store_usage to fd_operator;

create table storefront_tokens (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  label text not null,
  token_hash bytea not null,
  hint text not null,
  created_at timestamp with time zone not null default now(),
  constraint storefront_tokens_hint_check CHECK ((length(hint) = 4)),
  constraint storefront_tokens_label_check CHECK (((length(label) >= 1) AND (length(label) <= 80))),
  constraint storefront_tokens_pkey PRIMARY KEY (tenant_ref, id),
  constraint storefront_tokens_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint storefront_tokens_token_hash_check CHECK ((length(token_hash) = 32))
);
alter table storefront_tokens owner to fd_owner;
alter table storefront_tokens enable row level security;
alter table storefront_tokens force row level security;
CREATE INDEX storefront_tokens_gate ON storefront_tokens USING btree (token_hash);
CREATE INDEX storefront_tokens_newest ON storefront_tokens USING btree (tenant_ref, created_at, id);
create policy gate on storefront_tokens for select to fd_gate using true;
create policy operator on storefront_tokens for select to fd_operator using true;
create policy owner on storefront_tokens for all to fd_owner using true with check true;
create policy tenant on storefront_tokens for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select on storefront_tokens to fd_app;
grant select on storefront_tokens to fd_gate;
grant select on storefront_tokens to fd_operator;
grant select on storefront_tokens to fd_worker;

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
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  stock_hint text not null default 'none'::text,
  auto_deliver_days integer,
  sandbox boolean not null default false,
  previous_version integer,
  constraint stores_active_version_check CHECK ((active_version > 0)),
  constraint stores_active_version_fkey FOREIGN KEY (tenant_ref, active_version) REFERENCES site_versions(tenant_ref, version),
  constraint stores_auto_deliver_days_check CHECK (((auto_deliver_days >= 1) AND (auto_deliver_days <= 365))),
  constraint stores_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint stores_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 200))),
  constraint stores_language_check CHECK ((length(language) <= 35)),
  constraint stores_owner_email_check CHECK ((length(owner_email) <= 254)),
  constraint stores_pkey PRIMARY KEY (tenant_ref),
  constraint stores_previous_version_check CHECK ((previous_version > 0)),
  constraint stores_primary_hostname_check CHECK ((length(primary_hostname) <= 253)),
  constraint stores_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'live'::text, 'suspended'::text]))),
  constraint stores_stock_hint_check CHECK ((stock_hint = ANY (ARRAY['none'::text, 'low'::text, 'count'::text]))),
  constraint stores_tenant_ref_check CHECK ((tenant_ref ~ '^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$'::text)),
  constraint stores_tenant_ref_previous_version_fkey FOREIGN KEY (tenant_ref, previous_version) REFERENCES site_versions(tenant_ref, version),
  constraint stores_time_zone_check CHECK ((length(time_zone) <= 64))
);
alter table stores owner to fd_owner;
alter table stores enable row level security;
alter table stores force row level security;
CREATE INDEX stores_by_owner ON stores USING btree (owner_email) WHERE (owner_email IS NOT NULL);
CREATE INDEX stores_named ON stores USING gin (lower(((tenant_ref || ' '::text) || display_name)) gin_trgm_ops);
CREATE INDEX stores_of_status ON stores USING btree (status, store_number DESC);
CREATE UNIQUE INDEX stores_by_number ON stores USING btree (store_number DESC);
create policy gate on stores for select to fd_gate using true;
create policy operator on stores for select to fd_operator using true;
create policy owner on stores for all to fd_owner using true with check true;
create policy search on stores for select to fd_search using true;
create policy tenant on stores for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER becomes_sandbox AFTER UPDATE OF sandbox ON stores FOR EACH ROW WHEN ((new.sandbox AND (NOT old.sandbox))) EXECUTE FUNCTION fd_use_simulated();
CREATE TRIGGER currency_fixed BEFORE UPDATE OF currency ON stores FOR EACH ROW WHEN ((new.currency <> old.currency)) EXECUTE FUNCTION fd_keep_currency();
CREATE TRIGGER new_sandbox AFTER INSERT ON stores FOR EACH ROW WHEN (new.sandbox) EXECUTE FUNCTION fd_use_simulated();
CREATE TRIGGER opens_billing AFTER INSERT ON stores FOR EACH ROW EXECUTE FUNCTION fd_open_billing();
CREATE TRIGGER search_language AFTER UPDATE OF language ON stores FOR EACH ROW WHEN ((old.language IS DISTINCT FROM new.language)) EXECUTE FUNCTION fd_search_note_language();
grant insert, select, update on stores to fd_app;
grant select on stores to fd_gate;
grant select on stores to fd_operator;
grant select, update on stores to fd_worker;
grant select (language) on stores to fd_search;
grant select (status) on stores to fd_search;
grant select (store_number) on stores to fd_search;
grant select (tenant_ref) on stores to fd_search;

create table subscription_changes (
  tenant_ref text not null,
  subscription_id uuid not null,
  id uuid not null default fd_uuid(),
  constraint subscription_changes_pkey PRIMARY KEY (tenant_ref, subscription_id, id),
  constraint subscription_changes_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table subscription_changes owner to fd_owner;
alter table subscription_changes enable row level security;
alter table subscription_changes force row level security;
create policy operator on subscription_changes for select to fd_operator using true;
create policy owner on subscription_changes for all to fd_owner using true with check true;
create policy tenant on subscription_changes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select on subscription_changes to fd_worker;
grant insert, select on subscription_changes to fd_app;
grant select on subscription_changes to fd_operator;

create table subscription_counters (
  tenant_ref text not null,
  last_number bigint not null,
  constraint subscription_counters_pkey PRIMARY KEY (tenant_ref),
  constraint subscription_counters_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table subscription_counters owner to fd_owner;
alter table subscription_counters enable row level security;
alter table subscription_counters force row level security;
create policy operator on subscription_counters for select to fd_operator using true;
create policy owner on subscription_counters for all to fd_owner using true with check true;
create policy tenant on subscription_counters for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on subscription_counters to fd_app;
grant insert, select, update on subscription_counters to fd_worker;
grant select on subscription_counters to fd_operator;

create table subscription_cycles (
  tenant_ref text not null,
  subscription_id uuid not null,
  cycle integer not null,
  state text not null,
  due_at timestamp with time zone not null,
  order_id uuid,
  reason text,
  attempt_count integer not null default 0,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  constraint subscription_cycles_attempt_count_check CHECK ((attempt_count >= 0)),
  constraint subscription_cycles_check CHECK (((state = 'paid'::text) <= (order_id IS NOT NULL))),
  constraint subscription_cycles_check1 CHECK (((state = ANY (ARRAY['skipped'::text, 'failed'::text])) = (reason IS NOT NULL))),
  constraint subscription_cycles_cycle_check CHECK ((cycle > 0)),
  constraint subscription_cycles_pkey PRIMARY KEY (tenant_ref, subscription_id, cycle),
  constraint subscription_cycles_reason_check CHECK ((length(reason) <= 40)),
  constraint subscription_cycles_state_check CHECK ((state = ANY (ARRAY['scheduled'::text, 'skipped'::text, 'charging'::text, 'paid'::text, 'failed'::text]))),
  constraint subscription_cycles_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint subscription_cycles_tenant_ref_subscription_id_fkey FOREIGN KEY (tenant_ref, subscription_id) REFERENCES subscriptions(tenant_ref, id)
);
alter table subscription_cycles owner to fd_owner;
alter table subscription_cycles enable row level security;
alter table subscription_cycles force row level security;
CREATE INDEX subscription_cycles_of_order ON subscription_cycles USING btree (tenant_ref, order_id) WHERE (order_id IS NOT NULL);
CREATE UNIQUE INDEX subscription_cycles_charging ON subscription_cycles USING btree (tenant_ref, subscription_id) WHERE (state = 'charging'::text);
create policy operator on subscription_cycles for select to fd_operator using true;
create policy owner on subscription_cycles for all to fd_owner using true with check true;
create policy tenant on subscription_cycles for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on subscription_cycles to fd_app;
grant insert, select, update on subscription_cycles to fd_worker;
grant select on subscription_cycles to fd_operator;

create table subscription_declines (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  subscription_id uuid not null,
  cycle integer not null,
  order_id uuid not null,
  card text,
  amount_cents bigint not null,
  currency text not null,
  code text,
  class text not null,
  declined_at timestamp with time zone not null default fd_now(),
  network_code text,
  advice_code text,
  constraint subscription_declines_advice_code_check CHECK (((length(advice_code) >= 1) AND (length(advice_code) <= 8))),
  constraint subscription_declines_amount_cents_check CHECK ((amount_cents > 0)),
  constraint subscription_declines_card_check CHECK ((length(card) <= 200)),
  constraint subscription_declines_class_check CHECK ((class = ANY (ARRAY['soft'::text, 'funds'::text, 'wait'::text, 'update'::text, 'hard'::text, 'stop'::text, 'stop_all'::text]))),
  constraint subscription_declines_code_check CHECK ((length(code) <= 20)),
  constraint subscription_declines_currency_check CHECK ((length(currency) = 3)),
  constraint subscription_declines_cycle_check CHECK ((cycle > 1)),
  constraint subscription_declines_network_code_check CHECK (((length(network_code) >= 1) AND (length(network_code) <= 8))),
  constraint subscription_declines_pkey PRIMARY KEY (tenant_ref, id),
  constraint subscription_declines_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint subscription_declines_tenant_ref_subscription_id_fkey FOREIGN KEY (tenant_ref, subscription_id) REFERENCES subscriptions(tenant_ref, id)
);
alter table subscription_declines owner to fd_owner;
alter table subscription_declines enable row level security;
alter table subscription_declines force row level security;
CREATE INDEX subscription_declines_of_card ON subscription_declines USING btree (tenant_ref, card, declined_at) WHERE (card IS NOT NULL);
CREATE INDEX subscription_declines_of_subscription ON subscription_declines USING btree (tenant_ref, subscription_id, declined_at DESC);
create policy operator on subscription_declines for select to fd_operator using true;
create policy owner on subscription_declines for all to fd_owner using true with check true;
create policy tenant on subscription_declines for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on subscription_declines to fd_app;
grant insert, select, update on subscription_declines to fd_worker;
grant select on subscription_declines to fd_operator;

create table subscription_settings (
  tenant_ref text not null,
  dunning_delays_days integer[] not null default '{1,3,5,7}'::integer[],
  on_exhausted text not null default 'cancel'::text,
  pre_renewal_notice_days integer,
  on_out_of_stock text not null default 'skip'::text,
  updated_at timestamp with time zone not null default fd_now(),
  constraint subscription_settings_dunning_delays_days_check CHECK (((cardinality(dunning_delays_days) <= 10) AND (1 <= ALL (dunning_delays_days)) AND (60 >= ALL (dunning_delays_days)))),
  constraint subscription_settings_on_exhausted_check CHECK ((on_exhausted = ANY (ARRAY['cancel'::text, 'pause'::text]))),
  constraint subscription_settings_on_out_of_stock_check CHECK ((on_out_of_stock = ANY (ARRAY['skip'::text, 'retry'::text, 'backorder'::text]))),
  constraint subscription_settings_pkey PRIMARY KEY (tenant_ref),
  constraint subscription_settings_pre_renewal_notice_days_check CHECK (((pre_renewal_notice_days >= 1) AND (pre_renewal_notice_days <= 60))),
  constraint subscription_settings_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table subscription_settings owner to fd_owner;
alter table subscription_settings enable row level security;
alter table subscription_settings force row level security;
create policy operator on subscription_settings for select to fd_operator using true;
create policy owner on subscription_settings for all to fd_owner using true with check true;
create policy tenant on subscription_settings for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on subscription_settings to fd_app;
grant select on subscription_settings to fd_operator;
grant select on subscription_settings to fd_worker;

create table subscriptions (
  tenant_ref text not null,
  id uuid not null,
  customer_ref text not null,
  person_id uuid,
  product_id uuid not null,
  variant_id uuid not null,
  quantity integer not null,
  "interval" text not null,
  interval_count integer not null,
  unit_price_cents bigint not null,
  currency text not null,
  status text not null default 'active'::text,
  origin_order_id uuid not null,
  cycle integer not null default 1,
  current_period_start timestamp with time zone not null,
  next_charge_at timestamp with time zone,
  vault_id text,
  initial_txn_id text,
  card_brand text,
  card_last4 text,
  ship_to jsonb,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  subscription_number bigint not null,
  email text,
  gateway text,
  card_exp_month integer,
  card_exp_year integer,
  card_fingerprint text,
  price_policy text not null default 'locked'::text,
  pricing jsonb,
  last_order_id uuid,
  paid_cycles integer not null default 1,
  max_cycles integer,
  anchor_on date not null,
  anchor_cycle integer not null default 1,
  paused_until timestamp with time zone,
  paused_after integer,
  cancel_at_period_end boolean not null default false,
  cancelled_at timestamp with time zone,
  cancel_reason text,
  dunning_attempt integer not null default 0,
  dunning_next_at timestamp with time zone,
  dunning_reason text,
  dunning_ends_at timestamp with time zone,
  card_blocked boolean not null default false,
  charging_cycle integer,
  retry_at timestamp with time zone,
  noticed_for timestamp with time zone,
  card_told text,
  due_at timestamp with time zone,
  lease_until timestamp with time zone,
  lease_token uuid,
  version integer not null default 1,
  email_folded text generated always as (lower(email)) stored,
  prices_include_tax boolean not null default false,
  constraint subscriptions_cancel_reason_check CHECK ((length(cancel_reason) <= 2000)),
  constraint subscriptions_card_exp_month_check CHECK (((card_exp_month >= 1) AND (card_exp_month <= 12))),
  constraint subscriptions_card_exp_year_check CHECK (((card_exp_year >= 2000) AND (card_exp_year <= 2200))),
  constraint subscriptions_card_fingerprint_check CHECK ((length(card_fingerprint) <= 200)),
  constraint subscriptions_card_told_check CHECK ((length(card_told) <= 20)),
  constraint subscriptions_charging_cycle_check CHECK ((charging_cycle > 1)),
  constraint subscriptions_check CHECK (((status = ANY (ARRAY['cancelled'::text, 'unpaid_cancelled'::text, 'expired'::text])) <= ((due_at IS NULL) AND (next_charge_at IS NULL)))),
  constraint subscriptions_dunning_attempt_check CHECK ((dunning_attempt >= 0)),
  constraint subscriptions_dunning_reason_check CHECK ((length(dunning_reason) <= 40)),
  constraint subscriptions_email_check CHECK ((length(email) <= 254)),
  constraint subscriptions_gateway_check CHECK ((length(gateway) <= 40)),
  constraint subscriptions_interval_check CHECK (("interval" = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  constraint subscriptions_interval_count_check CHECK (((interval_count >= 1) AND (interval_count <= 1000))),
  constraint subscriptions_max_cycles_check CHECK (((max_cycles >= 1) AND (max_cycles <= 10000))),
  constraint subscriptions_number UNIQUE (tenant_ref, subscription_number),
  constraint subscriptions_paid_cycles_check CHECK ((paid_cycles >= 0)),
  constraint subscriptions_pkey PRIMARY KEY (tenant_ref, id),
  constraint subscriptions_price_policy_check CHECK ((price_policy = ANY (ARRAY['locked'::text, 'current'::text]))),
  constraint subscriptions_pricing_check CHECK ((length((pricing)::text) <= 65536)),
  constraint subscriptions_quantity_check CHECK ((quantity > 0)),
  constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'past_due'::text, 'cancelled'::text, 'unpaid_cancelled'::text, 'expired'::text]))),
  constraint subscriptions_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint subscriptions_unit_price_cents_check CHECK ((unit_price_cents >= 0))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table subscriptions owner to fd_owner;
alter table subscriptions enable row level security;
alter table subscriptions force row level security;
CREATE INDEX subscriptions_by_charge ON subscriptions USING btree (tenant_ref, next_charge_at, id) WHERE (next_charge_at IS NOT NULL);
CREATE INDEX subscriptions_due ON subscriptions USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX subscriptions_due_of_tenant ON subscriptions USING btree (tenant_ref, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX subscriptions_newest ON subscriptions USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX subscriptions_of_address ON subscriptions USING btree (tenant_ref, email_folded, status) WHERE (email_folded IS NOT NULL);
CREATE INDEX subscriptions_of_card ON subscriptions USING btree (tenant_ref, card_fingerprint) WHERE ((card_fingerprint IS NOT NULL) AND (status = ANY (ARRAY['active'::text, 'paused'::text, 'past_due'::text])));
CREATE INDEX subscriptions_of_customer ON subscriptions USING btree (tenant_ref, customer_ref, created_at DESC, id DESC);
CREATE INDEX subscriptions_of_order ON subscriptions USING btree (tenant_ref, origin_order_id);
CREATE INDEX subscriptions_of_status ON subscriptions USING btree (tenant_ref, status, created_at DESC, id DESC);
CREATE INDEX subscriptions_of_status_by_charge ON subscriptions USING btree (tenant_ref, status, next_charge_at, id) WHERE (next_charge_at IS NOT NULL);
CREATE INDEX subscriptions_of_vault ON subscriptions USING btree (tenant_ref, vault_id) WHERE (vault_id IS NOT NULL);
create policy due on subscriptions for select to fd_worker using true;
create policy operator on subscriptions for select to fd_operator using true;
create policy owner on subscriptions for all to fd_owner using true with check true;
create policy tenant on subscriptions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on subscriptions for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER note_begun AFTER INSERT ON subscriptions FOR EACH ROW EXECUTE FUNCTION fd_note_subscription();
CREATE TRIGGER note_changed AFTER UPDATE ON subscriptions FOR EACH ROW WHEN ((((((old.status IS DISTINCT FROM new.status) OR (old.currency IS DISTINCT FROM new.currency)) OR (old.created_at IS DISTINCT FROM new.created_at)) OR (fd_monthly_cents(old.*) IS DISTINCT FROM fd_monthly_cents(new.*))) OR (fd_ended_at(old.*) IS DISTINCT FROM fd_ended_at(new.*)))) EXECUTE FUNCTION fd_note_subscription();
CREATE TRIGGER schedule BEFORE INSERT OR UPDATE OF status, next_charge_at, retry_at, paused_until, cancel_at_period_end, charging_cycle, dunning_next_at, dunning_ends_at, noticed_for, price_policy, card_told, card_exp_month, card_exp_year, due_at ON subscriptions FOR EACH ROW EXECUTE FUNCTION fd_schedule_subscription();
grant insert, select, update on subscriptions to fd_app;
grant insert, select, update on subscriptions to fd_worker;
grant select on subscriptions to fd_operator;

create table test_clock_runs (
  tenant_ref text not null,
  move integer not null,
  place integer not null,
  at timestamp with time zone not null,
  kind text not null,
  subject text,
  outcome text not null,
  constraint test_clock_runs_kind_check CHECK ((length(kind) <= 40)),
  constraint test_clock_runs_outcome_check CHECK ((length(outcome) <= 200)),
  constraint test_clock_runs_pkey PRIMARY KEY (tenant_ref, move, place),
  constraint test_clock_runs_subject_check CHECK ((length(subject) <= 200)),
  constraint test_clock_runs_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table test_clock_runs owner to fd_owner;
alter table test_clock_runs enable row level security;
alter table test_clock_runs force row level security;
create policy operator on test_clock_runs for select to fd_operator using true;
create policy owner on test_clock_runs for all to fd_owner using true with check true;
create policy tenant on test_clock_runs for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant delete, insert, select on test_clock_runs to fd_worker;
grant select on test_clock_runs to fd_app;
grant select on test_clock_runs to fd_operator;

create table test_clocks (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  offset_ms bigint not null default 0,
  state text not null default 'ready'::text,
  target timestamp with time zone,
  has_arrived boolean not null default false,
  move integer not null default 0,
  ran_count integer not null default 0,
  waits integer not null default 0,
  failures integer not null default 0,
  next_attempt_at timestamp with time zone,
  lease_until timestamp with time zone,
  lease_token uuid,
  created_at timestamp with time zone not null default now(),
  constraint test_clocks_check CHECK (((state = 'advancing'::text) = (next_attempt_at IS NOT NULL))),
  constraint test_clocks_check1 CHECK (((state = 'advancing'::text) <= (target IS NOT NULL))),
  constraint test_clocks_failures_check CHECK ((failures >= 0)),
  constraint test_clocks_move_check CHECK ((move >= 0)),
  constraint test_clocks_offset_ms_check CHECK ((offset_ms >= 0)),
  constraint test_clocks_pkey PRIMARY KEY (tenant_ref),
  constraint test_clocks_ran_count_check CHECK ((ran_count >= 0)),
  constraint test_clocks_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'advancing'::text, 'failed'::text]))),
  constraint test_clocks_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint test_clocks_waits_check CHECK ((waits >= 0))
);
alter table test_clocks owner to fd_owner;
alter table test_clocks enable row level security;
alter table test_clocks force row level security;
CREATE INDEX test_clocks_due ON test_clocks USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX test_clocks_due_of_tenant ON test_clocks USING btree (tenant_ref, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX test_clocks_moved ON test_clocks USING btree (tenant_ref) WHERE ((offset_ms > 0) OR (state = 'advancing'::text));
create policy due on test_clocks for select to fd_worker using true;
create policy gate on test_clocks for select to fd_gate using true;
create policy operator on test_clocks for select to fd_operator using true;
create policy owner on test_clocks for all to fd_owner using true with check true;
create policy tenant on test_clocks for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on test_clocks for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant insert, select, update on test_clocks to fd_app;
grant select on test_clocks to fd_gate;
grant select on test_clocks to fd_operator;
grant select, update on test_clocks to fd_worker;

create table usage_limits (
  tier text not null default '*'::text,
  limit_key text not null,
  max bigint not null,
  constraint usage_limits_limit_key_check CHECK ((length(limit_key) <= 40)),
  constraint usage_limits_max_check CHECK ((max >= 0)),
  constraint usage_limits_pkey PRIMARY KEY (limit_key, tier),
  constraint usage_limits_tier_check CHECK ((length(tier) <= 40))
);
alter table usage_limits owner to fd_owner;
grant delete, insert, select, update on usage_limits to fd_app;
grant select on usage_limits to fd_operator;
grant select on usage_limits to fd_worker;

create table variants (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  product_id uuid not null,
  sku text not null,
  label text,
  price_cents bigint not null,
  currency text not null,
  "position" integer not null default 0,
  metadata jsonb not null default '{}'::jsonb,
  archived_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  is_low boolean not null default false,
  options jsonb not null default '[]'::jsonb,
  compare_at_price_cents bigint,
  image_asset_ref text,
  content_amount integer,
  content_unit text,
  gift_card boolean not null default false,
  lowest_price_30_days_cents bigint,
  constraint variants_compare_at_price_cents_check CHECK (((compare_at_price_cents >= 1) AND (compare_at_price_cents <= '100000000000'::bigint))),
  constraint variants_content CHECK (((content_amount IS NULL) = (content_unit IS NULL))),
  constraint variants_content_amount_check CHECK (((content_amount >= 1) AND (content_amount <= 1000000))),
  constraint variants_content_unit_check CHECK ((content_unit = ANY (ARRAY['g'::text, 'kg'::text, 'ml'::text, 'l'::text, 'cm'::text, 'm'::text, 'cm2'::text, 'm2'::text, 'piece'::text]))),
  constraint variants_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint variants_gift_card_price CHECK (((NOT gift_card) OR (price_cents > 0))),
  constraint variants_image_asset_ref_check CHECK ((length(image_asset_ref) <= 200)),
  constraint variants_label_check CHECK ((length(label) <= 300)),
  constraint variants_lowest_price_30_days_cents_check CHECK (((lowest_price_30_days_cents >= 0) AND (lowest_price_30_days_cents <= '100000000000'::bigint))),
  constraint variants_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint variants_options_check CHECK ((jsonb_typeof(options) = 'array'::text)),
  constraint variants_pkey PRIMARY KEY (tenant_ref, id),
  constraint variants_price_cents_check CHECK (((price_cents >= 0) AND (price_cents <= '100000000000'::bigint))),
  constraint variants_sku UNIQUE (tenant_ref, sku),
  constraint variants_sku_check CHECK (((length(sku) >= 1) AND (length(sku) <= 100))),
  constraint variants_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref),
  constraint variants_tenant_ref_product_id_fkey FOREIGN KEY (tenant_ref, product_id) REFERENCES products(tenant_ref, id)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
alter table variants owner to fd_owner;
alter table variants enable row level security;
alter table variants force row level security;
CREATE INDEX variants_by_stock ON variants USING btree (tenant_ref, is_low, sku) WHERE (archived_at IS NULL);
CREATE INDEX variants_named ON variants USING gin (tenant_ref, lower(sku) gin_trgm_ops);
CREATE INDEX variants_of_product ON variants USING btree (tenant_ref, product_id, "position", id);
CREATE INDEX variants_on_sale ON variants USING btree (tenant_ref, sku) WHERE (archived_at IS NULL);
create policy operator on variants for select to fd_operator using true;
create policy owner on variants for all to fd_owner using true with check true;
create policy search on variants for select to fd_search using true;
create policy tenant on variants for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER gift_card_has_no_stock BEFORE UPDATE OF gift_card ON variants FOR EACH ROW WHEN (new.gift_card) EXECUTE FUNCTION fd_gift_card_has_no_stock();
CREATE TRIGGER meter_delete AFTER DELETE ON variants REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_variants();
CREATE TRIGGER meter_insert AFTER INSERT ON variants REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_variants();
CREATE TRIGGER meter_update AFTER UPDATE ON variants REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_variants();
CREATE TRIGGER search_delete AFTER DELETE ON variants REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_variants();
CREATE TRIGGER search_insert AFTER INSERT ON variants REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_variants();
CREATE TRIGGER search_update AFTER UPDATE ON variants REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION fd_search_note_variant_changes();
grant insert, select, update on variants to fd_app;
grant select on variants to fd_operator;
grant select on variants to fd_worker;
grant select (product_id) on variants to fd_search;
grant select (sku) on variants to fd_search;
grant select (tenant_ref) on variants to fd_search;
grant update (is_low) on variants to fd_worker;

create table vendors (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  name text not null,
  email text,
  phone text,
  address text,
  lead_time_days integer,
  notes text,
  created_at timestamp with time zone not null default fd_now(),
  updated_at timestamp with time zone not null default fd_now(),
  archived_at timestamp with time zone,
  constraint vendors_address_check CHECK ((length(address) <= 1000)),
  constraint vendors_email_check CHECK ((length(email) <= 254)),
  constraint vendors_lead_time_days_check CHECK (((lead_time_days >= 0) AND (lead_time_days <= 730))),
  constraint vendors_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  constraint vendors_notes_check CHECK ((length(notes) <= 2000)),
  constraint vendors_phone_check CHECK ((length(phone) <= 50)),
  constraint vendors_pkey PRIMARY KEY (tenant_ref, id),
  constraint vendors_tenant_ref_fkey FOREIGN KEY (tenant_ref) REFERENCES stores(tenant_ref)
);
alter table vendors owner to fd_owner;
alter table vendors enable row level security;
alter table vendors force row level security;
CREATE INDEX vendors_archived ON vendors USING btree (tenant_ref, name, id) WHERE (archived_at IS NOT NULL);
CREATE INDEX vendors_by_name ON vendors USING btree (tenant_ref, name, id) WHERE (archived_at IS NULL);
create policy operator on vendors for select to fd_operator using true;
create policy owner on vendors for all to fd_owner using true with check true;
create policy tenant on vendors for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER meter_delete AFTER DELETE ON vendors REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_vendors();
CREATE TRIGGER meter_insert AFTER INSERT ON vendors REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_meter_vendors();
grant insert, select, update on vendors to fd_app;
grant select on vendors to fd_operator;
grant select on vendors to fd_worker;

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
  constraint webhook_attempts_pkey PRIMARY KEY (tenant_ref, delivery_id, attempt)
) partition by RANGE (delivery_id);
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
  id uuid not null default fd_uuid(),
  subscription_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  endpoint_url text not null,
  status text not null default 'pending'::text,
  attempt_count integer not null default 0,
  ladder_from integer not null default 0,
  next_retry_at timestamp with time zone default fd_now(),
  last_status_code integer,
  last_attempt_error text,
  created_at timestamp with time zone not null default fd_now(),
  delivered_at timestamp with time zone,
  dead_lettered_at timestamp with time zone,
  replayed_at timestamp with time zone,
  constraint webhook_deliveries_check CHECK ((attempt_count >= ladder_from)),
  constraint webhook_deliveries_check1 CHECK (((status = 'pending'::text) = (next_retry_at IS NOT NULL))),
  constraint webhook_deliveries_check2 CHECK (((status = 'delivered'::text) = (delivered_at IS NOT NULL))),
  constraint webhook_deliveries_check3 CHECK (((status = 'dead_lettered'::text) = (dead_lettered_at IS NOT NULL))),
  constraint webhook_deliveries_ladder_from_check CHECK ((ladder_from >= 0)),
  constraint webhook_deliveries_last_attempt_error_check CHECK ((length(last_attempt_error) <= 500)),
  constraint webhook_deliveries_pkey PRIMARY KEY (tenant_ref, id),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead_lettered'::text])))
) partition by RANGE (id);
alter table webhook_deliveries owner to fd_owner;
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
CREATE INDEX webhook_deliveries_by_id ON webhook_deliveries USING btree (id);
CREATE INDEX webhook_deliveries_dead ON webhook_deliveries USING btree (tenant_ref, created_at DESC, id DESC) WHERE (dead_lettered_at IS NOT NULL);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries USING btree (tenant_ref, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries USING btree (tenant_ref, event_id, subscription_id);
CREATE INDEX webhook_deliveries_of_subscription ON webhook_deliveries USING btree (tenant_ref, subscription_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_of_type ON webhook_deliveries USING btree (tenant_ref, event_type, created_at DESC, id DESC);
create policy operator on webhook_deliveries for select to fd_operator using true;
create policy owner on webhook_deliveries for all to fd_owner using true with check true;
create policy tenant on webhook_deliveries for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
CREATE TRIGGER have_events AFTER INSERT ON webhook_deliveries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fd_deliveries_have_events();
grant insert, select, update on webhook_deliveries to fd_app;
grant insert, select, update on webhook_deliveries to fd_worker;
grant select on webhook_deliveries to fd_operator;

create table webhook_events (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  type text not null,
  data text,
  payload bytea,
  sequence bigint,
  order_id uuid,
  customer_ref text,
  emitted_at timestamp with time zone not null default fd_now(),
  created_at timestamp with time zone,
  erase_requested_at timestamp with time zone,
  erased_at timestamp with time zone,
  constraint webhook_events_check CHECK (((payload IS NULL) = (created_at IS NULL))),
  constraint webhook_events_check1 CHECK (((data IS NULL) = (payload IS NOT NULL))),
  constraint webhook_events_check2 CHECK (((sequence IS NOT NULL) = ((payload IS NOT NULL) AND (type <> 'platform.test.v1'::text)))),
  constraint webhook_events_check3 CHECK (((erased_at IS NULL) OR ((payload IS NOT NULL) AND (erase_requested_at IS NOT NULL)))),
  constraint webhook_events_pkey PRIMARY KEY (tenant_ref, id),
  constraint webhook_events_sequence_check CHECK ((sequence > 0)),
  constraint webhook_events_type_check CHECK ((length(type) <= 100))
) partition by RANGE (id);
alter table webhook_events owner to fd_owner;
alter table webhook_events enable row level security;
alter table webhook_events force row level security;
CREATE INDEX webhook_events_feed ON webhook_events USING btree (tenant_ref, sequence) WHERE (sequence IS NOT NULL);
CREATE INDEX webhook_events_of_customer ON webhook_events USING btree (tenant_ref, customer_ref) WHERE (customer_ref IS NOT NULL);
CREATE INDEX webhook_events_to_erase ON webhook_events USING btree (tenant_ref, id) WHERE ((erase_requested_at IS NOT NULL) AND (erased_at IS NULL));
CREATE INDEX webhook_events_unsealed ON webhook_events USING btree (tenant_ref, emitted_at, id) WHERE (payload IS NULL);
create policy due on webhook_events for select to fd_worker using true;
create policy operator on webhook_events for select to fd_operator using true;
create policy owner on webhook_events for all to fd_owner using true with check true;
create policy tenant on webhook_events for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on webhook_events for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
CREATE TRIGGER queue_sealed AFTER UPDATE ON webhook_events REFERENCING OLD TABLE AS unsealed NEW TABLE AS sealed FOR EACH STATEMENT EXECUTE FUNCTION fd_queue_sealed();
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

create table webhook_lanes (
  tenant_ref text not null,
  lease_token uuid not null,
  lane integer not null,
  lease_until timestamp with time zone not null,
  subscription_id uuid not null,
  deliveries uuid[] not null,
  constraint webhook_lanes_pkey PRIMARY KEY (tenant_ref, lease_token, lane)
) with (fillfactor=50);
alter table webhook_lanes owner to fd_owner;
alter table webhook_lanes enable row level security;
alter table webhook_lanes force row level security;
create policy due on webhook_lanes for select to fd_worker using true;
create policy operator on webhook_lanes for select to fd_operator using true;
create policy owner on webhook_lanes for all to fd_owner using true with check true;
create policy tenant on webhook_lanes for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on webhook_lanes for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select, update on webhook_lanes to fd_worker;
grant select on webhook_lanes to fd_app;
grant select on webhook_lanes to fd_operator;

create table webhook_queue (
  tenant_ref text not null,
  delivery_id uuid not null,
  subscription_id uuid not null,
  event_id uuid not null,
  due_at timestamp with time zone not null,
  attempt_count integer not null,
  ladder_from integer not null,
  created_at timestamp with time zone,
  is_replay boolean not null default false,
  constraint webhook_queue_pkey PRIMARY KEY (tenant_ref, delivery_id)
);
alter table webhook_queue owner to fd_owner;
alter table webhook_queue enable row level security;
alter table webhook_queue force row level security;
CREATE INDEX webhook_queue_due ON webhook_queue USING btree (due_at);
CREATE INDEX webhook_queue_due_of_endpoint ON webhook_queue USING btree (tenant_ref, subscription_id, due_at);
CREATE INDEX webhook_queue_due_of_tenant ON webhook_queue USING btree (tenant_ref, due_at);
CREATE INDEX webhook_queue_replays ON webhook_queue USING btree (tenant_ref, subscription_id, due_at) WHERE is_replay;
create policy due on webhook_queue for select to fd_worker using true;
create policy operator on webhook_queue for select to fd_operator using true;
create policy owner on webhook_queue for all to fd_owner using true with check true;
create policy tenant on webhook_queue for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
create restrictive policy one_store on webhook_queue for select to fd_worker using (
CASE
    WHEN ((COALESCE(current_setting('app.tenant'::text, true), ''::text) = ''::text) OR (COALESCE(current_setting('app.tenant'::text, true), ''::text) = tenant_ref)) THEN 1
    ELSE NULL::integer
END IS NOT NULL);
grant delete, insert, select on webhook_queue to fd_worker;
grant insert, select on webhook_queue to fd_app;
grant select on webhook_queue to fd_operator;

create table webhook_subscriptions (
  tenant_ref text not null,
  id uuid not null default fd_uuid(),
  url text not null,
  description text,
  events text[] not null,
  secret_sealed bytea,
  previous_sealed bytea,
  previous_until timestamp with time zone,
  active boolean not null default true,
  consecutive_failures integer not null default 0,
  auto_paused_at timestamp with time zone,
  created_at timestamp with time zone not null default fd_now(),
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
CREATE UNIQUE INDEX webhook_subscriptions_by_id ON webhook_subscriptions USING btree (id);
create policy operator on webhook_subscriptions for select to fd_operator using true;
create policy owner on webhook_subscriptions for all to fd_owner using true with check true;
create policy tenant on webhook_subscriptions for all to fd_app, fd_worker using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant());
grant insert, select, update on webhook_subscriptions to fd_app;
grant select on webhook_subscriptions to fd_operator;
grant select, update on webhook_subscriptions to fd_worker;

create function fd_add_api_calls(writer uuid, batch bigint, tenants text[], credential_ids uuid[], days date[], counts bigint[])
returns integer
language plpgsql volatile security definer set search_path=public, pg_temp as
$$
declare
  added integer;
begin
  insert into api_call_writers as w (id, sequence) values (writer, batch)
      on conflict (id) do update set sequence = excluded.sequence, written_at = fd_now()
   where w.sequence < excluded.sequence;
  if not found then return 0; end if;
  insert into api_calls as a (tenant_ref, credential_id, day, calls)
  select t.* from unnest(tenants, credential_ids, days, counts) as t (tenant_ref, credential_id, day, calls)
   order by 1, 2, 3
      on conflict (tenant_ref, credential_id, day) do update set calls = a.calls + excluded.calls;
  get diagnostics added = row_count;
  return added;
end $$;
alter routine fd_add_api_calls(uuid,bigint,text[],uuid[],date[],bigint[]) owner to fd_gate;
grant execute on routine fd_add_api_calls(uuid,bigint,text[],uuid[],date[],bigint[]) to fd_app;

create procedure fd_add_partition(IN parent text, IN suffix text, IN bounds text, IN belongs text, INOUT moved bigint)
language plpgsql volatile as
$$
declare
  part text := parent || '_' || suffix;
  frozen boolean := exists (select from pg_trigger where tgrelid = parent::regclass and tgname = 'frozen');
begin
  execute format('create table %I (like %I including all)', part, parent);
  execute format('alter table %I set (%s)', part, fd_partition_options(parent));
  if belongs <> '' then
    execute format('lock table %I in access exclusive mode', parent || '_default');
    if frozen then execute format('alter table %I disable trigger user', parent || '_default'); end if;
    execute format('with moved as (delete from %I where %s returning *) insert into %I select * from moved',
                   parent || '_default', belongs, part);
    get diagnostics moved = row_count;
    if frozen then execute format('alter table %I enable trigger user', parent || '_default'); end if;
  end if;
  if frozen then call fd_freeze(part); end if;
  execute format('alter table %I enable row level security, force row level security', part);
  execute format('create policy tenant on %I to fd_app, fd_worker
                  using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant())', part);
  execute format('create policy owner on %I to fd_owner using (true) with check (true)', part);
  execute format('alter table %I attach partition %I %s', parent, part, bounds);
end $$;
alter routine fd_add_partition(text,text,text,text,bigint) owner to fd_owner;

create procedure fd_bundle_checks(IN target regclass)
language plpgsql volatile as
$$
declare
  columns text[] := (select array_agg(attname::text) from pg_attribute where attrelid = target and attnum > 0);
  checker text := 'fd_check_' || target;
  bundle text := target || '_checks';
  checks record;
begin
  select string_agg(format('(%s)', condition), E'\n    and ' order by name) as all_hold,
         string_agg(format('if not (%s) then perform public.fd_refuse_row(%L, %L); end if;', condition, target, name),
                    E'\n  ' order by name) as named,
         string_agg(format('drop constraint %I', name), ', ') as dropped,
         jsonb_object_agg(name, stored) as stored
    into checks
    from (select conname as name, pg_get_expr(conbin, conrelid) as stored,
                 fd_condition_of_row(pg_get_expr(conbin, conrelid), columns) as condition
            from pg_constraint
           where conrelid = target and contype = 'c') as one;
  execute format($f$
create function %I(o %s) returns boolean language plpgsql immutable parallel safe as $body$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if (%s) is not false then
    return true;
  end if;
  %s
  return false;
end
$body$
$f$, checker, target, checks.all_hold, checks.named);
  execute format('revoke all on function %I from public', checker);
  execute format('grant execute on function %I to fd_app, fd_worker, fd_operator', checker);
  execute format('alter table %s %s, add constraint %I check (%I(%s))',
                 target, checks.dropped, bundle, checker, target);
  execute format('comment on constraint %I on %s is %L', bundle, target, checks.stored);
end
$$;
alter routine fd_bundle_checks(regclass) owner to fd_owner;

create function fd_card_ends(exp_year integer, exp_month integer)
returns timestamp with time zone
language sql stable as
$$
  select make_timestamptz(exp_year, exp_month, 1, 0, 0, 0, 'UTC') + interval '1 month'
$$;
alter routine fd_card_ends(integer,integer) owner to fd_owner;
grant execute on routine fd_card_ends(integer,integer) to public;

create function fd_check_charges(o charges)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if (((o.amount_cents > 0))
    and (((o.captured_cents >= 0) AND (o.captured_cents <= o.amount_cents)))
    and (((o.refunded_cents >= 0) AND (o.refunded_cents <= o.captured_cents)))
    and ((o.moved_from <> o.charge_id))
    and ((o.status = ANY (ARRAY['pending'::text, 'authorized'::text, 'captured'::text, 'voided'::text, 'failed'::text])))
    and ((o.tender = ANY (ARRAY['store_credit'::text, 'gift_card'::text, 'card'::text])))) is not false then
    return true;
  end if;
  if not ((o.amount_cents > 0)) then perform public.fd_refuse_row('charges', 'charges_amount_cents_check'); end if;
  if not (((o.captured_cents >= 0) AND (o.captured_cents <= o.amount_cents))) then perform public.fd_refuse_row('charges', 'charges_check'); end if;
  if not (((o.refunded_cents >= 0) AND (o.refunded_cents <= o.captured_cents))) then perform public.fd_refuse_row('charges', 'charges_check1'); end if;
  if not ((o.moved_from <> o.charge_id)) then perform public.fd_refuse_row('charges', 'charges_moved_check'); end if;
  if not ((o.status = ANY (ARRAY['pending'::text, 'authorized'::text, 'captured'::text, 'voided'::text, 'failed'::text]))) then perform public.fd_refuse_row('charges', 'charges_status_check'); end if;
  if not ((o.tender = ANY (ARRAY['store_credit'::text, 'gift_card'::text, 'card'::text]))) then perform public.fd_refuse_row('charges', 'charges_tender_check'); end if;
  return false;
end
$$;
alter routine fd_check_charges(charges) owner to fd_owner;
grant execute on routine fd_check_charges(charges) to fd_app;
grant execute on routine fd_check_charges(charges) to fd_operator;
grant execute on routine fd_check_charges(charges) to fd_worker;

create function fd_check_customers(o customers)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if ((((o.erased_at IS NULL) = (o.customer_ref IS NOT NULL)))
    and (((o.erased_at IS NULL) OR ((o.person_id IS NULL) AND (o.email IS NULL) AND (o.email_folded IS NULL) AND (o.name IS NULL) AND (o.tags = '{}'::text[]))))
    and (((length(o.customer_ref) >= 1) AND (length(o.customer_ref) <= 200)))
    and ((length(o.email) <= 320))
    and ((length(o.email_folded) <= 320))
    and ((length(o.name) <= 300))
    and ((length(o.ref_hash) = 32))) is not false then
    return true;
  end if;
  if not (((o.erased_at IS NULL) = (o.customer_ref IS NOT NULL))) then perform public.fd_refuse_row('customers', 'customers_check'); end if;
  if not (((o.erased_at IS NULL) OR ((o.person_id IS NULL) AND (o.email IS NULL) AND (o.email_folded IS NULL) AND (o.name IS NULL) AND (o.tags = '{}'::text[])))) then perform public.fd_refuse_row('customers', 'customers_check1'); end if;
  if not (((length(o.customer_ref) >= 1) AND (length(o.customer_ref) <= 200))) then perform public.fd_refuse_row('customers', 'customers_customer_ref_check'); end if;
  if not ((length(o.email) <= 320)) then perform public.fd_refuse_row('customers', 'customers_email_check'); end if;
  if not ((length(o.email_folded) <= 320)) then perform public.fd_refuse_row('customers', 'customers_email_folded_check'); end if;
  if not ((length(o.name) <= 300)) then perform public.fd_refuse_row('customers', 'customers_name_check'); end if;
  if not ((length(o.ref_hash) = 32)) then perform public.fd_refuse_row('customers', 'customers_ref_hash_check'); end if;
  return false;
end
$$;
alter routine fd_check_customers(customers) owner to fd_owner;
grant execute on routine fd_check_customers(customers) to fd_app;
grant execute on routine fd_check_customers(customers) to fd_operator;
grant execute on routine fd_check_customers(customers) to fd_worker;

create function fd_check_idempotency_keys(o idempotency_keys)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if ((((o.state = 'answered'::text) = ((o.answered_at IS NOT NULL) AND (o.response_status IS NOT NULL))))
    and ((length(o.fingerprint) = 32))
    and (((length(o.key) >= 1) AND (length(o.key) <= 255)))
    and ((length(o.operation) <= 40))
    and ((length(o.recovery_point) <= 40))
    and (((o.response_status >= 200) AND (o.response_status <= 499)))
    and (((o.state = 'answered'::text) OR ((o.lease_until IS NULL) <> (o.next_attempt_at IS NULL))))
    and ((o.state = ANY (ARRAY['running'::text, 'answered'::text])))) is not false then
    return true;
  end if;
  if not (((o.state = 'answered'::text) = ((o.answered_at IS NOT NULL) AND (o.response_status IS NOT NULL)))) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_check'); end if;
  if not ((length(o.fingerprint) = 32)) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_fingerprint_check'); end if;
  if not (((length(o.key) >= 1) AND (length(o.key) <= 255))) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_key_check'); end if;
  if not ((length(o.operation) <= 40)) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_operation_check'); end if;
  if not ((length(o.recovery_point) <= 40)) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_recovery_point_check'); end if;
  if not (((o.response_status >= 200) AND (o.response_status <= 499))) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_response_status_check'); end if;
  if not (((o.state = 'answered'::text) OR ((o.lease_until IS NULL) <> (o.next_attempt_at IS NULL)))) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_running'); end if;
  if not ((o.state = ANY (ARRAY['running'::text, 'answered'::text]))) then perform public.fd_refuse_row('idempotency_keys', 'idempotency_keys_state_check'); end if;
  return false;
end
$$;
alter routine fd_check_idempotency_keys(idempotency_keys) owner to fd_owner;
grant execute on routine fd_check_idempotency_keys(idempotency_keys) to fd_app;
grant execute on routine fd_check_idempotency_keys(idempotency_keys) to fd_operator;
grant execute on routine fd_check_idempotency_keys(idempotency_keys) to fd_worker;

create function fd_check_inventory_reservations(o inventory_reservations)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if (((o.allocated >= 0))
    and (((o.released_at IS NULL) OR ((o.reserved = 0) AND (o.allocated = 0))))
    and (((o.packed >= 0) AND (o.packed <= o.allocated)))
    and ((o.reserved >= 0))) is not false then
    return true;
  end if;
  if not ((o.allocated >= 0)) then perform public.fd_refuse_row('inventory_reservations', 'inventory_reservations_allocated_check'); end if;
  if not (((o.released_at IS NULL) OR ((o.reserved = 0) AND (o.allocated = 0)))) then perform public.fd_refuse_row('inventory_reservations', 'inventory_reservations_check'); end if;
  if not (((o.packed >= 0) AND (o.packed <= o.allocated))) then perform public.fd_refuse_row('inventory_reservations', 'inventory_reservations_packed_check'); end if;
  if not ((o.reserved >= 0)) then perform public.fd_refuse_row('inventory_reservations', 'inventory_reservations_reserved_check'); end if;
  return false;
end
$$;
alter routine fd_check_inventory_reservations(inventory_reservations) owner to fd_owner;
grant execute on routine fd_check_inventory_reservations(inventory_reservations) to fd_app;
grant execute on routine fd_check_inventory_reservations(inventory_reservations) to fd_operator;
grant execute on routine fd_check_inventory_reservations(inventory_reservations) to fd_worker;

create function fd_check_journal()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
declare
  total numeric;
  alike boolean;
  fresh boolean;
begin
  select sum(e.amount_cents), bool_and(e.currency = j.currency),
         bool_and(j.xmin = pg_current_xact_id()::xid)
    into total, alike, fresh
    from ledger_journals j
    join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
   where j.tenant_ref = new.tenant_ref and j.id = new.journal_id;
  if total <> 0 or not alike or not fresh then
    raise exception 'journal % %', new.journal_id,
      case when total <> 0 then 'does not sum to zero'
           when not alike then 'mixes currencies'
           else 'is closed' end
      using errcode = 'FD003';
  end if;
  return null;
end $$;
alter routine fd_check_journal() owner to fd_owner;

create function fd_check_ledger_entries(o ledger_entries)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if (((o.account = ANY (ARRAY['card_clearing'::text, 'gift_card'::text, 'store_credit'::text, 'sales'::text, 'tax_payable'::text, 'shipping_income'::text, 'discount'::text, 'refund'::text, 'affiliate_payable'::text, 'breakage'::text, 'suspense'::text, 'dispute_loss'::text, 'exchange'::text, 'commission_expense'::text, 'affiliate_payout'::text, 'inventory_asset'::text, 'goods_in_transit'::text, 'cogs'::text, 'landed_cost'::text, 'inventory_opening'::text, 'inventory_adjustment'::text])))
    and (((o.amount_cents <> 0) AND ((o.amount_cents >= '-9007199254740991'::bigint) AND (o.amount_cents <= '9007199254740991'::bigint))))
    and ((o."position" >= 0))
    and ((length(o.ref) <= 200))) is not false then
    return true;
  end if;
  if not ((o.account = ANY (ARRAY['card_clearing'::text, 'gift_card'::text, 'store_credit'::text, 'sales'::text, 'tax_payable'::text, 'shipping_income'::text, 'discount'::text, 'refund'::text, 'affiliate_payable'::text, 'breakage'::text, 'suspense'::text, 'dispute_loss'::text, 'exchange'::text, 'commission_expense'::text, 'affiliate_payout'::text, 'inventory_asset'::text, 'goods_in_transit'::text, 'cogs'::text, 'landed_cost'::text, 'inventory_opening'::text, 'inventory_adjustment'::text]))) then perform public.fd_refuse_row('ledger_entries', 'ledger_entries_account_check'); end if;
  if not (((o.amount_cents <> 0) AND ((o.amount_cents >= '-9007199254740991'::bigint) AND (o.amount_cents <= '9007199254740991'::bigint)))) then perform public.fd_refuse_row('ledger_entries', 'ledger_entries_amount_cents_check'); end if;
  if not ((o."position" >= 0)) then perform public.fd_refuse_row('ledger_entries', 'ledger_entries_position_check'); end if;
  if not ((length(o.ref) <= 200)) then perform public.fd_refuse_row('ledger_entries', 'ledger_entries_ref_check'); end if;
  return false;
end
$$;
alter routine fd_check_ledger_entries(ledger_entries) owner to fd_owner;
grant execute on routine fd_check_ledger_entries(ledger_entries) to fd_app;
grant execute on routine fd_check_ledger_entries(ledger_entries) to fd_operator;
grant execute on routine fd_check_ledger_entries(ledger_entries) to fd_worker;

create function fd_check_order_items(o order_items)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if (((o.line_total_cents = (o.unit_price_cents * o.quantity)))
    and (((o.discount_cents >= 0) AND (o.discount_cents <= o.line_total_cents)))
    and (((o.refunded_quantity >= 0) AND (o.refunded_quantity <= o.quantity)))
    and (((o.delivered_quantity >= 0) AND (o.delivered_quantity <= o.shipped_quantity)))
    and (((NOT o.gift_card) OR ((o.discount_cents = 0) AND (o.tax_cents = 0) AND (o.shipping_cents = 0) AND (o.packed_quantity = 0) AND (o.shipped_quantity = 0) AND (o.restocked_quantity = 0) AND (NOT o.is_subscription))))
    and ((o.list_price_cents >= 0))
    and ((o.original_quantity > 0))
    and ((o.packed_quantity >= 0))
    and ((o.quantity >= 0))
    and ((o.restocked_quantity <= o.refunded_quantity))
    and ((o.restocked_quantity >= 0))
    and (((o.returning_quantity + o.returned_quantity) <= o.shipped_quantity))
    and ((o.returned_quantity >= 0))
    and ((o.returning_quantity >= 0))
    and ((o.shipped_quantity >= 0))
    and ((o.shipping_cents >= 0))
    and ((o.tax_cents >= 0))
    and ((o.unit_price_cents >= 0))
    and ((((o.packed_quantity + o.shipped_quantity) + o.restocked_quantity) <= o.quantity))) is not false then
    return true;
  end if;
  if not ((o.line_total_cents = (o.unit_price_cents * o.quantity))) then perform public.fd_refuse_row('order_items', 'order_items_check'); end if;
  if not (((o.discount_cents >= 0) AND (o.discount_cents <= o.line_total_cents))) then perform public.fd_refuse_row('order_items', 'order_items_check1'); end if;
  if not (((o.refunded_quantity >= 0) AND (o.refunded_quantity <= o.quantity))) then perform public.fd_refuse_row('order_items', 'order_items_check2'); end if;
  if not (((o.delivered_quantity >= 0) AND (o.delivered_quantity <= o.shipped_quantity))) then perform public.fd_refuse_row('order_items', 'order_items_check3'); end if;
  if not (((NOT o.gift_card) OR ((o.discount_cents = 0) AND (o.tax_cents = 0) AND (o.shipping_cents = 0) AND (o.packed_quantity = 0) AND (o.shipped_quantity = 0) AND (o.restocked_quantity = 0) AND (NOT o.is_subscription)))) then perform public.fd_refuse_row('order_items', 'order_items_gift_card_check'); end if;
  if not ((o.list_price_cents >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_list_price_cents_check'); end if;
  if not ((o.original_quantity > 0)) then perform public.fd_refuse_row('order_items', 'order_items_original_quantity_check'); end if;
  if not ((o.packed_quantity >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_packed_quantity_check'); end if;
  if not ((o.quantity >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_quantity_check'); end if;
  if not ((o.restocked_quantity <= o.refunded_quantity)) then perform public.fd_refuse_row('order_items', 'order_items_restocked_check'); end if;
  if not ((o.restocked_quantity >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_restocked_quantity_check'); end if;
  if not (((o.returning_quantity + o.returned_quantity) <= o.shipped_quantity)) then perform public.fd_refuse_row('order_items', 'order_items_returned_check'); end if;
  if not ((o.returned_quantity >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_returned_quantity_check'); end if;
  if not ((o.returning_quantity >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_returning_quantity_check'); end if;
  if not ((o.shipped_quantity >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_shipped_quantity_check'); end if;
  if not ((o.shipping_cents >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_shipping_cents_check'); end if;
  if not ((o.tax_cents >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_tax_cents_check'); end if;
  if not ((o.unit_price_cents >= 0)) then perform public.fd_refuse_row('order_items', 'order_items_unit_price_cents_check'); end if;
  if not ((((o.packed_quantity + o.shipped_quantity) + o.restocked_quantity) <= o.quantity)) then perform public.fd_refuse_row('order_items', 'order_items_units_check'); end if;
  return false;
end
$$;
alter routine fd_check_order_items(order_items) owner to fd_owner;
grant execute on routine fd_check_order_items(order_items) to fd_app;
grant execute on routine fd_check_order_items(order_items) to fd_operator;
grant execute on routine fd_check_order_items(order_items) to fd_worker;

create function fd_check_orders(o orders)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if (((o.captured_cents >= 0))
    and (((o.discount_cents >= 0) AND (o.discount_cents <= o.subtotal_cents)))
    and (((o.refunded_cents >= 0) AND (o.refunded_cents <= o.captured_cents)))
    and ((((o.payment_failure IS NOT NULL) = (o.payment = 'failed'::text)) AND (length(o.payment_failure) <= 60)))
    and (((o.hold_at IS NULL) = (o.hold_reason IS NULL)))
    and ((o.currency ~ '^[A-Z]{3}$'::text))
    and (((length(o.customer_name) >= 1) AND (length(o.customer_name) <= 300)))
    and (((length(o.customer_ref) >= 1) AND (length(o.customer_ref) <= 200)))
    and ((o.fulfillment_status = ANY (ARRAY['unfulfilled'::text, 'processing'::text, 'partially_shipped'::text, 'shipped'::text, 'delivered'::text, 'cancelled'::text])))
    and (((o.gift_card_cents >= 0) AND (o.gift_card_cents <= (o.subtotal_cents - o.discount_cents))))
    and (((o.operation_id IS NULL) = (o.operation IS NULL)))
    and ((o.payment = ANY (ARRAY['none'::text, 'pending'::text, 'requested'::text, 'unknown'::text, 'authorized'::text, 'captured'::text, 'failed'::text])))
    and ((o.payment_status = ANY (ARRAY['pending'::text, 'authorized'::text, 'paid'::text, 'partially_refunded'::text, 'refunded'::text, 'failed'::text, 'voided'::text, 'unknown'::text, 'disputed'::text])))
    and ((o.shipping_cents >= 0))
    and ((o.source = ANY (ARRAY['checkout'::text, 'subscription_renewal'::text, 'operator'::text, 'exchange'::text])))
    and ((o.status = ANY (ARRAY['pending_payment'::text, 'placed'::text, 'processing'::text, 'on_hold'::text, 'shipped'::text, 'partially_shipped'::text, 'delivered'::text, 'cancelled'::text, 'refunded'::text, 'partially_refunded'::text, 'payment_failed'::text])))
    and ((o.subscription_cycle > 1))
    and ((o.subtotal_cents >= 0))
    and ((o.tax_cents >= 0))
    and (((NOT o.prices_include_tax) OR (o.tax_cents <= o.total_cents)))
    and ((o.total_cents = (((o.subtotal_cents - o.discount_cents) + o.shipping_cents) +
CASE
    WHEN o.prices_include_tax THEN (0)::bigint
    ELSE o.tax_cents
END)))) is not false then
    return true;
  end if;
  if not ((o.captured_cents >= 0)) then perform public.fd_refuse_row('orders', 'orders_captured_cents_check'); end if;
  if not (((o.discount_cents >= 0) AND (o.discount_cents <= o.subtotal_cents))) then perform public.fd_refuse_row('orders', 'orders_check'); end if;
  if not (((o.refunded_cents >= 0) AND (o.refunded_cents <= o.captured_cents))) then perform public.fd_refuse_row('orders', 'orders_check2'); end if;
  if not ((((o.payment_failure IS NOT NULL) = (o.payment = 'failed'::text)) AND (length(o.payment_failure) <= 60))) then perform public.fd_refuse_row('orders', 'orders_check3'); end if;
  if not (((o.hold_at IS NULL) = (o.hold_reason IS NULL))) then perform public.fd_refuse_row('orders', 'orders_check4'); end if;
  if not ((o.currency ~ '^[A-Z]{3}$'::text)) then perform public.fd_refuse_row('orders', 'orders_currency_check'); end if;
  if not (((length(o.customer_name) >= 1) AND (length(o.customer_name) <= 300))) then perform public.fd_refuse_row('orders', 'orders_customer_name_check'); end if;
  if not (((length(o.customer_ref) >= 1) AND (length(o.customer_ref) <= 200))) then perform public.fd_refuse_row('orders', 'orders_customer_ref_check'); end if;
  if not ((o.fulfillment_status = ANY (ARRAY['unfulfilled'::text, 'processing'::text, 'partially_shipped'::text, 'shipped'::text, 'delivered'::text, 'cancelled'::text]))) then perform public.fd_refuse_row('orders', 'orders_fulfillment_status_check'); end if;
  if not (((o.gift_card_cents >= 0) AND (o.gift_card_cents <= (o.subtotal_cents - o.discount_cents)))) then perform public.fd_refuse_row('orders', 'orders_gift_card_check'); end if;
  if not (((o.operation_id IS NULL) = (o.operation IS NULL))) then perform public.fd_refuse_row('orders', 'orders_operation'); end if;
  if not ((o.payment = ANY (ARRAY['none'::text, 'pending'::text, 'requested'::text, 'unknown'::text, 'authorized'::text, 'captured'::text, 'failed'::text]))) then perform public.fd_refuse_row('orders', 'orders_payment_check'); end if;
  if not ((o.payment_status = ANY (ARRAY['pending'::text, 'authorized'::text, 'paid'::text, 'partially_refunded'::text, 'refunded'::text, 'failed'::text, 'voided'::text, 'unknown'::text, 'disputed'::text]))) then perform public.fd_refuse_row('orders', 'orders_payment_status_check'); end if;
  if not ((o.shipping_cents >= 0)) then perform public.fd_refuse_row('orders', 'orders_shipping_cents_check'); end if;
  if not ((o.source = ANY (ARRAY['checkout'::text, 'subscription_renewal'::text, 'operator'::text, 'exchange'::text]))) then perform public.fd_refuse_row('orders', 'orders_source_check'); end if;
  if not ((o.status = ANY (ARRAY['pending_payment'::text, 'placed'::text, 'processing'::text, 'on_hold'::text, 'shipped'::text, 'partially_shipped'::text, 'delivered'::text, 'cancelled'::text, 'refunded'::text, 'partially_refunded'::text, 'payment_failed'::text]))) then perform public.fd_refuse_row('orders', 'orders_status_check'); end if;
  if not ((o.subscription_cycle > 1)) then perform public.fd_refuse_row('orders', 'orders_subscription_cycle_check'); end if;
  if not ((o.subtotal_cents >= 0)) then perform public.fd_refuse_row('orders', 'orders_subtotal_cents_check'); end if;
  if not ((o.tax_cents >= 0)) then perform public.fd_refuse_row('orders', 'orders_tax_cents_check'); end if;
  if not (((NOT o.prices_include_tax) OR (o.tax_cents <= o.total_cents))) then perform public.fd_refuse_row('orders', 'orders_tax_inside_check'); end if;
  if not ((o.total_cents = (((o.subtotal_cents - o.discount_cents) + o.shipping_cents) +
CASE
    WHEN o.prices_include_tax THEN (0)::bigint
    ELSE o.tax_cents
END))) then perform public.fd_refuse_row('orders', 'orders_total_check'); end if;
  return false;
end
$$;
alter routine fd_check_orders(orders) owner to fd_owner;
grant execute on routine fd_check_orders(orders) to fd_app;
grant execute on routine fd_check_orders(orders) to fd_operator;
grant execute on routine fd_check_orders(orders) to fd_worker;

create function fd_check_payment_attempts(o payment_attempts)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if ((((length(o.advice_code) >= 1) AND (length(o.advice_code) <= 8)))
    and ((o.amount_cents >= 0))
    and (((o.state = ANY (ARRAY['begun'::text, 'unknown'::text])) = (o.closed_at IS NULL)))
    and (((o.state <> ALL (ARRAY['begun'::text, 'unknown'::text])) OR (o.next_check_at IS NOT NULL)))
    and (((o.next_check_at IS NULL) OR (o.state = ANY (ARRAY['begun'::text, 'unknown'::text, 'not_found'::text]))))
    and ((o.currency ~ '^[A-Z]{3}$'::text))
    and ((o.gateway ~ '^[a-z][a-z0-9_-]{0,39}$'::text))
    and ((o.kind = ANY (ARRAY['checkout'::text, 'edit'::text, 'refund'::text, 'release'::text, 'void'::text, 'renewal'::text, 'pay'::text])))
    and (((length(o.network_code) >= 1) AND (length(o.network_code) <= 8)))
    and (((length(o.parent_txn_id) >= 1) AND (length(o.parent_txn_id) <= 100)))
    and ((o.state = ANY (ARRAY['begun'::text, 'unknown'::text, 'approved'::text, 'declined'::text, 'error'::text, 'not_found'::text, 'voided'::text])))
    and (((length(o.txn_id) >= 1) AND (length(o.txn_id) <= 100)))) is not false then
    return true;
  end if;
  if not (((length(o.advice_code) >= 1) AND (length(o.advice_code) <= 8))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_advice_code_check'); end if;
  if not ((o.amount_cents >= 0)) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_amount_cents_check'); end if;
  if not (((o.state = ANY (ARRAY['begun'::text, 'unknown'::text])) = (o.closed_at IS NULL))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_check'); end if;
  if not (((o.state <> ALL (ARRAY['begun'::text, 'unknown'::text])) OR (o.next_check_at IS NOT NULL))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_check1'); end if;
  if not (((o.next_check_at IS NULL) OR (o.state = ANY (ARRAY['begun'::text, 'unknown'::text, 'not_found'::text])))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_check2'); end if;
  if not ((o.currency ~ '^[A-Z]{3}$'::text)) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_currency_check'); end if;
  if not ((o.gateway ~ '^[a-z][a-z0-9_-]{0,39}$'::text)) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_gateway_check'); end if;
  if not ((o.kind = ANY (ARRAY['checkout'::text, 'edit'::text, 'refund'::text, 'release'::text, 'void'::text, 'renewal'::text, 'pay'::text]))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_kind_check'); end if;
  if not (((length(o.network_code) >= 1) AND (length(o.network_code) <= 8))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_network_code_check'); end if;
  if not (((length(o.parent_txn_id) >= 1) AND (length(o.parent_txn_id) <= 100))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_parent_txn_id_check'); end if;
  if not ((o.state = ANY (ARRAY['begun'::text, 'unknown'::text, 'approved'::text, 'declined'::text, 'error'::text, 'not_found'::text, 'voided'::text]))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_state_check'); end if;
  if not (((length(o.txn_id) >= 1) AND (length(o.txn_id) <= 100))) then perform public.fd_refuse_row('payment_attempts', 'payment_attempts_txn_id_check'); end if;
  return false;
end
$$;
alter routine fd_check_payment_attempts(payment_attempts) owner to fd_owner;
grant execute on routine fd_check_payment_attempts(payment_attempts) to fd_app;
grant execute on routine fd_check_payment_attempts(payment_attempts) to fd_operator;
grant execute on routine fd_check_payment_attempts(payment_attempts) to fd_worker;

create function fd_check_sim_charges(o sim_charges)
returns boolean
language plpgsql immutable as
$$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if ((((o.captured_cents >= 0) AND (o.captured_cents <= o.amount_cents)))
    and ((o.amount_cents >= 0))
    and (((o.outcome = 'approved'::text) OR ((o.captured_cents = 0) AND (o.voided_at IS NULL))))
    and ((o.currency ~ '^[A-Z]{3}$'::text))
    and ((o.outcome = ANY (ARRAY['approved'::text, 'declined'::text, 'error'::text])))
    and (((o.refunded_cents >= 0) AND (o.refunded_cents <= o.captured_cents)))) is not false then
    return true;
  end if;
  if not (((o.captured_cents >= 0) AND (o.captured_cents <= o.amount_cents))) then perform public.fd_refuse_row('sim_charges', 'sim_captures_within'); end if;
  if not ((o.amount_cents >= 0)) then perform public.fd_refuse_row('sim_charges', 'sim_charges_amount_cents_check'); end if;
  if not (((o.outcome = 'approved'::text) OR ((o.captured_cents = 0) AND (o.voided_at IS NULL)))) then perform public.fd_refuse_row('sim_charges', 'sim_charges_check'); end if;
  if not ((o.currency ~ '^[A-Z]{3}$'::text)) then perform public.fd_refuse_row('sim_charges', 'sim_charges_currency_check'); end if;
  if not ((o.outcome = ANY (ARRAY['approved'::text, 'declined'::text, 'error'::text]))) then perform public.fd_refuse_row('sim_charges', 'sim_charges_outcome_check'); end if;
  if not (((o.refunded_cents >= 0) AND (o.refunded_cents <= o.captured_cents))) then perform public.fd_refuse_row('sim_charges', 'sim_refunds_within'); end if;
  return false;
end
$$;
alter routine fd_check_sim_charges(sim_charges) owner to fd_owner;
grant execute on routine fd_check_sim_charges(sim_charges) to fd_app;
grant execute on routine fd_check_sim_charges(sim_charges) to fd_operator;
grant execute on routine fd_check_sim_charges(sim_charges) to fd_worker;

create function fd_clock()
returns timestamp with time zone
language sql volatile as
$$
  select case when current_setting('app.clock_offset', true) <> ''
              then clock_timestamp() + current_setting('app.clock_offset')::interval
              else clock_timestamp() end
$$;
alter routine fd_clock() owner to fd_owner;
grant execute on routine fd_clock() to fd_app;
grant execute on routine fd_clock() to fd_operator;
grant execute on routine fd_clock() to fd_worker;

create function fd_condition_of_row(condition text, columns text[])
returns text
language sql immutable as
$$RETURN (SELECT string_agg(CASE WHEN (TRIM(BOTH '"'::text FROM found.part[1]) = ANY (fd_condition_of_row.columns)) THEN ('o.'::text || found.part[1]) ELSE found.part[1] END, ''::text ORDER BY found.at) AS string_agg FROM regexp_matches(fd_condition_of_row.condition, '''(?:[^'']|'''')*''|::\s*[[:alpha:]_"]+|[[:alpha:]_]\w*\s*\(|"[^"]+"|\w+|\W'::text, 'g'::text) WITH ORDINALITY found(part, at))$$;
alter routine fd_condition_of_row(text,text[]) owner to fd_owner;

create function fd_delete_order_mails(wanted uuid[])
returns integer
language sql volatile security definer set search_path=public, pg_temp as
$$
  with gone as (
    delete from mails where tenant_ref = fd_tenant() and order_id = any (wanted) returning id)
  select count(*)::integer from gone
$$;
alter routine fd_delete_order_mails(uuid[]) owner to fd_gate;
grant execute on routine fd_delete_order_mails(uuid[]) to fd_app;
grant execute on routine fd_delete_order_mails(uuid[]) to fd_worker;

create function fd_deliveries_have_events()
returns trigger
language plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off as
$$
begin
  if exists (select from added d
              where not exists (select from webhook_events e
                                 where e.tenant_ref = d.tenant_ref and e.id = d.event_id
                                offset 0)) then
    raise exception 'a delivery has no event'
      using errcode = 'foreign_key_violation', constraint = 'webhook_deliveries_event';
  end if;
  return null;
end $$;
alter routine fd_deliveries_have_events() owner to fd_owner;

create function fd_delivery_id(event_id uuid, subscription_id uuid)
returns uuid
language sql immutable strict as
$$
  select (left(replace(event_id::text, '-', ''), 12) || '8' || substr(h, 1, 3)
          || 'a' || substr(h, 4, 15))::uuid
    from md5(event_id::text || subscription_id::text) as h
$$;
alter routine fd_delivery_id(uuid,uuid) owner to fd_owner;
grant execute on routine fd_delivery_id(uuid,uuid) to fd_app;
grant execute on routine fd_delivery_id(uuid,uuid) to fd_worker;

create function fd_drop_month(parent text, wanted date)
returns boolean
language plpgsql volatile security definer set search_path=public, pg_temp as
$$
declare
  part text;
begin
  select m.name into part from partition_months m where m.parent = fd_drop_month.parent and m.month = wanted;
  if part is null or (wanted + interval '1 month') at time zone 'UTC' > now() - interval '28 days' then
    return false;
  end if;
  perform set_config('lock_timeout', '1s', true);
  execute format('lock table %I in access exclusive mode', parent);
  if fd_month_must_stay(parent, wanted) then return false; end if;
  execute format('drop table %I', part);
  return true;
end $$;
alter routine fd_drop_month(text,date) owner to fd_owner;
grant execute on routine fd_drop_month(text,date) to fd_worker;

create procedure fd_due(IN target regclass)
language plpgsql volatile as
$$
begin
  execute format('create policy due on %s for select to fd_worker using (true)', target);
  execute format('create policy one_store on %s as restrictive for select to fd_worker
                  using (case when coalesce(current_setting(''app.tenant'', true), '''') in ('''', tenant_ref)
                              then 1 end is not null)', target);
end $$;
alter routine fd_due(regclass) owner to fd_owner;

create function fd_ended_at(s subscriptions)
returns timestamp with time zone
language sql immutable as
$$
  select case when s.status in ('cancelled', 'unpaid_cancelled', 'expired') then coalesce(s.cancelled_at, s.updated_at) end
$$;
alter routine fd_ended_at(subscriptions) owner to fd_owner;
grant execute on routine fd_ended_at(subscriptions) to public;

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

create function fd_filter_products(wanted text, wanted_status text, after_at timestamp with time zone, after_id uuid, page_limit integer, page_offset bigint, count_max integer)
returns TABLE(ids uuid[], total integer)
language plpgsql stable security definer set plan_cache_mode=force_custom_plan set search_path=public, pg_temp as
$$
declare
  store    text := fd_tenant();
  inside   text := '%' || regexp_replace(lower(wanted), '([\\%_])', '\\\1', 'g') || '%';
  matching uuid[];
begin
  matching := array(
    (select p.id from products p
      where p.tenant_ref = store and lower(normalize(p.name || ' ' || p.slug)) like inside
        and (wanted_status is null or p.status = wanted_status)
      limit count_max)
    union
    (select p.id from variants v
       join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
      where v.tenant_ref = store and lower(v.sku) like inside
        and (wanted_status is null or p.status = wanted_status)
      limit count_max));
  total := least(cardinality(matching), count_max);
  if total < count_max then
    ids := array(
      select p.id from products p
       where p.tenant_ref = store and p.id = any (matching)
         and (after_id is null or (p.created_at, p.id) < (after_at, after_id))
       order by p.created_at desc, p.id desc
       limit page_limit offset page_offset);
  else
    ids := array(
      select p.id from products p
       where p.tenant_ref = store and (wanted_status is null or p.status = wanted_status)
         and (after_id is null or (p.created_at, p.id) < (after_at, after_id))
         and (lower(normalize(p.name || ' ' || p.slug)) like inside
              or exists (select from variants v
                          where v.tenant_ref = store and v.product_id = p.id
                            and lower(v.sku) like inside))
       order by p.created_at desc, p.id desc
       limit page_limit offset page_offset);
  end if;
  return next;
end $$;
alter routine fd_filter_products(text,text,timestamp with time zone,uuid,integer,bigint,integer) owner to fd_search;
grant execute on routine fd_filter_products(text,text,timestamp with time zone,uuid,integer,bigint,integer) to fd_app;

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

create function fd_find_gateway_account(wanted_provider text, wanted_account text)
returns TABLE(tenant_ref text, scheme text, signing_key bytea)
language sql stable security definer set search_path=public, pg_temp as
$$
  select a.tenant_ref, a.scheme, a.signing_key
    from gateway_accounts a
   where a.provider = wanted_provider and a.account_ref = wanted_account and a.removed_at is null
$$;
alter routine fd_find_gateway_account(text,text) owner to fd_gate;
grant execute on routine fd_find_gateway_account(text,text) to fd_app;

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

create function fd_find_storefront_token(wanted bytea)
returns TABLE(tenant_ref text)
language sql stable security definer set search_path=public, pg_temp as
$$
  select t.tenant_ref from storefront_tokens t where t.token_hash = wanted limit 1
$$;
alter routine fd_find_storefront_token(bytea) owner to fd_gate;
grant execute on routine fd_find_storefront_token(bytea) to fd_app;

create procedure fd_freeze(IN target regclass)
language plpgsql volatile as
$$
begin
  execute format('create trigger frozen before update or delete or truncate on %s
                  for each statement execute function fd_refuse_change()', target);
end $$;
alter routine fd_freeze(regclass) owner to fd_owner;

create procedure fd_freeze_young(IN target regclass, IN written text, IN keep interval)
language plpgsql volatile as
$$
begin
  execute format('drop trigger if exists frozen on %s', target);
  execute format('create trigger frozen before update or truncate on %s
                  for each statement execute function fd_refuse_change()', target);
  execute format('create trigger young before delete on %s
                  for each row execute function fd_refuse_young(%L, %L)', target, written, keep);
  execute format('grant delete on %s to fd_worker', target);
end $$;
alter routine fd_freeze_young(regclass,text,interval) owner to fd_owner;

create function fd_gift_card_has_no_stock()
returns trigger
language plpgsql volatile as
$$
begin
  if exists (select from inventory_settings as s
              where s.tenant_ref = new.tenant_ref and s.variant_id = new.id and s.track_inventory) then
    raise exception 'the stock of the variant is counted'
      using errcode = 'check_violation', constraint = 'variants_gift_card_stock';
  end if;
  return new;
end $$;
alter routine fd_gift_card_has_no_stock() owner to fd_owner;

create function fd_id_floor(at timestamp with time zone)
returns uuid
language sql immutable as
$$
  select rpad(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;
alter routine fd_id_floor(timestamp with time zone) owner to fd_owner;
grant execute on routine fd_id_floor(timestamp with time zone) to fd_app;
grant execute on routine fd_id_floor(timestamp with time zone) to fd_worker;

create function fd_is_low(store text, variant uuid)
returns boolean
language sql stable as
$$
  select coalesce((select s.track_inventory
                          and s.low_stock_threshold >=
                              (select coalesce(sum(l.on_hand - l.allocated), 0)
                                 from inventory_levels l
                                where l.tenant_ref = store and l.variant_id = variant)
                     from inventory_settings s
                    where s.tenant_ref = store and s.variant_id = variant), false)
$$;
alter routine fd_is_low(text,uuid) owner to fd_owner;
grant execute on routine fd_is_low(text,uuid) to fd_app;
grant execute on routine fd_is_low(text,uuid) to fd_worker;

create function fd_keep_currency()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  if exists (select from orders where tenant_ref = new.tenant_ref)
     or exists (select from gift_cards where tenant_ref = new.tenant_ref)
     or exists (select from store_credit_accounts where tenant_ref = new.tenant_ref)
     or exists (select from purchase_orders where tenant_ref = new.tenant_ref) then
    raise exception 'the currency of % is fixed', new.tenant_ref
      using errcode = 'check_violation', constraint = 'stores_currency_fixed';
  end if;
  return new;
end $$;
alter routine fd_keep_currency() owner to fd_owner;

create function fd_keep_invoice()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
declare
  changing constant text[] := array['status', 'paid_cents', 'credited_cents', 'reminders_sent', 'remind_at',
                                    'lease_until', 'lease_token'];
begin
  if old.status = 'draft' then return coalesce(new, old); end if;
  if tg_op = 'DELETE' or new.status = 'draft'
     or to_jsonb(new) - changing is distinct from to_jsonb(old) - changing then
    raise exception 'an issued invoice is final' using errcode = 'FD002';
  end if;
  return new;
end $$;
alter routine fd_keep_invoice() owner to fd_owner;

create function fd_keep_invoice_line()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  if tg_op = 'UPDATE'
     or exists (select from billing_invoices i
                 where i.tenant_ref = coalesce(new.tenant_ref, old.tenant_ref)
                   and i.id = coalesce(new.invoice_id, old.invoice_id) and i.status <> 'draft') then
    raise exception 'the lines of an issued invoice are final' using errcode = 'FD002';
  end if;
  return coalesce(new, old);
end $$;
alter routine fd_keep_invoice_line() owner to fd_owner;

create function fd_keep_paid()
returns trigger
language plpgsql volatile as
$$
begin
  raise exception 'a paid commission never changes' using errcode = 'check_violation';
end $$;
alter routine fd_keep_paid() owner to fd_owner;

create function fd_keep_usage()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  if tg_op <> 'INSERT' and exists (select from billing_accounts
                                    where tenant_ref = old.tenant_ref and open_month > old.month)
     or tg_op <> 'DELETE' and exists (select from billing_accounts
                                       where tenant_ref = new.tenant_ref and open_month > new.month) then
    raise exception 'the month is closed' using errcode = 'FD002';
  end if;
  return coalesce(new, old);
end $$;
alter routine fd_keep_usage() owner to fd_owner;

create function fd_limit(store text, counted text, own bigint)
returns bigint
language sql stable as
$$
  select coalesce(own, (select l.max
                          from usage_limits as l
                         where l.limit_key = counted
                           and l.tier in ('*', (select t.tier from entitlement_tiers as t where t.tenant_ref = store))
                         order by l.tier = '*'
                         limit 1))
$$;
alter routine fd_limit(text,text,bigint) owner to fd_owner;
grant execute on routine fd_limit(text,text,bigint) to fd_app;
grant execute on routine fd_limit(text,text,bigint) to fd_operator;
grant execute on routine fd_limit(text,text,bigint) to fd_worker;

create function fd_make_month(parent text, month date)
returns bigint
language plpgsql volatile as
$$
declare
  suffix text := to_char(month, 'YYYY_MM');
  starts text;
  ends text;
  divider text;
  moved bigint := 0;
begin
  if to_regclass(parent || '_' || suffix) is not null then return null; end if;
  -- No statement may wait long behind the lock on the default partition; the loop tries again.
  perform set_config('lock_timeout', '1s', true);
  select t.divided_by,
         case when t.by_id then fd_id_floor(m.starts)::text else m.starts::text end,
         case when t.by_id then fd_id_floor(m.ends)::text else m.ends::text end
    into divider, starts, ends
    from partitioned_tables t,
         (select month::timestamp at time zone 'UTC' as starts,
                 (month + interval '1 month') at time zone 'UTC' as ends) as m
   where t.name = parent;
  call fd_add_partition(parent, suffix, format('for values from (%L) to (%L)', starts, ends),
                        format('%I >= %L and %1$I < %3$L', divider, starts, ends), moved);
  return moved;
end $$;
alter routine fd_make_month(text,date) owner to fd_owner;

create function fd_make_partition(ahead integer, OUT made text, OUT misplaced bigint)
returns record
language plpgsql volatile security definer set search_path=public, pg_temp as
$$
declare
  missing record;
begin
  misplaced := 0;
  select t.name, n.month into missing
    from partitioned_tables t,
         (select (date_trunc('month', now() at time zone 'UTC') + make_interval(months => each))::date as month
            from generate_series(0, least(ahead, 24)) as each) as n
   where not exists (select from partition_months m where m.parent = t.name and m.month = n.month)
   order by n.month, t.name
   limit 1;
  if missing.name is null then return; end if;
  made := missing.name || ' ' || missing.month;
  misplaced := fd_make_month(missing.name, missing.month);
  -- Ids of version 4 may be in the range of a month that is still to come.
  if missing.month > now() at time zone 'UTC' then misplaced := 0; end if;
end $$;
alter routine fd_make_partition(integer) owner to fd_owner;
grant execute on routine fd_make_partition(integer) to fd_worker;

create function fd_media_added()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  insert into media_usage as u (tenant_ref, bytes) values (new.tenant_ref, new.bytes)
      on conflict (tenant_ref) do update set bytes = u.bytes + excluded.bytes;
  return null;
end $$;
alter routine fd_media_added() owner to fd_owner;

create function fd_media_removed()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  update media_usage set bytes = bytes - old.bytes where tenant_ref = old.tenant_ref;
  return null;
end $$;
alter routine fd_media_removed() owner to fd_owner;

create function fd_member_on_sale()
returns trigger
language plpgsql volatile as
$$
begin
  select p.status = 'active' into new.on_sale
    from products p
   where p.tenant_ref = new.tenant_ref and p.id = new.product_id
     for share;
  -- If the product does not exist, the foreign key refuses the membership.
  new.on_sale := coalesce(new.on_sale, false);
  return new;
end $$;
alter routine fd_member_on_sale() owner to fd_owner;

create function fd_members_on_sale()
returns trigger
language plpgsql volatile as
$$
begin
  update collection_products m
     set on_sale = new.status = 'active'
   where m.tenant_ref = new.tenant_ref and m.product_id = new.id;
  return null;
end $$;
alter routine fd_members_on_sale() owner to fd_owner;

create procedure fd_meter(IN target regclass, IN amounts text, IN counts_updates boolean)
language plpgsql volatile as
$$
declare
  -- A statement can only name the transition tables that its event has.
  counting text := '(select s.tenant_ref, m.limit_key, %s m.amount as amount from %s as s
                      cross join lateral (values ' || amounts || ') as m (limit_key, amount))';
  adding text := 'perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from (%s) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;';
  added text := format(counting, '', 'added');
  removed text := format(counting, '-', 'removed');
begin
  execute format($f$
    create function fd_meter_%1$s() returns trigger language plpgsql as $body$
    begin
      if tg_op = 'INSERT' then %2$s
      elsif tg_op = 'DELETE' then %3$s
      else %4$s
      end if;
      return null;
    end $body$
  $f$, target, format(adding, added), format(adding, removed), format(adding, added || ' union all ' || removed));
  execute format('revoke all on function fd_meter_%s() from public', target);
  execute format('create trigger meter_insert after insert on %1$s referencing new table as added
                  for each statement execute function fd_meter_%1$s()', target);
  execute format('create trigger meter_delete after delete on %1$s referencing old table as removed
                  for each statement execute function fd_meter_%1$s()', target);
  if counts_updates then
    execute format('create trigger meter_update after update on %1$s
                    referencing new table as added old table as removed
                    for each statement execute function fd_meter_%1$s()', target);
  end if;
  execute format('insert into store_usage (tenant_ref, limit_key, used)
                  select tenant_ref, limit_key, sum(amount)::bigint from %s as counted group by tenant_ref, limit_key
                      on conflict (tenant_ref, limit_key) do update set used = store_usage.used + excluded.used',
                 format(counting, '', target));
end $$;
alter routine fd_meter(regclass,text,boolean) owner to fd_owner;

create function fd_meter_affiliates()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('affiliates', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('affiliates', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('affiliates', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('affiliates', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_affiliates() owner to fd_owner;

create function fd_meter_campaigns()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('campaigns', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('campaigns', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('campaigns', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('campaigns', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_campaigns() owner to fd_owner;

create function fd_meter_collections()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('collections', 1),
  ('collection_bytes', octet_length(s.slug) + octet_length(s.title) + coalesce(octet_length(s.description), 0))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('collections', 1),
  ('collection_bytes', octet_length(s.slug) + octet_length(s.title) + coalesce(octet_length(s.description), 0))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('collections', 1),
  ('collection_bytes', octet_length(s.slug) + octet_length(s.title) + coalesce(octet_length(s.description), 0))) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('collections', 1),
  ('collection_bytes', octet_length(s.slug) + octet_length(s.title) + coalesce(octet_length(s.description), 0))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_collections() owner to fd_owner;

create function fd_meter_coupon_codes()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('coupon_codes', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('coupon_codes', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('coupon_codes', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('coupon_codes', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_coupon_codes() owner to fd_owner;

create function fd_meter_credentials()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('credentials', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('credentials', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('credentials', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('credentials', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_credentials() owner to fd_owner;

create function fd_meter_fraud_bans()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('bans', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('bans', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('bans', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('bans', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_fraud_bans() owner to fd_owner;

create function fd_meter_gift_cards()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('gift_cards', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('gift_cards', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('gift_cards', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('gift_cards', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_gift_cards() owner to fd_owner;

create function fd_meter_inventory_locations()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('locations', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('locations', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('locations', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('locations', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_inventory_locations() owner to fd_owner;

create function fd_meter_pricing_group_members()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('pricing_group_members', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('pricing_group_members', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('pricing_group_members', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('pricing_group_members', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_pricing_group_members() owner to fd_owner;

create function fd_meter_pricing_group_prices()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('pricing_group_prices', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('pricing_group_prices', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('pricing_group_prices', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('pricing_group_prices', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_pricing_group_prices() owner to fd_owner;

create function fd_meter_products()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('products', 1),
  ('catalog_bytes', octet_length(s.slug) + octet_length(s.name) + coalesce(octet_length(s.description), 0)
                    + octet_length(s.metadata::text))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('products', 1),
  ('catalog_bytes', octet_length(s.slug) + octet_length(s.name) + coalesce(octet_length(s.description), 0)
                    + octet_length(s.metadata::text))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('products', 1),
  ('catalog_bytes', octet_length(s.slug) + octet_length(s.name) + coalesce(octet_length(s.description), 0)
                    + octet_length(s.metadata::text))) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('products', 1),
  ('catalog_bytes', octet_length(s.slug) + octet_length(s.name) + coalesce(octet_length(s.description), 0)
                    + octet_length(s.metadata::text))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_products() owner to fd_owner;

create function fd_meter_purchase_orders()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('purchase_orders', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('purchase_orders', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('purchase_orders', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('purchase_orders', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_purchase_orders() owner to fd_owner;

create function fd_meter_segments()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('segments', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('segments', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('segments', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('segments', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_segments() owner to fd_owner;

create function fd_meter_site_versions()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('site_versions', 1), ('site_bytes', octet_length(s.manifest))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('site_versions', 1), ('site_bytes', octet_length(s.manifest))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('site_versions', 1), ('site_bytes', octet_length(s.manifest))) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('site_versions', 1), ('site_bytes', octet_length(s.manifest))) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_site_versions() owner to fd_owner;

create function fd_meter_stock_counts()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('stock_counts', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('stock_counts', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('stock_counts', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('stock_counts', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_stock_counts() owner to fd_owner;

create function fd_meter_variants()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('variants', 1),
  ('catalog_bytes', octet_length(s.sku) + coalesce(octet_length(s.label), 0) + octet_length(s.metadata::text)
                    + case when s.options = '[]' then 0 else octet_length(s.options::text) end)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('variants', 1),
  ('catalog_bytes', octet_length(s.sku) + coalesce(octet_length(s.label), 0) + octet_length(s.metadata::text)
                    + case when s.options = '[]' then 0 else octet_length(s.options::text) end)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('variants', 1),
  ('catalog_bytes', octet_length(s.sku) + coalesce(octet_length(s.label), 0) + octet_length(s.metadata::text)
                    + case when s.options = '[]' then 0 else octet_length(s.options::text) end)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('variants', 1),
  ('catalog_bytes', octet_length(s.sku) + coalesce(octet_length(s.label), 0) + octet_length(s.metadata::text)
                    + case when s.options = '[]' then 0 else octet_length(s.options::text) end)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_variants() owner to fd_owner;

create function fd_meter_vendors()
returns trigger
language plpgsql volatile as
$$
    begin
      if tg_op = 'INSERT' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('vendors', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      elsif tg_op = 'DELETE' then perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('vendors', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      else perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from ((select s.tenant_ref, m.limit_key,  m.amount as amount from added as s
                      cross join lateral (values ('vendors', 1)) as m (limit_key, amount)) union all (select s.tenant_ref, m.limit_key, - m.amount as amount from removed as s
                      cross join lateral (values ('vendors', 1)) as m (limit_key, amount))) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;
      end if;
      return null;
    end $$;
alter routine fd_meter_vendors() owner to fd_owner;

create function fd_misplaced_rows()
returns bigint
language plpgsql stable security definer set search_path=public, pg_temp as
$$
declare
  divided record;
  found bigint;
  total bigint := 0;
begin
  for divided in select * from partitioned_tables loop
    execute format('select count(*) from (select from %I where %I >= %L and %2$I < %4$L limit 1000) as seen',
      divided.name || '_default', divided.divided_by,
      case when divided.by_id then fd_id_floor(now() - interval '3 months')::text
           else (now() - interval '3 months')::text end,
      case when divided.by_id then fd_id_floor(now())::text else now()::text end) into found;
    total := total + found;
  end loop;
  return total;
end $$;
alter routine fd_misplaced_rows() owner to fd_owner;
grant execute on routine fd_misplaced_rows() to fd_worker;

create function fd_month_must_stay(parent text, wanted date)
returns boolean
language sql stable as
$$
  select case parent
    when 'webhook_deliveries' then
      exists (select from webhook_queue q where q.delivery_id >= starts and q.delivery_id < ends)
      or exists (select from webhook_lanes l, unnest(l.deliveries) as d (id) where d.id >= starts and d.id < ends)
    when 'webhook_attempts' then has_deliveries
    when 'webhook_events' then has_deliveries
    else false end
    from (select fd_id_floor(wanted::timestamp at time zone 'UTC') as starts,
                 fd_id_floor((wanted + interval '1 month') at time zone 'UTC') as ends,
                 exists (select from partition_months m
                          where m.parent = 'webhook_deliveries' and m.month = wanted) as has_deliveries) as m
$$;
alter routine fd_month_must_stay(text,date) owner to fd_owner;
grant execute on routine fd_month_must_stay(text,date) to fd_worker;

create function fd_month_rows(parent text, wanted date)
returns TABLE(tenant_ref text, total bigint)
language plpgsql stable security definer set search_path=public, pg_temp as
$$
declare
  part text;
begin
  select m.name into part from partition_months m where m.parent = fd_month_rows.parent and m.month = wanted;
  if part is null then return; end if;
  return query execute format('select tenant_ref, count(*) from %I group by tenant_ref order by 1', part);
end $$;
alter routine fd_month_rows(text,date) owner to fd_owner;
grant execute on routine fd_month_rows(text,date) to fd_worker;

create function fd_monthly_cents(s subscriptions)
returns bigint
language sql immutable as
$$
  select round(s.unit_price_cents * s.quantity
               * case s.interval when 'day' then 30.4375 when 'week' then 30.4375 / 7 when 'month' then 1 else 1.0 / 12 end
               / s.interval_count)::bigint
$$;
alter routine fd_monthly_cents(subscriptions) owner to fd_owner;
grant execute on routine fd_monthly_cents(subscriptions) to public;

create function fd_moved_clocks()
returns TABLE(tenant_ref text, offset_ms bigint, is_moving boolean)
language sql stable security definer set search_path=public, pg_temp as
$$
  select c.tenant_ref, c.offset_ms, c.state = 'advancing'
    from test_clocks c
   where c.offset_ms > 0 or c.state = 'advancing'
$$;
alter routine fd_moved_clocks() owner to fd_gate;
grant execute on routine fd_moved_clocks() to fd_app;

create function fd_next_cycle(tenant text, subscription uuid, after integer)
returns integer
language sql stable as
$$
  select min(c.cycle)
    from (select after + 1 as cycle
          union all
          select k.cycle + 1 from subscription_cycles k
           where k.tenant_ref = tenant and k.subscription_id = subscription and k.state = 'skipped' and k.cycle > after) as c
   where not exists (select from subscription_cycles k
                      where k.tenant_ref = tenant and k.subscription_id = subscription and k.cycle = c.cycle
                        and k.state = 'skipped')
$$;
alter routine fd_next_cycle(text,uuid,integer) owner to fd_owner;
grant execute on routine fd_next_cycle(text,uuid,integer) to public;

create function fd_no_tenant()
returns text
language plpgsql stable as
$$
begin
  raise exception 'no tenant is set' using errcode = 'FD001';
end $$;
alter routine fd_no_tenant() owner to fd_owner;
grant execute on routine fd_no_tenant() to fd_app;
grant execute on routine fd_no_tenant() to fd_gate;
grant execute on routine fd_no_tenant() to fd_operator;
grant execute on routine fd_no_tenant() to fd_search;
grant execute on routine fd_no_tenant() to fd_worker;

create function fd_note_new_stock()
returns trigger
language plpgsql volatile as
$$
begin
  perform fd_refresh_low(array_agg(tenant_ref), array_agg(variant_id)) from changed;
  return null;
end $$;
alter routine fd_note_new_stock() owner to fd_owner;

create function fd_note_stock()
returns trigger
language plpgsql volatile as
$$
begin
  perform fd_refresh_low(array_agg(c.tenant_ref), array_agg(c.variant_id))
     from changed c
     join before b using (tenant_ref, variant_id, location_id)
    where c.on_hand - c.allocated <> b.on_hand - b.allocated
   having count(*) > 0;
  return null;
end $$;
alter routine fd_note_stock() owner to fd_owner;

create function fd_note_stock_settings()
returns trigger
language plpgsql volatile as
$$
begin
  update variants v
     set is_low = not v.is_low
   where v.tenant_ref = new.tenant_ref and v.id = new.variant_id
     and v.is_low <> fd_is_low(v.tenant_ref, v.id);
  return null;
end $$;
alter routine fd_note_stock_settings() owner to fd_owner;

create function fd_note_subscription()
returns trigger
language plpgsql volatile as
$$
begin
  insert into subscription_changes (tenant_ref, subscription_id) values (new.tenant_ref, new.id);
  return null;
end $$;
alter routine fd_note_subscription() owner to fd_owner;
grant execute on routine fd_note_subscription() to public;

create function fd_note_uses()
returns trigger
language plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off as
$$
declare
  one record;
begin
  for one in
    select a.tenant_ref, a.sha256
      from assets a
     where (a.tenant_ref, a.sha256) in (select c.tenant_ref, c.sha256 from changed c)
     order by a.tenant_ref, a.sha256
       for no key update
  loop
    update assets a
       set is_used = not a.is_used
     where a.tenant_ref = one.tenant_ref and a.sha256 = one.sha256
       and a.is_used <> exists (select from asset_refs r
                                 where r.tenant_ref = a.tenant_ref and r.sha256 = a.sha256);
  end loop;
  return null;
end $$;
alter routine fd_note_uses() owner to fd_owner;

create function fd_now()
returns timestamp with time zone
language sql stable as
$$
  select case when current_setting('app.clock_offset', true) <> ''
              then now() + current_setting('app.clock_offset')::interval
              else now() end
$$;
alter routine fd_now() owner to fd_owner;
grant execute on routine fd_now() to fd_app;
grant execute on routine fd_now() to fd_gate;
grant execute on routine fd_now() to fd_operator;
grant execute on routine fd_now() to fd_worker;

create function fd_open_billing()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  insert into billing_accounts (tenant_ref, open_month) values (new.tenant_ref, fd_this_month())
      on conflict do nothing;
  return null;
end $$;
alter routine fd_open_billing() owner to fd_owner;

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

create function fd_partition_options(parent text)
returns text
language sql immutable as
$$
  select case parent when 'webhook_deliveries' then 'fillfactor = 50, '
                     when 'webhook_events' then 'fillfactor = 70, ' else '' end
         || 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, '
            'autovacuum_vacuum_insert_scale_factor = 0.05'
$$;
alter routine fd_partition_options(text) owner to fd_owner;

create function fd_period_after(anchor_on date, unit text, count integer, zone text, at timestamp with time zone)
returns integer
language plpgsql stable as
$$
declare
  today date := (at at time zone zone)::date;
  n integer := case unit when 'day' then (today - anchor_on) / count
                         when 'week' then (today - anchor_on) / (7 * count)
                         else (12 * (extract(year from today) - extract(year from anchor_on))
                               + extract(month from today) - extract(month from anchor_on))::integer
                              / (case unit when 'month' then count else 12 * count end) end - 2;
begin
  while fd_period_start(anchor_on, unit, count, n, zone) <= at loop
    n := n + 1;
  end loop;
  return n;
end $$;
alter routine fd_period_after(date,text,integer,text,timestamp with time zone) owner to fd_owner;
grant execute on routine fd_period_after(date,text,integer,text,timestamp with time zone) to public;

create function fd_period_start(anchor_on date, unit text, count integer, n integer, zone text)
returns timestamp with time zone
language sql stable as
$$
  select ((anchor_on + make_interval(days => case unit when 'day' then n * count when 'week' then 7 * n * count
                                                       else 0 end,
                                     months => case unit when 'month' then n * count when 'year' then 12 * n * count
                                                         else 0 end))::date
          + time '06:00') at time zone zone
$$;
alter routine fd_period_start(date,text,integer,integer,text) owner to fd_owner;
grant execute on routine fd_period_start(date,text,integer,integer,text) to public;

create function fd_person_consent()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
declare
  gone boolean := tg_op = 'DELETE';
  store text := case when gone then old.tenant_ref else new.tenant_ref end;
  address text := case when gone then old.email_folded else new.email_folded end;
  agreed text := case when gone or new.status = 'pending' then 'none'
                      when new.status = 'subscribed' then 'given' else 'withdrawn' end;
begin
  if agreed <> 'none' then
    insert into segment_people as p (tenant_ref, email_folded, email, consent)
    values (store, address, new.email, agreed)
        on conflict (tenant_ref, email_folded) do update set consent = excluded.consent
     where p.consent <> excluded.consent;
    return null;
  end if;
  delete from segment_people where tenant_ref = store and email_folded = address and orders_count = 0;
  update segment_people set consent = 'none'
   where tenant_ref = store and email_folded = address and consent <> 'none';
  return null;
end $$;
alter routine fd_person_consent() owner to fd_owner;

create function fd_plan_for_big_stores()
returns text
language plpgsql volatile security definer set search_path=public, pg_temp as
$$
declare
  target regclass;
  belongs name;
  has_rows boolean;
begin
  if (select count(*) from (select from stores limit 100) as first) < 100 then return null; end if;
  -- The account of a gateway's event belongs to one store. The planner takes the two for independent, expects no event
  -- of both, and would read all events of the account to find one by its id.
  select c.oid, a.attname, c.reltuples > 0 into target, belongs, has_rows
    from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
     and (a.attname = 'tenant_ref' or (c.relname = 'gateway_events' and a.attname = 'account_ref'))
     and a.attoptions is null
   order by c.relname
   limit 1;
  if target is null then return null; end if;
  perform set_config('lock_timeout', '1s', true);
  execute format('alter table %s alter column %I set (n_distinct = 100, n_distinct_inherited = 100)', target, belongs);
  -- A table without rows is left alone: it would be taken for one that stays so.
  if has_rows then execute format('analyze %s', target); end if;
  return target::text;
end $$;
alter routine fd_plan_for_big_stores() owner to fd_owner;
grant execute on routine fd_plan_for_big_stores() to fd_worker;

create function fd_queue_cost_entries()
returns trigger
language plpgsql volatile as
$$
begin
  insert into inventory_unposted (tenant_ref, entry_id)
  select tenant_ref, id
    from added
   where cost_cents <> 0 or value_cents <> 0 or sold_cents <> 0;
  return null;
end $$;
alter routine fd_queue_cost_entries() owner to fd_owner;

create function fd_queue_sealed()
returns trigger
language plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off as
$$
begin
  if exists (select from (select s.tenant_ref, min(s.sequence) as first, max(s.sequence) as last
                            from sealed s
                            join unsealed u on u.tenant_ref = s.tenant_ref and u.id = s.id
                           where s.sequence is distinct from u.sequence
                           group by s.tenant_ref) as numbered
              where (select count(*) <> count(distinct e.sequence)
                       from webhook_events e
                      where e.tenant_ref = numbered.tenant_ref
                        and e.sequence between numbered.first and numbered.last)) then
    raise exception 'two events of a store would have the same number'
      using errcode = 'unique_violation', constraint = 'webhook_events_sequence';
  end if;
  insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at, attempt_count,
                             ladder_from, created_at)
  select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count, d.ladder_from,
         d.created_at
    from sealed
    join unsealed on unsealed.tenant_ref = sealed.tenant_ref and unsealed.id = sealed.id
   cross join lateral (
         select *
           from webhook_deliveries
          where tenant_ref = sealed.tenant_ref and event_id = sealed.id
         offset 0) as d
   where unsealed.payload is null and sealed.payload is not null and d.status = 'pending'
      on conflict do nothing;
  return null;
end $$;
alter routine fd_queue_sealed() owner to fd_owner;
grant execute on routine fd_queue_sealed() to public;

create function fd_refresh_low(in_stores text[], variant_ids uuid[])
returns void
language plpgsql volatile set enable_hashjoin=off set enable_mergejoin=off set enable_seqscan=off as
$$
declare
  one record;
begin
  for one in
    select s.tenant_ref, s.variant_id
      from inventory_settings s
     where (s.tenant_ref, s.variant_id) in (select * from unnest(in_stores, variant_ids))
       and s.track_inventory and s.low_stock_threshold is not null
     order by s.tenant_ref, s.variant_id
       for no key update
  loop
    update variants v
       set is_low = not v.is_low
     where v.tenant_ref = one.tenant_ref and v.id = one.variant_id
       and v.is_low <> fd_is_low(v.tenant_ref, v.id);
  end loop;
end $$;
alter routine fd_refresh_low(text[],uuid[]) owner to fd_owner;
grant execute on routine fd_refresh_low(text[],uuid[]) to fd_app;
grant execute on routine fd_refresh_low(text[],uuid[]) to fd_worker;

create function fd_refuse_change()
returns trigger
language plpgsql volatile as
$$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'FD002';
end $$;
alter routine fd_refuse_change() owner to fd_owner;

create function fd_refuse_real_gateway()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
declare
  is_sandbox boolean;
begin
  select sandbox into is_sandbox from stores where tenant_ref = new.tenant_ref for share;
  if is_sandbox then
    raise exception '% is a sandbox', new.tenant_ref
      using errcode = 'check_violation', constraint = 'payment_accounts_sandbox';
  end if;
  return new;
end $$;
alter routine fd_refuse_real_gateway() owner to fd_owner;

create function fd_refuse_row(relation text, name text)
returns void
language plpgsql immutable as
$$
begin
  raise exception using
    errcode = 'check_violation', table = relation, constraint = name,
    message = format('new row for relation "%s" violates check constraint "%s"', relation, name);
end
$$;
alter routine fd_refuse_row(text,text) owner to fd_owner;
grant execute on routine fd_refuse_row(text,text) to fd_app;
grant execute on routine fd_refuse_row(text,text) to fd_operator;
grant execute on routine fd_refuse_row(text,text) to fd_worker;

create function fd_refuse_young()
returns trigger
language plpgsql volatile as
$$
begin
  if (to_jsonb(old) ->> tg_argv[0])::timestamptz > now() - tg_argv[1]::interval then
    raise exception 'a row of % is too young to be deleted', tg_table_name using errcode = 'FD002';
  end if;
  return old;
end $$;
alter routine fd_refuse_young() owner to fd_owner;

create function fd_schedule_subscription()
returns trigger
language plpgsql volatile as
$$
begin
  new.due_at := fd_subscription_due(new, (select pre_renewal_notice_days from subscription_settings
                                           where tenant_ref = new.tenant_ref));
  if new.status <> 'paused' then
    new.paused_after := null;
  elsif new.paused_after is null then
    new.paused_after := new.anchor_cycle - 1
      + fd_period_after(new.anchor_on, new.interval, new.interval_count,
                        (select time_zone from stores where tenant_ref = new.tenant_ref), fd_now());
  end if;
  return new;
end $$;
alter routine fd_schedule_subscription() owner to fd_owner;
grant execute on routine fd_schedule_subscription() to public;

create function fd_search_compounds(tenant text, part text)
returns SETOF text
language sql stable as
$$
  select found.word
    from (select w.word from search_words w
           where w.tenant_ref = tenant and length(part) >= 3
             and w.word like '%' || part || case when length(part) >= 5 then '%' else '' end
           union
          select w.word from search_words w
           where w.tenant_ref = tenant and length(part) = 4 and w.word like part || '%') as found
   where length(found.word) >= length(part) + 3
   order by length(found.word), found.word
   limit 40
$$;
alter routine fd_search_compounds(text,text) owner to fd_owner;
grant execute on routine fd_search_compounds(text,text) to fd_search;

create function fd_search_config(language text)
returns regconfig
language sql stable as
$$
  select coalesce((
    select c.oid::regconfig
      from (values ('ar', 'arabic'), ('ca', 'catalan'), ('da', 'danish'), ('de', 'german'),
                   ('el', 'greek'), ('en', 'english'), ('es', 'spanish'), ('et', 'estonian'),
                   ('eu', 'basque'), ('fi', 'finnish'), ('fr', 'french'), ('ga', 'irish'),
                   ('hi', 'hindi'), ('hu', 'hungarian'), ('hy', 'armenian'), ('id', 'indonesian'),
                   ('it', 'italian'), ('lt', 'lithuanian'), ('nb', 'norwegian'), ('ne', 'nepali'),
                   ('nl', 'dutch'), ('nn', 'norwegian'), ('no', 'norwegian'),
                   ('pt', 'portuguese'), ('ro', 'romanian'), ('ru', 'russian'), ('sr', 'serbian'),
                   ('sv', 'swedish'), ('ta', 'tamil'), ('tr', 'turkish'), ('yi', 'yiddish')
           ) as known (tag, name)
      join pg_ts_config c on c.cfgname = known.name and c.cfgnamespace = 'pg_catalog'::regnamespace
     where known.tag = lower(split_part(language, '-', 1))
  ), 'simple'::regconfig)
$$;
alter routine fd_search_config(text) owner to fd_owner;
grant execute on routine fd_search_config(text) to fd_app;
grant execute on routine fd_search_config(text) to fd_search;
grant execute on routine fd_search_config(text) to fd_worker;

create function fd_search_corrected(tenant text, store bigint, config regconfig, folded text)
returns tsquery
language sql stable set enable_indexonlyscan=off set enable_indexscan=off as
$$
  with typed as (
    select t.word, t.place = max(t.place) over () as is_last, s.stem
      from unnest((string_to_array(folded, ' '))[:16]) with ordinality as t (word, place),
           lateral (select min(lexeme) as stem from unnest(to_tsvector(config, t.word))) as s
  ),
  asked as (
    select t.word, t.stem,
           concat_ws(' | ', format('''%s/%s''', store, t.stem),
                     case when t.is_last
                          then format('''%s/%s'':*', store, left(t.word, 50)) end) as plain
      from typed t
     where octet_length(t.stem) <= 200
  ),
  meant as (
    select a.plain, near.words
      from asked a
     cross join lateral (
       select string_agg(distinct format('''%s/%s''', store, form.word), ' | ') as words
         from fd_search_nearest(tenant, store, array[a.word, a.stem]) as one (word),
              lateral (select one.word union
                       select lexeme from unnest(to_tsvector(config, one.word)) union
                       select part.of_one
                         from fd_search_compounds(tenant, one.word) as part (of_one)
                        where fd_search_joins_words(config)) as form (word)
        where not exists (
                with had as materialized (
                  select from product_search p
                   where p.tenant_ref = tenant and p.words @@ a.plain::tsquery)
                select from had)
     ) as near
  )
  select case when count(m.words) > 0
              then string_agg('(' || concat_ws(' | ', m.plain, m.words) || ')', ' & ')::tsquery end
    from meant m
$$;
alter routine fd_search_corrected(text,bigint,regconfig,text) owner to fd_owner;
grant execute on routine fd_search_corrected(text,bigint,regconfig,text) to fd_search;

create function fd_search_fold(given text)
returns text
language sql stable as
$$
  select btrim(regexp_replace(lower(
    case when octet_length(given) = length(given) then given
         else public.unaccent('public.unaccent', regexp_replace(regexp_replace(
                normalize(given, nfkc), '[\u0300-\u036f\u200b-\u200f\ufe00-\ufe0f\ufeff]+', '', 'g'),
                '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f'
                '\u2100-\u2bff\u3000-\u3004\u3008-\u3020\ufff0-\uffff]+', ' ', 'g')) end),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g'))
$$;
alter routine fd_search_fold(text) owner to fd_owner;
grant execute on routine fd_search_fold(text) to fd_app;
grant execute on routine fd_search_fold(text) to fd_search;
grant execute on routine fd_search_fold(text) to fd_worker;

create function fd_search_forget(after text, count integer)
returns TABLE(last_word text, looked_at bigint, deleted bigint)
language sql volatile security definer set enable_seqscan=off set search_path=public, pg_temp as
$$
  with looked as materialized (
    select w.word from search_words w
     where w.tenant_ref = fd_tenant() and w.word > after
     order by w.word
     limit count
  ), gone as (
    delete from search_words w
     using looked, stores s
     where w.tenant_ref = fd_tenant() and w.word = looked.word and s.tenant_ref = fd_tenant()
       and not exists (select from product_search p
                        where p.tenant_ref = fd_tenant()
                          and p.words @@ format('''%s/%s''', s.store_number, looked.word)::tsquery)
       and not exists (select from collections c
                        where c.tenant_ref = fd_tenant()
                          and c.title_words @@ format('''%s/%s''', s.store_number, looked.word)::tsquery)
    returning w.word
  )
  select (select max(word) from looked), (select count(*) from looked), (select count(*) from gone)
$$;
alter routine fd_search_forget(text,integer) owner to fd_search;
grant execute on routine fd_search_forget(text,integer) to fd_worker;

create function fd_search_is_used(tenant text, store bigint, used text)
returns boolean
language sql stable as
$$
  select exists (
           with had as materialized (
             select from product_search p
              where p.tenant_ref = tenant and p.words @@ format('''%s/%s''', store, used)::tsquery)
           select from had)
      or exists (select from collections c
                  where c.tenant_ref = tenant
                    and c.title_words @@ format('''%s/%s''', store, used)::tsquery)
$$;
alter routine fd_search_is_used(text,bigint,text) owner to fd_owner;
grant execute on routine fd_search_is_used(text,bigint,text) to fd_search;

create function fd_search_joins_words(config regconfig)
returns boolean
language sql stable as
$$
  select config::text
         in ('danish', 'dutch', 'estonian', 'finnish', 'german', 'hungarian', 'norwegian', 'swedish')
$$;
alter routine fd_search_joins_words(regconfig) owner to fd_owner;
grant execute on routine fd_search_joins_words(regconfig) to fd_app;
grant execute on routine fd_search_joins_words(regconfig) to fd_search;
grant execute on routine fd_search_joins_words(regconfig) to fd_worker;

create function fd_search_learn()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  insert into search_words (tenant_ref, word)
  select distinct n.tenant_ref, w.word
    from changed n
    join before o on o.tenant_ref = n.tenant_ref and o.product_id = n.product_id
    join stores s on s.tenant_ref = n.tenant_ref
   cross join lateral (select fd_search_joins_words(fd_search_config(s.language)) as joins) as l
   cross join lateral fd_search_words(case when l.joins then n.words else n.head end) as w (word)
   where case when l.joins then n.words else n.head end
         is distinct from case when l.joins then o.words else o.head end
   order by 1, 2
      on conflict do nothing;
  return null;
end $$;
alter routine fd_search_learn() owner to fd_owner;

create function fd_search_long_words(given text)
returns tsvector
language sql immutable as
$$
  select array_to_tsvector(coalesce(array_agg(distinct w.lexeme), '{}'))
    from unnest(to_tsvector('simple'::regconfig, given)) as w
   -- A compound has at least two parts of three letters each.
   where length(w.lexeme) between 6 and 50 and w.lexeme !~ '[0-9]'
$$;
alter routine fd_search_long_words(text) owner to fd_owner;
grant execute on routine fd_search_long_words(text) to fd_app;
grant execute on routine fd_search_long_words(text) to fd_worker;

create function fd_search_nearest(tenant text, store bigint, forms text[])
returns SETOF text
language sql stable as
$$
  with given as materialized (
    select distinct form as typed from unnest(forms) as form
     where form !~ '[0-9]' and length(form) between 3 and 50
  ),
  slips as materialized (
    select found.word, found.typed, found.slips
      from given
     cross join lateral (
       select swapped.word, given.typed, 1 as slips
         from search_words swapped
        where swapped.tenant_ref = tenant
          and swapped.word = any (fd_search_swaps(given.typed)) and swapped.word <> given.typed
        union all
       select alike.word, given.typed, levenshtein_less_equal(alike.word, given.typed, 2)
         from search_words alike
        where alike.tenant_ref = tenant and alike.word % given.typed
          and greatest(length(alike.word), length(given.typed)) >= 4
          and levenshtein_less_equal(alike.word, given.typed, 2)
              between 1 and case when length(given.typed) >= 8 then 2 else 1 end
     ) as found
     where fd_search_is_used(tenant, store, found.word)
  ),
  parts as materialized (
    select found.word, found.typed, 3 as slips
      from given
     cross join lateral (
       select part.word, given.typed
         from search_words part
        where part.tenant_ref = tenant and part.word %> given.typed
          and part.word <> given.typed and length(given.typed) >= 4
          -- The typed word may be the beginning of a longer one. A shorter one must be most of it: `desk` is not meant
          -- by `desktop`.
          and (word_similarity(given.typed, part.word)
                 >= case when length(part.word) >= length(given.typed) then 0.5 else 0.6 end
               -- A part of a compound, with one typing error.
               or length(given.typed) >= 6 and length(part.word) >= length(given.typed) + 3
                  and exists (
                    select from generate_series(length(given.typed) - 1, length(given.typed) + 1) as n
                     where levenshtein_less_equal(right(part.word, n), given.typed, 1) <= 1
                        or levenshtein_less_equal(left(part.word, n), given.typed, 1) <= 1))
     ) as found
     where not exists (select from slips)
       and fd_search_is_used(tenant, store, found.word)
  )
  select near.word
    from (select found.*, min(found.slips) over () as fewest
            from (select * from slips union all select * from parts) as found) as near
   where near.slips = near.fewest
   group by near.word
   order by max(similarity(near.word, near.typed)) desc, near.word
   limit 8
$$;
alter routine fd_search_nearest(text,bigint,text[]) owner to fd_owner;
grant execute on routine fd_search_nearest(text,bigint,text[]) to fd_search;

create function fd_search_note_collections()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  perform from product_search s
    where (s.tenant_ref, s.product_id) in (select tenant_ref, product_id from changed)
    order by s.tenant_ref, s.product_id for update;
  update product_search s
     set collections = array(
           select c.collection_id from collection_products c
            where c.tenant_ref = s.tenant_ref and c.product_id = s.product_id
            order by c.collection_id)
   where (s.tenant_ref, s.product_id) in (select tenant_ref, product_id from changed);
  return null;
end $$;
alter routine fd_search_note_collections() owner to fd_owner;

create function fd_search_note_language()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  perform pg_advisory_xact_lock(hashtextextended(new.tenant_ref || '/search language', 0));
  insert into outbox (tenant_ref, type, payload)
  values (new.tenant_ref, 'store.language_changed.v1', jsonb_build_object('language', new.language));
  return null;
end $$;
alter routine fd_search_note_language() owner to fd_owner;

create function fd_search_note_picture_texts()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(distinct n.product_id))
     from changed n
     join before o on o.tenant_ref = n.tenant_ref and o.product_id = n.product_id and o.asset_ref = n.asset_ref
    where n.alt is distinct from o.alt
    group by n.tenant_ref;
  return null;
end $$;
alter routine fd_search_note_picture_texts() owner to fd_owner;

create function fd_search_note_pictures()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(distinct n.product_id))
     from changed n where n.alt <> '' group by n.tenant_ref;
  return null;
end $$;
alter routine fd_search_note_pictures() owner to fd_owner;

create function fd_search_note_products()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  insert into product_search (tenant_ref, product_id, created_at)
  select tenant_ref, id, created_at from changed;
  perform fd_search_refresh(tenant_ref, array_agg(id)) from changed group by tenant_ref;
  return null;
end $$;
alter routine fd_search_note_products() owner to fd_owner;

create function fd_search_note_texts()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(n.id))
     from changed n join before o on o.tenant_ref = n.tenant_ref and o.id = n.id
    where (n.name, n.description, n.status) is distinct from (o.name, o.description, o.status)
    group by n.tenant_ref;
  return null;
end $$;
alter routine fd_search_note_texts() owner to fd_owner;

create function fd_search_note_title()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  new.title_words := fd_search_title_words(new.tenant_ref, new.title);
  insert into search_words (tenant_ref, word)
  select new.tenant_ref, w.word from fd_search_words(new.title_words) as w (word) order by 2
      on conflict do nothing;
  return new;
end $$;
alter routine fd_search_note_title() owner to fd_owner;

create function fd_search_note_variant_changes()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(distinct n.product_id))
     from changed n join before o on o.tenant_ref = n.tenant_ref and o.id = n.id
    where (n.sku, n.price_cents, n.archived_at) is distinct from (o.sku, o.price_cents, o.archived_at)
    group by n.tenant_ref;
  return null;
end $$;
alter routine fd_search_note_variant_changes() owner to fd_owner;

create function fd_search_note_variants()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  perform fd_search_refresh(tenant_ref, array_agg(distinct product_id))
     from changed group by tenant_ref;
  return null;
end $$;
alter routine fd_search_note_variants() owner to fd_owner;

create function fd_search_products(wanted text, price_min bigint, price_max bigint, collection text, sort text, page_limit integer, page_offset integer)
returns TABLE(ids uuid[], result_count integer, price_buckets json, in_collections json, is_corrected boolean)
language plpgsql stable security definer set pg_trgm.similarity_threshold=0.2 set pg_trgm.word_similarity_threshold=0.4 set plan_cache_mode=force_generic_plan set search_path=public, pg_temp set work_mem=32MB as
$$
declare
  store  record;
  config regconfig;
  folded text := fd_search_fold(wanted);
  asked  tsquery;
  -- The typed words themselves: products with them come before compounds. Null: there are no words.
  plain  tsquery;
  named  uuid[];
  tries  integer := 1;
  hit    record;
  inside text := case when length(folded) >= 3 then '%' || folded || '%' end;
  chosen uuid;
  browses boolean := wanted = '' and collection is not null;
  edges  bigint[] := '{100,250,500,1000,2500,5000,10000,25000,50000,100000,250000,500000,1000000,
                       2500000,5000000,10000000,25000000,50000000,100000000}';
begin
  select s.tenant_ref, s.store_number, s.language into store
    from stores s where s.tenant_ref = fd_tenant() and s.status = 'live';
  if not found then
    return;
  end if;
  if folded = '' and not browses then
    return query select '{}'::uuid[], 0, '[]'::json, '[]'::json, false;
    return;
  end if;
  if not browses then
    config := fd_search_config(store.language);
    asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, false);
    named := array(select c.id from collections c
                    where c.tenant_ref = store.tenant_ref and c.title_words @@ asked);
    if fd_search_joins_words(config) then
      select string_agg(format('''%s/%s''', store.store_number, lexeme), ' | ')::tsquery into plain
        from unnest(to_tsvector(config, folded)) where octet_length(lexeme) <= 200;
      asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, true);
    end if;
  end if;
  select c.id into chosen
    from collections c where c.tenant_ref = store.tenant_ref and c.slug = collection;
  -- First the words as typed; if nothing has them, the words that they may stand for; if that finds nothing either,
  -- longer words that contain them.
  loop
    with found as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance'
                       then -ts_rank(s.head, asked)::float8 - coalesce(10 * ts_rank(s.head, plain), 0)
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from product_search s
       where s.tenant_ref = store.tenant_ref and s.words @@ asked
    ),
    -- Products of a collection whose title has the words. Products without searchable words are not active.
    of_collections as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance' then 0
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from product_search s
       where tries <= 2 and not browses and s.tenant_ref = store.tenant_ref
         and s.product_id in (select m.product_id from collection_products m
                               where m.tenant_ref = store.tenant_ref
                                 and m.collection_id = any (named))
         and s.words <> '' and not s.words @@ asked
    ),
    members as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance' then m.position::float8
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from collection_products m
        join product_search s on s.tenant_ref = store.tenant_ref and s.product_id = m.product_id
       where browses and m.tenant_ref = store.tenant_ref and m.collection_id = chosen and m.on_sale
    ),
    -- Products with the words inside longer words. Looking there is expensive, so at most a thousand are shown.
    inner_parts as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance' then -word_similarity(folded, s.names)::float8
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from product_search s
       where tries = 3
         and s.tenant_ref = store.tenant_ref and s.names like inside
       limit 1000
    ),
    hits as not materialized (
      select h.*, (price_min is null or coalesce(h.price_cents >= price_min, false))
                  and (price_max is null or coalesce(h.price_cents <= price_max, false)) as priced,
             -- An unknown collection holds nothing.
             collection is null or coalesce(chosen = any (h.collections), false) as collected
        from (select * from found union all select * from of_collections
              union all select * from members union all select * from inner_parts) as h
    ),
    page as (
      select h.product_id, h.place, h.created_at
        from hits h
       where h.priced and h.collected
       order by h.place, h.created_at desc, h.product_id
       limit page_limit offset page_offset
    ),
    -- Everything is counted in one pass over the matches; the following steps add up a few groups.
    groups as materialized (
      select width_bucket(h.price_cents, edges) as bucket, h.collections, h.priced, h.collected,
             count(*) as count
        from hits h
       group by 1, 2, 3, 4
    ),
    buckets as (
      select g.bucket, sum(g.count) as count
        from groups g
       where g.collected and g.bucket is not null
       group by g.bucket
    ),
    counted as (
      select m.id, sum(m.count) as count
        from (select unnest(g.collections) as id, g.count from groups g where g.priced) as m
       group by m.id
       order by count desc, m.id
       limit 100
    )
    select (select coalesce(sum(g.count), 0) from groups g) as matches,
           array(select p.product_id from page p order by p.place, p.created_at desc, p.product_id)
             as ids,
           (select coalesce(sum(g.count), 0)::integer from groups g where g.priced and g.collected)
             as result_count,
           (select coalesce(json_agg(json_build_object(
                     'min_cents', case b.bucket when 0 then 0 else edges[b.bucket] end,
                     'max_cents', edges[b.bucket + 1] - 1, 'count', b.count) order by b.bucket), '[]')
              from buckets b) as price_buckets,
           (select coalesce(json_agg(json_build_object('slug', c.slug, 'title', c.title,
                                                       'count', n.count)
                                     order by n.count desc, c.slug), '[]')
              from counted n
              join collections c on c.tenant_ref = store.tenant_ref and c.id = n.id)
             as in_collections
      into hit;
    exit when hit.matches > 0 or tries = 3 or browses;
    tries := tries + 1;
    asked := case when tries = 2
                  then fd_search_corrected(store.tenant_ref, store.store_number, config, folded) end;
    if asked is null then
      tries := 3;
    else
      named := array(select c.id from collections c
                      where c.tenant_ref = store.tenant_ref and c.title_words @@ asked);
    end if;
  end loop;
  return query select hit.ids, hit.result_count, hit.price_buckets, hit.in_collections,
                      tries > 1 and hit.matches > 0;
end $$;
alter routine fd_search_products(text,bigint,bigint,text,text,integer,integer) owner to fd_search;
grant execute on routine fd_search_products(text,bigint,bigint,text,text,integer,integer) to fd_app;

create function fd_search_query(tenant text, store bigint, config regconfig, folded text, with_compounds boolean)
returns tsquery
language sql stable as
$$
  with typed as (
    select t.word, t.place, t.place = max(t.place) over () as is_last, s.shortest, s.stem
      from unnest((string_to_array(folded, ' '))[:16]) with ordinality as t (word, place),
           lateral (select min(lexeme) as shortest,
                           string_agg(format('''%s/%s''', store, lexeme), ' & ') as stem
                      from unnest(to_tsvector(config, t.word))
                     where octet_length(lexeme) <= 200) as s
  ),
  needed as (
    select string_agg('(' || concat_ws(' | ', t.stem,
                        case when t.is_last then format('''%s/%s'':*', store, left(t.word, 50)) end,
                        c.words) || ')', ' & ') as terms
      from typed t
     cross join lateral (
       select string_agg(format('''%s/%s''', store, one), ' | ') as words
         from fd_search_compounds(
                tenant, case when length(t.shortest) >= 4 then t.shortest else t.word end) as one
        where with_compounds and t.shortest is not null
     ) as c
     -- A word that says nothing ("the") counts only where it stands alone.
     where t.stem is not null
        or (t.is_last and not exists (select from typed other where other.stem is not null))
  )
  select concat_ws(' | ', n.terms,
           -- A SKU may be typed with other signs between its parts, or none.
           case when g.count between 2 and 6
                then format('''%s/%s'':*', store, left(g.joined, 50)) end)::tsquery
    from needed n,
         (select count(*) as count, string_agg(word, '' order by place) as joined from typed) as g
$$;
alter routine fd_search_query(text,bigint,regconfig,text,boolean) owner to fd_owner;
grant execute on routine fd_search_query(text,bigint,regconfig,text,boolean) to fd_search;

create function fd_search_refresh(target text, ids uuid[])
returns void
language plpgsql volatile set search_path=public, pg_temp as
$$
declare
  number  bigint;
  stemmer regconfig;
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(target || '/search language', 0));
  select store_number, fd_search_config(language) into number, stemmer
    from stores where tenant_ref = target;
  perform from product_search s join unnest(ids) as one on s.product_id = one
    where s.tenant_ref = target
    order by s.product_id for update of s;
  update product_search s
     set price_cents = v.price_cents, names = made.names, head = made.head,
         words = strip(made.head || fd_search_scope(number, to_tsvector(stemmer, made.texts)
                                                            || to_tsvector(stemmer, made.texts_spelt_out)
                                                            || made.long_words))
    from unnest(ids) as one
    join products p on p.tenant_ref = target and p.id = one
   cross join lateral (
     -- No shopper looks for the last of a thousand variants, and a row has its limits.
     select min(v.price_cents) as price_cents,
            case when p.status = 'active'
                 then (array_agg(fd_search_fold(v.sku) order by v.position, v.id))[:500] end as skus
       from variants v
      where v.tenant_ref = target and v.product_id = p.id and v.archived_at is null
   ) as v
   cross join lateral (
     select case when p.status = 'active' then fd_search_fold(p.name) else '' end as name,
            case when p.status = 'active' and stemmer = 'german'::regconfig
                 then fd_search_spell_out(p.name) else '' end as spelt_out,
            -- A vector is smaller than a mebibyte.
            case when p.status = 'active'
                 then left(concat_ws(' ', p.description, i.alts), 200000) else '' end as texts
       from (select string_agg(i.alt, ' ' order by i.position, i.asset_ref) as alts
               from product_images i
              where i.tenant_ref = target and i.product_id = p.id and i.alt <> '') as i
     offset 0
   ) as folded
   cross join lateral (
     select fd_search_fold(folded.texts) as texts,
            case when stemmer = 'german'::regconfig
                 then fd_search_spell_out(folded.texts) else '' end as texts_spelt_out,
            case when fd_search_joins_words(stemmer)
                 then fd_search_long_words(fd_search_fold(folded.texts)) else '' end as long_words,
            btrim(left(concat_ws(' ', folded.name, array_to_string(v.skus, ' ')), 10000)) as names,
            -- The words as written too, for a shopper who has typed only the beginning of a word.
            fd_search_scope(number, to_tsvector(stemmer, folded.name)
                                    || to_tsvector('simple', folded.name)
                                    || to_tsvector(stemmer, folded.spelt_out)
                                    || to_tsvector('simple', folded.spelt_out)
                                    || fd_search_skus(v.skus)) as head
     offset 0
   ) as made
   where s.tenant_ref = target and s.product_id = p.id;
end $$;
alter routine fd_search_refresh(text,uuid[]) owner to fd_owner;
grant execute on routine fd_search_refresh(text,uuid[]) to fd_app;
grant execute on routine fd_search_refresh(text,uuid[]) to fd_worker;

create function fd_search_refresh_next(target text, after uuid, bite integer)
returns uuid
language plpgsql volatile set search_path=public, pg_temp as
$$
declare
  ids uuid[];
begin
  select array_agg(n.product_id order by n.product_id) into ids
    from (select product_id from product_search
           where tenant_ref = target and product_id > after
           order by product_id limit bite) as n;
  perform fd_search_refresh(target, ids);
  return ids[cardinality(ids)];
end $$;
alter routine fd_search_refresh_next(text,uuid,integer) owner to fd_owner;
grant execute on routine fd_search_refresh_next(text,uuid,integer) to fd_worker;

create function fd_search_refresh_titles(target text)
returns void
language sql volatile set search_path=public, pg_temp as
$$
  update collections c set title_words = fd_search_title_words(target, c.title)
   where c.tenant_ref = target;
  insert into search_words (tenant_ref, word)
  select distinct target, w.word
    from collections c cross join lateral fd_search_words(c.title_words) as w (word)
   where c.tenant_ref = target
   order by 2
      on conflict do nothing
$$;
alter routine fd_search_refresh_titles(text) owner to fd_owner;
grant execute on routine fd_search_refresh_titles(text) to fd_worker;

create function fd_search_scope(store bigint, vector tsvector)
returns tsvector
language sql immutable as
$$
  select coalesce(string_agg(concat('''', store, '/', w.lexeme, '''',
                                    ':' || array_to_string(w.positions, ',')), ' '), '')::tsvector
    from unnest(vector) as w
   -- PostgreSQL has a limit for a word, and no shopper types such a long one.
   where octet_length(w.lexeme) <= 200
$$;
alter routine fd_search_scope(bigint,tsvector) owner to fd_owner;
grant execute on routine fd_search_scope(bigint,tsvector) to fd_app;
grant execute on routine fd_search_scope(bigint,tsvector) to fd_worker;

create function fd_search_skus(folded text[])
returns tsvector
language sql immutable as
$$
  select array_to_tsvector(coalesce(array_agg(distinct part), '{}'))
    from unnest(folded) as sku,
         unnest(string_to_array(sku, ' ') || replace(sku, ' ', '')) as part
   where part <> '' and octet_length(part) <= 200
$$;
alter routine fd_search_skus(text[]) owner to fd_owner;
grant execute on routine fd_search_skus(text[]) to fd_app;
grant execute on routine fd_search_skus(text[]) to fd_worker;

create function fd_search_spell_out(name text)
returns text
language sql stable as
$$
  select case when n.composed ~ '[\u00e4\u00c4\u00f6\u00d6\u00fc\u00dc]'
              then fd_search_fold(regexp_replace(regexp_replace(regexp_replace(
                     n.composed, '[\u00e4\u00c4]', 'ae', 'g'), '[\u00f6\u00d6]', 'oe', 'g'),
                     '[\u00fc\u00dc]', 'ue', 'g'))
              else '' end
    from (select normalize(name, nfc) as composed) as n
$$;
alter routine fd_search_spell_out(text) owner to fd_owner;
grant execute on routine fd_search_spell_out(text) to fd_app;
grant execute on routine fd_search_spell_out(text) to fd_worker;

create function fd_search_suggestions(wanted text, shown integer, looked_at integer)
returns TABLE(ids uuid[], matches integer, is_corrected boolean)
language plpgsql stable security definer set pg_trgm.similarity_threshold=0.2 set pg_trgm.word_similarity_threshold=0.4 set plan_cache_mode=force_generic_plan set search_path=public, pg_temp as
$$
declare
  store  record;
  config regconfig;
  folded text := fd_search_fold(wanted);
  asked  tsquery;
  named  uuid[];
  tries  integer := 1;
  hit    record;
  inside text := case when length(folded) >= 3 then '%' || folded || '%' end;
begin
  select s.tenant_ref, s.store_number, s.language into store
    from stores s where s.tenant_ref = fd_tenant() and s.status = 'live';
  if not found then
    return;
  end if;
  if folded <> '' then
    config := fd_search_config(store.language);
    asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, true);
  end if;
  -- In the order of a search: words as typed, words that they may stand for, parts of longer words.
  loop
    named := array(select c.id from collections c
                    where tries <= 2 and c.tenant_ref = store.tenant_ref and c.title_words @@ asked);
    with found as materialized (
      (select s.product_id, s.created_at, -ts_rank(s.head, asked)::float8 as place
         from product_search s
        where tries <= 2 and s.tenant_ref = store.tenant_ref and s.words @@ asked
        limit looked_at)
      union all
      (select s.product_id, s.created_at, 0
         from (select m.product_id from collection_products m
                where m.tenant_ref = store.tenant_ref and m.collection_id = any (named)
                limit looked_at) as m
         join product_search s on s.tenant_ref = store.tenant_ref and s.product_id = m.product_id
        -- Products without searchable words are not active.
        where s.words <> '' and not s.words @@ asked)
      union all
      (select s.product_id, s.created_at, -word_similarity(folded, s.names)::float8
         from product_search s
        where tries = 3 and s.tenant_ref = store.tenant_ref and s.names like inside
        limit looked_at)
    )
    select array(select f.product_id from (select distinct on (f.product_id) f.* from found f
                                            order by f.product_id, f.place) as f
                  order by f.place, f.created_at desc, f.product_id limit shown) as ids,
           (select least(count(distinct f.product_id), looked_at)::integer from found f) as matches
      into hit;
    exit when hit.matches > 0 or tries = 3;
    tries := tries + 1;
    asked := case when tries = 2
                  then fd_search_corrected(store.tenant_ref, store.store_number, config, folded) end;
    if asked is null then
      tries := 3;
    end if;
  end loop;
  return query select hit.ids, hit.matches, tries > 1 and hit.matches > 0;
end $$;
alter routine fd_search_suggestions(text,integer,integer) owner to fd_search;
grant execute on routine fd_search_suggestions(text,integer,integer) to fd_app;

create function fd_search_swaps(typed text)
returns text[]
language sql immutable as
$$
  select array_agg(overlay(typed placing reverse(substr(typed, i, 2)) from i for 2))
    from generate_series(1, length(typed) - 1) as i
$$;
alter routine fd_search_swaps(text) owner to fd_owner;
grant execute on routine fd_search_swaps(text) to fd_search;

create function fd_search_title_words(target text, title text)
returns tsvector
language sql stable set search_path=public, pg_temp as
$$
  select fd_search_scope(s.store_number, to_tsvector(fd_search_config(s.language), fd_search_fold(title))
                                         || to_tsvector('simple', fd_search_fold(title))
           || case when fd_search_config(s.language) = 'german'::regconfig
                   then to_tsvector('german', fd_search_spell_out(title)) else '' end)
    from stores s where s.tenant_ref = target
$$;
alter routine fd_search_title_words(text,text) owner to fd_owner;
grant execute on routine fd_search_title_words(text,text) to fd_app;
grant execute on routine fd_search_title_words(text,text) to fd_worker;

create function fd_search_words(vector tsvector)
returns SETOF text
language sql immutable as
$$
  select s.word
    from unnest(vector) as w,
         lateral (select substr(w.lexeme, strpos(w.lexeme, '/') + 1) as word) as s
   where length(s.word) between 3 and 50 and s.word !~ '[0-9]'
$$;
alter routine fd_search_words(tsvector) owner to fd_owner;
grant execute on routine fd_search_words(tsvector) to fd_app;
grant execute on routine fd_search_words(tsvector) to fd_worker;

create function fd_stock_is_of_no_gift_card()
returns trigger
language plpgsql volatile as
$$
begin
  if (select v.gift_card from variants as v where v.tenant_ref = new.tenant_ref and v.id = new.variant_id for share) then
    raise exception 'the variant is a gift card'
      using errcode = 'check_violation', constraint = 'inventory_settings_gift_card';
  end if;
  return new;
end $$;
alter routine fd_stock_is_of_no_gift_card() owner to fd_owner;

create function fd_stock_value(before bigint, added numeric)
returns bigint
language plpgsql immutable as
$$
begin
  if before + added > fd_stock_value_max() then
    raise exception 'the stock of a variant is worth too much'
      using errcode = 'FD004',
            detail = json_build_object('limit', 'stock_value_cents', 'max', fd_stock_value_max(),
                                       'used', before)::text;
  end if;
  return before + added;
end $$;
alter routine fd_stock_value(bigint,numeric) owner to fd_owner;
grant execute on routine fd_stock_value(bigint,numeric) to fd_app;
grant execute on routine fd_stock_value(bigint,numeric) to fd_worker;

create function fd_stock_value_max()
returns bigint
language sql immutable as
$$select 10000000000000$$;
alter routine fd_stock_value_max() owner to fd_owner;
grant execute on routine fd_stock_value_max() to fd_app;
grant execute on routine fd_stock_value_max() to fd_worker;

create function fd_subscription_due(s subscriptions, notice_days integer)
returns timestamp with time zone
language sql stable as
$$
  select case
    when s.charging_cycle is not null then null
    when s.status = 'past_due' then coalesce(s.dunning_next_at, s.dunning_ends_at)
    when s.status = 'paused' then s.paused_until
    when s.status = 'active' then least(
      greatest(s.next_charge_at, s.retry_at),
      case when s.noticed_for is distinct from s.next_charge_at and not s.cancel_at_period_end
           then s.next_charge_at - make_interval(days => coalesce(notice_days,
                                                                  case s.price_policy when 'current' then 7 end)) end,
      case when left(s.card_told, 10) is distinct from (fd_card_ends(s.card_exp_year, s.card_exp_month) at time zone 'UTC')::date::text
           then fd_card_ends(s.card_exp_year, s.card_exp_month) - interval '30 days' end,
      case when s.card_told is distinct from (fd_card_ends(s.card_exp_year, s.card_exp_month) at time zone 'UTC')::date || ' 7'
           then fd_card_ends(s.card_exp_year, s.card_exp_month) - interval '7 days' end)
  end
$$;
alter routine fd_subscription_due(subscriptions,integer) owner to fd_owner;
grant execute on routine fd_subscription_due(subscriptions,integer) to public;

create function fd_tenant()
returns text
language sql stable as
$$
  select coalesce(nullif(current_setting('app.tenant', true), ''), fd_no_tenant())
$$;
alter routine fd_tenant() owner to fd_owner;
grant execute on routine fd_tenant() to fd_app;
grant execute on routine fd_tenant() to fd_gate;
grant execute on routine fd_tenant() to fd_operator;
grant execute on routine fd_tenant() to fd_search;
grant execute on routine fd_tenant() to fd_worker;

create function fd_this_month()
returns date
language sql stable as
$$
  select date_trunc('month', fd_now() at time zone 'UTC')::date
$$;
alter routine fd_this_month() owner to fd_owner;
grant execute on routine fd_this_month() to fd_app;
grant execute on routine fd_this_month() to fd_operator;
grant execute on routine fd_this_month() to fd_worker;

create procedure fd_unbundle_checks(IN target regclass)
language plpgsql volatile as
$$
declare
  bundle text := target || '_checks';
  added text;
begin
  select string_agg(format('add constraint %I check (%s)', name, condition), ', ' order by name) into added
    from pg_constraint as k,
         jsonb_each_text(obj_description(k.oid, 'pg_constraint')::jsonb) as one (name, condition)
   where k.conrelid = target and k.conname = bundle;
  execute format('alter table %s drop constraint %I, %s', target, bundle, added);
  execute format('drop function %I', 'fd_check_' || target);
end
$$;
alter routine fd_unbundle_checks(regclass) owner to fd_owner;

create function fd_use(store text, counted text, amount bigint)
returns void
language plpgsql volatile as
$$
declare
  total bigint;
  own bigint;
  allowed bigint;
begin
  insert into store_usage as u (tenant_ref, limit_key, used) values (store, counted, amount)
      on conflict (tenant_ref, limit_key) do update set used = u.used + excluded.used
    returning used, max_override into total, own;
  if amount <= 0 then return; end if;
  allowed := fd_limit(store, counted, own);
  if total > allowed then
    raise exception 'the store has reached its limit of %', counted
      using errcode = 'FD004',
            detail = json_build_object('limit', counted, 'max', allowed, 'used', total - amount)::text;
  end if;
end $$;
alter routine fd_use(text,text,bigint) owner to fd_owner;
grant execute on routine fd_use(text,text,bigint) to fd_app;
grant execute on routine fd_use(text,text,bigint) to fd_worker;

create function fd_use_simulated()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  insert into payment_accounts (tenant_ref, gateway) values (new.tenant_ref, 'simulated')
      on conflict (tenant_ref, gateway) do update set in_use = true, updated_at = fd_now();
  return null;
end $$;
alter routine fd_use_simulated() owner to fd_owner;

create function fd_uuid()
returns uuid
language sql volatile as
$$select uuidv7()$$;
alter routine fd_uuid() owner to fd_owner;
grant execute on routine fd_uuid() to fd_app;
grant execute on routine fd_uuid() to fd_worker;

create function fd_value_movement()
returns trigger
language plpgsql volatile as
$$
declare
  known inventory_costs;
  units_before bigint;
  brought numeric;
  filled bigint;
  kept bigint;
  sold bigint := 0;
begin
  select * into known from inventory_costs
   where tenant_ref = new.tenant_ref and variant_id = new.variant_id
     for update;
  if not found then
    if new.cost_cents is null then return null; end if;
    -- The first cost. The receipt has locked the levels; this waits for locations that are new to the variant.
    perform from variants where tenant_ref = new.tenant_ref and id = new.variant_id for update;
    select coalesce(sum(on_hand), 0) - new.quantity into units_before from inventory_levels
     where tenant_ref = new.tenant_ref and variant_id = new.variant_id;
    insert into inventory_costs (tenant_ref, variant_id, units, value_cents, last_units, last_value_cents)
    values (new.tenant_ref, new.variant_id, units_before,
            -- The units on hand already are taken to have cost as much.
            fd_stock_value(0, round(new.cost_cents::numeric * greatest(units_before, 0) / new.quantity)),
            new.quantity, new.cost_cents)
    returning * into known;
    if units_before <> 0 then
      insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents, units_after,
                                          value_after_cents)
      values (new.tenant_ref, new.variant_id, 'opening', units_before, known.value_cents, known.value_cents,
              units_before, known.value_cents);
    end if;
  end if;

  units_before := known.units;
  if new.quantity > 0 then
    brought := coalesce(new.cost_cents,
                        round(known.last_value_cents::numeric * new.quantity / known.last_units));
    if new.order_id is null then
      perform fd_stock_value(known.value_cents, brought);
    else
      -- Units that a shopper sends back are never refused.
      brought := least(brought, greatest(0, fd_stock_value_max() - known.value_cents));
    end if;
    filled := least(new.quantity, greatest(-units_before, 0));
    kept := round(brought * (new.quantity - filled) / new.quantity);
    -- Units that a shopper sends back were counted as sold.
    sold := brought - kept - case when new.cost_cents is null and new.order_id is not null then brought else 0 end;
  else
    kept := case when units_before <= -new.quantity then -known.value_cents
                 else -round(known.value_cents::numeric * -new.quantity / units_before) end;
    sold := case when new.kind = 'shipped' then -kept else 0 end;
  end if;

  if units_before + new.quantity > 0 then
    known.last_units := units_before + new.quantity;
    known.last_value_cents := known.value_cents + kept;
  elsif units_before > 0 then
    known.last_units := units_before;
    known.last_value_cents := known.value_cents;
  end if;
  update inventory_costs
     set units = units + new.quantity, value_cents = value_cents + kept,
         last_units = known.last_units, last_value_cents = known.last_value_cents,
         arrived = arrived + greatest(new.quantity, 0), updated_at = fd_now()
   where tenant_ref = new.tenant_ref and variant_id = new.variant_id
  returning * into known;
  insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents, sold_cents,
                                      units_after, value_after_cents, movement_id, order_id, purchase_order_id)
  values (new.tenant_ref, new.variant_id, new.kind, new.quantity, coalesce(new.cost_cents, 0), kept, sold,
          known.units, known.value_cents, new.id, new.order_id, new.purchase_order_id);
  return null;
end $$;
alter routine fd_value_movement() owner to fd_owner;
