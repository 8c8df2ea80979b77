import { handle } from '../../platform/outbox.ts'
import { bySlice, forGood, owner, STORE, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'
import { pastPricesSlice } from './retention-queries.ts'

export const catalog = {
  name: 'catalog',
  is: 'products, variants, collections and their search',
  uses: ['entitlements', 'health-claims', 'media', 'stores'],
  tables: {
    activation_requests: owner('products'),
    collection_products: owner('collections'),
    collections: forGood(STORE),
    past_prices: bySlice('RETENTION_PRICE_DAYS', 'older than the period', pastPricesSlice),
    product_images: owner('products'),
    product_search: owner('products'),
    products: forGood(STORE),
    search_words: until('no product of the store has the word', 'search words'),
    variants: owner('products'),
  },
  counted: {
    products: 'Products, archived ones included.',
    variants: 'Variants, archived ones included.',
    catalog_bytes: 'Bytes of the texts and metadata of products and variants.',
    collections: 'Collections.',
    collection_bytes: 'Bytes of the texts of collections.',
  },
  limits: () => import('./limits.ts'),
  errors: ERRORS,
  routes: async (house) => {
    const { database, operatorDatabase, cache, fragments, assetBase, config, ports } = house
    const [
      routes,
      images,
      collections,
      activations,
      reads,
      searches,
      { createSearchQueue },
      { acceptAnyDigits },
    ] = await Promise.all([
      import('./routes.ts'),
      import('./image-routes.ts'),
      import('./collection-routes.ts'),
      import('./activation-routes.ts'),
      import('./public-routes.ts'),
      import('./search-routes.ts'),
      import('./search.ts'),
      import('../../http/card-text.ts'),
    ])
    const deps = { assetBase }
    const searchQueue = createSearchQueue(config.DATABASE_POOL_MAX)
    return {
      public: [
        reads.publicRoutes({ ...deps, ...ports.catalog, database, cache, fragments }),
        searches.publicRoutes({ ...deps, database, searchQueue, fragments }),
      ],
      merchant: [
        acceptAnyDigits(routes.merchantRoutes(deps)),
        activations.merchantRoutes,
        acceptAnyDigits(images.merchantRoutes(deps)),
        acceptAnyDigits(collections.merchantRoutes),
      ],
      operator: [
        activations.operatorRoutes({ ...deps, database, operator: operatorDatabase.allStores }),
      ],
    }
  },
  liveReads: async ({ cache }) => (await import('./public-routes.ts')).liveReads(cache),
  hears: async () => {
    const { LANGUAGE_CHANGED, refreshSearchIndex } = await import('./search.ts')
    return {
      [LANGUAGE_CHANGED.type]: handle(LANGUAGE_CHANGED, (_, db, signal) =>
        refreshSearchIndex(db, signal),
      ),
    }
  },
} as const satisfies Face
