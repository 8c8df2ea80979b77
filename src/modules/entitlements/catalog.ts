import type { TIER_NAMES } from './schema.ts'

/**
 * The add-ons, with the texts that a merchant reads. A new add-on is a new entry.
 */

export interface FeatureEntry {
  key: string
  name: string
  category: 'commerce' | 'marketing' | 'operations' | 'compliance' | 'payments'
  tagline: string
  whatItDoes: readonly string[]
  docsPath?: string
  /** A list price only: enabling an add-on never bills. */
  priceCentsMonthly?: number
  /** Whether a merchant may switch it on. Others are requested, and an operator decides. */
  selfServe: boolean
}

export const FEATURES: readonly FeatureEntry[] = [
  {
    key: 'subscriptions',
    name: 'Subscriptions',
    category: 'commerce',
    tagline: 'Sell subscriptions, and charge their renewals.',
    whatItDoes: [
      'Sells products at a subscription price and stores the card for renewals',
      'Charges each renewal on its day and places its order, once',
      'Tries declined cards again as their networks allow, and tells customers by mail',
    ],
    docsPath: '/docs',
    priceCentsMonthly: 2_900,
    selfServe: true,
  },
  {
    key: 'gift_cards',
    name: 'Gift cards',
    category: 'commerce',
    tagline: 'Sell and redeem gift cards.',
    whatItDoes: ['Issues codes one by one or in batches', 'Takes them as a tender at checkout'],
    docsPath: '/docs',
    priceCentsMonthly: 900,
    selfServe: true,
  },
  {
    key: 'store_credit',
    name: 'Store credit',
    category: 'commerce',
    tagline: 'Credit customers instead of refunding a card.',
    whatItDoes: ['Keeps a balance for each customer', 'Takes it first at checkout'],
    docsPath: '/docs',
    priceCentsMonthly: 900,
    selfServe: true,
  },
  {
    key: 'pricing_groups',
    name: 'Pricing groups',
    category: 'commerce',
    tagline: 'Special prices for wholesale customers and members.',
    whatItDoes: ['Groups customers', 'Prices by group and quantity; the lowest wins'],
    docsPath: '/docs',
    priceCentsMonthly: 1_900,
    selfServe: true,
  },
  {
    key: 'subscribe_and_save',
    name: 'Subscribe and save',
    category: 'marketing',
    tagline: 'A lower price for subscribers.',
    whatItDoes: [
      'Sells new subscriptions at the subscription price of their product',
      'Running subscriptions keep their price when it is switched off',
    ],
    docsPath: '/docs',
    priceCentsMonthly: 900,
    selfServe: true,
  },
  {
    key: 'affiliates',
    name: 'Affiliates',
    category: 'marketing',
    tagline: 'Let partners sell for you.',
    whatItDoes: ['Attributes orders to referral codes', 'Keeps commissions and pays them out'],
    docsPath: '/docs',
    priceCentsMonthly: 1_900,
    selfServe: true,
  },
  {
    key: 'bulk_fulfillment',
    name: 'Bulk fulfilment',
    category: 'operations',
    tagline: 'Ship hundreds of orders in one call.',
    whatItDoes: ['Fulfils up to 500 orders at once', 'Reports the result of each order'],
    docsPath: '/docs',
    priceCentsMonthly: 1_900,
    selfServe: true,
  },
  {
    key: 'funnel_gate',
    name: 'Funnel gate',
    category: 'compliance',
    tagline: 'An attestation before checkout.',
    whatItDoes: ['Asks shoppers to confirm a statement', 'Records which version they confirmed'],
    selfServe: true,
  },
  {
    key: 'dedicated_gateway',
    name: 'Dedicated gateway',
    category: 'payments',
    tagline: 'Payments through your own gateway account.',
    whatItDoes: ['Connects your own gateway account'],
    selfServe: false,
  },
  {
    key: 'advanced_fraud',
    name: 'Advanced fraud rules',
    category: 'payments',
    tagline: 'Scoring tuned to your store.',
    whatItDoes: ['Sets what the fraud check holds and refuses, and how often a shopper may try'],
    selfServe: false,
  },
  {
    key: 'extended_events',
    name: 'Extended events',
    category: 'operations',
    tagline: 'Webhooks for everything that happens in your store.',
    whatItDoes: [
      'Lets endpoints subscribe to every event of the feed, not only to placed orders',
      'Off again, nothing new of the other events is delivered; the feed keeps all of them',
    ],
    docsPath: '/docs',
    selfServe: false,
  },
]

/**
 * The add-ons that change what a store's pages offer and at which price. Public answers name those that are
 * on: a manifest says what a store wants to offer, and not what it may.
 */
export const SHOWN_TO_SHOPPERS = [
  'gift_cards',
  'store_credit',
  'subscribe_and_save',
  'subscriptions',
] as const

/** The add-ons of each tier, unless the merchant or an operator sets another state. */
export const TIERS: Readonly<Record<string, readonly string[]>> = {
  standard: [],
  growth: ['subscriptions', 'gift_cards', 'store_credit', 'subscribe_and_save'],
  scale: FEATURES.filter(({ selfServe }) => selfServe).map(({ key }) => key),
} satisfies Record<(typeof TIER_NAMES)[number], readonly string[]>

export const DEFAULT_TIER = 'standard'

export const findFeature = (key: string): FeatureEntry | undefined =>
  FEATURES.find((entry) => entry.key === key)
