import { isCountry } from '../../manifest/countries.ts'
import { isolated, isRightToLeft, writeMoney } from '../../manifest/right-to-left.ts'
import { isTranslated, type Texts, textsIn } from './texts.ts'

/**
 * The fixed texts of a store's pages, and the form of prices and dates, in the store's language.
 */
export interface Locale {
  /** The store's language. Its texts are English where there is no translation. */
  language: string
  /** Which way pages are written: as the fixed texts are, so that no page is mirrored by half. */
  direction: 'ltr' | 'rtl'
  /** Whether the language is written from right to left: then texts of both directions stand side by side. */
  isRightToLeft: boolean
  texts: Texts
  formatNumber(count: number): string
  formatMoney(cents: number, currency: string): string
  /** Writes an amount without its currency, as a shopper types it into a field. */
  formatAmount(cents: number, currency: string): string
  /** The name of a country, by its ISO 3166-1 code. Any other text stays as it is. */
  countryName(code: string): string
  /** A rate in hundredths of a percent. */
  formatRate(bps: number): string
  /** The date and the time. */
  formatTime(iso: string): string
  /** The date alone, of a time or of a day such as `2026-12-24`. */
  formatDay(iso: string): string
  /** Some days in a row, such as `2026-12-24` to `2026-12-28`, with their weekdays. */
  formatDays(first: string, last: string): string
  formatDate(iso: string): string
  /** The date as a date field has it: `2027-01-31`. */
  dateValue(iso: string): string
  formatList(entries: readonly string[]): string
}

/**
 * The locale of a page that belongs to no store: the first translated language that the browser
 * accepts.
 */
export function getAcceptedLocale(acceptLanguage: string | undefined): Locale {
  const accepted = (acceptLanguage ?? '').slice(0, 200).split(',')
  const tags = accepted.map((each) => /^\s*([a-z]{2})\b/i.exec(each)?.[1]?.toLowerCase() ?? '')
  return getLocale(tags.find(isTranslated) ?? 'en', 'UTC')
}

/** More than the languages and time zones in use. Hostile manifests beyond that are not kept. */
const LOCALES_MAX = 1_000

const locales = new Map<string, Locale>()

/** One locale for each language and time zone, because formatters are costly to make. */
export function getLocale(language: unknown, timeZone: unknown): Locale {
  const tag = readLanguage(language)
  const zone = readTimeZone(timeZone)
  const name = `${tag} ${zone}`
  const known = locales.get(name)
  if (known !== undefined) return known
  const locale = createLocale(tag, zone)
  if (locales.size < LOCALES_MAX) locales.set(name, locale)
  return locale
}

/** A day without a time, which is the same day in every zone. */
const CALENDAR_DAY = /^\d{4}-\d\d-\d\d$/

function createLocale(language: string, timeZone: string): Locale {
  const currencies = new Map<string, Intl.NumberFormat>()
  const time = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  })
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone })
  const calendarDay = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' })
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone })
  const days = new Intl.DateTimeFormat(language, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
  // Canada writes dates as date fields do.
  const plainDate = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const list = new Intl.ListFormat(language)
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 })
  const regions = new Intl.DisplayNames(language, { type: 'region' })
  const number = new Intl.NumberFormat(language)
  const formatNumber = (count: number) => number.format(count)
  const point = formatNumber(0.5).includes(',') ? ',' : '.'
  const currencyFormat = (currency: string) => {
    const known = currencies.get(currency)
    if (known !== undefined) return known
    const format = new Intl.NumberFormat(language, { style: 'currency', currency })
    currencies.set(currency, format)
    return format
  }
  const isTurned = isRightToLeft(language)
  const write = (text: string) => (isTurned ? isolated(text) : text)
  return {
    language,
    direction: isTurned && isTranslated(language) ? 'rtl' : 'ltr',
    isRightToLeft: isTurned,
    texts: textsIn(language, formatNumber),
    formatNumber,
    countryName: (code) => (isCountry(code) ? (regions.of(code) ?? code) : code),
    formatAmount: (cents, currency) => decimalAmount(cents, currency).replace('.', point),
    formatMoney: (cents, currency) =>
      writeMoney(currencyFormat(currency), cents / 10 ** fractionDigits(currency), isTurned),
    formatRate: (bps) => percent.format(bps / 10_000),
    formatTime: (iso) => write(time.format(new Date(iso))),
    formatDay: (iso) => write((CALENDAR_DAY.test(iso) ? calendarDay : day).format(new Date(iso))),
    formatDays: (first, last) => write(days.formatRange(new Date(first), new Date(last))),
    formatDate: (iso) => write(date.format(new Date(iso))),
    dateValue: (iso) => plainDate.format(new Date(iso)),
    formatList: (entries) => list.format(entries),
  }
}

/** An amount with a decimal point, whatever the language: `12.50`. */
export function decimalAmount(cents: number, currency: string): string {
  const digits = fractionDigits(currency)
  return (cents / 10 ** digits).toFixed(digits)
}

const digitsByCurrency = new Map<string, number>()

/** How many digits an amount has behind the point: two for dollars, none for yen. */
export function fractionDigits(currency: string): number {
  const known = digitsByCurrency.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  digitsByCurrency.set(currency, digits)
  return digits
}

/** Longer than any language or time zone; a tag with private parts may have any length. */
const NAME_LENGTH_MAX = 100

const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= NAME_LENGTH_MAX

function readLanguage(value: unknown): string {
  try {
    const [tag] = Intl.getCanonicalLocales(isShort(value) ? value : 'en')
    return tag ?? 'en'
  } catch {
    return 'en'
  }
}

function readTimeZone(value: unknown): string {
  const zone = isShort(value) ? value : 'UTC'
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}
