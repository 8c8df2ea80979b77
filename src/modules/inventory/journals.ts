import type { AccountKind, NewJournal } from '../ledger/schema.ts'
import type { UnpostedEntry } from './journal-schema.ts'

/**
 * Computes the journals of cost changes, in pure functions. An entry has the cost that came from outside
 * (`cost_cents`), and its shares that went into the stock (`value_cents`) and into the cost of goods sold
 * (`sold_cents`); the rest was found or lost.
 */

/** The kind of a journal, and the document that shows the change. The journals of an order are only about its sale. */
interface Cause {
  kind: string
  ref: string
}

function causeOf(entry: UnpostedEntry): Cause {
  const { kind, variant_id, movement_id, purchase_order_id } = entry
  const { order_id, fulfillment_id, return_id, count_id } = entry
  const other = order_id ?? movement_id ?? variant_id
  switch (kind) {
    case 'opening':
      return { kind: 'stock.opening', ref: variant_id }
    case 'landed_cost':
      return { kind: 'stock.landed_cost', ref: purchase_order_id ?? other }
    case 'shipped':
      return { kind: 'stock.shipped', ref: fulfillment_id ?? other }
    case 'adjusted':
      return count_id === null
        ? { kind: 'stock.adjusted', ref: movement_id ?? other }
        : { kind: 'stock.counted', ref: count_id }
    case 'received':
      if (purchase_order_id !== null) return { kind: 'stock.received', ref: purchase_order_id }
      if (fulfillment_id !== null) return { kind: 'stock.recalled', ref: fulfillment_id }
      return { kind: 'stock.returned', ref: return_id ?? other }
  }
}

/** Returns the account that is credited with a cost that came from outside. */
function creditorOf({ kind }: UnpostedEntry): AccountKind {
  if (kind === 'opening') return 'inventory_opening'
  return kind === 'landed_cost' ? 'landed_cost' : 'goods_in_transit'
}

/**
 * Returns the journals of entries: one for all entries of one transaction, kind and document, at the time of the
 * transaction. Everything in such a journal is the store's own, so its entries name no owner. Which variant each
 * cent belongs to stays in the cost entries (decision 0063).
 */
export function journalsOf(entries: readonly UnpostedEntry[], currency: string): NewJournal[] {
  const groups = Map.groupBy(entries, (entry) => {
    const { kind, ref } = causeOf(entry)
    return `${kind} ${ref} ${entry.at_us}`
  })
  return [...groups.values()].map((group): NewJournal => {
    const first = group[0] as UnpostedEntry
    return { ...causeOf(first), currency, at: first.happened_at, entries: sumAccounts(group) }
  })
}

function sumAccounts(group: readonly UnpostedEntry[]) {
  const sums = new Map<AccountKind, number>()
  const add = (account: AccountKind, cents: number) =>
    sums.set(account, (sums.get(account) ?? 0) + cents)
  for (const entry of group) {
    const { cost_cents, value_cents, sold_cents } = entry
    add('inventory_asset', value_cents)
    add('cogs', sold_cents)
    add(creditorOf(entry), -cost_cents)
    add('inventory_adjustment', cost_cents - value_cents - sold_cents)
  }
  return [...sums].map(([account, amount_cents]) => ({ account, amount_cents }))
}
