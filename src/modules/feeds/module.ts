import { owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const feeds = {
  name: 'feeds',
  is: 'product feeds for Google and OpenAI',
  uses: ['catalog', 'health-claims', 'inventory', 'media', 'shipping', 'sites', 'stores'],
  tables: {
    product_scans: owner('products'),
  },
  errors: ERRORS,
  routes: async ({ database, cache, fragments, scanner, readerOf, assetBase, storefrontUrl }) => {
    const { publicRoutes } = await import('./routes.ts')
    const deps = { database, cache, fragments, scanner, readerOf, assetBase, storefrontUrl }
    return { public: [publicRoutes(deps)] }
  },
} as const satisfies Face
