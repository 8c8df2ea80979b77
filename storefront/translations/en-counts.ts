/** Writes a number as the region of a store does: `1.234` in Germany, `1,234` in the United States. */
export type FormatNumber = (count: number) => string

export type Unit = 'day' | 'week' | 'month' | 'year'

/** The texts that say a count. The numbers of orders and subscriptions are names, and stay as they are. */
export const enCounts = (format: FormatNumber) => ({
  seeAll: (count: number) => `See all ${format(count)}`,
  products: (count: number) => (count === 1 ? '1 product' : `${format(count)} products`),
  moreProducts: (count: number) => `More than ${format(count)} products`,
  pageOf: (page: number, pages: number) => `Page ${format(page)} of ${format(pages)}`,
  pageNumber: (page: number) => `Page ${format(page)}`,
  results: (count: number, query: string) =>
    count === 1 ? `1 result for “${query}”` : `${format(count)} results for “${query}”`,
  suggestionCount: (count: number) =>
    count === 1 ? '1 suggestion' : `${format(count)} suggestions`,
  /** Null: more than were counted. */
  allResults: (count: number | null) => {
    if (count === null) return 'See all results'
    return count === 1 ? 'See the result' : `See all ${format(count)} results`
  },
  showProducts: (count: number) =>
    count === 1 ? 'Show 1 product' : `Show ${format(count)} products`,
  every: (count: number, unit: Unit) =>
    count === 1 ? `every ${unit}` : `every ${format(count)} ${unit}s`,
  imageOf: (at: number, count: number) => `Image ${format(at)} of ${format(count)}`,
  cartItems: (count: number) => `Cart, ${format(count)} ${count === 1 ? 'item' : 'items'}`,
  unitsLeft: (count: number) => `Only ${format(count)} left`,
  parcelOf: (number: number, count: number) =>
    count === 1 ? 'Parcel' : `Parcel ${format(number)} of ${format(count)}`,
  affiliateClicks: (count: number) => (count === 1 ? '1 visit' : `${format(count)} visits`),
})

export type CountTexts = ReturnType<typeof enCounts>
