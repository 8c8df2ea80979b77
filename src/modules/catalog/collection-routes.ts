import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import * as collections from './collections.ts'
import { Collection, CollectionPatch, ListedCollection, Members, NewCollection } from './schema.ts'

const OneCollection = Type.Object({ collection: ref(Collection) })

export const merchantRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/catalog/collections',
    {
      config: { scope: 'manage:own_catalog', failures: ['slug_exists', 'limit_reached'] },
      schema: {
        operationId: 'createCollection',
        tags: ['merchant-commerce'],
        summary: 'Create a collection. It is public at once, with its active products.',
        body: NewCollection,
        response: { 201: OneCollection },
      },
    },
    async ({ db, actor, body }, reply) => {
      const collection = await collections.create(db, actor, body)
      return reply.code(201).send({ collection })
    },
  )

  app.get(
    '/v1/merchant/catalog/collections',
    {
      config: { scope: 'read:own_catalog', query: PAGE_QUERY },
      schema: {
        operationId: 'listCollections',
        tags: ['merchant-commerce'],
        summary: "List the store's collections, in the store's own order.",
        response: { 200: PageOf('collections', ref(ListedCollection)) },
      },
    },
    ({ db, query }) => collections.list(db, readPage(query)),
  )

  app.get(
    '/v1/merchant/catalog/collections/:id',
    {
      config: { scope: 'read:own_catalog', failures: ['collection_not_found'] },
      schema: {
        operationId: 'readCollection',
        tags: ['merchant-commerce'],
        summary: 'Read a collection and the ids of its products, in order.',
        params: Params('id'),
        response: { 200: OneCollection },
      },
    },
    async ({ db, params }) => ({ collection: await collections.get(db, params.id) }),
  )

  app.patch(
    '/v1/merchant/catalog/collections/:id',
    {
      config: {
        scope: 'manage:own_catalog',
        failures: ['collection_not_found', 'slug_exists', 'limit_reached'],
      },
      schema: {
        operationId: 'changeCollection',
        tags: ['merchant-commerce'],
        summary: 'Change a collection. Members that are not sent stay as they are.',
        params: Params('id'),
        body: CollectionPatch,
        response: { 200: OneCollection },
      },
    },
    async ({ db, actor, params, body }) => ({
      collection: await collections.update(db, actor, params.id, body),
    }),
  )

  app.delete(
    '/v1/merchant/catalog/collections/:id',
    {
      config: { scope: 'manage:own_catalog', failures: ['collection_not_found'] },
      schema: {
        operationId: 'deleteCollection',
        tags: ['merchant-commerce'],
        summary: 'Delete a collection. Its products stay.',
        params: Params('id'),
        response: { 200: OneCollection },
      },
    },
    async ({ db, actor, params }) => ({
      collection: await collections.remove(db, actor, params.id),
    }),
  )

  app.put(
    '/v1/merchant/catalog/collections/:id/products',
    {
      config: {
        scope: 'manage:own_catalog',
        failures: ['collection_not_found', 'product_not_found'],
      },
      schema: {
        operationId: 'setCollectionProducts',
        tags: ['merchant-commerce'],
        summary: 'Set the products of a collection, in the order given.',
        params: Params('id'),
        body: Members,
        response: { 200: OneCollection },
      },
    },
    async ({ db, actor, params, body }) => ({
      collection: await collections.setMembers(db, actor, params.id, body.product_ids),
    }),
  )
}
