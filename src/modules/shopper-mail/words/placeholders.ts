import type { Value } from '@fairdock/messages/message'

/** The values of each message with placeholders. Written by `npm run texts` from `en.json`. */
export interface Placeholders {
  kinds: {
    order_placed: {
      subject: { order: Value; store: Value }
    }
    order_held: {
      subject: { order: Value; store: Value }
    }
    order_shipped: {
      subject: { order: Value; store: Value }
      intro: { order: Value }
    }
    order_delivered: {
      subject: { order: Value; store: Value }
      intro: { order: Value }
    }
    order_refunded: {
      subject: { order: Value; store: Value }
      intro: { amount: Value; order: Value }
    }
    order_cancelled: {
      subject: { order: Value; store: Value }
      intro: { order: Value; amount: Value }
      introUncharged: { order: Value }
    }
    order_edited: {
      subject: { order: Value; store: Value }
      intro: { order: Value }
    }
    gift_card: {
      subject: { amount: Value; store: Value }
      intro: { amount: Value; store: Value }
    }
    return_approved: {
      subject: { order: Value; store: Value }
      intro: { order: Value }
    }
    return_received: {
      subject: { order: Value; store: Value }
      intro: { order: Value; amount: Value }
      introUnrefunded: { order: Value }
    }
    subscription_upcoming: {
      subject: { item: Value; store: Value }
      intro: { item: Value; date: Value; amount: Value }
    }
    subscription_price_changed: {
      subject: { store: Value }
      intro: { item: Value; date: Value; amount: Value }
    }
    subscription_payment_failed: {
      subject: { item: Value; store: Value }
      intro: { item: Value; date: Value }
      introLast: { item: Value }
    }
    subscription_last_attempt: {
      subject: { item: Value; store: Value }
      intro: { item: Value; date: Value }
    }
    subscription_recovered: {
      subject: { item: Value; store: Value }
      intro: { item: Value }
    }
    subscription_paused: {
      subject: { item: Value; store: Value }
      intro: { item: Value }
    }
    subscription_cancelled: {
      subject: { item: Value; store: Value }
      intro: { item: Value }
    }
    subscription_card_expiring: {
      subject: { store: Value }
      intro: { item: Value; date: Value }
    }
    payment_request: {
      subject: { amount: Value; order: Value; store: Value }
      intro: { order: Value; amount: Value }
    }
  }
  correctionIntro: { order: Value; amount: Value }
  orderNumber: { order: Value }
  subscribed: { item: Value }
  subscribedWithNext: { item: Value; date: Value }
  taxIncludedAt: { rate: Value }
  payUntil: { date: Value }
  giftCardFor: { name: Value }
  validUntil: { date: Value }
  endingIn: { name: Value; last4: Value }
  linkNote: { days: Value }
  subscriptionLinkNote: { days: Value }
  questions: { email: Value }
  why: { store: Value }
  whyGiftCard: { store: Value }
  whySubscription: { store: Value }
}
