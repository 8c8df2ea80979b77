import { de } from './words/de.ts'
import { en, type Phrases } from './words/en.ts'
import { es } from './words/es.ts'
import { fr } from './words/fr.ts'

/** What is said, and how prices and dates are written, in the store's language. */
export interface Words {
  /** Of the store. What is said is English where we do not speak it. */
  language: string
  say: Phrases
  money(cents: number, currency: string): string
  /** Without the currency, as somebody would type it. */
  amount(cents: number, currency: string): string
  day(iso: string): string
  moment(iso: string): string
  list(words: readonly string[]): string
}

const PHRASES: Readonly<Record<string, Phrases>> = { de, en, es, fr }

const phrasesOf = (language: string): Phrases => {
  const [primary = ''] = language.split('-')
  return Object.hasOwn(PHRASES, primary) ? (PHRASES[primary] ?? en) : en
}

/** What a visitor wants to read where there is no store to say: the first language that we speak. */
export function wordsFor(accepted: string | undefined): Words {
  const wanted = (accepted ?? '').slice(0, 200).split(',')
  const tags = wanted.map((each) => /^\s*([a-z]{2})\b/i.exec(each)?.[1]?.toLowerCase() ?? '')
  return wordsOf(tags.find((tag) => Object.hasOwn(PHRASES, tag)) ?? 'en', 'UTC')
}

/** As many as there are languages and zones in use; what a hostile manifest adds is not kept. */
const MADE_MAX = 1_000

const made = new Map<string, Words>()

/** Formatters are costly to make, and few: one set for each language and time zone. */
export function wordsOf(language: unknown, timeZone: unknown): Words {
  const tag = readLanguage(language)
  const zone = readZone(timeZone)
  const name = `${tag} ${zone}`
  const known = made.get(name)
  if (known !== undefined) return known
  const words = makeWords(tag, zone)
  if (made.size < MADE_MAX) made.set(name, words)
  return words
}

function makeWords(language: string, timeZone: string): Words {
  const currencies = new Map<string, Intl.NumberFormat>()
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone })
  const moment = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone,
  })
  const list = new Intl.ListFormat(language)
  const point = new Intl.NumberFormat(language).format(0.5).includes(',') ? ',' : '.'
  const currencyOf = (currency: string) => {
    const known = currencies.get(currency)
    if (known !== undefined) return known
    const format = new Intl.NumberFormat(language, { style: 'currency', currency })
    currencies.set(currency, format)
    return format
  }
  return {
    language,
    say: phrasesOf(language),
    amount: (cents, currency) => {
      const minor = minorOf(currency)
      const text = (cents / minor).toFixed(String(minor).length - 1)
      return text.replace('.', point)
    },
    money: (cents, currency) => currencyOf(currency).format(cents / minorOf(currency)),
    day: (iso) => day.format(new Date(iso)),
    moment: (iso) => moment.format(new Date(iso)),
    list: (words) => list.format(words),
  }
}

const minors = new Map<string, number>()

/** So many of the smallest coin make one. Formatters are costly to make, and a currency has its coins for good. */
export function minorOf(currency: string): number {
  const known = minors.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const minor = 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)
  minors.set(currency, minor)
  return minor
}

function readLanguage(value: unknown): string {
  try {
    const [tag] = Intl.getCanonicalLocales(typeof value === 'string' ? value : 'en')
    return tag ?? 'en'
  } catch {
    return 'en'
  }
}

function readZone(value: unknown): string {
  const zone = typeof value === 'string' ? value : 'UTC'
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}
