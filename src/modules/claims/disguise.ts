import { type Folded, writtenAt } from './fold.ts'
import { isKeyWord, LOOKS_OF_WORDS, WRITTEN_WORDS } from './lexicon.ts'
import { lookUp, step, type Trie } from './trie.ts'

export const SPACE = 1
export const LETTER = 2
export const FIGURE = 3
export const SIGN = 4

/** What kind of character an ASCII code is. */
export const KIND = new Uint8Array(128).fill(SIGN)
for (const unit of [0, 10, 32]) KIND[unit] = SPACE
for (let unit = 97; unit <= 122; unit += 1) KIND[unit] = LETTER
KIND[127] = LETTER
for (let unit = 48; unit <= 57; unit += 1) KIND[unit] = FIGURE

/** A word in disguise as a whole: with hyphens, apostrophes, stars, or signs for letters. */
export function findDisguised(units: Uint8Array, start: number, end: number): number {
  let letters = 0
  let plain = 0
  let starred = 0
  let looks = 0
  for (let at = start; at < end; at += 1) {
    const unit = units[at] as number
    const kind = KIND[unit]
    if (kind === LETTER) letters += 1
    if (kind !== SIGN) plain = further(WRITTEN_WORDS, plain, unit)
    if (kind !== SIGN || isStar(unit)) {
      starred = further(WRITTEN_WORDS, starred, kind === SIGN ? STAR : unit)
    }
    if (kind !== SIGN || isLetterLike(unit)) looks = further(LOOKS_OF_WORDS, looks, unit)
    if (plain === ASTRAY && starred === ASTRAY && looks === ASTRAY) return -1
  }
  if (letters === 0) return -1
  const word = wordAt(WRITTEN_WORDS, starred)
  if (word >= 0) return word
  const other = wordAt(WRITTEN_WORDS, plain)
  return other >= 0 ? other : wordAt(LOOKS_OF_WORDS, looks)
}

/** Where no word leads to. */
const ASTRAY = -1

const further = (trie: Trie, node: number, unit: number) =>
  node === ASTRAY ? ASTRAY : step(trie, node, unit) || ASTRAY

const wordAt = ({ word }: Trie, node: number) => (node === ASTRAY ? -1 : (word[node] as number))

const STAR = 42
/** The star and what else is put for a letter that everybody can guess. */
export const isStar = (unit: number) => unit === STAR || unit === 35 || unit === 95
export const isLetterLike = (unit: number) =>
  unit === 64 || unit === 36 || unit === 33 || unit === 124

/** "heaIs" with a capital i, "lnject" with a small L, "rnuscle", "vveight". */
export function findByLooks(folded: Folded, start: number, end: number): number {
  const { units } = folded
  let suspect = units[start] === 108 && !isVowel(units[start + 1])
  let doubled = false
  let before = units[start]
  for (let at = start + 1; at < end; at += 1) {
    const unit = units[at]
    if (unit === 105) suspect ||= writtenAt(folded, at) === 73 && hasSmall(folded, start, end)
    else if (unit === 110) doubled ||= before === 114
    else if (unit === 118) doubled ||= before === 118
    before = unit
  }
  if (doubled) {
    const found = findJoined(units, start, end)
    if (isKeyWord(found)) return found
  }
  return suspect ? lookUp(LOOKS_OF_WORDS, units, start, end) : -1
}

const VOWELS = Array.from('aeiouy', (vowel) => vowel.charCodeAt(0))
const isVowel = (unit: number | undefined) => unit !== undefined && VOWELS.includes(unit)

/** The word that is read where every "rn" is taken for an m and every "vv" for a w, or -1. */
function findJoined(units: Uint8Array, start: number, end: number): number {
  let node = 0
  for (let at = start; at < end; at += 1) {
    const unit = units[at] as number
    const next = at + 1 < end ? units[at + 1] : 0
    const joined = unit === 114 && next === 110 ? 109 : unit === 118 && next === 118 ? 119 : 0
    node = step(WRITTEN_WORDS, node, joined || unit)
    if (node === 0) return -1
    if (joined !== 0) at += 1
  }
  return WRITTEN_WORDS.word[node] as number
}

/** Whether any letter is written small: among capitals, a capital i is nothing to wonder at. */
function hasSmall(folded: Folded, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const written = writtenAt(folded, at)
    if (written >= 97 && written <= 122) return true
  }
  return false
}
