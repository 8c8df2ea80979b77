import type { CountTexts, FormatNumber, Unit } from './en-counts.ts'

const UNITS: Record<Unit, readonly [one: string, more: string]> = {
  day: ['chaque jour', 'jours'],
  week: ['chaque semaine', 'semaines'],
  month: ['chaque mois', 'mois'],
  year: ['chaque année', 'ans'],
}

export const frCounts = (format: FormatNumber): CountTexts => ({
  seeAll: (count) => `Voir les ${format(count)}`,
  products: (count) => (count <= 1 ? `${format(count)} produit` : `${format(count)} produits`),
  moreProducts: (count) => `Plus de ${format(count)} produits`,
  pageOf: (page, pages) => `Page ${format(page)} sur ${format(pages)}`,
  pageNumber: (page) => `Page ${format(page)}`,
  results: (count, query) =>
    count <= 1
      ? `${format(count)} résultat pour « ${query} »`
      : `${format(count)} résultats pour « ${query} »`,
  suggestionCount: (count) => (count === 1 ? '1 proposition' : `${format(count)} propositions`),
  allResults: (count) => {
    if (count === null) return 'Voir tous les résultats'
    return count === 1 ? 'Voir le résultat' : `Voir les ${format(count)} résultats`
  },
  showProducts: (count) => (count === 1 ? 'Voir 1 produit' : `Voir ${format(count)} produits`),
  every: (count, unit) =>
    count === 1
      ? UNITS[unit][0]
      : `${unit === 'week' ? 'toutes' : 'tous'} les ${format(count)} ${UNITS[unit][1]}`,
  imageOf: (at, count) => `Photo ${format(at)} sur ${format(count)}`,
  cartItems: (count) => `Panier, ${format(count)} ${count <= 1 ? 'article' : 'articles'}`,
  unitsLeft: (count) => `Plus que ${format(count)}`,
  parcelOf: (number: number, count: number) =>
    count === 1 ? 'Colis' : `Colis ${format(number)} sur ${format(count)}`,
  affiliateClicks: (count) => (count <= 1 ? `${format(count)} visite` : `${format(count)} visites`),
})
