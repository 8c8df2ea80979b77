import type { Bound } from '../face-parts.ts'
import {
  IMAGES_MAX,
  NAME_LENGTH_MAX,
  OPTIONS_MAX,
  TEXT_LENGTH_MAX,
  VARIANTS_PER_PRODUCT_MAX,
} from './schema.ts'
import { METADATA_BYTES_MAX } from './validate.ts'

/** What bounds each product alone. The routes refuse by the same constants. */
export const bounds: readonly Bound[] = [
  {
    limit: 'variants_per_product',
    description: 'Variants of a product.',
    max: VARIANTS_PER_PRODUCT_MAX,
  },
  { limit: 'options_per_variant', description: 'Options of a variant.', max: OPTIONS_MAX },
  { limit: 'images_per_product', description: 'Images of a product.', max: IMAGES_MAX },
  {
    limit: 'name_characters',
    description: 'Characters of a name, title or label.',
    max: NAME_LENGTH_MAX,
  },
  {
    limit: 'description_characters',
    description: 'Characters of a description.',
    max: TEXT_LENGTH_MAX,
  },
  { limit: 'metadata_bytes', description: 'Bytes of metadata, as JSON.', max: METADATA_BYTES_MAX },
]
