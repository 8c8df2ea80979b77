import type { Share } from './schema.ts'

/** A lot: the rest of one credit. Lots are listed in the order in which they are spent: by expiry. */
export interface Lot {
  id: string
  remaining_cents: number
  expired: boolean
  expires_at: string | null
}

/** The amount that an order holds, and the time of the hold. */
export interface Held {
  amount_cents: number
  created_at: string
}

/** Spends the lots in their order. Together they must have the amount. */
export function spendLots(lots: readonly Lot[], amount_cents: number): Share[] {
  const shares: Share[] = []
  let left = amount_cents
  for (const { id, remaining_cents } of lots) {
    if (left === 0) break
    const taken = Math.min(left, remaining_cents)
    left -= taken
    shares.push({ id, amount_cents: taken })
  }
  if (left > 0) throw new Error(`the lots are ${left} cents short of their account`)
  return shares
}

/**
 * Sorts lots into the order in which credit is spent: expired lots last. They belong to earlier holds, or expire when
 * these are released.
 */
export const unexpiredFirst = (lots: readonly Lot[]): Lot[] =>
  lots.toSorted((a, b) => Number(a.expired) - Number(b.expired))

/**
 * Lists the expired amounts that no hold covers. A hold, oldest first, covers the first lots in spending order that
 * had not expired when it was made. These stay for its order even past their date.
 */
export function unheldExpired(lots: readonly Lot[], holds: readonly Held[]): Share[] {
  const free = new Map(lots.map(({ id, remaining_cents }) => [id, remaining_cents]))
  const cover = (ordered: readonly Lot[], cents: number) =>
    ordered.reduce((left, { id }) => {
      const before = free.get(id) ?? 0
      const covered = Math.min(left, before)
      free.set(id, before - covered)
      return left - covered
    }, cents)
  const isUnexpired = ({ expires_at }: Lot, at: string) => expires_at === null || expires_at > at
  const uncovered = holds.map(({ amount_cents, created_at }) =>
    cover(
      lots.filter((lot) => isUnexpired(lot, created_at)),
      amount_cents,
    ),
  )
  // The rest of a hold covers any lot, so that every held amount stays.
  for (const cents of uncovered) cover(lots, cents)
  return lots
    .filter(({ expired }) => expired)
    .map(({ id }) => ({ id, amount_cents: free.get(id) ?? 0 }))
    .filter(({ amount_cents }) => amount_cents > 0)
}

export const sumOf = (shares: readonly Share[]): number =>
  shares.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
