import { type CatalogApi, type CatalogApiOptions, openCatalogApi } from './catalog-api.ts'
import { type CheckoutApi, openCheckoutApi } from './checkout-api.ts'

/** All that the storefront asks of the platform, for any store. */
export interface StoreApi extends CatalogApi, CheckoutApi {}

export const openStoreApi = (options: CatalogApiOptions): StoreApi => ({
  ...openCatalogApi(options),
  ...openCheckoutApi(options.client),
})
