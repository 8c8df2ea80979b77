/** The platform's answers, as far as the storefront reads them. `openapi.json` has all of them. */

export interface Variant {
  id: string
  product_id: string
  sku: string
  label: string | null
  /** The options in which it differs from the other variants, such as its size. */
  options: readonly { name: string; value: string }[]
  /** The image of the product that shows this variant. */
  image_asset_ref: string | null
  price_cents: number
  /** The price before a reduction. */
  compare_at_price_cents: number | null
  /** The lowest price of the 30 days before that reduction, if it is known. */
  lowest_price_30_days_cents: number | null
  currency: string
  /** The content of one unit, such as 750 ml. Both are null if the store does not name it. */
  content_amount: number | null
  content_unit: 'g' | 'kg' | 'ml' | 'l' | 'cm' | 'm' | 'cm2' | 'm2' | 'piece' | null
  /** Whether each unit is a gift card, which is mailed. */
  gift_card: boolean
  /** Whether at least one unit can be bought now. */
  available: boolean
  low_stock: boolean
  /** How many units are left. Null if the store does not say. */
  available_units: number | null
}

export interface ProductImage {
  asset_ref: string
  alt: string | null
  url: string | null
}

export interface Product {
  id: string
  slug: string
  name: string
  description: string | null
  image_asset_ref: string | null
  image_url: string | null
  images: readonly ProductImage[]
  /** The names of the options of all variants. */
  option_names: readonly string[]
  is_subscription: boolean
  subscription_interval: 'day' | 'week' | 'month' | 'year' | null
  subscription_interval_count: number | null
  subscription_price_cents: number | null
  /** Whether any of its variants can be bought now. */
  available: boolean
  low_stock: boolean
  variants: readonly Variant[]
}

export interface Collection {
  slug: string
  title: string
  description: string | null
}

/** A product with its first collections, in the store's own order. */
export interface FoundProduct {
  product: Product
  collections: readonly Collection[]
}

/** A page of a list of products. */
export interface ProductPage {
  products: readonly Product[]
  total: number
  /** Whether there are more than `total`. */
  total_is_estimate: boolean
  /** Cursors of the pages beside this one; null where there is no such page. */
  next_after: string | null
  prev_before: string | null
}

export interface CollectionPage extends ProductPage {
  collection: Collection
}

/** A part of the sitemap's products. */
export interface SitemapPart {
  products: readonly { slug: string; updated_at: string }[]
  parts: number
}

export interface SearchResult {
  query: string
  results: readonly Product[]
  filters: {
    priceMinCents: number | null
    priceMaxCents: number | null
    collectionSlug: string | null
  }
  facets: {
    price_buckets: readonly { min_cents: number; max_cents: number | null; count: number }[]
    collections: readonly { slug: string; title: string; count: number }[]
  }
  result_count: number
  /** Whether no product has the words as typed: these are the results for similar words. */
  corrected: boolean
  limit: number
  offset: number
}

/** The suggestions for a text that a shopper types. */
export interface Suggestions {
  query: string
  results: readonly Product[]
  result_count: number
  /** Whether a search may find more results. */
  result_count_is_least: boolean
}

/** A site, as `/v1/resolve` and `/v1/preview-resolve` answer it. */
export interface Resolved {
  status?: string
  tenantRef: string
  manifestVersion: number
  manifest: Record<string, unknown>
  hostname?: string | null
  canonicalHostname?: string | null
  redirect?: string | null
  sandbox?: true
  /** The add-ons that are on. A manifest says only what the store wants to offer. */
  addOns?: readonly string[]
  preview?: { version: number; expiresAt: string }
}

/** The person who gets a gift card. */
export interface GiftRecipient {
  recipient_email: string
  recipient_name?: string
  message?: string
  /** The day to send it, such as `2026-12-24`. Left out, it is sent at once. */
  send_on?: string
}

/** A variant in a cart, with its quantity. */
export interface Item {
  variant_id: string
  quantity: number
  /** The recipient, of a gift card for another person. */
  gift_card?: GiftRecipient
  /** Whether the item is subscribed to. */
  subscribe?: true
}

/** The prices of a cart, a checkout and an order. */
export interface Totals {
  subtotal_cents: number
  /** The part of the subtotal that buys gift cards: no balance pays for them, and they do not ship. */
  gift_card_cents: number
  discount_cents: number
  shipping_cents: number
  tax_cents: number
  total_cents: number
  /** Whether the tax is inside the other amounts. */
  prices_include_tax: boolean
  tax_rate_bps: number | null
  currency: string
}

/** The present price of a cart, as the checkout preview answers it. */
export interface Quote extends Totals {
  items: readonly (Pick<Item, 'variant_id' | 'quantity'> & {
    unit_price_cents: number
    list_price_cents: number
    line_total_cents: number
    available: boolean
  })[]
  coupon: { code: string | null; applied: boolean; reason: string | null }
  store_credit_available_cents: number
  free_shipping_remaining_cents: number | null
  /** What is charged again for each line that is subscribed to, with shipping and tax. */
  renewals: readonly {
    variant_id: string
    quantity: number
    interval: Subscription['interval']
    interval_count: number
    amount_cents: number
    is_estimate?: true
  }[]
  /** Whether the tax is not final, because it depends on an address that the request did not have. */
  address_required: boolean
  quote_token: string
}

/** An address as a checkout sends it. */
export interface ShippingAddress extends Address {
  name: string
}

export interface Address {
  label: string
  name?: string | null
  line1: string
  line2: string | null
  city: string
  state: string
  postal_code: string
  country: string
}

export interface Order extends Totals {
  id: string
  order_number: number
  customer_ref: string
  status: string
  payment_status: string
  fulfillment_status: string
  coupon_code: string | null
  ship_to: Address | null
  expedited: boolean
  placed_at: string | null
  cancelled_at: string | null
  created_at: string
}

/** A line of an order. */
export interface OrderItem {
  id: string
  product_id: string
  variant_id: string
  product_name: string
  label: string | null
  sku: string
  quantity: number
  unit_price_cents: number
  line_total_cents: number
  shipped_quantity: number
  gift_card: boolean
  is_subscription: boolean
}

/** The gift cards that a line of an order buys. */
export interface GiftCardPurchase {
  order_item_id: string
  recipient_email: string | null
  recipient_name: string | null
  message: string | null
  send_at: string | null
}

/** What one tender pays of one order. */
export interface Charge {
  charge_id: string
  tender: 'store_credit' | 'gift_card' | 'card'
  amount_cents: number
  captured_cents: number
  refunded_cents: number
  currency: string
  status: string
  card: { brand: string | null; last4: string | null } | null
  gift_card_last4: string | null
}

export interface Refund {
  refund_id: string
  kind: 'refund' | 'adjustment'
  status: 'pending' | 'succeeded' | 'failed'
  amount_cents: number
  currency: string
  created_at: string
}

/** Units of an order that are sent together. */
export interface Parcel {
  status: 'pending' | 'shipped' | 'delivered' | 'cancelled'
  items: readonly {
    order_item_id: string
    product_name: string
    label: string | null
    quantity: number
  }[]
  carrier: string | null
  service: string | null
  tracking_number: string | null
  tracking_url: string | null
  shipped_at: string | null
  delivered_at: string | null
}

/** Units of an order that come back. */
export interface Return {
  return_number: string
  status:
    | 'requested'
    | 'approved'
    | 'declined'
    | 'partially_received'
    | 'received'
    | 'closed'
    | 'cancelled'
  lines: readonly { product_name: string; label: string | null; quantity: number }[]
  instructions: string | null
  label_url: string | null
  decline_reason: string | null
}

/** How many units of a line can be sent back, and until when, or why none can. */
export interface Returnable {
  order_item_id: string
  quantity: number
  until: string | null
  reason: 'not_shipped' | 'nothing_left' | 'window_closed' | 'final_sale' | null
}

/** The amount that the shopper is asked to pay for an order. */
export interface PaymentRequest {
  amount_cents: number
  currency: string
  status: 'open' | 'paid' | 'withdrawn' | 'expired'
  expires_at: string
}

export interface OrderDetail {
  order: Order
  items: readonly OrderItem[]
  charges: readonly Charge[]
  refunds: readonly Refund[]
  fulfillments: readonly Parcel[]
  returns: readonly Return[]
  returnable: readonly Returnable[]
  gift_cards: readonly GiftCardPurchase[]
  payment_request: PaymentRequest | null
}

/** How the checkout asks for a card: with a script, in fields of the gateway. */
export interface CardForm {
  tokenization_key: string | null
  script?: { driver: string; url: string; key: string } | null
}

/** A gift card, with its balance. */
export interface GiftCard {
  code_last4: string
  balance_cents: number
  currency: string
}

/** The order that the token of a mailed link opens. */
export interface OpenedLink {
  order_id: string
  customer_ref: string
  expires_at: string
}

export interface PlacedOrder {
  order: Order
}

export interface RefundRequest {
  charge_id: string
  amount_cents: number
  reason: string | null
}

/** The state and the answer of an operation, as its idempotency key shows them. */
export interface OperationRecord {
  state: 'running' | 'answered'
  /** The id of the order of a checkout, once there is one. */
  resource_id: string | null
  /** The status of the answer, once there is one. */
  status: number | null
  answer: unknown
}

export type SubscriptionAction =
  | 'pause'
  | 'resume'
  | 'skip'
  | 'unskip'
  | 'change'
  | 'change_card'
  | 'cancel'

/** A subscription: a product that is sent to a shopper again and again, and charged each time. */
export interface Subscription {
  id: string
  subscription_number: number
  /** The order that has started it. */
  origin_order_id: string | null
  product_id: string
  variant_id: string
  product_name: string | null
  label: string | null
  quantity: number
  interval: 'day' | 'week' | 'month' | 'year'
  interval_count: number
  currency: string
  status: string
  next_charge_at: string | null
  paused_until: string | null
  cancel_at_period_end: boolean
  ship_to: Address | null
  payment_method: {
    brand: string | null
    last4: string | null
    exp_month: number | null
    exp_year: number | null
  } | null
  dunning: { next_attempt_at: string | null; last_reason: string | null } | null
  next_charges: readonly { cycle: number; at: string; amount_cents: number }[]
  skipped: readonly { cycle: number; at: string }[]
  allowed: readonly SubscriptionAction[]
  version: number
}
