import type { Step } from './plan.ts'

/** A site of usual size that offers every option of the checkout. */
const MANIFEST = JSON.stringify({
  brand: { name: 'Scale' },
  behavior: { storeCredit: { enabled: true }, giftCards: { enabled: true } },
  template: { id: 'home', sections: [{ type: 'hero', props: { heading: 'Welcome' } }] },
})

const FEATURES = ['gift_cards', 'store_credit', 'pricing_groups']

/** Live stores with a site, add-ons, an address of their own and an account at a provider. */
export const STORE_STEPS: readonly Step[] = [
  [
    'stores',
    `
    insert into stores (tenant_ref, display_name, status, owner_email, active_version,
                        primary_hostname, created_at, updated_at)
    select tenant_ref, 'Store ' || tenant_ref, 'live', 'owner@' || tenant_ref || '.example', 1,
           tenant_ref || '.example', now() - interval '400 days', now()
      from scale.plan;
    insert into site_versions (tenant_ref, version, manifest, row_hash, brand_name, rules_version,
                               created_by)
    select tenant_ref, 1, '${MANIFEST}', encode(sha256('${MANIFEST}'), 'hex'), 'Scale', 'scale', 'system'
      from scale.plan`,
  ],
  [
    'add-ons and domains',
    `
    insert into entitlements (tenant_ref, feature_key, source, state)
    select tenant_ref, key, 'self_serve', 'allow'
      from scale.plan, unnest('{${FEATURES}}'::text[]) as key;
    insert into entitlement_requests (tenant_ref, id, feature_key, status, requested_by, decided_at)
    select tenant_ref, scale.id('feature request', tenant_ref, n), 'dedicated_gateway',
           (array['approved', 'declined', 'withdrawn'])[1 + n % 3], 'merchant_key:scale',
           case when n % 3 < 2 then now() end
      from scale.plan, generate_series(1, 3) as n;
    insert into storefront_tokens (tenant_ref, id, label, token_hash, hint)
    select tenant_ref, scale.id('storefront token', tenant_ref, n), 'Storefront ' || n,
           sha256((tenant_ref || ' ' || n)::bytea), 'tokn'
      from scale.plan, generate_series(1, 3) as n;
    insert into domains (tenant_ref, id, hostname, status, verification_value, tls_status, is_primary,
                         verified_at, activated_at, next_check_at)
    select tenant_ref, scale.id('domain', tenant_ref, 1), tenant_ref || '.example', 'active',
           md5(tenant_ref), 'external', true, now(), now(), now() + interval '1 day'
      from scale.plan`,
  ],
  [
    'gateway accounts and their events',
    `
    insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
    select tenant_ref, 'scale', tenant_ref, 'standard', sha256(tenant_ref::bytea) from scale.plan;
    insert into gateway_events (tenant_ref, provider, account_ref, event_id, event_type, scheme,
                                status, body, headers, received_at, handled_at)
    select tenant_ref, 'scale', tenant_ref, 'event-' || n, 'payment.updated', 'standard', s.status,
           null, '{}', at, case when s.status <> 'received' then at end
      from scale.orders o
     cross join lateral (
       select (array['applied', 'ignored', 'unhandled', 'received'])[1 + (n / 10) % 4] as status) s
     where n % 10 = 0`,
  ],
]
