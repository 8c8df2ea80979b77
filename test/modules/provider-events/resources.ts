import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  rows: {
    gateway_accounts: `insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
                     values ($1, 'sim', $1, 'standard', 'sealed')`,
    gateway_events: `insert into gateway_events (tenant_ref, provider, account_ref, event_id, scheme,
                                               body, headers)
                   values ($1, 'sim', $1, 'an event', 'standard', 'x', '{}')`,
  },
}
