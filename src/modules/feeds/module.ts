import { owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const feeds = {
  name: 'feeds',
  is: 'product feeds for Google and OpenAI',
  uses: ['catalog', 'health-claims', 'media', 'shipping', 'sites', 'stores'],
  tables: {
    product_scans: owner('products'),
  },
  errors: ERRORS,
} as const satisfies Face
