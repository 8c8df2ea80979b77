import type { NewJournal } from '../ledger/schema.ts'
import type { OrderRow } from '../orders/schema.ts'
import { withoutTax } from '../pricing/price.ts'
import type { NewTotals } from './queries.ts'

/** The facts that a journal needs of an edit, or of the cancellation of the rest. */
interface Change {
  id: string
  totals: NewTotals
  /** The charge of the difference. */
  charge?: { amount_cents: number } | null
}

/**
 * Returns the journal of an edit: the difference between two sales, and the money that was charged or refunded for it.
 * If everything costs nothing it has no entries: figures count the units.
 */
export function editJournal(
  before: OrderRow,
  { totals, charge, id }: Change,
  refunded: NewJournal['entries'],
): NewJournal {
  const was = withoutTax(before)
  const is = withoutTax({ ...before, ...totals })
  const more = (name: keyof typeof is) => is[name] - was[name]
  return {
    kind: 'order.edited',
    currency: before.currency,
    order_id: before.id,
    ref: id,
    isCounted: true,
    entries: [
      { account: 'card_clearing', amount_cents: charge?.amount_cents ?? 0 },
      ...refunded,
      { account: 'sales', amount_cents: -more('sales_cents') },
      { account: 'discount', amount_cents: more('discount_cents') },
      { account: 'shipping_income', amount_cents: -more('shipping_cents') },
      { account: 'tax_payable', amount_cents: -more('tax_cents') },
    ],
  }
}
