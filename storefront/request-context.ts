import type { Referral } from './affiliates/referral.ts'
import type { StoreApi } from './api/store-api.ts'
import type { Cart } from './cart/cart.ts'
import type { Cookies } from './http/cookies.ts'
import type { PageFiles } from './http/static-files.ts'
import type { Confirmed } from './shopper/confirmed-order.ts'
import type { RememberedAddress } from './shopper/remembered-address.ts'
import type { OpenedOrder, Shopper } from './shopper/shopper.ts'
import type { Site } from './site/site.ts'

/** The facts that a page is rendered from: one request to a store that is open or previewed. */
export interface PageContext {
  site: Site
  api: StoreApi
  url: URL
  /** The store's own address, such as `https://shop.example`; else the one of the request. */
  origin: string
  cart: Cart
  shopper: Shopper | null
  /** Orders that a mailed link has opened in this browser. */
  opened: readonly OpenedOrder[]
  files: PageFiles
  /** The base URL of images; null if the store's own host serves them. */
  assetBaseUrl: string | null
  /** Writes a log line at level warn. The log writes equal lines once a minute for a store. */
  warn(fields: Record<string, unknown>, message: string): void
}

/** The context of a handler: it may set cookies and place orders, which a page does not. */
export interface RequestContext extends PageContext {
  cookies: Cookies
  /** The address that this browser remembers. */
  remembered: RememberedAddress | null
  /** The last order of this browser, and the address that was entered for it. */
  confirmed: Confirmed | null
  /** The cart of an express checkout that was begun. */
  express: Cart | null
  /** During an express checkout, the shopper's own cart: `cart` is then the one product. */
  otherCart: Cart | null
  /** The affiliate who has sent the shopper. */
  referral: Referral | null
  /** The name of this browser, if an affiliate uses it. */
  device: string | null
  /** The shopper's IP address: the platform limits checkouts by it. */
  ip: string | null
  /** Whether our own script sent the form. It needs only a part of the answer that a browser needs. */
  isFromScript: boolean
}
