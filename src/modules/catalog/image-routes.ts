import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { Params, ref } from '../../kernel/schema.ts'
import { liveWarnings } from './activation-schema.ts'
import { listLiveWarnings } from './activation-warnings.ts'
import * as images from './images.ts'
import { toMerchantProduct, toProductImages } from './product-json.ts'
import type { CatalogDeps } from './routes.ts'
import { type FullProduct, ImageList, MerchantProduct, NewImage, ProductImage } from './schema.ts'
import * as catalog from './service.ts'

const AllImages = Type.Object({ images: Type.Array(ref(ProductImage)) })
const WrittenImages = Type.Object({ ...AllImages.properties, ...liveWarnings })

/** The routes of a product's images. The first image is the main one. */
export const merchantRoutes =
  ({ assetBase }: Pick<CatalogDeps, 'assetBase'>): Routes =>
  async (app) => {
    const toImages = (product: FullProduct) => ({
      images: toProductImages(assetBase(), product.images),
    })
    const toAnswer = (product: FullProduct) => ({
      ...toImages(product),
      activation_warnings: listLiveWarnings(product),
    })

    app.put(
      '/v1/merchant/catalog/products/:id/image',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: ['product_not_found', 'asset_not_found'],
        },
        schema: {
          operationId: 'setMainImage',
          tags: ['merchant-commerce'],
          summary:
            'Set the main image of a product to an uploaded asset. It replaces the previous one.',
          params: Params('id'),
          body: NewImage,
          response: { 200: Type.Object({ product: ref(MerchantProduct), ...liveWarnings }) },
        },
      },
      async ({ db, actor, params, body }) => {
        const product = await images.setMain(db, actor, params.id, body)
        return {
          product: toMerchantProduct(assetBase(), product),
          activation_warnings: listLiveWarnings(product),
        }
      },
    )

    app.get(
      '/v1/merchant/catalog/products/:id/images',
      {
        config: { scope: 'read:own_catalog', failures: ['product_not_found'] },
        schema: {
          operationId: 'listImages',
          tags: ['merchant-commerce'],
          summary: 'List the images of a product, in order.',
          params: Params('id'),
          response: { 200: AllImages },
        },
      },
      async ({ db, params }) => toImages(await catalog.get(db, params.id)),
    )

    app.post(
      '/v1/merchant/catalog/products/:id/images',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: ['product_not_found', 'asset_not_found', 'image_limit_reached'],
        },
        schema: {
          operationId: 'addImage',
          tags: ['merchant-commerce'],
          summary: 'Add an uploaded asset as the last image of a product.',
          params: Params('id'),
          body: NewImage,
          response: { 201: WrittenImages },
        },
      },
      async ({ db, actor, params, body }, reply) => {
        const product = await images.add(db, actor, params.id, body)
        return reply.code(201).send(toAnswer(product))
      },
    )

    app.put(
      '/v1/merchant/catalog/products/:id/images',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: ['product_not_found', 'asset_not_found'],
        },
        schema: {
          operationId: 'setImages',
          tags: ['merchant-commerce'],
          summary: 'Set all images of a product, in the order given.',
          params: Params('id'),
          body: ImageList,
          response: { 200: WrittenImages },
        },
      },
      async ({ db, actor, params, body }) =>
        toAnswer(await images.setAll(db, actor, params.id, body.images)),
    )

    app.delete(
      '/v1/merchant/catalog/products/:id/images/:sha256',
      {
        config: {
          scope: 'manage:own_catalog',
          failures: ['product_not_found', 'image_not_found'],
        },
        schema: {
          operationId: 'removeImage',
          tags: ['merchant-commerce'],
          summary: 'Remove an image from a product. The asset itself stays.',
          params: Params('id', 'sha256'),
          response: { 200: WrittenImages },
        },
      },
      async ({ db, actor, params }) =>
        toAnswer(await images.remove(db, actor, params.id, params.sha256)),
    )
  }
