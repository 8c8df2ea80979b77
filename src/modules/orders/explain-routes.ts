import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { type ExplainDeps, explain } from './explain.ts'
import { Explanation } from './explain-schema.ts'

export const merchantRoutes =
  (deps: ExplainDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/merchant/orders/:id/explain',
      {
        config: { scope: 'read:own_orders', failures: ['order_not_found'] },
        schema: {
          operationId: 'explainOrder',
          tags: ['merchant-orders'],
          summary:
            'Explain the status of an order: the facts, the rule, what is allowed, and why the rest is not.',
          params: Params('id'),
          response: { 200: Explanation },
        },
      },
      ({ db, params }) => explain(db, params.id, deps),
    )
  }
