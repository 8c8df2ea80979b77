import type { Site } from '../site/site.ts'
import { orNullIn } from './or-null.ts'
import type { PlatformClient } from './platform-client.ts'
import type { Subscription } from './types.ts'

/** Reads and changes the subscriptions of a shopper. Nothing about them is ever cached. */
export interface SubscriptionApi {
  /** Lists the shopper's subscriptions, newest first, at most 100. */
  listSubscriptions(site: Site, customerRef: string): Promise<readonly Subscription[]>
  /** Finds a subscription. Returns null for one of another customer, too. */
  findSubscription(site: Site, id: string, customerRef: string): Promise<Subscription | null>
  /** Pauses, resumes, skips and so on: `verb`, the last part of the path, says which. */
  actOnSubscription(site: Site, of: OwnSubscription, verb: string, body: object): Promise<unknown>
  changeSubscription(site: Site, of: OwnSubscription, body: object): Promise<unknown>
  /** Opens the subscription of a mailed link. Returns null for a link that expired or was never made. */
  openSubscriptionLink(site: Site, token: string): Promise<OpenedSubscription | null>
}

export interface OwnSubscription {
  id: string
  customerRef: string
}

export interface OpenedSubscription {
  subscription_id: string
  customer_ref: string
}

export function openSubscriptionApi(client: PlatformClient): SubscriptionApi {
  const base = ({ tenant }: Site) => `/v1/tenants/${tenant}/subscriptions`
  const query = (customerRef: string) => `customer_ref=${encodeURIComponent(customerRef)}`
  const path = (site: Site, { id }: Pick<OwnSubscription, 'id'>) =>
    `${base(site)}/${encodeURIComponent(id)}`
  return {
    listSubscriptions: async (site, customerRef) => {
      const answer = client.call<{ subscriptions: Subscription[] }>(
        'GET',
        `${base(site)}?limit=100&${query(customerRef)}`,
      )
      return (await orNullIn(site, answer))?.subscriptions ?? []
    },
    findSubscription: async (site, id, customerRef) => {
      const answer = client.call<{ subscription: Subscription }>(
        'GET',
        `${path(site, { id })}?${query(customerRef)}`,
      )
      return (await orNullIn(site, answer))?.subscription ?? null
    },
    actOnSubscription: (site, of, verb, body) =>
      client.call('POST', `${path(site, of)}/${verb}?${query(of.customerRef)}`, { body }),
    changeSubscription: (site, of, body) =>
      client.call('PATCH', `${path(site, of)}?${query(of.customerRef)}`, { body }),
    openSubscriptionLink: (site, token) =>
      orNullIn(site, client.call('POST', `${base(site)}/links/open`, { body: { token } })),
  }
}
