import type { IncomingMessage } from 'node:http'
import { callerOf } from '../platform/rate-limits.ts'
import { addressReader } from './caller-address.ts'

/** The reader of a public route: waiting public reads take turns by reader. */
export interface Reader {
  name: string
  /** How many reads of the reader may wait. */
  waitingMax: number
}

/** A browser sends fewer reads at once; behind twenty of its own, a read would come too late to be of use. */
const WAITING_MAX = 20

/** A storefront that names no shopper: all its shoppers are one reader. */
const STOREFRONT: Reader = { name: 'storefront', waitingMax: 500 }

/** The header by which a storefront names the shopper for whom it reads. Without its token it means nothing. */
const SHOPPER_HEADER = 'x-fairdock-shopper'

export type NameReader = (request: IncomingMessage) => Reader

/** Names readers by their address, and shoppers of a storefront by the address that the storefront sends. */
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
