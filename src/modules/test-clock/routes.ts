import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { Params, ref } from '../../kernel/schema.ts'
import type { PaymentDeps } from '../payments/service.ts'
import { SandboxChange, Store } from '../stores/schema.ts'
import { ClockMove, StoreTime, TestClock } from './schema.ts'
import * as testClock from './service.ts'

const tags = ['merchant-ops']

export const merchantRoutes =
  (deps: testClock.ClockDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/my/test-clock',
      {
        config: {
          scope: 'write:own_store',
          failures: ['not_sandbox', 'clock_advancing'],
        },
        schema: {
          operationId: 'moveTestClock',
          tags,
          summary:
            'Move the time of a sandbox store forward. All its due work is done on the way, each at its own time.',
          body: ClockMove,
          response: { 202: ref(StoreTime) },
        },
      },
      async ({ db, actor, body }, reply) =>
        reply.code(202).send(await testClock.move(deps, db, actor, body)),
    )

    app.get(
      '/v1/my/test-clock',
      {
        config: { scope: 'read:own_store', query: PAGE_QUERY },
        schema: {
          operationId: 'readTestClock',
          tags,
          summary:
            "Read the store's time, and what the last move of a sandbox store did, in that order.",
          response: { 200: TestClock },
        },
      },
      ({ db, query }) => testClock.read(deps, db, readPage(query)),
    )

    app.delete(
      '/v1/my/test-clock',
      {
        config: {
          scope: 'write:own_store',
          failures: ['not_sandbox', 'clock_advancing', 'clock_has_orders'],
        },
        schema: {
          operationId: 'resetTestClock',
          tags,
          summary:
            'Reset the time of a sandbox store without orders to machine time. Rows that it has written keep their dates.',
          response: { 200: ref(StoreTime) },
        },
      },
      ({ db, actor }) => testClock.reset(deps, db, actor),
    )
  }

export const operatorRoutes =
  (deps: PaymentDeps): Routes =>
  async (app) => {
    app.put(
      '/v1/stores/:tenant/sandbox',
      {
        config: { failures: ['unknown_tenant', 'real_gateway', 'sandbox_fixed'] },
        schema: {
          operationId: 'setStoreSandbox',
          tags: ['operator'],
          summary:
            'Set that a store is a sandbox, which can move its time and never reaches a real gateway.',
          params: Params('tenant'),
          body: SandboxChange,
          response: { 200: Type.Object({ store: ref(Store) }) },
        },
      },
      async ({ db, actor, body }) => ({
        store: await testClock.setSandbox(db, actor, deps, body.sandbox),
      }),
    )
  }
