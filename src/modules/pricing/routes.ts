import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { clamp, PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import * as groups from './groups.ts'
import {
  GroupPatch,
  Member,
  NewGroup,
  NewMember,
  NewPrice,
  PricingGroup,
  VariantPrice,
} from './schema.ts'

const OneGroup = Type.Object({ pricing_group: ref(PricingGroup) })
const OneMember = Type.Object({ member: Member })

const readScope = 'read:own_catalog' as const
const writeScope = 'manage:own_catalog' as const
const ADD_ON_FAILURES = ['feature_not_enabled', 'operator_restricted'] as const
const NOT_FOUND = 'pricing_group_not_found' as const

export const merchantRoutes: Routes = async (app) => {
  await app.register(groupRoutes)
  await app.register(memberRoutes)
  await app.register(priceRoutes)
}

const groupRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/pricing-groups',
    {
      config: { scope: writeScope, failures: [...ADD_ON_FAILURES] },
      schema: {
        operationId: 'createPricingGroup',
        tags: ['merchant-ops'],
        summary: 'Create a pricing group: customers with their own prices.',
        body: NewGroup,
        response: { 201: OneGroup },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ pricing_group: await groups.createGroup(db, actor, body) }),
  )

  app.get(
    '/v1/merchant/pricing-groups',
    {
      config: { scope: readScope, query: PAGE_QUERY },
      schema: {
        operationId: 'listPricingGroups',
        tags: ['merchant-ops'],
        summary: "List the store's pricing groups, newest first.",
        response: { 200: PageOf('pricing_groups', ref(PricingGroup)) },
      },
    },
    ({ db, query }) => groups.listGroups(db, readPage(query)),
  )

  app.get(
    '/v1/merchant/pricing-groups/:id',
    {
      config: { scope: readScope, failures: [NOT_FOUND] },
      schema: {
        operationId: 'readPricingGroup',
        tags: ['merchant-ops'],
        summary: 'Read a pricing group.',
        params: Params('id'),
        response: { 200: OneGroup },
      },
    },
    async ({ db, params }) => ({ pricing_group: await groups.getGroup(db, params.id) }),
  )

  app.patch(
    '/v1/merchant/pricing-groups/:id',
    {
      config: { scope: writeScope, failures: [...ADD_ON_FAILURES, NOT_FOUND] },
      schema: {
        operationId: 'changePricingGroup',
        tags: ['merchant-ops'],
        summary: 'Change the name or the general discount of a group.',
        params: Params('id'),
        body: GroupPatch,
        response: { 200: OneGroup },
      },
    },
    async ({ db, actor, params, body }) => ({
      pricing_group: await groups.changeGroup(db, actor, params.id, body),
    }),
  )

  app.delete(
    '/v1/merchant/pricing-groups/:id',
    {
      config: { scope: writeScope, failures: [...ADD_ON_FAILURES, NOT_FOUND] },
      schema: {
        operationId: 'deletePricingGroup',
        tags: ['merchant-ops'],
        summary: 'Delete a group with its members and prices.',
        params: Params('id'),
        response: { 200: OneGroup },
      },
    },
    async ({ db, actor, params }) => ({
      pricing_group: await groups.removeGroup(db, actor, params.id),
    }),
  )
}

const memberRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/pricing-groups/:id/members',
    {
      config: { scope: writeScope, failures: [...ADD_ON_FAILURES, NOT_FOUND, 'limit_reached'] },
      schema: {
        operationId: 'addPricingGroupMember',
        tags: ['merchant-ops'],
        summary: 'Add a customer to a group. A customer who is already in it is answered with 200.',
        params: Params('id'),
        body: NewMember,
        response: { 200: OneMember, 201: OneMember },
      },
    },
    async ({ db, actor, params, body }, reply) => {
      const { member, created } = await groups.addMember(db, actor, params.id, body.customer_ref)
      return reply.code(created ? 201 : 200).send({ member })
    },
  )

  app.get(
    '/v1/merchant/pricing-groups/:id/members',
    {
      config: { scope: readScope, failures: [NOT_FOUND], query: PAGE_QUERY },
      schema: {
        operationId: 'listPricingGroupMembers',
        tags: ['merchant-ops'],
        summary: 'List the customers of a group, sorted by customer_ref.',
        params: Params('id'),
        response: { 200: PageOf('members', Member) },
      },
    },
    ({ db, params, query }) => groups.listMembers(db, params.id, readPage(query)),
  )

  app.delete(
    '/v1/merchant/pricing-groups/:id/members/:customer_ref',
    {
      config: { scope: writeScope, failures: [...ADD_ON_FAILURES, NOT_FOUND, 'member_not_found'] },
      schema: {
        operationId: 'removePricingGroupMember',
        tags: ['merchant-ops'],
        summary: 'Remove a customer from a group.',
        params: Params('id', 'customer_ref'),
        response: { 200: OneGroup },
      },
    },
    async ({ db, actor, params }) => ({
      pricing_group: await groups.removeMember(db, actor, params.id, params.customer_ref),
    }),
  )
}

const priceRoutes: Routes = async (app) => {
  app.put(
    '/v1/merchant/pricing-groups/:id/prices',
    {
      config: {
        scope: writeScope,
        failures: [...ADD_ON_FAILURES, NOT_FOUND, 'variant_not_found', 'limit_reached'],
      },
      schema: {
        operationId: 'setPricingGroupPrice',
        tags: ['merchant-ops'],
        summary: "Set a group's price for a variant, from a quantity on.",
        params: Params('id'),
        body: NewPrice,
        response: { 200: Type.Object({ price: VariantPrice }) },
      },
    },
    async ({ db, actor, params, body }) => ({
      price: await groups.setPrice(db, actor, params.id, body),
    }),
  )

  app.get(
    '/v1/merchant/pricing-groups/:id/prices',
    {
      config: { scope: readScope, failures: [NOT_FOUND], query: PAGE_QUERY },
      schema: {
        operationId: 'listPricingGroupPrices',
        tags: ['merchant-ops'],
        summary: 'List the prices of a group, sorted by variant and quantity.',
        params: Params('id'),
        response: { 200: PageOf('prices', VariantPrice) },
      },
    },
    ({ db, params, query }) => groups.listPrices(db, params.id, readPage(query)),
  )

  app.delete(
    '/v1/merchant/pricing-groups/:id/prices/:variant_id',
    {
      config: {
        scope: writeScope,
        failures: [...ADD_ON_FAILURES, NOT_FOUND, 'price_not_found'],
        query: { min_quantity: Type.Integer({ minimum: 1 }) },
      },
      schema: {
        operationId: 'removePricingGroupPrices',
        tags: ['merchant-ops'],
        summary:
          'Remove the prices of a variant from a group. `min_quantity` removes only that one.',
        params: Params('id', 'variant_id'),
        response: { 200: Type.Object({ removed: Type.Integer() }) },
      },
    },
    ({ db, actor, params, query }) =>
      groups.removePrices(db, actor, {
        group_id: params.id,
        variant_id: params.variant_id,
        min_quantity: readQuantity(query),
      }),
  )
}

/**
 * Reads a quantity. An invalid one becomes 0, which names no price, so that it never removes all of
 * them.
 */
function readQuantity(query: unknown): number | null {
  const { min_quantity } = query as { min_quantity?: unknown }
  if (min_quantity === undefined) return null
  return clamp(min_quantity, { min: 0, max: 1_000_000, otherwise: 0 })
}
