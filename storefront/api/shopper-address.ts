import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The address of the shopper whose request is being answered. The platform lets callers take turns when a store is
 * busy, and all shoppers of this storefront come from its one address: so each read names its shopper.
 */
const address = new AsyncLocalStorage<string>()

/** Answers a request for the shopper at this address. */
export const forShopper = <T>(ip: string | null, answer: () => T): T =>
  ip === null ? answer() : address.run(ip, answer)

/** The headers that name the shopper to the platform, which trusts them from a storefront alone. */
export function shopperHeaders(token: string): Record<string, string> {
  const ip = address.getStore()
  return { 'x-storefront-token': token, ...(ip !== undefined && { 'x-fairdock-shopper': ip }) }
}
