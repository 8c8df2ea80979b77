/** Every scope of the contract, in its order, and then those that we have added. Any other scope is refused. */
export const SCOPES = [
  'read:own_orders',
  'manage:own_orders',
  'read:own_catalog',
  'manage:own_catalog',
  'read:own_store',
  'write:own_store',
  'manage:own_webhooks',
  'manage:own_domains',
  'manage:own_credentials',
  'read:own_billing',
  'read:own_customers',
  'read:own_affiliates',
  'manage:own_affiliates',
  'manage:own_media',
  'manage:own_fraud',
  'manage:own_fulfillment',
  'manage:own_inventory',
  'manage:own_marketing',
  'manage:own_returns',
  'manage:own_giftcards',
  'manage:own_store_credit',
  'manage:own_subscriptions',
  'manage:own_analytics',
  'manage:own_privacy',
  'manage:own_gateway',
] as const

export type Scope = (typeof SCOPES)[number]

/** The scopes of the owner of a draft store: those that build the store, and none for shoppers' data or money. */
export const PRE_LIVE_SCOPES: readonly Scope[] = [
  'read:own_catalog',
  'manage:own_catalog',
  'read:own_store',
  'write:own_store',
  'manage:own_webhooks',
  'manage:own_domains',
  'manage:own_credentials',
  'read:own_billing',
  'manage:own_media',
  'manage:own_inventory',
  'manage:own_marketing',
]

const known: ReadonlySet<string> = new Set(SCOPES)

export const isScope = (text: string): text is Scope => known.has(text)

/** Sorts scopes in the order of the contract, each once. */
export const sortScopes = (scopes: readonly Scope[]): Scope[] =>
  SCOPES.filter((scope) => scopes.includes(scope))

/**
 * Whether granted scopes satisfy a needed one. `manage:` or `write:` of a resource includes its
 * `read:`.
 */
export function satisfies(granted: readonly Scope[], needed: Scope): boolean {
  if (granted.includes(needed)) return true
  if (!needed.startsWith('read:')) return false
  const resource = needed.slice('read:'.length)
  return granted.some((scope) => scope === `manage:${resource}` || scope === `write:${resource}`)
}
