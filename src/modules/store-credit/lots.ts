/** What is left of one credit, the one that expires first standing first. */
export interface Lot {
  id: string
  remaining_cents: number
  expired: boolean
}

export interface Share {
  id: string
  amount_cents: number
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
 * What has expired and nobody holds. Holds are on the lots that are spent first, so these are kept
 * for their orders even past their date.
 */
export function takeExpired(lots: readonly Lot[], held_cents: number): Share[] {
  const shares: Share[] = []
  let kept = held_cents
  for (const { id, remaining_cents, expired } of lots) {
    const covered = Math.min(kept, remaining_cents)
    kept -= covered
    const amount_cents = remaining_cents - covered
    if (expired && amount_cents > 0) shares.push({ id, amount_cents })
  }
  return shares
}

export const sumOf = (shares: readonly Share[]): number =>
  shares.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
