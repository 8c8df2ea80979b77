import { owner, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const media = {
  name: 'media',
  is: 'pictures and fonts of a store, and their resized forms',
  uses: ['stores'],
  tables: {
    asset_forms: owner('assets'),
    asset_refs: owner('products', 'or its site version'),
    assets: until('deleted for 30 days, or never completed for a day', 'media'),
    media_usage: owner('stores'),
  },
  limits: () => import('./limits.ts'),
  errors: ERRORS,
} as const satisfies Face
