import { type Message, parseMessage, placeholdersOf } from './message.ts'
import type { Table } from './messages.ts'

/**
 * Compares a translation with English: the same keys and placeholders, the forms of plurals that the
 * language has, plain text. Each fault is one line that begins with the key.
 */
export function findFaults(language: string, own: Table, english: Table): string[] {
  const plurals = pluralsOf(language)
  const [ours, theirs] = [entriesOf(own), entriesOf(english)]
  return [
    ...[...theirs.keys()].filter((key) => !ours.has(key)).map((key) => `${key}: is missing`),
    ...[...ours].flatMap(([key, text]) => {
      const source = theirs.get(key)
      if (source === undefined) return [`${key}: is not a key of the English file`]
      return faultsOfText(plurals, text, source).map((fault) => `${key}: ${fault}`)
    }),
  ]
}

/** The messages of a table by their keys; a key in a table within it is `table.key`. */
export function entriesOf(table: Table, before = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [key, entry] of Object.entries(table)) {
    if (typeof entry === 'string') found.set(`${before}${key}`, entry)
    else for (const each of entriesOf(entry, `${before}${key}.`)) found.set(...each)
  }
  return found
}

function faultsOfText(plurals: Plurals, text: string, source: string): string[] {
  if (text.trim() === '') return ['is empty']
  if (text.trim() !== text) return ['begins or ends with a space']
  if (/[<>]|&#?\w+;/.test(text)) return ['has HTML']
  let message: Message
  try {
    message = parseMessage(text)
  } catch (error) {
    return [`has ${(error as Error).message}`]
  }
  const [used, wanted] = [placeholderList(message), placeholderList(parseMessage(source))]
  if (used !== wanted)
    return [`has the placeholders ${used || 'none'} instead of ${wanted || 'none'}`]
  return wrongForms(plurals, message)
}

const placeholderList = (message: Message): string =>
  [...placeholdersOf(message)]
    .map(([name, kind]) => (kind === 'number' ? `${name} (number)` : name))
    .sort()
    .join(', ')

interface Plurals {
  needed: readonly string[]
  known: readonly string[]
}

/** Numbers up to here show all forms of a language but those of millions, which some have (`1 million de produits`). */
const COUNTED_MAX = 1_000

function pluralsOf(language: string): Plurals {
  const rules = new Intl.PluralRules(language)
  const needed = new Set(Array.from({ length: COUNTED_MAX }, (_, count) => rules.select(count)))
  return { needed: [...needed], known: rules.resolvedOptions().pluralCategories }
}

function wrongForms({ needed, known }: Plurals, message: Message): string[] {
  return message.flatMap((part) => {
    if (typeof part === 'string' || part.kind !== 'plural') return []
    const forms = [...part.forms.keys()]
    const missing = needed.filter((form) => !part.forms.has(form))
    const idle = forms.filter((form) => !form.startsWith('=') && !known.includes(form))
    return [
      ...missing.map((form) => `has no form ${form} for {${part.name}}`),
      ...idle.map(
        (form) => `has the form ${form} for {${part.name}}, which the language never uses`,
      ),
    ]
  })
}
