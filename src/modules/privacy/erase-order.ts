/**
 * The ranks of the modules in an erasure. It takes locks in the order of a checkout: two that took them in different
 * orders would wait for each other. A test compares both lists with the faces.
 */

/** Those that erase what names the customer and no order. */
export const CUSTOMER_RANKS = [
  'subscriptions',
  'store-credit',
  'gift-cards',
  'pricing',
  'marketing',
  'affiliates',
  'campaigns',
  'reminders',
  'shopper-mail',
] as const

/** Those that erase a person from orders, after the orders themselves. */
export const ORDER_RANKS = [
  'marketing',
  'payments',
  'fulfillment',
  'returns',
  'carriers',
  'gift-cards',
  'shopper-mail',
  'webhooks',
] as const
