/**
 * Every operation that moves money, as one table. The engine, the reconciler, the lookup of idempotency
 * keys and `explain` read it; `checkout/operations-money.ts` has the code of each.
 */
export const OPERATIONS = {
  /** Places an order: reserves stock and tenders, charges the card, settles. */
  checkout: { recoveryPoint: 'reserved', actions: [] },
  /** Captures the authorised payment of a held order, and places it. */
  release: { recoveryPoint: 'releasing', actions: ['release'] },
  refund: { recoveryPoint: 'promised', actions: ['refund'] },
  /** Also rejects a held order, and carries out an edit that leaves no units. */
  cancel: { recoveryPoint: 'cancelling', actions: ['cancel', 'reject'] },
  edit: { recoveryPoint: 'editing', actions: ['edit'] },
} as const satisfies Record<string, OperationRow>

interface OperationRow {
  /** The step of an idempotency key after which the operation is resumed and never begun anew. */
  recoveryPoint: string
  /** What merchants can do with an order by it. */
  actions: readonly string[]
}

export type OperationName = keyof typeof OPERATIONS

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]

/** The operation that resumes from a recovery point. It may differ from the operation of the key. */
export function operationAt(recoveryPoint: string): OperationName {
  const found = OPERATION_NAMES.find((name) => OPERATIONS[name].recoveryPoint === recoveryPoint)
  if (found === undefined) throw new Error(`no operation resumes from ${recoveryPoint}`)
  return found
}
