import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  asset_in_use: [409, 'The asset is in use. Remove it from the places in `refs` first.'],
  asset_too_large: [413, 'The file is larger than 20 MiB. Upload a smaller one.'],
  range_not_satisfiable: [
    416,
    "The range is beyond the asset's end. `content-range` has its size.",
  ],
  content_mismatch: [422, 'The bytes are not of the declared content type. Declare the right one.'],
  image_invalid: [422, 'The image cannot be used. Export it again and upload the new file.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
