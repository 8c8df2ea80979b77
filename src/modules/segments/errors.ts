import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  segment_exists: [409, 'A segment with that name already exists. Choose another name.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
