/** Amounts and dates of languages that are written from right to left, which stand in texts of either direction. */

/** Scripts that are written from right to left. */
const SCRIPTS = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** Whether a language is written from right to left, by its usual script or the one that it names, as `az-Arab`. */
export const isRightToLeft = (language: string): boolean =>
  SCRIPTS.has(new Intl.Locale(language).maximize().script ?? '')

/** Keeps the parts of a text in their order, whatever is written around it. */
export const isolated = (text: string): string => `\u2068${text}\u2069`

/**
 * Writes an amount. Its currency is a piece of its own: beside letters from right to left, the sign of "US$" would
 * stand on the other side of them.
 */
export function writeMoney(format: Intl.NumberFormat, amount: number, isTurned: boolean): string {
  if (!isTurned) return format.format(amount)
  const parts = format.formatToParts(amount)
  return isolated(
    parts.map(({ type, value }) => (type === 'currency' ? isolated(value) : value)).join(''),
  )
}
