import type { IncomingMessage } from 'node:http'
import { callerOf } from '../platform/limits.ts'
import { addressReader } from './caller-address.ts'

/** Who reads a public route: public reads take turns by it when they have to wait. */
export interface Reader {
  name: string
  /** How many of their reads may wait. */
  waitingMax: number
}

/** A browser asks for fewer at once; behind twenty of its own, a read would come too late to be of use. */
const WAITING_MAX = 20

/** A storefront that does not say for whom it reads: all its shoppers are one to us. */
const STOREFRONT: Reader = { name: 'storefront', waitingMax: 500 }

/** The header by which a storefront names the shopper for whom it reads. Without its token it means nothing. */
const SHOPPER_HEADER = 'x-fairdock-shopper'

export type NameReader = (request: IncomingMessage) => Reader

/** Names readers by their address, and those of a storefront by the address that it tells. */
export function readerNames(
  trustProxy: readonly string[],
  isStorefront: (token: string) => boolean,
): NameReader {
  const addressOf = addressReader(trustProxy)
  return (request) => {
    const { 'x-storefront-token': token, [SHOPPER_HEADER]: shopper } = request.headers
    if (typeof token === 'string' && isStorefront(token)) {
      if (typeof shopper !== 'string') return STOREFRONT
      return { name: callerOf(shopper), waitingMax: WAITING_MAX }
    }
    return { name: callerOf(addressOf(request) ?? ''), waitingMax: WAITING_MAX }
  }
}
