/**
 * Reads that answer rows and are no pages of a list, with the bound of each. The change that adds one says
 * here how many rows it can have at most, and why; a read without a bound must be a list.
 */
export const BOUNDED: Readonly<Record<string, string>> = {
  // As many rows as the program has names.
  listLimits: 'the limits of the platform, once for all stores and once for each tier',
  listTenantLimits: 'the limits of the platform',
  listMyLimits: 'the limits and bounds of the platform',
  listTenantFeatures: 'the add-ons of the platform',
  listEntitlements: 'the add-ons of the platform',
  readMailSettings: 'the kinds of mails',
  listSectionTypes: 'the section types of `manifest/`',
  explainOrder: 'the actions on an order',
  readCompliance: '400 items (`ITEMS_MAX`)',
  proveLedger: 'the accounts of the ledger, once for each currency',
  listShippingRates: 'the services that the carriers of the store offer for one parcel',

  // A limit of the store, or of the thing that is read.
  listWebhooks: '20 endpoints (`webhook_limit_reached`)',
  listImages: '50 images of a product (`image_limit_reached`)',
  listStorefrontCollections: '2,000 collections and 4 MiB of their texts (`limit_reached`)',
  readStorefrontProduct: '50 of the collections of the product',
  readCampaignPerformance: '100 coupons of a campaign (`limit_reached`)',
  readAffiliate: 'one balance for each currency',
  readStoreCredit: 'one account for each currency',
  readOrder:
    'the parts of one order: 500 lines, 1,000 parcels, 200 returns, the newest 1,000 notes and entries',
  readShopperOrder: 'the parts of one order: 500 lines, 1,000 parcels, 200 returns',

  // The newest, the first or the greatest.
  readMe: 'the first 1,000 stores of an account; more than a person has',
  readBillingPlan: 'the newest 50 changes, and the add-ons',
  readStoreBillingPlan: 'the newest 50 changes, and the add-ons',
  listOfferedPlans: '100 plans',
  readBillingUsage: 'the 100 keys with the most calls, and what is counted',
  forecastSubscriptions: '5,000 subscriptions; `until` says how far they reach',

  // Days, months and groups of a report, whose period has at most 1,096 days.
  readAnalyticsSummary: 'a bucket for each of 1,096 days',
  readAnalyticsSales: 'a bucket for each of 1,096 days, and 100 groups; `rest` has the others',
  readAnalyticsTax: '100 groups; `rest` has the others',
  readAnalyticsCustomers: 'a cohort for each of 37 months',
  readAnalyticsFunnel: 'a bucket for each of 1,096 days',
  readAnalyticsPayments: 'a bucket for each of 1,096 days, and the reasons of gateways',

  // Pages by a cursor alone. Their rows are no table, so that none has an index to be counted by.
  readAnalyticsInventory: '25 variants and `next_after`',
  listAnalyticsRows: '100 rows and `next_after`',
  listAnalyticsPaymentRows: '100 rows and `next_after`',
  listAnalyticsSubscriptionRows: '100 rows and `next_after`',
  listAnalyticsFunnelRows: '100 rows and `next_after`',
  listReorderSuggestions: '200 variants and `next_after`',
  listEvents: '500 events; `after` is the last one’s sequence, for a reader that never ends',

  // Of the public catalog, where pages also end by bytes.
  listStorefrontProducts: '5,000 products, beyond that pages of 500 by cursors, without `offset`',
  readStorefrontCollection: '5,000 products, beyond that pages of 500 by cursors, without `offset`',
  suggestProducts: '10 products, of the first 500 matches',
  searchProducts: '50 results; ordered by how well they match, which no cursor can name',
  readStorefrontSitemap: '50,000 products; `part` names the next ones',
}
