import { HOUR_MS, MINUTE_MS } from '../../kernel/time.ts'
import { owner, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
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
  routes: async (house) => {
    const [{ merchantRoutes, publicRoutes }, { openUploads }, { acceptAnyDigits }] =
      await Promise.all([
        import('./routes.ts'),
        import('./open.ts'),
        import('../../http/card-text.ts'),
      ])
    const deps = openUploads(house)
    const { database, readerOf } = house
    return {
      merchant: [acceptAnyDigits(merchantRoutes(deps))],
      public: [publicRoutes(database, { ...deps, readerOf })],
    }
  },
  loops: async ({ workerDatabase: database, blobs, config }) => {
    const [{ collectDue }, { createPendingUploads }] = await Promise.all([
      import('./jobs.ts'),
      import('./pending-uploads.ts'),
    ])
    const pendingUploads = createPendingUploads(config.DATA_DIR)
    return [
      loop('media', MINUTE_MS, (signal) => collectDue(database, blobs, signal)),
      loop('upload upkeep', HOUR_MS, () => pendingUploads.removeAbandoned()),
    ]
  },
} as const satisfies Face
