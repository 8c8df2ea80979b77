import { type Folded, visibleCharAt } from './fold.ts'
import { isClaimWord, LOOKALIKE_WORDS, WRITTEN_WORDS } from './lexicon.ts'
import { lookUp, step, type WordTrie } from './word-trie.ts'

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

/** The word obfuscated with hyphens, apostrophes, stars or characters for letters, or -1. */
export function findObfuscated(units: Uint8Array, start: number, end: number): number {
  let letters = 0
  let withoutSigns = 0
  let starred = 0
  let lookalike = 0
  for (let at = start; at < end; at += 1) {
    const unit = units[at] as number
    const kind = KIND[unit]
    if (kind === LETTER) letters += 1
    if (kind !== SIGN) withoutSigns = advance(WRITTEN_WORDS, withoutSigns, unit)
    if (kind !== SIGN || isStar(unit)) {
      starred = advance(WRITTEN_WORDS, starred, kind === SIGN ? STAR : unit)
    }
    if (kind !== SIGN || isLetterLike(unit)) lookalike = advance(LOOKALIKE_WORDS, lookalike, unit)
    if (withoutSigns === NO_NODE && starred === NO_NODE && lookalike === NO_NODE) return -1
  }
  if (letters === 0) return -1
  const word = wordAt(WRITTEN_WORDS, starred)
  if (word >= 0) return word
  const other = wordAt(WRITTEN_WORDS, withoutSigns)
  return other >= 0 ? other : wordAt(LOOKALIKE_WORDS, lookalike)
}

/** The node of the trie after a prefix that no word has. */
const NO_NODE = -1

const advance = (trie: WordTrie, node: number, unit: number) =>
  node === NO_NODE ? NO_NODE : step(trie, node, unit) || NO_NODE

const wordAt = ({ word }: WordTrie, node: number) =>
  node === NO_NODE ? -1 : (word[node] as number)

const STAR = 42
/** The star and other characters that replace a letter which any reader can guess. */
export const isStar = (unit: number) => unit === STAR || unit === 35 || unit === 95
export const isLetterLike = (unit: number) =>
  unit === 64 || unit === 36 || unit === 33 || unit === 124

/**
 * The word that letters look like: "heaIs" with a capital i, "lnject" with an l, "rnuscle",
 * "vveight".
 */
export function findLookalike(folded: Folded, start: number, end: number): number {
  const { units } = folded
  let suspect = units[start] === 108 && !isVowel(units[start + 1])
  let doubled = false
  let before = units[start]
  for (let at = start + 1; at < end; at += 1) {
    const unit = units[at]
    if (unit === 105)
      suspect ||= visibleCharAt(folded, at) === 73 && hasLowerCase(folded, start, end)
    else if (unit === 110) doubled ||= before === 114
    else if (unit === 118) doubled ||= before === 118
    before = unit
  }
  if (doubled) {
    const found = findJoined(units, start, end)
    if (isClaimWord(found)) return found
  }
  return suspect ? lookUp(LOOKALIKE_WORDS, units, start, end) : -1
}

const VOWELS = Array.from('aeiouy', (vowel) => vowel.charCodeAt(0))
const isVowel = (unit: number | undefined) => unit !== undefined && VOWELS.includes(unit)

/** The word if every "rn" is read as m and every "vv" as w, or -1. */
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

/** Whether any letter is in lower case: among capitals, a capital i is no look-alike. */
function hasLowerCase(folded: Folded, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const written = visibleCharAt(folded, at)
    if (written >= 97 && written <= 122) return true
  }
  return false
}
