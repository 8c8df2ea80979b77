import { findTenantByHostname } from '../domains/service.ts'
import type { House } from '../house.ts'
import { openLook } from '../sites/open.ts'
import type { LinkDeps } from './service.ts'

/** Links lead only to the hosts of a store: its own hosts, and its name in the zone of the storefront. */
export const openOrderLinks = (house: House): LinkDeps => ({
  ...openLook(house),
  key: house.key('order link'),
  limits: house.limits,
  async originAt(db, hostname) {
    const isInZone = hostname === `${db.tenant}.${house.config.storefrontZone}`
    const isOwn = isInZone || (await findTenantByHostname(db, hostname)) === db.tenant
    if (!isOwn) return null
    return house.storefrontUrl({
      tenant_ref: db.tenant,
      primary_hostname: isInZone ? null : hostname,
    })
  },
})
