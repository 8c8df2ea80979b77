import type { Folded } from './fold.ts'
import { SCRIPT_NUMBER } from './language-phrases.ts'
import { findWord, SCRIPT_WORDS, WRITTEN_WORDS } from './lexicon.ts'
import { foldScripts, kindOf, type ScriptText, UNIT } from './script-text.ts'
import { findLongest, findWordOrStem } from './script-trie.ts'
import { BREAK, breakTo, emit, newState, type State, type Token } from './token-list.ts'
import { step } from './word-trie.ts'

interface Reading {
  tokens: Token[]
  folded: Pick<Folded, 'visible' | 'at'>
}

/**
 * Reads a text once more for the languages in other scripts. Words in Latin letters and figures are
 * read too, since "FDA" and "250 mcg" stand in texts of any language.
 */
export function readScripts(whole: Folded): Reading {
  const { visible } = whole
  const text = foldScripts(visible.text)
  const state = newState(whole)
  for (let at = 0; at < text.length; ) at = readOne(state, text, at)
  return { tokens: state.tokens, folded: { visible, at: text.at } }
}

/** Reads the word or sign at a place, and returns where the text goes on. */
function readOne(state: State, text: ScriptText, at: number): number {
  const { units } = text
  const kind = kindOf(units[at] as number)
  if (kind === UNIT.space) return at + 1
  if (kind === UNIT.unspaced || kind === UNIT.figure) {
    const [word, end] = findLongest(SCRIPT_WORDS, units, at)
    if (word >= 0) return emitWord(state, word, at, end)
  }
  if (kind === UNIT.figure) return readNumber(state, text, at)
  if (kind === UNIT.unspaced) return emitWord(state, -1, at, at + 1)
  if (kind === UNIT.latin || kind === UNIT.cyrillic) return readLetters(state, text, at)
  if (kind === UNIT.arabic) {
    const end = endOf(text, at, (other) => other === UNIT.arabic)
    return emitWord(state, findArabic(units, at, end), at, end)
  }
  if (kind === UNIT.line) breakTo(state, state.directBreak === BREAK.line ? BREAK.stop : BREAK.line)
  else if (kind === UNIT.end) breakTo(state, BREAK.end)
  else breakTo(state, breakOf(text, at))
  return at + 1
}

function emitWord(state: State, word: number, start: number, end: number): number {
  // One letter or character is a word here.
  state.afterSingle = false
  emit(state, word, start, end)
  return end
}

function endOf({ units }: ScriptText, start: number, isIn: (kind: number) => boolean): number {
  let at = start
  while (isIn(kindOf(units[at] as number))) at += 1
  return at
}

const STOPS = new Set(Array.from('!?。؟', (sign) => sign.charCodeAt(0)))
const PAUSES = new Set(Array.from(';؛', (sign) => sign.charCodeAt(0)))
const JOINTS = new Set(Array.from("-'_/", (sign) => sign.charCodeAt(0)))
const POINT = 46

function breakOf({ units }: ScriptText, at: number): number {
  const unit = units[at] as number
  if (STOPS.has(unit)) return BREAK.end
  // A point within letters hides a word; one before a space ends a sentence.
  if (unit === POINT) return kindOf(units[at + 1] as number) <= UNIT.end ? BREAK.end : BREAK.none
  if (PAUSES.has(unit)) return BREAK.stop
  return JOINTS.has(unit) ? BREAK.none : BREAK.comma
}

const NUMBER = findWord(SCRIPT_NUMBER)

function readNumber(state: State, text: ScriptText, start: number): number {
  const { units } = text
  const isFigure = (at: number) => kindOf(units[at] as number) === UNIT.figure
  let at = start
  while (isFigure(at) || ((units[at] === 44 || units[at] === POINT) && isFigure(at + 1))) at += 1
  return emitWord(state, NUMBER, start, at)
}

/** Latin letters that are written for Cyrillic ones. */
const CYRILLIC = new Map(
  'aа bв cс eе hн kк mм oо pр tт xх yу'
    .split(' ')
    .map(([latin = '', other = '']) => [latin.charCodeAt(0), other.charCodeAt(0)]),
)

/** Reads a word in Latin or Cyrillic letters, or in both: then the Latin ones are disguised. */
function readLetters(state: State, text: ScriptText, start: number): number {
  const { units } = text
  let isCyrillic = false
  const end = endOf(text, start, (kind) => {
    isCyrillic ||= kind === UNIT.cyrillic
    return kind === UNIT.latin || kind === UNIT.cyrillic
  })
  if (!isCyrillic) return emitWord(state, findLatin(units, start, end), start, end)
  for (let at = start; at < end; at += 1) {
    units[at] = CYRILLIC.get(units[at] as number) ?? (units[at] as number)
  }
  return emitWord(state, findWordOrStem(SCRIPT_WORDS, units, start, end), start, end)
}

function findLatin(units: Uint16Array, start: number, end: number): number {
  let node = 0
  for (let at = start; at < end; at += 1) {
    node = step(WRITTEN_WORDS, node, units[at] as number)
    if (node === 0) return -1
  }
  return WRITTEN_WORDS.word[node] as number
}

/** The article, and the short words that are written on to the next. */
const ALEF = 0x627
const LAM = 0x644
const PREFIXES = new Set(Array.from('وفبكلس', (letter) => letter.charCodeAt(0)))
const PREFIXES_MAX = 3

function findArabic(units: Uint16Array, start: number, end: number): number {
  let at = start
  for (let prefixes = 0; prefixes <= PREFIXES_MAX && end - at > 1; prefixes += 1) {
    const word = findWordOrStem(SCRIPT_WORDS, units, at, end)
    if (word >= 0) return word
    if (units[at] === ALEF && units[at + 1] === LAM) at += 2
    else if (PREFIXES.has(units[at] as number)) at += 1
    else return -1
  }
  return -1
}
