/**
 * A text folded for the scripts that have lexicons of their own: lower case, without marks and
 * invisible characters. The buffers are reused when the next text is folded.
 */
export interface ScriptText {
  /** UTF-16 codes, and a NUL after the last. */
  units: Uint16Array
  length: number
  /** The position of each unit in the visible text. */
  at: Uint32Array
}

/** What a folded unit is. */
export const UNIT = {
  sign: 0,
  space: 1,
  line: 2,
  end: 3,
  figure: 4,
  latin: 5,
  cyrillic: 6,
  arabic: 7,
  /** Chinese and Japanese characters: words without spaces between them. */
  unspaced: 8,
} as const

/** The ranges of code units by what they are. Letters of other scripts count as signs. */
const RANGES: readonly [kind: number, first: number, last: number][] = [
  [UNIT.space, 32, 32],
  [UNIT.line, 10, 10],
  [UNIT.end, 0, 0],
  [UNIT.figure, 48, 57],
  [UNIT.latin, 97, 122],
  [UNIT.cyrillic, 0x400, 0x52f],
  [UNIT.arabic, 0x620, 0x65f],
  [UNIT.arabic, 0x66e, 0x6d3],
  [UNIT.arabic, 0x750, 0x77f],
  [UNIT.unspaced, 0x3005, 0x3007],
  [UNIT.unspaced, 0x3041, 0x30ff],
  [UNIT.unspaced, 0x3400, 0x9fff],
]

const KINDS = new Uint8Array(0x10000)
for (const [kind, first, last] of RANGES) KINDS.fill(kind, first, last + 1)

export const kindOf = (unit: number): number => KINDS[unit] as number

/** The first code point of any of the scripts. */
export const FIRST_SCRIPT = 0x400

/** Whether a code point is of a script with a lexicon of its own, in any of its forms. */
export const isOfScript = (code: number): boolean =>
  (code >= FIRST_SCRIPT && code <= 0x52f) ||
  (code >= 0x620 && code <= 0x77f) ||
  (code >= 0x3005 && code <= 0x9fff) ||
  (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xfb50 && code <= 0xfdff) ||
  (code >= 0xfe70 && code <= 0xfefc) ||
  (code >= 0xff66 && code <= 0xff9d)

/** Arabic letters that are written in several ways. */
const SAME_LETTER = new Map([...'ىي ةه کك یي ھه'.split(' ')].map(([from, to]) => [from, to]))
const TATWEEL = '\u0640'
const INVISIBLE = /[\p{M}\p{DI}\p{Cf}\p{Cc}]/u

/** The longest folding of one code point that is kept: the ligatures in use have two letters. */
const EXPANSION_MAX = 2

function foldCodePoint(code: number): string {
  const char = String.fromCodePoint(code)
  if (code === 0) return char
  if (char === '\n' || code === 0x85 || code === 0x2028 || code === 0x2029) return '\n'
  if (/\s/u.test(char)) return ' '
  // Arabic figures have values of their own and no decomposition.
  if (code >= 0x660 && code <= 0x669) return String(code - 0x660)
  if (code >= 0x6f0 && code <= 0x6f9) return String(code - 0x6f0)
  let out = ''
  for (const part of char.normalize('NFKD')) {
    if (part !== TATWEEL && !INVISIBLE.test(part)) out += SAME_LETTER.get(part) ?? part
  }
  return out.toLowerCase().slice(0, EXPANSION_MAX)
}

/** A word of a lexicon, folded as the texts are. */
export const foldScriptWord = (word: string): string =>
  Array.from(word, (char) => foldCodePoint(char.codePointAt(0) ?? 0)).join('')

const UNKNOWN = 0
const DROPPED = 1
const SEVERAL = 2
const NUL = 3

/** The folding of every code unit, computed on first use. */
const table = new Uint16Array(0x10000)
const several = new Map<number, string>()

function computeFolding(code: number): number {
  const folded = foldCodePoint(code)
  let entry = folded === '' ? DROPPED : folded.charCodeAt(0)
  if (folded.length > 1) {
    several.set(code, folded)
    entry = SEVERAL
  } else if (entry === 0) entry = NUL
  table[code] = entry
  return entry
}

/** Signs that stand between two characters only to hide what they spell. */
const HIDING = new Set(Array.from(' -_.*~|·', (sign) => sign.charCodeAt(0)))

/** The length of the folded text without such signs, if a character stands before them. */
function withoutSigns(length: number): number {
  let end = length
  while (end > 0 && HIDING.has(units[end - 1] as number)) end -= 1
  return end < length && end > 0 && KINDS[units[end - 1] as number] === UNIT.unspaced ? end : length
}

let units = new Uint16Array(1_024)
let places = new Uint32Array(1_024)

/** Folds a visible text. Linear in its length. */
export function foldScripts(text: string): ScriptText {
  const room = text.length * EXPANSION_MAX + 1
  if (units.length < room) {
    units = new Uint16Array(room)
    places = new Uint32Array(room)
  }
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const entry = table[code] === UNKNOWN ? computeFolding(code) : (table[code] as number)
    if (entry === DROPPED) continue
    if (KINDS[entry] === UNIT.unspaced) length = withoutSigns(length)
    const folded = entry === SEVERAL ? (several.get(code) ?? '') : ''
    for (let i = 0; i < Math.max(1, folded.length); i += 1) {
      units[length] = entry === SEVERAL ? folded.charCodeAt(i) : entry === NUL ? 0 : entry
      places[length] = at
      length += 1
    }
  }
  units[length] = 0
  return { units, length, at: places }
}
