import { forGood, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const credentials = {
  name: 'credentials',
  is: 'the keys of merchants, and the storefront tokens of stores',
  uses: ['identity', 'stores'],
  tables: {
    credentials: forGood('Access: a revoked key still names who acted in the audit log.'),
    storefront_tokens: owner('stores', 'until it is deleted'),
  },
  counted: {
    credentials: 'API keys, revoked ones included.',
  },
  errors: ERRORS,
  routes: async ({ database }) => {
    const [routes, tokens] = await Promise.all([
      import('./routes.ts'),
      import('./storefront-token-routes.ts'),
    ])
    return {
      owner: [routes.ownerRoutes(database)],
      merchant: [routes.merchantRoutes(database), tokens.merchantRoutes],
    }
  },
} as const satisfies Face
