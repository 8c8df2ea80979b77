import {
  type FormatNumber,
  type Message,
  type NumberStyle,
  parseMessage,
  placeholdersOf,
  type Value,
  writeMessage,
} from './message.ts'

/**
 * Texts of several languages, each a table of messages: strings, or tables of them. A message without placeholders
 * becomes a string, any other a function of its values.
 */

export interface Table {
  readonly [key: string]: string | Table
}

/**
 * The texts of a table. TypeScript sees the keys of a JSON file and not what its messages say, so that `Placeholders`
 * has the values of each message: it is generated from the English file.
 */
export type TextsOf<T, Placeholders> = {
  readonly [K in keyof T]: K extends keyof Placeholders
    ? T[K] extends string
      ? (values: Placeholders[K]) => string
      : TextsOf<T[K], Placeholders[K]>
    : T[K]
}

export interface Translations<Texts> {
  /** The language of the texts for a language tag: its own, or English where there is no translation. */
  languageOf(tag: string): string
  isTranslated(tag: string): boolean
  /** The texts for a language tag, with the numbers of its region. */
  textsIn(tag: string, format?: FormatNumber): Texts
}

type Values = Readonly<Record<string, Value>>

/** A text, the function that writes it, or a table of both. */
type Shown = string | ((values: Values) => string) | { readonly [key: string]: Shown }

/** The same before the region is known: what says numbers is still a message. */
type Read = string | ((values: Values) => string) | Message | { readonly [key: string]: Read }

interface Language {
  read: Read
  rules: Intl.PluralRules
  /** The texts for every region; null where a text says a number. */
  shared: Shown | null
}

/** Makes texts from the tables of all languages. A language is read when it is first asked for. */
export function translate<T extends object, Placeholders>(
  tables: Readonly<Record<string, T>> & { en: T },
): Translations<TextsOf<T, Placeholders>> {
  const known = new Map<string, Language>()
  const ownLanguage = (tag: string): string => tag.split('-')[0]?.toLowerCase() ?? ''
  const isTranslated = (tag: string) => Object.hasOwn(tables, ownLanguage(tag))
  const languageOf = (tag: string) => (isTranslated(tag) ? ownLanguage(tag) : 'en')
  const readLanguage = (language: string) => {
    const found = known.get(language)
    if (found !== undefined) return found
    const table = (tables[language] ?? tables.en) as Table
    const rules = new Intl.PluralRules(language)
    const read = readTable(table, rules)
    const shown = show(read, { format: String, rules })
    const made = { read, rules, shared: shown === read ? shown : null }
    known.set(language, made)
    return made
  }
  return {
    languageOf,
    isTranslated,
    textsIn(tag, format = String) {
      const { read, rules, shared } = readLanguage(languageOf(tag))
      return (shared ?? show(read, { format, rules })) as TextsOf<T, Placeholders>
    },
  }
}

function readTable(table: Table, rules: Intl.PluralRules): Read {
  const entries = Object.entries(table).map(([key, entry]): [string, Read] => [
    key,
    typeof entry === 'string' ? readText(entry, rules) : readTable(entry, rules),
  ])
  return Object.fromEntries(entries)
}

function readText(text: string, rules: Intl.PluralRules): Read {
  const message = parseMessage(text)
  const kinds = [...placeholdersOf(message).values()]
  if (kinds.length === 0) return message.join('')
  if (kinds.includes('number')) return message
  return (values) => writeMessage(message, values, { format: String, rules })
}

const isMessage = (read: Read): read is Message => Array.isArray(read)

/** Gives what says numbers the style of a region. All else is shared by the regions of a language. */
function show(read: Read, numbers: NumberStyle): Shown {
  if (typeof read === 'string' || typeof read === 'function') return read
  if (isMessage(read)) return (values) => writeMessage(read, values, numbers)
  const entries = Object.entries(read).map(([key, each]) => [key, show(each, numbers)] as const)
  const isShared = entries.every(([key, shown]) => shown === read[key])
  return isShared ? (read as Shown) : Object.fromEntries(entries)
}
