import { isCountry } from '../../../manifest/countries.ts'
import { isolated, isRightToLeft, writeMoney } from '../../../manifest/right-to-left.ts'

/** How amounts, dates and countries are written in a store's language. */
export interface Formats {
  money(cents: number, currency: string): string
  /** A rate in hundredths of a percent. */
  rate(bps: number): string
  date(iso: string): string
  country(code: string): string
}

/** How many formats are cached, at some kilobytes each. When there are more, the map starts again empty. */
const FORMATS_MAX = 500

const known = new Map<string, Formats>()

/** Returns the formats of a language and a time zone. They are cached, because formatters are costly to make. */
export function formatsOf(language: string, timeZone: string): Formats {
  const name = `${language} ${timeZone}`
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= FORMATS_MAX) known.clear()
  const made = createFormats(language, timeZone)
  known.set(name, made)
  return made
}

function createFormats(language: string, timeZone: string): Formats {
  const currencies = new Map<string, { format: Intl.NumberFormat; unit: number }>()
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone })
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 })
  const regions = new Intl.DisplayNames(language, { type: 'region' })
  const isTurned = isRightToLeft(language)
  const currencyOf = (currency: string) => {
    const found = currencies.get(currency)
    if (found !== undefined) return found
    const format = new Intl.NumberFormat(language, { style: 'currency', currency })
    const made = { format, unit: 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2) }
    currencies.set(currency, made)
    return made
  }
  return {
    money: (cents, currency) => {
      const { format, unit } = currencyOf(currency)
      return writeMoney(format, cents / unit, isTurned)
    },
    rate: (bps) => percent.format(bps / 10_000),
    date: (iso) => {
      const text = date.format(new Date(iso))
      return isTurned ? isolated(text) : text
    },
    country: (code) => (isCountry(code) ? (regions.of(code) ?? code) : code),
  }
}
