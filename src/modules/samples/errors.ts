import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  store_not_draft: [409, 'Only a draft store can be filled with samples. Create a store for them.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
