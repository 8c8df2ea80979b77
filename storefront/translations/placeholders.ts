import type { Value } from '@fairdock/messages/message'

/** The values of each message with placeholders. Written by `npm run texts` from `en.json`. */
export interface Placeholders {
  videoNote: { host: Value }
  previewNote: { until: Value }
  closestResults: { query: Value }
  andUp: { price: Value }
  fromPrice: { price: Value }
  notWith: { values: Value }
  quantityOf: { name: Value }
  giftFor: { to: Value }
  giftOnDay: { day: Value }
  shippingCost: { rate: Value }
  shippingCostFreeFrom: { rate: Value; freeFrom: Value }
  arrival: { days: Value }
  enlarge: { name: Value }
  addedToCart: { name: Value }
  paymentPending: { number: Value }
  lessOf: { name: Value }
  moreOf: { name: Value }
  priceEach: { price: Value }
  removeItem: { name: Value }
  taxEstimated: { amount: Value }
  taxIncludedAt: { rate: Value }
  untilFreeShipping: { left: Value }
  codeApplied: { code: Value }
  optional: { label: Value }
  express: { price: Value }
  giftCardEnding: { last4: Value }
  useStoreCredit: { amount: Value }
  subscribe: { what: Value }
  pay: { amount: Value }
  order: { number: Value }
  endingIn: { what: Value; last4: Value }
  toPay: { amount: Value }
  payUntil: { time: Value }
  returnUntil: { time: Value }
  refundAmount: { left: Value }
  affiliates: {
    intro: { commission: Value }
    earns: { commission: Value }
  }
  story: {
    shippedWith: { carrier: Value }
    deliveredUntil: { date: Value }
    giftCard: { count: number }
    giftCardTo: { recipients: Value }
    giftCardOn: { count: number; date: Value }
    refundedNext: { amount: Value }
    refundedOf: { amount: Value; total: Value }
    refundedAll: { amount: Value }
  }
  subscriptions: {
    title: { number: Value }
    pausedUntil: { date: Value }
    skipOn: { date: Value }
    unskipOn: { date: Value }
  }
  buying: {
    lowestPrice: { price: Value }
    repeated: { rhythm: Value }
    save: { percent: Value }
    delivery: {
      free: { price: Value }
      freeTaxed: { price: Value }
      paid: { price: Value; shipping: Value }
      paidTaxed: { price: Value; shipping: Value }
    }
    nextDates: { dates: Value }
    toRepeated: { every: Value }
    agreed: { what: Value }
    about: { amount: Value }
    chargedOn: { dates: Value }
    confirmationTo: { email: Value }
    subscribedTo: { what: Value }
    nextDelivery: { date: Value }
  }
  checkPostcode: { example: Value }
  refundedBefore: { amount: Value }
  seeAll: { count: number }
  products: { count: number }
  moreProducts: { count: number }
  pageOf: { page: number; pages: number }
  pageNumber: { page: number }
  results: { count: number; query: Value }
  suggestionCount: { count: number }
  allResultsCounted: { count: number }
  showProducts: { count: number }
  every: {
    day: { count: number }
    week: { count: number }
    month: { count: number }
    year: { count: number }
  }
  imageOf: { at: number; count: number }
  cartItems: { count: number }
  unitsLeft: { count: number }
  parcelOf: { count: number; number: number }
  affiliateClicks: { count: number }
}
