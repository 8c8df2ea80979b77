import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  product_not_found: [404, 'No such product. Check its id or slug.'],
  image_not_found: [404, 'The product has no such image. Check its hash.'],
  collection_not_found: [404, 'No such collection. Check its id or slug.'],
  slug_exists: [409, 'That slug is already used in this store. Choose another.'],
  sku_exists: [409, 'That SKU is already used in this store. Choose another.'],
  options_exist: [
    409,
    'Another variant of the product has these options. Change one, or archive that variant.',
  ],
  image_limit_reached: [409, 'The product has the maximum number of images. Remove one first.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
