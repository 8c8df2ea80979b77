import { type AffiliateApi, openAffiliateApi } from './affiliate-api.ts'
import { type CatalogApi, type CatalogApiOptions, openCatalogApi } from './catalog-api.ts'
import { type CheckoutApi, openCheckoutApi } from './checkout-api.ts'
import { type FunnelApi, openFunnelApi } from './funnel-api.ts'
import { openSubscriptionApi, type SubscriptionApi } from './subscription-api.ts'

/** Every call of the platform that the storefront makes, for any store. */
export interface StoreApi
  extends CatalogApi,
    CheckoutApi,
    SubscriptionApi,
    AffiliateApi,
    FunnelApi {}

export const openStoreApi = (options: CatalogApiOptions): StoreApi => ({
  ...openCatalogApi(options),
  ...openCheckoutApi(options.client),
  ...openSubscriptionApi(options.client),
  ...openAffiliateApi(options.client),
  ...openFunnelApi(options.client),
})
