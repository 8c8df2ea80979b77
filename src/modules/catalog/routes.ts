import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { ApiError } from '../../errors.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { liveWarnings } from './activation-schema.ts'
import { exportCsv } from './export.ts'
import { readPlace } from './list-schema.ts'
import { type AssetBase, toMerchantProduct } from './product-json.ts'
import {
  type FullProduct,
  MerchantProduct,
  NewProduct,
  NewVariant,
  PRODUCT_STATUSES,
  ProductPatch,
  ProductStatus,
  Variant,
  VariantPatch,
  Warnings,
} from './schema.ts'
import * as catalog from './service.ts'

export interface CatalogDeps {
  assetBase(): AssetBase
}

const OneProduct = Type.Object({ product: ref(MerchantProduct) })
const WrittenProduct = Type.Object({
  product: ref(MerchantProduct),
  warnings: Warnings,
  ...liveWarnings,
})
const WrittenVariant = Type.Object({ variant: ref(Variant), ...liveWarnings })

const { wholeMax, wholeBytes } = catalog.MERCHANT_LIST
const ALL_BY_DEFAULT = `Without \`limit\`, \`offset\` and \`after\` the answer has all of them, up to ${wholeMax.toLocaleString('en')} products and ${wholeBytes / 1_024 / 1_024} MiB; beyond that it is the first page.`

const FILTERS = {
  status: ProductStatus,
  q: Type.String({ description: 'A part of the name, the slug or a SKU.' }),
}

const readFilters = (query: unknown) => ({
  status: readOneOf(query, 'status', PRODUCT_STATUSES),
  q: readText(query, 'q')?.normalize('NFC'),
})

/** Reads the page that a caller asks for. Returns null if the caller asks for no page. */
function readProductPage(query: unknown): catalog.ProductPage | null {
  const isPaged = ['limit', 'offset', 'after'].some((name) => Object.hasOwn(Object(query), name))
  if (!isPaged) return null
  const page = readPage(query)
  const after = readPlace(page.after)
  if (after === null && page.after !== undefined) throw new ApiError('invalid_query')
  return { ...page, after }
}

const answerProduct =
  ({ assetBase }: Pick<CatalogDeps, 'assetBase'>) =>
  (product: FullProduct) => ({ product: toMerchantProduct(assetBase(), product) })

export const merchantRoutes =
  (deps: CatalogDeps): Routes =>
  async (app) => {
    const toAnswer = answerProduct(deps)

    app.post(
      '/v1/merchant/catalog/products',
      {
        config: { scope: 'manage:own_catalog', failures: ['slug_exists', 'limit_reached'] },
        schema: {
          operationId: 'createProduct',
          tags: ['merchant-commerce'],
          summary:
            'Create a product, as draft or active. A draft is made active by the operator alone: see `requestActivation`. Health claims in its text are answered as `warnings`; what shoppers miss in an active product, as `activation_warnings`.',
          body: NewProduct,
          response: { 201: WrittenProduct },
        },
      },
      async ({ db, actor, body }, reply) => {
        const { product, ...warnings } = await catalog.create(db, actor, body)
        return reply.code(201).send({ ...toAnswer(product), ...warnings })
      },
    )

    app.get(
      '/v1/merchant/catalog/products',
      {
        config: {
          scope: 'read:own_catalog',
          query: { ...FILTERS, ...PAGE_QUERY },
        },
        schema: {
          operationId: 'listProducts',
          tags: ['merchant-commerce'],
          summary: `List the store's products, newest first. ${ALL_BY_DEFAULT}`,
          response: { 200: PageOf('products', ref(MerchantProduct)) },
        },
      },
      async ({ db, query }) => {
        const page = await catalog.list(db, readFilters(query), readProductPage(query))
        const base = deps.assetBase()
        return { ...page, products: page.products.map((each) => toMerchantProduct(base, each)) }
      },
    )

    app.get(
      '/v1/merchant/catalog/products/export.csv',
      {
        config: { scope: 'read:own_catalog', query: FILTERS },
        schema: {
          operationId: 'exportProducts',
          tags: ['merchant-commerce'],
          summary: 'Export all matching products as CSV, a line for each variant, newest first.',
          response: { 200: { content: { 'text/csv': { schema: Type.String() } } } },
        },
      },
      // A failure halfway ends the connection, so that half a table is never mistaken for a whole one.
      async ({ db, query }, reply) =>
        reply
          .header('content-type', 'text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="products.csv"')
          .header('cache-control', 'no-store')
          .send(Readable.from(exportCsv(db, readFilters(query))) as never),
    )

    app.get(
      '/v1/merchant/catalog/products/:id',
      {
        config: { scope: 'read:own_catalog', failures: ['product_not_found'] },
        schema: {
          operationId: 'readProduct',
          tags: ['merchant-commerce'],
          summary: 'Read a product with its images and variants, also archived ones.',
          params: Params('id'),
          response: { 200: OneProduct },
        },
      },
      async ({ db, params }) => toAnswer(await catalog.get(db, params.id)),
    )

    app.patch(
      '/v1/merchant/catalog/products/:id',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: ['product_not_found', 'slug_exists', 'limit_reached'],
        },
        schema: {
          operationId: 'changeProduct',
          tags: ['merchant-commerce'],
          summary:
            'Change a product. Members that are not sent stay as they are; the status cannot change here.',
          params: Params('id'),
          body: ProductPatch,
          response: { 200: WrittenProduct },
        },
      },
      async ({ db, actor, params, body }) => {
        const { product, ...warnings } = await catalog.update(db, actor, params.id, body)
        return { ...toAnswer(product), ...warnings }
      },
    )

    app.post(
      '/v1/merchant/catalog/products/:id/archive',
      {
        config: { scope: 'manage:own_catalog', failures: ['product_not_found'] },
        schema: {
          operationId: 'archiveProduct',
          tags: ['merchant-commerce'],
          summary:
            'Archive a product. Its slug is free for another product; its SKUs stay used. Only the operator can undo it.',
          params: Params('id'),
          response: { 200: OneProduct },
        },
      },
      async ({ db, actor, params }) => toAnswer(await catalog.archive(db, actor, params.id)),
    )

    app.post(
      '/v1/merchant/catalog/products/:id/variants',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: [
            'product_not_found',
            'sku_exists',
            'options_exist',
            'invalid_transition',
            'limit_reached',
          ],
        },
        schema: {
          operationId: 'createVariant',
          tags: ['merchant-commerce'],
          summary: "Create a variant of a product. Without a currency it has the store's.",
          params: Params('id'),
          body: NewVariant,
          response: { 201: WrittenVariant },
        },
      },
      async ({ db, actor, params, body }, reply) =>
        reply.code(201).send(await catalog.createVariant(db, actor, params.id, body)),
    )

    app.patch(
      '/v1/merchant/catalog/products/:id/variants/:variantId',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: ['variant_not_found', 'sku_exists', 'options_exist', 'limit_reached'],
        },
        schema: {
          operationId: 'changeVariant',
          tags: ['merchant-commerce'],
          summary: 'Change a variant. Members that are not sent stay as they are.',
          params: Params('id', 'variantId'),
          body: VariantPatch,
          response: { 200: WrittenVariant },
        },
      },
      ({ db, actor, params, body }) => catalog.updateVariant(db, actor, params, body),
    )

    app.post(
      '/v1/merchant/catalog/products/:id/variants/:variantId/archive',
      {
        config: { scope: 'manage:own_catalog', failures: ['variant_not_found'] },
        schema: {
          operationId: 'archiveVariant',
          tags: ['merchant-commerce'],
          summary: 'Archive a variant for good. Its SKU cannot be used again.',
          params: Params('id', 'variantId'),
          response: { 200: WrittenVariant },
        },
      },
      ({ db, actor, params }) => catalog.archiveVariant(db, actor, params),
    )
  }
