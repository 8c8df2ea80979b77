import type { Words } from './words-schema.ts'

export const en: Words = {
  kinds: {
    order_placed: {
      subject: ({ order, store }) => `Order ${order} confirmed – ${store}`,
      heading: 'Thank you for your order',
      intro: () =>
        'We have your order and your payment, and are getting it ready. You will hear from us when it is on its way.',
    },
    order_held: {
      subject: ({ order, store }) => `We are checking order ${order} – ${store}`,
      heading: 'We are checking your payment',
      intro: () =>
        'We have your order and are checking its payment before we go on. You need to do nothing: we will write to you as soon as it is done.',
    },
    order_shipped: {
      subject: ({ order, store }) => `Order ${order} is on its way – ${store}`,
      heading: 'Your parcel is on its way',
      intro: ({ order }) => `A parcel of your order ${order} has been handed to the carrier.`,
    },
    order_delivered: {
      subject: ({ order, store }) => `Order ${order} has been delivered – ${store}`,
      heading: 'Your parcel has arrived',
      intro: ({ order }) =>
        `A parcel of your order ${order} has been delivered. We hope you enjoy it.`,
    },
    order_refunded: {
      subject: ({ order, store }) => `A refund for order ${order} – ${store}`,
      heading: 'You have been refunded',
      intro: ({ order, amount }) => `We have refunded ${amount} of your order ${order}.`,
    },
    order_cancelled: {
      subject: ({ order, store }) => `Order ${order} has been cancelled – ${store}`,
      heading: 'Your order has been cancelled',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Your order ${order} has been cancelled. You have not been charged.`
          : `Your order ${order} has been cancelled, and ${amount} has been refunded.`,
    },
    order_edited: {
      subject: ({ order, store }) => `Order ${order} has been changed – ${store}`,
      heading: 'Your order has been changed',
      intro: ({ order }) => `This is your order ${order} as it is now.`,
    },
    gift_card: {
      subject: ({ amount, store }) => `A gift card of ${amount} – ${store}`,
      heading: 'A gift card for you',
      intro: ({ store, amount }) => `Here is your gift card of ${amount} for ${store}.`,
    },
    return_approved: {
      subject: ({ order, store }) => `Your return of order ${order} – ${store}`,
      heading: 'Your return has been approved',
      intro: ({ order }) => `You can send back these items of your order ${order}.`,
    },
    return_received: {
      subject: ({ order, store }) => `We have your return of order ${order} – ${store}`,
      heading: 'Your return has arrived',
      intro: ({ order, amount }) =>
        amount === ''
          ? `We have received what you sent back of your order ${order}.`
          : `We have received what you sent back of your order ${order}, and refund ${amount}.`,
    },
    subscription_upcoming: {
      subject: ({ item, store }) => `Your next delivery of ${item} – ${store}`,
      heading: 'Your subscription renews soon',
      intro: ({ item, date, amount }) =>
        `Your subscription to ${item} renews on ${date}. We then charge ${amount} to your card. To change, skip or end it, open your subscription before that day.`,
    },
    subscription_price_changed: {
      subject: ({ store }) => `The price of your subscription changes – ${store}`,
      heading: 'The price of your subscription changes',
      intro: ({ item, date, amount }) =>
        `Your subscription to ${item} renews on ${date}. Its price has changed: we then charge ${amount} to your card. If you do not agree, you can end it before that day.`,
    },
    subscription_payment_failed: {
      subject: ({ item, store }) => `We could not charge your card for ${item} – ${store}`,
      heading: 'Your payment did not go through',
      intro: ({ item, date }) =>
        date === ''
          ? `We could not charge your card for your subscription to ${item}, and will not try it again. Put in another card to go on.`
          : `We could not charge your card for your subscription to ${item}. We try again on ${date}. You can put in another card before that.`,
    },
    subscription_last_attempt: {
      subject: ({ item, store }) => `Last attempt to charge your card for ${item} – ${store}`,
      heading: 'We try your card for the last time',
      intro: ({ item, date }) =>
        `We could not charge your card for your subscription to ${item} again. We try for the last time on ${date}. Put in another card, so that your subscription goes on.`,
    },
    subscription_recovered: {
      subject: ({ item, store }) => `Your payment for ${item} went through – ${store}`,
      heading: 'Your payment went through',
      intro: ({ item }) => `Thank you: your subscription to ${item} goes on as before.`,
    },
    subscription_paused: {
      subject: ({ item, store }) => `Your subscription to ${item} is paused – ${store}`,
      heading: 'Your subscription is paused',
      intro: ({ item }) =>
        `Your subscription to ${item} is paused. You are not charged until it goes on.`,
    },
    subscription_cancelled: {
      subject: ({ item, store }) => `Your subscription to ${item} has ended – ${store}`,
      heading: 'Your subscription has ended',
      intro: ({ item }) =>
        `Your subscription to ${item} has ended. You are not charged for it any more.`,
    },
    subscription_card_expiring: {
      subject: ({ store }) => `Your card expires soon – ${store}`,
      heading: 'Your card expires soon',
      intro: ({ item, date }) =>
        `The card of your subscription to ${item} can be charged until ${date}. Put in another one before that, so that your subscription goes on.`,
    },
    payment_request: {
      subject: ({ order, amount, store }) =>
        `We ask you to pay ${amount} for order ${order} – ${store}`,
      heading: 'A payment is needed',
      intro: ({ order, amount }) =>
        `Your new items of order ${order} are reserved. What you sent back does not cover them: please pay the remaining ${amount}. Nothing is charged until you do.`,
    },
  },
  giftCardsIntro:
    'We have your order and your payment. Your gift card comes by e-mail: right away, or on the day that you chose for it.',
  correctionIntro: ({ order, amount }) =>
    `Order ${order} goes to another address now, and costs ${amount} more there. Please pay that: the order leaves once you have. Nothing is charged until you do.`,
  alreadyPaid: 'Already paid',
  orderNumber: (order) => `Order ${order}`,
  viewOrder: 'View your order',
  visitStore: 'Visit the store',
  payNow: 'Pay now',
  trackParcel: 'Track your parcel',
  printLabel: 'Print the label',
  orderSummary: 'Order summary',
  inThisParcel: 'In this parcel',
  returnedItems: 'Items of this return',
  moreToCome: 'The rest of your order comes in another parcel. We will write to you then.',
  subscribed: ({ item, date }) =>
    `You have subscribed to ${item}.${date === '' ? '' : ` The next delivery is charged on ${date}.`}`,
  subtotal: 'Subtotal',
  discount: 'Discount',
  shipping: 'Shipping',
  free: 'Free',
  tax: 'Tax',
  taxIncluded: (rate) => (rate === null ? 'Tax included' : `Tax included (${rate})`),
  total: 'Total',
  oldTotal: 'Total before',
  charged: 'Charged',
  refunded: 'Refunded',
  refundedTo: 'Refunded to',
  refundDays: 'A refund to a card can take some days until your bank shows it.',
  fromReturn: 'Paid by your return',
  toPay: 'To pay',
  payUntil: (date) => `Please pay by ${date}. After that the order is cancelled.`,
  shipsTo: 'Shipping address',
  paidWith: 'Paid with',
  carrier: 'Carrier',
  trackingNumber: 'Tracking number',
  manageSubscription: 'Open your subscription',
  updateCard: 'Put in another card',
  subscription: 'Subscription',
  amount: 'Amount',
  card: 'Card',
  instructions: 'How to send it back',
  giftCardCode: 'Your code',
  giftCardBalance: 'Balance',
  giftCardUse:
    'Enter the code at the checkout. Any person who has it can spend it: keep this mail as you would keep cash.',
  giftCardFor: (name) => `For ${name}`,
  giftCardMessage: 'A message for you',
  validUntil: (date) => `Valid until ${date}`,
  tenders: { card: 'Card', gift_card: 'Gift card', store_credit: 'Store credit' },
  endingIn: (name, last4) => `${name} ending in ${last4}`,
  linkNote: (days) =>
    `The link to your order works for ${days} days. Any person who has it can see the order and change it: do not pass it on.`,
  subscriptionLinkNote: (days) =>
    `The link to your subscription works for ${days} days. Any person who has it can change the subscription: do not pass it on.`,
  questions: (email) => `Questions? Reply to this mail, or write to ${email}.`,
  why: (store) => `You get this mail because you ordered at ${store}.`,
  whyGiftCard: (store) =>
    `You get this mail because a gift card of ${store} was issued to this address.`,
  whySubscription: (store) => `You get this mail because you have a subscription at ${store}.`,
}
