import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { MyStore, StoreDetail } from './schema.ts'
import * as views from './service.ts'

export const merchantRoutes: Routes = async (app) => {
  app.get(
    '/v1/my/store',
    {
      config: { scope: 'read:own_store' },
      schema: {
        operationId: 'readMyStore',
        tags: ['merchant-ops'],
        summary: 'The store, and the add-ons it has.',
        response: { 200: MyStore },
      },
    },
    ({ db }) => views.myStore(db),
  )
}

export const operatorRoutes: Routes = async (app) => {
  app.get(
    '/v1/stores/:tenant',
    {
      config: { failures: ['unknown_tenant'] },
      schema: {
        operationId: 'readStore',
        tags: ['operator'],
        summary: 'One store, its add-ons, and how much is in it.',
        params: Params('tenant'),
        response: { 200: StoreDetail },
      },
    },
    ({ db }) => views.storeDetail(db),
  )
}
