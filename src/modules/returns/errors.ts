import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  return_line_not_found: [404, 'The return has no such line. Check `return_line_id`.'],
  return_window_closed: [
    409,
    'The time to return these units is over. `items` says when it ended; leave them out.',
  ],
  quantity_exceeds_returnable: [
    422,
    'More units were named than can be returned. `items` says how many have shipped and are in no return.',
  ],
  quantity_exceeds_expected: [
    422,
    'More units were named than the return expects, or has in quarantine. Send at most the numbers in `lines`.',
  ],
  fee_exceeds_refund: [
    422,
    'The restocking fee exceeds what the units are worth (`goods_cents`). Send a smaller one.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
