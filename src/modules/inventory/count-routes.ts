import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { onceIfKeyed } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import {
  COUNT_STATES,
  Count,
  CountedLines,
  CountHead,
  CountPosting,
  CountState,
  NewCount,
} from './count-schema.ts'
import * as counts from './counts.ts'

const scope = 'manage:own_inventory'
const tags = ['merchant-ops']
const OneCount = Type.Object({ count: ref(Count) })
const OPEN: readonly ErrorCode[] = ['count_not_found', 'invalid_transition']

export const countRoutes =
  (deps: { idempotencyKey: Buffer }): Routes =>
  async (app) => {
    await readRoutes(app)
    await changeRoutes(deps)(app)
  }

const readRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/inventory/counts',
    {
      config: { scope, query: { status: CountState, ...PAGE_QUERY } },
      schema: {
        operationId: 'listStockCounts',
        tags,
        summary: 'List the cycle counts, newest first.',
        response: { 200: PageOf('counts', ref(CountHead)) },
      },
    },
    ({ db, query }) =>
      counts.list(db, { status: readOneOf(query, 'status', COUNT_STATES) }, readPage(query)),
  )

  app.get(
    '/v1/merchant/inventory/counts/:id',
    {
      config: { scope, failures: ['count_not_found'] },
      schema: {
        operationId: 'readStockCount',
        tags,
        summary: 'Read a cycle count with its lines.',
        params: Params('id'),
        response: { 200: OneCount },
      },
    },
    async ({ db, params }) => ({ count: await counts.get(db, params.id) }),
  )
}

const changeRoutes =
  ({ idempotencyKey: secret }: { idempotencyKey: Buffer }): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/inventory/counts',
      {
        config: {
          scope,
          failures: [
            'location_not_found',
            'variant_not_found',
            'count_in_progress',
            'limit_reached',
          ],
        },
        schema: {
          operationId: 'beginStockCount',
          tags,
          summary: 'Begin a cycle count: what is on hand now is what is expected.',
          body: NewCount,
          response: { 201: OneCount },
        },
      },
      async ({ db, actor, body }, reply) =>
        reply.code(201).send({ count: await counts.begin(db, actor, body) }),
    )

    app.put(
      '/v1/merchant/inventory/counts/:id/lines',
      {
        config: { scope, failures: [...OPEN, 'variant_not_found'] },
        schema: {
          operationId: 'enterStockCount',
          tags,
          summary: 'Enter the counted units of some or all variants. They can be entered again.',
          params: Params('id'),
          body: CountedLines,
          response: { 200: OneCount },
        },
      },
      async ({ db, actor, params, body }) => ({
        count: await counts.enter(db, actor, params.id, body),
      }),
    )

    app.post(
      '/v1/merchant/inventory/counts/:id/post',
      {
        config: {
          scope,
          idempotent: 'optional',
          failures: [...OPEN, 'location_not_found', 'stock_below_zero', 'limit_reached'],
        },
        schema: {
          operationId: 'postStockCount',
          tags,
          summary:
            'Post the differences of a count to the stock. What was sold meanwhile is not counted twice.',
          params: Params('id'),
          body: CountPosting,
          response: { 200: OneCount },
        },
        // All members of the body are optional, so the body is too.
        preValidation: async (request) => {
          request.body ??= {}
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = { operation: 'stock_count_post', secret, target: params.id }
        return onceIfKeyed(request, reply, options, async (keep) => ({
          count: await counts.post(db, { actor, keep }, params.id, body),
        }))
      },
    )

    app.post(
      '/v1/merchant/inventory/counts/:id/cancel',
      {
        config: { scope, failures: OPEN },
        schema: {
          operationId: 'cancelStockCount',
          tags,
          summary: 'Cancel a count: nothing is posted.',
          params: Params('id'),
          response: { 200: OneCount },
        },
      },
      async ({ db, actor, params }) => ({ count: await counts.cancel(db, actor, params.id) }),
    )
  }
