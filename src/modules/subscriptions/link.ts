import type { Db } from '../../db/database.ts'
import * as tokens from '../../kernel/tokens.ts'

/**
 * A link to a subscription that is mailed to its customer. It opens the subscription without an account, to put in
 * another card, to change it or to end it. The key is another than that of links to orders, so that neither opens the
 * other.
 */

/** How long a link opens its subscription: longer than most ladders of declined charges. */
export const SUBSCRIPTION_LINK_DAYS = 30
const DAY_MS = 86_400_000

type Payload = [tenant: string, subscriptionId: string, expires: number]

/** The address of a subscription in the store's shop. Null: the shop has no address that we know. */
export function subscriptionLink(
  key: Buffer,
  db: Db,
  shopUrl: string | null,
  id: string,
): string | null {
  if (shopUrl === null) return null
  const payload: Payload = [db.tenant, id, db.clock.now() + SUBSCRIPTION_LINK_DAYS * DAY_MS]
  return `${shopUrl}/account/subscription/${tokens.sign(key, Buffer.from(JSON.stringify(payload)))}`
}

/** The id of the subscription that a link opens. Null: it is no link of this store, or is too old. */
export function readSubscriptionToken(key: Buffer, db: Db, token: string) {
  const payload = tokens.verify(key, token)
  if (payload === null) return null
  const [tenant, id, expires] = JSON.parse(payload.toString()) as Payload
  if (tenant !== db.tenant || expires < db.clock.now()) return null
  return { subscription_id: id, expires_at: new Date(expires).toISOString() }
}
