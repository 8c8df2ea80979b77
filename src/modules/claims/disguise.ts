import { type Folded, writtenAt } from './fold.ts'
import { findWord, isKeyWord, LOOKS_OF_WORDS, WRITTEN_WORDS } from './lexicon.ts'
import { step, stepByLooks, walk } from './trie.ts'

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
export function findDisguised(text: string, start: number, end: number): number {
  let letters = 0
  let plain: number | undefined = 0
  let starred: number | undefined = 0
  let looks: number | undefined = 0
  for (let at = start; at < end; at += 1) {
    const unit = text.charCodeAt(at)
    const isSign = KIND[unit] === SIGN
    if (KIND[unit] === LETTER) letters += 1
    if (!isSign) plain = further(plain, unit)
    if (!isSign || isStar(unit)) {
      starred = further(starred, isSign ? STAR : unit)
    }
    if ((!isSign || isLetterLike(unit)) && looks !== undefined) {
      looks = stepByLooks(LOOKS_OF_WORDS, looks, unit) || undefined
    }
    if (plain === undefined && starred === undefined && looks === undefined) return -1
  }
  if (letters === 0) return -1
  const ends = [WRITTEN_WORDS.word[starred ?? 0], WRITTEN_WORDS.word[plain ?? 0]]
  return [...ends, LOOKS_OF_WORDS.word[looks ?? 0]].find((word = -1) => word >= 0) ?? -1
}

const further = (node: number | undefined, unit: number) =>
  node === undefined ? undefined : step(WRITTEN_WORDS, node, unit) || undefined

const STAR = 42
/** The star and what else is put for a letter that everybody can guess. */
export const isStar = (unit: number) => unit === STAR || unit === 35 || unit === 95
export const isLetterLike = (unit: number) =>
  unit === 64 || unit === 36 || unit === 33 || unit === 124

/** "heaIs" with a capital i, "lnject" with a small L, "rnuscle", "vveight". */
export function findByLooks(folded: Folded, start: number, end: number): number {
  const { text } = folded
  let suspect = text.charCodeAt(start) === 108 && !/[aeiouy]/.test(text.charAt(start + 1))
  let doubled = false
  for (let at = start + 1; at < end; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === 105) suspect ||= writtenAt(folded, at) === 73 && hasSmall(folded, start, end)
    else if (unit === 110) doubled ||= text.charCodeAt(at - 1) === 114
    else if (unit === 118) doubled ||= text.charCodeAt(at - 1) === 118
  }
  if (doubled) {
    const word = text.slice(start, end).replaceAll('rn', 'm').replaceAll('vv', 'w')
    const found = findWord(word)
    if (isKeyWord(found)) return found
  }
  if (!suspect) return -1
  return LOOKS_OF_WORDS.word[walk(LOOKS_OF_WORDS, text, start, end)] ?? -1
}

/** Whether any letter is written small: among capitals, a capital i is nothing to wonder at. */
function hasSmall(folded: Folded, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const written = writtenAt(folded, at)
    if (written >= 97 && written <= 122) return true
  }
  return false
}
