import type { Share } from './schema.ts'

/** What is left of one credit, the one that expires first standing first. */
export interface Lot {
  id: string
  remaining_cents: number
  expired: boolean
  expires_at: string | null
}

/** What an order holds, and since when. */
export interface Held {
  amount_cents: number
  created_at: string
}

/** Spends the lots in their order. There must be as much as is taken. */
export function takeInOrder(lots: readonly Lot[], amount_cents: number): Share[] {
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
 * The order in which credit is taken: what had expired by then is left for the holds that came before,
 * or expires once these are given back.
 */
export const goodFirst = (lots: readonly Lot[]): Lot[] =>
  lots.toSorted((a, b) => Number(a.expired) - Number(b.expired))

/**
 * What has expired and nobody holds. A hold, the oldest first, is on the lots that are spent first of
 * those that were good when it was made: these are kept for its order even past their date.
 */
export function takeExpired(lots: readonly Lot[], holds: readonly Held[]): Share[] {
  const free = new Map(lots.map(({ id, remaining_cents }) => [id, remaining_cents]))
  const cover = (by: readonly Lot[], cents: number) =>
    by.reduce((left, { id }) => {
      const before = free.get(id) ?? 0
      const covered = Math.min(left, before)
      free.set(id, before - covered)
      return left - covered
    }, cents)
  const isGood = ({ expires_at }: Lot, at: string) => expires_at === null || expires_at > at
  const uncovered = holds.map(({ amount_cents, created_at }) =>
    cover(
      lots.filter((lot) => isGood(lot, created_at)),
      amount_cents,
    ),
  )
  // Whatever is held is kept of something.
  for (const cents of uncovered) cover(lots, cents)
  return lots
    .filter(({ expired }) => expired)
    .map(({ id }) => ({ id, amount_cents: free.get(id) ?? 0 }))
    .filter(({ amount_cents }) => amount_cents > 0)
}

export const sumOf = (shares: readonly Share[]): number =>
  shares.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
