import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import type { MediaDeps } from '../media/service.ts'
import { seedDemo } from './service.ts'

const Seeded = Type.Object({
  products_created: Type.Integer(),
  collections_created: Type.Integer(),
})

export const merchantRoutes =
  (media: MediaDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/catalog/demo-seed',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: [
            'store_not_draft',
            'slug_exists',
            'sku_exists',
            'media_limit_reached',
            'limit_reached',
          ],
        },
        schema: {
          operationId: 'seedDemoCatalog',
          tags: ['merchant-commerce'],
          summary:
            'Fill a draft store with sample products. Samples that it already has stay as they are.',
          response: { 200: Seeded, 201: Seeded },
        },
      },
      async ({ db, actor }, reply) => {
        const created = await seedDemo(db, media, actor)
        const isNew = created.products_created + created.collections_created > 0
        return reply.code(isNew ? 201 : 200).send(created)
      },
    )
  }
