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
  },
  orderNumber: (order) => `Order ${order}`,
  viewOrder: 'View your order',
  visitStore: 'Visit the store',
  trackParcel: 'Track your parcel',
  printLabel: 'Print the label',
  orderSummary: 'Order summary',
  inThisParcel: 'In this parcel',
  returnedItems: 'Items of this return',
  moreToCome: 'The rest of your order comes in another parcel. We will write to you then.',
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
  shipsTo: 'Shipping address',
  paidWith: 'Paid with',
  carrier: 'Carrier',
  trackingNumber: 'Tracking number',
  instructions: 'How to send it back',
  giftCardCode: 'Your code',
  giftCardBalance: 'Balance',
  giftCardUse:
    'Enter the code at the checkout. Whoever has it can spend it: keep this mail as you would keep cash.',
  giftCardFor: (name) => `For ${name}`,
  giftCardMessage: 'A message for you',
  validUntil: (date) => `Valid until ${date}`,
  tenders: { card: 'Card', gift_card: 'Gift card', store_credit: 'Store credit' },
  endingIn: (name, last4) => `${name} ending in ${last4}`,
  linkNote: (days) =>
    `The link to your order works for ${days} days. Whoever has it can see the order and change it: do not pass it on.`,
  questions: (email) => `Questions? Reply to this mail, or write to ${email}.`,
  why: (store) => `You get this mail because you ordered at ${store}.`,
  whyGiftCard: (store) =>
    `You get this mail because a gift card of ${store} was issued to this address.`,
}
