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
} as const satisfies Face
