import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import { readCompliance } from './compliance.ts'
import { Compliance } from './compliance-schema.ts'
import { type LimitDeps, listLimits } from './limits.ts'
import { MyLimits, MyStore, StoreDetail } from './schema.ts'
import * as myStore from './service.ts'

export const merchantRoutes =
  ({ scanner, ...limits }: LimitDeps & { scanner: Scanner }): Routes =>
  async (app) => {
    app.get(
      '/v1/my/store',
      {
        config: { scope: 'read:own_store' },
        schema: {
          operationId: 'readMyStore',
          tags: ['merchant-ops'],
          summary: 'Read the store and the state of its add-ons.',
          response: { 200: MyStore },
        },
      },
      ({ db }) => myStore.myStore(db),
    )

    app.get(
      '/v1/my/compliance',
      {
        config: { scope: 'read:own_store', failures: ['scan_unavailable'] },
        schema: {
          operationId: 'readCompliance',
          tags: ['merchant-ops'],
          summary:
            'Read what the store still has to do by law and by the rules of the platform, judged by what it has published, the worst first. It is a help, and no legal advice.',
          response: { 200: Compliance },
        },
      },
      ({ db }) => readCompliance(db, scanner),
    )

    app.get(
      '/v1/my/limits',
      {
        config: { scope: 'read:own_store' },
        schema: {
          operationId: 'listMyLimits',
          tags: ['merchant-ops'],
          summary: 'List the limits of the store, and what it uses of them.',
          response: { 200: MyLimits },
        },
      },
      ({ db }) => listLimits(db, limits),
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
        summary: 'Read a store with its tier, add-ons and counts.',
        params: Params('tenant'),
        response: { 200: StoreDetail },
      },
    },
    ({ db }) => myStore.storeDetail(db),
  )
}
