import type { Site } from '../site/site.ts'
import { orNullIn } from './or-null.ts'
import type { PlatformClient } from './platform-client.ts'
import type {
  CardForm,
  GiftCard,
  Item,
  OpenedLink,
  OperationRecord,
  OrderDetail,
  PlacedOrder,
  Quote,
  RefundRequest,
  ShippingAddress,
} from './types.ts'

/** Prices carts, places orders and changes them. Nothing that concerns money is ever cached. */
export interface CheckoutApi {
  previewCheckout(site: Site, request: QuoteRequest): Promise<Quote>
  readCardForm(site: Site): Promise<CardForm>
  placeOrder(site: Site, body: Record<string, unknown>, key: string): Promise<PlacedOrder>
  /** Finds an order. Returns null for an order of another customer, too. */
  findOrder(site: Site, id: string, customerRef: string): Promise<OrderDetail | null>
  /** Has a link mailed that confirms the address. Returns the same if the address is on the list. */
  askForNewsletter(site: Site, request: NewsletterRequest): Promise<unknown>
  /** Has a link to an order mailed to its shopper. Returns the same if there is no such order. */
  mailOrderLink(site: Site, request: LinkRequest): Promise<unknown>
  /** Opens the order of a mailed link. Returns null for a link that expired or was never made. */
  openOrderLink(site: Site, token: string): Promise<OpenedLink | null>
  /** Finds an operation by its idempotency key. Returns null for a key that was never used. */
  findOperation(site: Site, operation: Operation, key: string): Promise<OperationRecord | null>
  cancelOrder(site: Site, id: string, key: string): Promise<unknown>
  editOrder(site: Site, id: string, body: Record<string, unknown>, key: string): Promise<unknown>
  refundOrder(site: Site, id: string, body: RefundRequest, key: string): Promise<unknown>
  /** Asks the store to accept the return of units. */
  returnOrder(site: Site, id: string, body: Record<string, unknown>, key: string): Promise<unknown>
  /** Pays what the order's payment request asks for. */
  payOrder(site: Site, id: string, body: Record<string, unknown>, key: string): Promise<unknown>
  /** Finds a gift card by its code. Returns null for a code that is unknown or cannot be used. */
  findGiftCard(site: Site, code: string): Promise<GiftCard | null>
}

/** The facts by which a cart is priced. */
export interface QuoteRequest {
  items: readonly Item[]
  coupon: string | null
  expedited: boolean
  subscribe: boolean
  customerRef: string
  /** The shopper's address: the platform limits wrong codes by it. */
  ip: string | null
  /** The e-mail address that the shopper has entered: the store may send a reminder of the unfinished checkout. */
  email?: string
  /** The destination: the tax may depend on it. */
  address?: ShippingAddress
}

/** What a shopper enters to find an order again. */
export interface LinkRequest {
  order_number: number
  email: string
  /** The page that opens links. */
  return_url: string
  ip: string | null
}

/** What a shopper enters to get the newsletter. */
export interface NewsletterRequest {
  email: string
  source: string
  /** The page of the form, kept as proof. */
  form_url: string
  ip: string | null
}

type Operation = 'checkout' | 'edit' | 'refund' | 'pay'

export function openCheckoutApi(client: PlatformClient): CheckoutApi {
  const storePath = ({ tenant }: Site) => `/v1/tenants/${tenant}`
  const orderPath = (site: Site, id: string) =>
    `${storePath(site)}/orders/${encodeURIComponent(id)}`
  return {
    previewCheckout: (site, { coupon, customerRef, address, ...request }) =>
      client.call('POST', `${storePath(site)}/checkout/preview`, {
        body: {
          ...request,
          customer_ref: customerRef,
          coupon_code: coupon,
          ...(address !== undefined && { shipping_address: address }),
          ...site.policies,
        },
      }),
    readCardForm: async (site) => {
      const path = `${storePath(site)}/card-form`
      return (await client.call<{ card_form: CardForm }>('GET', path)).card_form
    },
    placeOrder: (site, body, idempotencyKey) =>
      client.call('POST', `${storePath(site)}/checkout`, { body, idempotencyKey }),
    findOrder: (site, id, customerRef) => {
      const query = `customer_ref=${encodeURIComponent(customerRef)}`
      return orNullIn(site, client.call('GET', `${orderPath(site, id)}?${query}`))
    },
    askForNewsletter: (site, body) =>
      client.call('POST', `${storePath(site)}/newsletter`, { body }),
    mailOrderLink: (site, body) => client.call('POST', `${storePath(site)}/orders/links`, { body }),
    openOrderLink: (site, token) =>
      orNullIn(
        site,
        client.call('POST', `${storePath(site)}/orders/links/open`, { body: { token } }),
      ),
    findOperation: (site, operation, key) =>
      orNullIn(site, client.call('GET', `${storePath(site)}/idempotency/${operation}/${key}`)),
    cancelOrder: (site, id, idempotencyKey) =>
      client.call('POST', `${orderPath(site, id)}/cancel`, {
        body: { reason: 'customer', actor: 'shopper' },
        idempotencyKey,
      }),
    editOrder: (site, id, body, idempotencyKey) =>
      client.call('POST', `${orderPath(site, id)}/edit`, { body, idempotencyKey }),
    refundOrder: (site, id, body, idempotencyKey) =>
      client.call('POST', `${orderPath(site, id)}/refund`, { body, idempotencyKey }),
    returnOrder: (site, id, body, idempotencyKey) =>
      client.call('POST', `${orderPath(site, id)}/returns`, { body, idempotencyKey }),
    payOrder: (site, id, body, idempotencyKey) =>
      client.call('POST', `${orderPath(site, id)}/pay`, { body, idempotencyKey }),
    findGiftCard: async (site, code) => {
      const path = `${storePath(site)}/gift-cards/balance`
      const answer = client.call<{ gift_card: GiftCard }>('POST', path, { body: { code } })
      return (await orNullIn(site, answer))?.gift_card ?? null
    },
  }
}
