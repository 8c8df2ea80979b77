import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import {
  IssuedStorefrontToken,
  NewStorefrontToken,
  StorefrontToken,
} from './storefront-token-schema.ts'
import * as tokens from './storefront-tokens.ts'

const tags = ['merchant-credentials']

export const merchantRoutes: Routes = async (app) => {
  app.post(
    '/v1/my/storefront-tokens',
    {
      config: { scope: 'write:own_store', failures: ['limit_reached'] },
      schema: {
        operationId: 'createStorefrontToken',
        tags,
        summary:
          'Create a token for a storefront of your own. It is shown only in this answer, and works at once.',
        description:
          'Sent as `x-storefront-token`, it opens the storefront routes of this store alone: any other store is answered as if it did not exist. Keep it on the server. A store has at most 20.',
        body: NewStorefrontToken,
        response: { 201: ref(IssuedStorefrontToken) },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send(await tokens.create(db, actor, body)),
  )

  app.get(
    '/v1/my/storefront-tokens',
    {
      config: { scope: 'write:own_store', query: PAGE_QUERY },
      schema: {
        operationId: 'listStorefrontTokens',
        tags,
        summary:
          'List the storefront tokens of the store, newest first. The tokens themselves are never shown.',
        response: { 200: PageOf('storefront_tokens', ref(StorefrontToken)) },
      },
    },
    ({ db, query }) => tokens.list(db, readPage(query)),
  )

  app.delete(
    '/v1/my/storefront-tokens/:id',
    {
      config: { scope: 'write:own_store', failures: ['storefront_token_not_found'] },
      schema: {
        operationId: 'deleteStorefrontToken',
        tags,
        summary: 'Delete a storefront token. Every process refuses it within a second.',
        params: Params('id'),
        response: { 200: Type.Object({ storefront_token: ref(StorefrontToken) }) },
      },
    },
    ({ db, actor, params }) => tokens.remove(db, actor, params.id),
  )
}
