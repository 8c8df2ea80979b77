import type { AccountKind, NewJournal } from '../ledger/schema.ts'
import type { UnpostedEntry } from './journal-schema.ts'

/**
 * What journals the changes of costs make. Pure functions. An entry says what came from outside
 * (`cost_cents`), what of it went into the stock (`value_cents`) and what into the cost of goods sold
 * (`sold_cents`); what is left over was found or lost.
 */

/** What happened, and the document that shows it. The journals of an order are about its sale alone. */
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

/** Who is owed what came from outside. */
function creditorOf({ kind }: UnpostedEntry): AccountKind {
  if (kind === 'opening') return 'inventory_opening'
  return kind === 'landed_cost' ? 'landed_cost' : 'goods_in_transit'
}

/**
 * The journals of entries: one for all that a transaction did to one document, at the time of the
 * transaction. All of a journal is the store's own, so its entries name no owner; which variant each cent
 * belongs to stays in the costs.
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
