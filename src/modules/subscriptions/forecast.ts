import { awaitAll } from '../../db/await-all.ts'
import type { Db } from '../../db/database.ts'
import { sum } from '../../kernel/money.ts'
import { DAY_MS, localDay } from '../../kernel/time.ts'
import * as catalog from '../catalog/service.ts'
import * as inventory from '../inventory/service.ts'
import { saleTermsOf } from '../sites/sale-terms.ts'
import * as stores from '../stores/service.ts'
import { listCharged } from './forecast-queries.ts'
import type { Forecast, ForecastRow } from './forecast-schema.ts'
import { priceOf, renewalAmount } from './price.ts'

/** The charges of the coming days and the stock that they need, by the subscriptions as they are now. */

export const FORECAST_DAYS = { default: 30, max: 90 }

/** How many subscriptions are read: as many as take less than a second. Days beyond them are left out, not guessed. */
const READ_MAX = 5_000

/** One charge in the coming days. */
interface Charge {
  day: string
  currency: string
  amount_cents: number
  variant_id: string
  quantity: number
}

export async function forecast(db: Db, days: number): Promise<Forecast> {
  const { time_zone: zone, activeVersion } = await stores.get(db)
  const from = localDay(zone, new Date(db.clock.now()))
  const found = await listCharged(db, { zone, from, days, limit: READ_MAX })
  const left = found[READ_MAX]
  const until = addDays(left === undefined ? addDays(from, days) : left.next_day, -1)
  const rows = found.slice(0, READ_MAX)
  const variants = [...new Set(rows.map(({ variant_id }) => variant_id))]
  const [sold, names, stock, { pricesIncludeTax }] = await awaitAll([
    catalog.variantsForSale(db, variants),
    catalog.variantNames(db, variants),
    inventory.available(db, variants),
    saleTermsOf(db, activeVersion),
  ])
  const prices = new Map(sold.map((each) => [each.variant_id, each]))
  const charges = rows
    .flatMap((row) => chargesOf(row, prices.get(row.variant_id), pricesIncludeTax))
    .filter(({ day }) => day <= until)
  return {
    from,
    until,
    days: [...Map.groupBy(charges, ({ day }) => day)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, of]) => ({ day, charges: of.length, expected: sumByCurrency(of) })),
    charges: charges.length,
    expected: sumByCurrency(charges),
    stock: stockOf(charges, stock, names),
  }
}

/** Lists the coming charges of a subscription. Group prices are left out, because they are read for each customer. */
function chargesOf(
  row: ForecastRow,
  variant: Parameters<typeof priceOf>[0] | undefined,
  includesTax: boolean,
): Charge[] {
  const { variant_id, quantity, currency, max_cycles, paid_cycles } = row
  const isCurrent = row.price_policy === 'current' && variant !== undefined
  const current = isCurrent ? priceOf(variant, quantity, null) : undefined
  const amount_cents = renewalAmount(row, current, includesTax)?.amount_cents
  if (amount_cents === undefined) return []
  const left = max_cycles === null ? row.days.length : Math.max(0, max_cycles - paid_cycles)
  return row.days
    .slice(0, left)
    .map((day) => ({ day, currency, amount_cents, variant_id, quantity }))
}

const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

function sumByCurrency(charges: readonly Charge[]): Forecast['expected'] {
  const sums = new Map<string, number>()
  for (const { currency, amount_cents } of charges)
    sums.set(currency, sum([sums.get(currency) ?? 0, amount_cents]))
  return [...sums]
    .map(([currency, amount_cents]) => ({ currency, amount_cents }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

/**
 * Compares the units of each variant that the charges need with those that can be sold now. The variants that lack
 * the most units come first.
 */
function stockOf(
  charges: readonly Charge[],
  stock: ReadonlyMap<string, number | null>,
  names: Awaited<ReturnType<typeof catalog.variantNames>>,
): Forecast['stock'] {
  const inOrder = charges.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
  const lines = [...Map.groupBy(inOrder, ({ variant_id }) => variant_id)].map(
    ([variant_id, of]) => {
      const available = stock.get(variant_id) ?? null
      let needed = 0
      let runs_out_on: string | null = null
      for (const { day, quantity } of of) {
        needed += quantity
        if (available !== null && needed > available) runs_out_on ??= day
      }
      const named = names.get(variant_id)
      const [product_name, sku] = [named?.product_name ?? null, named?.sku ?? null]
      const short = available === null ? 0 : Math.max(0, needed - available)
      return { variant_id, product_name, sku, needed, available, short, runs_out_on }
    },
  )
  return lines.sort((a, b) => b.short - a.short || (a.variant_id < b.variant_id ? -1 : 1))
}
