/**
 * One message: text with placeholders, in a part of ICU MessageFormat (decision 0080).
 *
 *   {name}                              the value as it is
 *   {count, number}                     the number as the region writes it
 *   {count, plural, one {# product} other {# products}}
 *                                       the form that the language has for the number; `#` is the number as the region
 *                                       writes it, and `=0 {…}` is for this number alone
 */

export type Value = string | number

export type FormatNumber = (value: number) => string

interface PlainValue {
  kind: 'value'
  name: string
}

interface FormattedNumber {
  kind: 'number'
  name: string
}

interface Plural {
  kind: 'plural'
  name: string
  /** By `=0` for a number, or by a category of `Intl.PluralRules`. There is always `other`. */
  forms: ReadonlyMap<string, Message>
}

type Part = string | PlainValue | FormattedNumber | Plural

export type Message = readonly Part[]

/** How numbers are written, and which form of a plural they take. */
export interface NumberStyle {
  format: FormatNumber
  rules: Intl.PluralRules
}

const NAME = /\s*([A-Za-z]\w*)\s*/y
const KIND = /,\s*(number|plural)\s*/y
const FORM = /\s*(=\d+|zero|one|two|few|many|other)\s*\{/y
const SPACE = /\s*/y
const TEXT = /[^{}]+/y
/** In a form of a plural `#` is its number. */
const COUNTED_TEXT = /[^{}#]+/y

/** Reads a message, or throws an error that says where it is not one. */
export function parseMessage(source: string): Message {
  const reader = new Reader(source)
  const message = reader.message(null)
  if (!reader.isAtEnd()) throw reader.fault('a } without its {')
  return message
}

class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  isAtEnd(): boolean {
    return this.#at === this.#source.length
  }

  fault(what: string): Error {
    return new Error(`${what} at character ${this.#at + 1} of "${this.#source}"`)
  }

  /** Reads until the end, or the brace that ends a form of the plural of `counted`. */
  message(counted: string | null): Message {
    const parts: Part[] = []
    while (!this.isAtEnd() && this.#next() !== '}') parts.push(this.#part(counted))
    return parts
  }

  #part(counted: string | null): Part {
    const text = this.#read(counted === null ? TEXT : COUNTED_TEXT)
    if (text === undefined) {
      const mark = this.#next()
      this.#at += 1
      return mark === '#' ? { kind: 'number', name: counted ?? '' } : this.#placeholder()
    }
    // In ICU this apostrophe would quote the brace, so that translators' tools read another message than we do.
    const isQuoted = text.endsWith("'") && /[{}]/.test(this.#next())
    if (isQuoted) throw this.fault('an apostrophe before a brace (write ’)')
    return text
  }

  #next(): string {
    return this.#source[this.#at] ?? ''
  }

  #placeholder(): Part {
    const name = this.#read(NAME) ?? ''
    if (name === '') throw this.fault('a placeholder without a name')
    const kind = this.#read(KIND)
    const part = kind === 'plural' ? this.#plural(name) : this.#value(name, kind)
    this.#close()
    return part
  }

  #value(name: string, kind: string | undefined): Part {
    return { kind: kind === 'number' ? 'number' : 'value', name }
  }

  #plural(name: string): Plural {
    if (this.#read(/,/y) === undefined) throw this.fault('a plural without forms')
    const forms = new Map<string, Message>()
    for (let form = this.#read(FORM); form !== undefined; form = this.#read(FORM)) {
      if (forms.has(form)) throw this.fault(`a second form ${form}`)
      forms.set(form, this.message(name))
      this.#close()
    }
    this.#read(SPACE)
    if (!forms.has('other')) throw this.fault('a plural without the form other')
    return { kind: 'plural', name, forms }
  }

  #close() {
    if (this.#next() !== '}') throw this.fault('no } where a placeholder or form ends')
    this.#at += 1
  }

  /** Reads what a sticky pattern finds here: its group, or all of it; undefined where it finds nothing. */
  #read(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found === null) return undefined
    this.#at = pattern.lastIndex
    return found[1] ?? found[0]
  }
}

/** Writes a message with its values. */
export function writeMessage(
  message: Message,
  values: Readonly<Record<string, Value>>,
  numbers: NumberStyle,
): string {
  let text = ''
  for (const part of message) {
    if (typeof part === 'string') text += part
    else if (part.kind === 'value') text += values[part.name]
    else {
      const value = Number(values[part.name])
      text +=
        part.kind === 'number'
          ? numbers.format(value)
          : writeMessage(chooseForm(part, value, numbers.rules), values, numbers)
    }
  }
  return text
}

const chooseForm = ({ forms }: Plural, value: number, rules: Intl.PluralRules): Message =>
  forms.get(`=${value}`) ?? forms.get(rules.select(value)) ?? forms.get('other') ?? []

/** The placeholders of a message by their names. A name that counts anywhere in it is a number. */
export function placeholdersOf(message: Message): Map<string, 'value' | 'number'> {
  const found = new Map<string, 'value' | 'number'>()
  for (const part of message) {
    if (typeof part === 'string') continue
    if (part.kind !== 'plural') note(found, part.name, part.kind)
    else {
      note(found, part.name, 'number')
      for (const form of part.forms.values()) {
        for (const [name, kind] of placeholdersOf(form)) note(found, name, kind)
      }
    }
  }
  return found
}

function note(found: Map<string, 'value' | 'number'>, name: string, kind: 'value' | 'number') {
  if (found.get(name) !== 'number') found.set(name, kind)
}
