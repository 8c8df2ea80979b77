import { Type } from 'typebox'
import type { Database } from '../../db/database.ts'
import type { Routes } from '../../http/route.ts'
import { Params, ref } from '../../kernel/schema.ts'
import { LimitRow, limitChange, tierLimits, Usage } from './limit-schema.ts'
import * as limits from './limits.ts'

const UsageList = Type.Object({ limits: Type.Array(ref(Usage)) })
const LimitList = Type.Object({ limits: Type.Array(LimitRow) })

export const operatorRoutes =
  ({ database, counted }: { database: Database; counted: limits.Counted }): Routes =>
  async (app) => {
    const keys = Object.keys(counted)
    app.get(
      '/v1/entitlements/limits',
      {
        config: {},
        schema: {
          operationId: 'listLimits',
          tags: ['operator'],
          summary: 'List the limits of all stores and of the stores of a tier.',
          response: { 200: LimitList },
        },
      },
      async () => ({ limits: await limits.list(database.directory) }),
    )

    app.put(
      '/v1/entitlements/limits',
      {
        config: {},
        schema: {
          operationId: 'setLimits',
          tags: ['operator'],
          summary:
            'Set limits of all stores, or of the stores of a tier. Members that are absent stay as they are.',
          body: tierLimits(keys),
          response: { 200: LimitList },
        },
      },
      async ({ body }) => ({ limits: await limits.setOfTier(database.directory, body, counted) }),
    )

    app.get(
      '/v1/entitlements/tenants/:tenant/limits',
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'listTenantLimits',
          tags: ['operator'],
          summary: 'List the limits of a store, and what it uses of them.',
          params: Params('tenant'),
          response: { 200: UsageList },
        },
      },
      async ({ db }) => ({ limits: await limits.listUsage(db, counted) }),
    )

    app.put(
      '/v1/entitlements/tenants/:tenant/limits',
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'setTenantLimits',
          tags: ['operator'],
          summary: 'Set limits of one store. `null`: the limit of its tier holds again.',
          params: Params('tenant'),
          body: limitChange(keys),
          response: { 200: UsageList },
        },
      },
      async ({ db, actor, body }) => ({
        limits: await limits.setOfStore(db, actor, body, counted),
      }),
    )
  }
