import type { CountTexts, FormatNumber, Unit } from './en-counts.ts'

const UNITS: Record<Unit, readonly [one: string, more: string]> = {
  day: ['cada día', 'días'],
  week: ['cada semana', 'semanas'],
  month: ['cada mes', 'meses'],
  year: ['cada año', 'años'],
}

export const esCounts = (format: FormatNumber): CountTexts => ({
  seeAll: (count) => `Ver los ${format(count)}`,
  products: (count) => (count === 1 ? '1 producto' : `${format(count)} productos`),
  moreProducts: (count) => `Más de ${format(count)} productos`,
  pageOf: (page, pages) => `Página ${format(page)} de ${format(pages)}`,
  pageNumber: (page) => `Página ${format(page)}`,
  results: (count, query) =>
    count === 1 ? `1 resultado para «${query}»` : `${format(count)} resultados para «${query}»`,
  suggestionCount: (count) => (count === 1 ? '1 sugerencia' : `${format(count)} sugerencias`),
  allResults: (count) => {
    if (count === null) return 'Ver todos los resultados'
    return count === 1 ? 'Ver el resultado' : `Ver los ${format(count)} resultados`
  },
  showProducts: (count) => (count === 1 ? 'Ver 1 producto' : `Ver ${format(count)} productos`),
  every: (count, unit) =>
    count === 1 ? UNITS[unit][0] : `cada ${format(count)} ${UNITS[unit][1]}`,
  imageOf: (at, count) => `Imagen ${format(at)} de ${format(count)}`,
  cartItems: (count) => `Cesta, ${format(count)} ${count === 1 ? 'artículo' : 'artículos'}`,
  unitsLeft: (count) => `Solo quedan ${format(count)}`,
  parcelOf: (number: number, count: number) =>
    count === 1 ? 'Paquete' : `Paquete ${format(number)} de ${format(count)}`,
  affiliateClicks: (count) => (count === 1 ? '1 visita' : `${format(count)} visitas`),
})
