import type { Scope } from '../../kernel/scopes.ts'

/**
 * Every operation that moves money, as one table. The engine, the reconciler, the lookup of idempotency
 * keys and `explain` read it; `checkout/operations-money.ts` has the code of each (decision 0018).
 */
export const OPERATIONS = {
  /** Places an order: reserves stock and tenders, charges the card, settles. */
  checkout: { recoveryPoint: 'reserved', actions: [], scope: 'manage:own_orders' },
  /** Charges a cycle of a subscription: places its order with the stored card. */
  renewal: {
    recoveryPoint: 'renewing',
    actions: [],
    scope: 'manage:own_subscriptions',
    isMerchants: true,
  },
  /** Captures the authorised payment of a held order, and places it. */
  release: { recoveryPoint: 'releasing', actions: ['release'], scope: 'manage:own_orders' },
  refund: { recoveryPoint: 'promised', actions: ['refund'], scope: 'manage:own_orders' },
  /** Also rejects a held order, and carries out an edit that leaves no units. */
  cancel: {
    recoveryPoint: 'cancelling',
    actions: ['cancel', 'reject'],
    scope: 'manage:own_orders',
  },
  edit: { recoveryPoint: 'editing', actions: ['edit'], scope: 'manage:own_orders' },
  /** Corrects the address, the e-mail address and the name of an order. */
  correct: {
    recoveryPoint: 'correcting',
    actions: ['correct'],
    scope: 'manage:own_orders',
    isMerchants: true,
  },
  /** Cancels the units of a partly shipped order that have not shipped. */
  cancel_remaining: {
    recoveryPoint: 'cancelling_remaining',
    actions: ['cancel_remaining'],
    scope: 'manage:own_orders',
    isMerchants: true,
  },
  /** Receives units of a return, and refunds them. Shoppers have no part in it. */
  return_receive: {
    recoveryPoint: 'receiving',
    actions: ['return'],
    scope: 'manage:own_returns',
    isMerchants: true,
  },
  /** Creates an order that is paid from the refund of a return. */
  exchange: {
    recoveryPoint: 'exchanging',
    actions: [],
    scope: 'manage:own_returns',
    isMerchants: true,
  },
  /** Charges a shopper for a payment request. */
  pay: { recoveryPoint: 'paying', actions: ['pay'], scope: 'manage:own_orders' },
} as const satisfies Record<string, OperationRow>

interface OperationRow {
  /** The step of an idempotency key after which the operation is resumed and never begun again. */
  recoveryPoint: string
  /** The actions of merchants on an order that run this operation. */
  actions: readonly string[]
  /** The scope of a merchant who may see its answers. */
  scope: Scope
  /** Whether no storefront runs it, so that no storefront may see its answers. */
  isMerchants?: true
}

export type OperationName = keyof typeof OPERATIONS

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]

const row = (name: OperationName): OperationRow => OPERATIONS[name]

/** The operations whose answers a storefront may look up. */
export const SHOPPER_OPERATIONS = OPERATION_NAMES.filter((name) => !row(name).isMerchants)

/**
 * The work that runs in the steps of an operation and posts nothing to the ledger, so that it is not in the table:
 * the purchase of a label. Its answers can be looked up, too.
 */
const UNPOSTED = { label: 'manage:own_fulfillment' } as const satisfies Record<string, Scope>

export type UnpostedOperation = keyof typeof UNPOSTED

/** The scope of a merchant who may look up the answers of each operation. */
export const LOOKUP_SCOPES: Readonly<Record<string, Scope>> = {
  ...Object.fromEntries(OPERATION_NAMES.map((name) => [name, OPERATIONS[name].scope])),
  ...UNPOSTED,
}

/** The operation that resumes from a recovery point. It may differ from the operation of the key. */
export function operationAt(recoveryPoint: string): OperationName {
  const found = OPERATION_NAMES.find((name) => OPERATIONS[name].recoveryPoint === recoveryPoint)
  if (found === undefined) throw new Error(`no operation resumes from ${recoveryPoint}`)
  return found
}
