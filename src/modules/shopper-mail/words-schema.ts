import type { MailKind } from './schema.ts'

/** The texts that the sentences of a mail may contain. All of them are plain: the writer of the mail escapes them. */
export interface Names {
  store: string
  /** The number of the order, as `#1001`; empty for a mail without an order. */
  order: string
  /** An amount of money in the form of the language; empty where the mail has none. */
  amount: string
  /** The item that a subscription delivers; empty for a mail about no subscription. */
  item: string
  /** The day that the mail is about; empty for a mail without a day. */
  date: string
}

interface KindWords {
  subject(names: Names): string
  heading: string
  /** The first sentences. */
  intro(names: Names): string
}

/** The texts of all mails in one language. */
export interface Words {
  kinds: Record<MailKind, KindWords>
  /** The first sentences of the confirmation of an order of gift cards alone. */
  giftCardsIntro: string
  /** The first sentences of a payment request for the correction of an order. */
  correctionIntro(names: Names): string
  alreadyPaid: string
  orderNumber(order: string): string
  viewOrder: string
  visitStore: string
  payNow: string
  trackParcel: string
  printLabel: string
  orderSummary: string
  inThisParcel: string
  returnedItems: string
  moreToCome: string
  /** Says of an order that it has started a subscription, and when that is charged next. */
  subscribed(names: Pick<Names, 'item' | 'date'>): string
  subtotal: string
  discount: string
  shipping: string
  free: string
  tax: string
  /** The text below a total that has the tax inside, with the rate where it is known. */
  taxIncluded(rate: string | null): string
  total: string
  oldTotal: string
  charged: string
  refunded: string
  refundedTo: string
  refundDays: string
  fromReturn: string
  toPay: string
  payUntil(date: string): string
  shipsTo: string
  paidWith: string
  carrier: string
  trackingNumber: string
  manageSubscription: string
  updateCard: string
  subscription: string
  amount: string
  card: string
  instructions: string
  giftCardCode: string
  giftCardBalance: string
  giftCardUse: string
  giftCardFor(name: string): string
  giftCardMessage: string
  validUntil(date: string): string
  tenders: Record<'card' | 'gift_card' | 'store_credit', string>
  endingIn(name: string, last4: string): string
  linkNote(days: number): string
  subscriptionLinkNote(days: number): string
  questions(email: string): string
  why(store: string): string
  whyGiftCard(store: string): string
  whySubscription(store: string): string
}
