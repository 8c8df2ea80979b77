import type { CountTexts, FormatNumber, Unit } from './en-counts.ts'

const UNITS: Record<Unit, readonly [one: string, more: string]> = {
  day: ['jeden Tag', 'Tage'],
  week: ['jede Woche', 'Wochen'],
  month: ['jeden Monat', 'Monate'],
  year: ['jedes Jahr', 'Jahre'],
}

export const deCounts = (format: FormatNumber): CountTexts => ({
  seeAll: (count) => `Alle ${format(count)} ansehen`,
  products: (count) => (count === 1 ? '1 Produkt' : `${format(count)} Produkte`),
  moreProducts: (count) => `Mehr als ${format(count)} Produkte`,
  pageOf: (page, pages) => `Seite ${format(page)} von ${format(pages)}`,
  pageNumber: (page) => `Seite ${format(page)}`,
  results: (count, query) =>
    count === 1 ? `1 Treffer für „${query}“` : `${format(count)} Treffer für „${query}“`,
  suggestionCount: (count) => (count === 1 ? '1 Vorschlag' : `${format(count)} Vorschläge`),
  allResults: (count) => {
    if (count === null) return 'Alle Ergebnisse ansehen'
    return count === 1 ? 'Ergebnis ansehen' : `Alle ${format(count)} Ergebnisse ansehen`
  },
  showProducts: (count) =>
    count === 1 ? '1 Produkt anzeigen' : `${format(count)} Produkte anzeigen`,
  every: (count, unit) =>
    count === 1 ? UNITS[unit][0] : `alle ${format(count)} ${UNITS[unit][1]}`,
  imageOf: (at, count) => `Bild ${format(at)} von ${format(count)}`,
  cartItems: (count) => `Warenkorb, ${format(count)} Artikel`,
  unitsLeft: (count) => `Nur noch ${format(count)} da`,
  parcelOf: (number: number, count: number) =>
    count === 1 ? 'Sendung' : `Sendung ${format(number)} von ${format(count)}`,
  affiliateClicks: (count) => (count === 1 ? '1 Besuch' : `${format(count)} Besuche`),
})
