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
} as const satisfies Face
