import { CONFUSABLES } from './confusables.ts'
import { FIRST_SCRIPT, isOfScript } from './script-text.ts'
import { locateInSource, readVisibleText, type VisibleText } from './visible-text.ts'

/**
 * A text folded to ASCII: lower case, without marks and invisible characters, look-alike characters
 * replaced by the letters they look like. The buffer is reused when the next text is folded.
 */
export interface Folded {
  /** ASCII codes, and a NUL after the last, so that code may look one ahead. */
  units: Uint8Array
  length: number
  visible: VisibleText
  /** The position of each unit in the visible text; null if the positions are the same. */
  at: Uint32Array | null
  /** Whether it has letters of a script with a lexicon of its own. */
  hasScripts: boolean
}

/** The character of the visible text that a unit was folded from. */
export const visibleCharAt = ({ visible, at }: Folded, place: number): number =>
  visible.text.charCodeAt(at === null ? place : (at[place] as number))

/** The position in the source of a part of the folded text. */
export function positionInSource(
  { visible, at }: Pick<Folded, 'visible' | 'at'>,
  start: number,
  end: number,
) {
  if (at === null) return locateInSource(visible, start, end)
  const last = at[end - 1] as number
  const width = (visible.text.codePointAt(last) ?? 0) > 0xffff ? 2 : 1
  return locateInSource(visible, at[start] as number, last + width)
}

/** A letter that looks like no Latin one. It is part of a word, and no word of the rules has it. */
export const OTHER_LETTER = 0x7f
const SEPARATOR = 0x7e
const DROPPED = 1
const SEVERAL = 2
const NUL = 3

/** The folding of every code point, computed on first use: an ASCII code, DROPPED, or SEVERAL. */
const table = new Uint8Array(0x110000)
const several = new Map<number, string>()

/** Scripts of thousands of characters, none of which looks like a Latin letter. */
const isPlainOther = (code: number) =>
  (code >= 0x3400 && code <= 0x9fff) ||
  (code >= 0xac00 && code <= 0xd7a3) ||
  (code >= 0xe000 && code <= 0xf8ff) ||
  (code >= 0x20000 && code <= 0xe0000)

/** \p{DI} are the default-ignorable code points: zero-width characters, soft hyphens, selectors. */
const INVISIBLE = /[\p{M}\p{DI}\p{Cf}\p{Cc}]/u

function foldCodePoint(code: number): string {
  const known = CONFUSABLES.get(code)
  if (known !== undefined) return known
  const char = String.fromCodePoint(code)
  if (/[\t\v\f\r]/.test(char)) return ' '
  if (char === '\n' || code === 0x85 || code === 0x2028 || code === 0x2029) return '\n'
  if (code === 0) return char
  if (INVISIBLE.test(char)) return ''
  let out = ''
  // One code point at a time: over a whole string, normalize() is quadratic in runs of marks.
  for (const part of char.normalize('NFKD')) {
    if (INVISIBLE.test(part)) continue
    const partCode = part.codePointAt(0) ?? 0
    out += CONFUSABLES.get(partCode) ?? toAscii(part.toLowerCase())
  }
  // A result without ASCII letters and figures is cut to one character.
  return /[a-z0-9]/.test(out) ? out : out.slice(0, 1)
}

function toAscii(part: string): string {
  const code = part.codePointAt(0) ?? 0
  if (code < 0x7f) return part
  const known = CONFUSABLES.get(code)
  if (known !== undefined) return known
  if (/[\p{L}\p{N}]/u.test(part)) return String.fromCharCode(OTHER_LETTER)
  if (/\p{Zs}/u.test(part)) return ' '
  if (/[‘’‛′＇]/.test(part)) return "'"
  if (/\p{Pd}|−/u.test(part)) return '-'
  if (/[•·‣⁃◦▪●■]/.test(part)) return ','
  if (/[。｡]/.test(part)) return '.'
  return String.fromCharCode(SEPARATOR)
}

function computeFolding(code: number): number {
  const folded = isPlainOther(code) ? String.fromCharCode(OTHER_LETTER) : foldCodePoint(code)
  let entry = DROPPED
  if (folded.length > 1) {
    several.set(code, folded)
    entry = SEVERAL
  } else if (folded === '\u0000') entry = NUL
  else if (folded !== '') entry = folded.charCodeAt(0)
  table[code] = entry
  return entry
}

/**
 * The folding of printable ASCII: its lower case. 0 for the characters that begin markup and
 * escapes, and for all that is not printable.
 */
const PLAIN = Uint8Array.from({ length: 128 }, (_, unit) => {
  const char = String.fromCharCode(unit)
  return /[\n\x20-\x7e]/.test(char) && !/[<&%\\]/.test(char) ? char.toLowerCase().charCodeAt(0) : 0
})

/** Folds the visible text of a source. Plain ASCII without markup takes a faster path. */
export function fold(source: string): Folded {
  if (foldPlain(source)) {
    const visible = { text: source, steps: [] }
    return { units, length: source.length, visible, at: null, hasScripts: false }
  }
  return foldUnits(readVisibleText(source))
}

/** The longest folding of one code point. Compatibility ligatures of Latin letters are shorter. */
const EXPANSION_MAX = 8

/** Buffers that every text reuses, as long as the longest so far needs. */
let units = new Uint8Array(4_096)
let places = new Uint32Array(4_096)

function ensureRoom(size: number) {
  if (units.length >= size) return
  units = new Uint8Array(size)
  places = new Uint32Array(size)
}

/** Folds a plain text. Returns false at the first character that is not plain. */
function foldPlain(text: string): boolean {
  ensureRoom(text.length + EXPANSION_MAX)
  const into = units
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    const entry = unit < 128 ? (PLAIN[unit] as number) : 0
    if (entry === 0) return false
    into[at] = entry
  }
  into[text.length] = 0
  return true
}

/** Folds any text. Only a text of ligatures grows much, so the first try has little extra room. */
function foldUnits(visible: VisibleText): Folded {
  ensureRoom(visible.text.length + EXPANSION_MAX)
  let length = foldInto(visible.text)
  if (length < 0) {
    ensureRoom((visible.text.length + 1) * EXPANSION_MAX)
    length = foldInto(visible.text)
  }
  units[length] = 0
  return { units, length, visible, at: places, hasScripts: sawScripts }
}

/** Whether the text that was folded last has letters of a script with a lexicon of its own. */
let sawScripts = false

/** Folds a text into the buffers. Returns the number of units written, or -1 if there was no room. */
function foldInto(text: string): number {
  const into = units
  const from = places
  const room = into.length - EXPANSION_MAX
  let length = 0
  sawScripts = false
  for (let at = 0; at < text.length; at += 1) {
    const start = at
    let code = text.charCodeAt(at)
    if (code >= 0xd800 && code <= 0xdbff) {
      code = text.codePointAt(at) as number
      if (code > 0xffff) at += 1
    }
    if (code >= FIRST_SCRIPT && !sawScripts) sawScripts = isOfScript(code)
    const entry = table[code] || computeFolding(code)
    if (entry === DROPPED) continue
    if (length >= room) return -1
    if (entry !== SEVERAL) {
      into[length] = entry === NUL ? 0 : entry
      from[length] = start
      length += 1
      continue
    }
    const expansion = several.get(code) ?? ''
    for (let i = 0; i < expansion.length && i < EXPANSION_MAX; i += 1) {
      into[length] = expansion.charCodeAt(i)
      from[length] = start
      length += 1
    }
  }
  return length
}
