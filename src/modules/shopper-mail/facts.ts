import type { MailStore } from '../sites/mail-content.ts'
import type { Formats } from './formats.ts'
import type { MailKind, MailLanguage } from './schema.ts'
import type { Words } from './words.ts'

/** The facts that a mail is written from. Which parts there are depends on its kind. */
export interface MailFacts {
  kind: MailKind
  language: MailLanguage
  words: Words
  formats: Formats
  store: MailStore & {
    email: string | null
    /** Whether the store is a sandbox, whose owner alone gets its mails. */
    sandbox: boolean
    owner_email: string | null
  }
  order: OrderFacts | null
  parcel: ParcelFacts | null
  refund: RefundFacts | null
  giftCard: GiftCardFacts | null
  edit: { total_before_cents: number; delta_cents: number } | null
  cancellation: { refunded_cents: number } | null
  returned: ReturnFacts | null
  subscription: SubscriptionFacts | null
  request: RequestFacts | null
}

export interface OrderFacts {
  number: number
  currency: string
  items: ItemFacts[]
  subtotal_cents: number
  discount_cents: number
  coupon_code: string | null
  shipping_cents: number
  tax_cents: number
  total_cents: number
  prices_include_tax: boolean
  tax_rate_bps: number | null
  ship_to: AddressFacts | null
  paid_with: TenderFacts[]
  /** A link that opens the order without an account, for so many days. Null where there is no shop to open it in. */
  link: { url: string; days: number } | null
  /** Whether units of the order are still to be shipped. */
  hasMoreToShip: boolean
  /** The subscriptions that the order has started, and when each is charged next. Left out if it has started none. */
  subscriptions?: { item: string; next_charge_at: string | null }[]
}

export interface ItemFacts {
  order_item_id: string
  name: string
  label: string | null
  quantity: number
  total_cents: number
  imageUrl: string | null
  /** Gift cards come in mails of their own, and nothing of them ships. */
  gift_card: boolean
}

export interface AddressFacts {
  name?: string | null | undefined
  line1: string
  line2: string | null
  city: string
  state: string
  postal_code: string
  country: string
}

export interface TenderFacts {
  tender: 'card' | 'gift_card' | 'store_credit'
  brand: string | null
  last4: string | null
}

export interface ParcelFacts {
  carrier: string | null
  tracking_number: string | null
  tracking_url: string | null
  /** How many units of each line the parcel has. */
  units: { order_item_id: string; quantity: number }[]
}

export interface RefundFacts {
  amount_cents: number
  to: TenderFacts[]
}

export interface GiftCardFacts {
  /** The code of the card. In a preview, dots except for its end. */
  code: string
  balance_cents: number
  currency: string
  expires_at: string | null
  /** The name and the message that the buyer of the card entered. Null if the buyer entered neither. */
  recipient_name: string | null
  message: string | null
}

export interface SubscriptionFacts {
  /** The name and label of the item that the subscription delivers. */
  item: string
  quantity: number
  currency: string
  /** The amount that the mail is about; null where it is about none. */
  amount_cents: number | null
  /** The day that the mail is about: a charge, an attempt, the last day of a card. */
  at: string | null
  card: TenderFacts
  /** A link that opens the subscription without an account, for so many days. Null where there is no shop. */
  link: { url: string; days: number } | null
}

/** The amount that the shopper is asked to pay, and its parts. */
export interface RequestFacts {
  amount_cents: number
  /** How much of the total is paid: by a return, or before the order was corrected. */
  credit_cents: number
  expires_at: string
  /** Of a correction: what the order is then. Null for a new order. */
  correction: Partial<OrderFacts> | null
}

export interface ReturnFacts {
  instructions: string | null
  label_url: string | null
  refunded_cents: number
  units: { order_item_id: string | null; quantity: number }[]
}
