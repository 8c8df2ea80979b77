import { isCountry } from '../../../manifest/countries.ts'
import { coinDigits } from '../../kernel/money.ts'

/** How amounts, dates and names of countries are written in one language. */
export interface Formats {
  money(cents: number, currency: string): string
  /** A rate in hundredths of a percent. */
  rate(bps: number): string
  date(iso: string): string
  /** By its ISO 3166-1 code. Any other text stays as it is. */
  country(code: string): string
}

/**
 * The scripts that run from left to right and whose names of months and currencies the font of our PDFs can show.
 * Stores of another script have English formats, as they have English texts.
 */
const SCRIPTS: readonly (string | undefined)[] = ['Latn', 'Cyrl', 'Grek']

function readLanguage(language: string): string {
  try {
    const locale = new Intl.Locale(language)
    return SCRIPTS.includes(locale.maximize().script) ? locale.toString() : 'en'
  } catch {
    return 'en'
  }
}

/**
 * Creates the formats of a language. Each formatter is made when it is first used: together they take ten
 * milliseconds.
 */
export function createFormats(language: string, timeZone: string): Formats {
  const locale = readLanguage(language)
  const dates = onceMade(() => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone }))
  const rates = onceMade(
    () => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }),
  )
  const countries = onceMade(() => new Intl.DisplayNames(locale, { type: 'region' }))
  const currencies = new Map<string, Intl.NumberFormat>()
  const inCurrency = (currency: string): Intl.NumberFormat => {
    const known =
      currencies.get(currency) ?? new Intl.NumberFormat(locale, { style: 'currency', currency })
    currencies.set(currency, known)
    return known
  }
  return {
    money: (cents, currency) => inCurrency(currency).format(cents / 10 ** coinDigits(currency)),
    rate: (bps) => rates().format(bps / 10_000),
    date: (iso) => dates().format(new Date(iso)),
    country: (code) => (isCountry(code) ? (countries().of(code) ?? code) : code),
  }
}

function onceMade<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
