import { CONFUSABLES } from './confusables.ts'
import { locate, readMarkup, type View } from './markup.ts'

/**
 * A text as its reader would spell it in ASCII: lower case, without marks and invisible characters,
 * look-alikes read as what they look like. It is written over when the next text is folded.
 */
export interface Folded {
  /** ASCII codes. Behind the last there is room for a look ahead, and a NUL in it. */
  units: Uint8Array
  length: number
  view: View
  /** Where in the view each unit was written; null when it is the same place. */
  at: Uint32Array | null
}

/** The unit of the view that a unit of the folded text was read from. */
export const writtenAt = ({ view, at }: Folded, place: number): number =>
  view.text.charCodeAt(at === null ? place : (at[place] as number))

/** Where a part of the folded text stands in the source. */
export function placeOf({ view, at }: Folded, start: number, end: number) {
  if (at === null) return locate(view, start, end)
  const last = at[end - 1] as number
  const width = (view.text.codePointAt(last) ?? 0) > 0xffff ? 2 : 1
  return locate(view, at[start] as number, last + width)
}

/** A letter that stands for no Latin one. It is part of a word, and no word of ours has it. */
export const OTHER_LETTER = 0x7f
const SEPARATOR = 0x7e
const DROPPED = 1
const SEVERAL = 2
const NUL = 3

/** What every code point folds to, found when first met: an ASCII code, DROPPED, or SEVERAL. */
const table = new Uint8Array(0x110000)
const several = new Map<number, string>()

/** Scripts of thousands of characters, none of which is taken for a Latin letter. */
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
  // What has no letter of ours in it need not be as long as it is.
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

function learn(code: number): number {
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
 * What printable ASCII folds to when nothing around it matters: itself in lower case. 0 for what
 * markup and escapes begin with, and for all that is not printable.
 */
const PLAIN = Uint8Array.from({ length: 128 }, (_, unit) => {
  const char = String.fromCharCode(unit)
  return /[\n\x20-\x7e]/.test(char) && !/[<&%]/.test(char) ? char.toLowerCase().charCodeAt(0) : 0
})

/** Folds a text after its markup has been read. Plain text has none and takes the short way. */
export function fold(source: string): Folded {
  if (foldPlain(source)) {
    return { units, length: source.length, view: { text: source, steps: [] }, at: null }
  }
  return foldUnits(readMarkup(source))
}

/** The longest a single code point may become; compatibility ligatures of Latin stay below it. */
const EXPANSION_MAX = 8

/** Written over for every text, and grown to the longest. */
let units = new Uint8Array(4_096)
let places = new Uint32Array(4_096)

function makeRoom(size: number) {
  if (units.length >= size) return
  units = new Uint8Array(size)
  places = new Uint32Array(size)
}

/** Whether the text was plain to its end; then it is folded. */
function foldPlain(text: string): boolean {
  makeRoom(text.length + EXPANSION_MAX)
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

/**
 * A text of ligatures becomes several times as long, any other does not: so that is tried first.
 */
function foldUnits(view: View): Folded {
  makeRoom(view.text.length + EXPANSION_MAX)
  let length = foldInto(view.text)
  if (length < 0) {
    makeRoom((view.text.length + 1) * EXPANSION_MAX)
    length = foldInto(view.text)
  }
  units[length] = 0
  return { units, length, view, at: places }
}

/** How many units were written, or -1 when there was no room. */
function foldInto(text: string): number {
  const into = units
  const from = places
  const room = into.length - EXPANSION_MAX
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const start = at
    let code = text.charCodeAt(at)
    if (code >= 0xd800 && code <= 0xdbff) {
      code = text.codePointAt(at) as number
      if (code > 0xffff) at += 1
    }
    const entry = table[code] || learn(code)
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
