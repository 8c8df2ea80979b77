import { bySlice } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'
import { siteVersionsSlice } from './retention-queries.ts'

export const sites = {
  name: 'sites',
  is: 'the manifest of the site of a store: drafts, versions, publishing',
  uses: ['domains', 'entitlements', 'health-claims', 'media', 'stores'],
  tables: {
    site_versions: bySlice(
      'SITE_VERSIONS_KEPT',
      'not among the newest of their store, neither published nor published before that, and 28 days old; unset: kept for good',
      siteVersionsSlice,
    ),
  },
  counted: {
    site_versions: 'Saved versions of the site that are kept.',
    site_bytes: 'Bytes of the saved versions of the site.',
  },
  errors: ERRORS,
  routes: async ({ database, cache, scanner, key, clock }) => {
    const [{ merchantRoutes, operatorRoutes, publicRoutes }, { acceptAnyDigits }] =
      await Promise.all([import('./routes.ts'), import('../../http/card-text.ts')])
    const preview = { key: key('preview token'), clock }
    return {
      public: [publicRoutes({ database, cache }, preview)],
      merchant: [acceptAnyDigits(merchantRoutes(scanner, preview))],
      operator: [acceptAnyDigits(operatorRoutes(scanner))],
    }
  },
  liveReads: async ({ cache }) => (await import('./routes.ts')).liveReads(cache),
} as const satisfies Face
