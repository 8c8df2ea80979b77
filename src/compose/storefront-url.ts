import type { Config } from '../config.ts'
import type { Store } from '../modules/stores/schema.ts'

type Named = Pick<Store, 'tenant_ref' | 'primary_hostname'>

/**
 * Makes a function that returns the address of a store's storefront: at its own host, or else at its name in the
 * zone of the storefront; null where it has neither. `base` is the address of the platform: storefronts have its
 * protocol, except that production always has https, and its port below the zone.
 */
export function openStorefrontUrl(
  { storefrontZone, production }: Pick<Config, 'storefrontZone' | 'production'>,
  base: () => string,
): (store: Named) => string | null {
  return ({ tenant_ref, primary_hostname }) => {
    const { protocol: own, port } = new URL(base())
    const protocol = production ? 'https:' : own
    if (primary_hostname !== null) return `${protocol}//${primary_hostname}`
    if (storefrontZone === null) return null
    return `${protocol}//${tenant_ref}.${storefrontZone}${port === '' ? '' : `:${port}`}`
  }
}
