import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { DAY_MS } from '../../kernel/time.ts'
import * as tokens from '../../kernel/tokens.ts'
import * as stores from '../stores/service.ts'
import { find } from './read.ts'

/**
 * A link to a subscription that is mailed to its shopper, like the link to an order in `order-links/service.ts`: it
 * opens the subscription in a browser other than the one that bought it, too.
 */

export interface LinkDeps {
  key: Buffer
}

type Payload = [tenant: string, subscriptionId: string, expires: number]

/** How long a mailed link opens its subscription: longer than most ladders of declined charges. */
export const SUBSCRIPTION_LINK_DAYS = 30

/** Makes the token of a link that opens a subscription for so many days. */
export function createLinkToken(key: Buffer, db: Db, id: string, days: number): string {
  const payload: Payload = [db.tenant, id, db.clock.now() + days * DAY_MS]
  return tokens.sign(key, Buffer.from(JSON.stringify(payload)))
}

/** Returns the address of a subscription in the store's storefront; null where that has no address that we know. */
export function subscriptionLink(
  key: Buffer,
  db: Db,
  storefrontUrl: string | null,
  id: string,
): string | null {
  if (storefrontUrl === null) return null
  return `${storefrontUrl}/subscriptions/link/${createLinkToken(key, db, id, SUBSCRIPTION_LINK_DAYS)}`
}

/** Returns the subscription of a link, and its customer. The subscription of an erased customer is not found. */
export async function openLink({ key }: LinkDeps, db: Db, token: string) {
  const payload = tokens.verify(key, token)
  if (payload === null) throw new ApiError('subscription_not_found')
  const [tenant, id, expires] = JSON.parse(payload.toString()) as Payload
  if (tenant !== db.tenant || expires < db.clock.now()) throw new ApiError('subscription_not_found')
  const { customer_ref, email } = await find(db, await stores.get(db), id, null)
  if (email === null) throw new ApiError('subscription_not_found')
  return { subscription_id: id, customer_ref, expires_at: new Date(expires).toISOString() }
}
