import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { NewVendor, Vendor, VendorPatch } from './schema.ts'
import * as vendors from './vendors.ts'

const scope = 'manage:own_inventory'
const tags = ['merchant-ops']
const url = '/v1/merchant/purchasing/vendors'
const OneVendor = Type.Object({ vendor: ref(Vendor) })

export const vendorRoutes: Routes = async (app) => {
  app.get(
    url,
    {
      config: { scope, query: { archived: Type.Boolean({ default: false }), ...PAGE_QUERY } },
      schema: {
        operationId: 'listVendors',
        tags,
        summary: 'List the vendors, by name: those in use, or the archived ones.',
        response: { 200: PageOf('vendors', ref(Vendor)) },
      },
    },
    ({ db, query }) => {
      const archived = readOneOf(query, 'archived', ['true', 'false']) === 'true'
      return vendors.list(db, { archived }, readPage(query))
    },
  )

  app.post(
    url,
    {
      config: { scope, failures: ['limit_reached'] },
      schema: {
        operationId: 'createVendor',
        tags,
        summary: 'Create a vendor.',
        body: NewVendor,
        response: { 201: OneVendor },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ vendor: await vendors.create(db, actor, body) }),
  )

  app.get(
    `${url}/:id`,
    {
      config: { scope, failures: ['vendor_not_found'] },
      schema: {
        operationId: 'readVendor',
        tags,
        summary: 'Read a vendor, also an archived one.',
        params: Params('id'),
        response: { 200: OneVendor },
      },
    },
    async ({ db, params }) => ({ vendor: await vendors.get(db, params.id) }),
  )

  app.patch(
    `${url}/:id`,
    {
      config: { scope, failures: ['vendor_not_found'] },
      schema: {
        operationId: 'changeVendor',
        tags,
        summary: 'Change a vendor, archive it, or take it back into use.',
        params: Params('id'),
        body: VendorPatch,
        response: { 200: OneVendor },
      },
    },
    async ({ db, actor, params, body }) => ({
      vendor: await vendors.patch(db, actor, params.id, body),
    }),
  )
}
