import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  not_sandbox: [409, 'Only a sandbox store can move its time. Ask the operator for one.'],
  sandbox_fixed: [409, 'The store stays a sandbox: its time was moved. Create another store.'],
  real_gateway: [
    409,
    'The store has or had a gateway that moves money, so it cannot be a sandbox. Create another store.',
  ],
  clock_advancing: [
    409,
    "The store's time is being moved. Wait until `state` is no longer `advancing`.",
  ],
  clock_has_orders: [
    409,
    'The store has orders, which would then lie in the future. Create another store instead.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
