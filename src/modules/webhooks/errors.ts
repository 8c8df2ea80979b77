import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  unknown_event: [
    400,
    'Endpoints cannot subscribe to that event. Use `commerce.order.placed.v1`, or enable the add-on `extended_events` for others.',
  ],
  unsafe_url: [400, 'The URL must be HTTPS and lead to a public address. Use another URL.'],
  webhook_not_found: [404, 'No such webhook endpoint. Check its id.'],
  delivery_not_found: [404, 'No such delivery. Check its id.'],
  webhook_limit_reached: [409, 'The store has the maximum number of endpoints. Delete one first.'],
  webhook_paused: [
    409,
    'The endpoint is paused. Register its URL again, and then replay what it has missed.',
  ],
  rotation_in_progress: [
    409,
    'The secret was rotated in the last 24 hours. Wait until the previous one expires.',
  ],
  not_redrivable: [409, 'This delivery cannot be sent again. Check its status and its endpoint.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
