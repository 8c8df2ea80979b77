import {
  FIGURE,
  findByLooks,
  findDisguised,
  isLetterLike,
  isStar,
  KIND,
  LETTER,
  SIGN,
  SPACE,
} from './disguise.ts'
import { type Folded, writtenAt } from './fold.ts'
import {
  findWord,
  isKeyWord,
  LOOKS_OF_WORDS,
  NUMBER,
  SMALL_NUMBER,
  WRITTEN_WORDS,
} from './lexicon.ts'
import { BREAK, emit, emitPiece, type State, type Token } from './token-list.ts'
import { step, walk } from './trie.ts'

const DISGUISE_MAX = 64
const UNITS = new Set('mg mcg ug iu ml mls cc g kg kgs lbs lb mgs mcgs x ius'.split(' '))

/** The known words of a text in order. Linear: a run of text is read a fixed number of times. */
export function tokenize(folded: Folded): Token[] {
  const state: State = {
    folded,
    tokens: [],
    order: 0,
    directBreak: BREAK.none,
    breakBefore: BREAK.none,
    afterQuestion: false,
    pieces: [],
    afterSingle: false,
  }
  const { text } = folded
  for (let at = 0; at < text.length; ) {
    const start = at
    while (at < text.length && KIND[text.charCodeAt(at)] === SPACE) at += 1
    if (at > start && (at - start > 1 || text.charCodeAt(start) !== 32)) readSpace(state, start, at)
    const run = at
    while (KIND[text.charCodeAt(at)] === LETTER) at += 1
    if (at > run && (at === text.length || KIND[text.charCodeAt(at)] === SPACE)) {
      emitLetters(state, run, at)
      continue
    }
    while (at < text.length && KIND[text.charCodeAt(at)] !== SPACE) at += 1
    if (at > run) readRun(state, run, at)
  }
  return state.tokens
}

function readSpace(state: State, start: number, end: number) {
  let lines = 0
  for (let at = start; at < end; at += 1) {
    const unit = state.folded.text.charCodeAt(at)
    if (unit === 0) breakTo(state, BREAK.end)
    else if (unit === 10) lines += 1
  }
  if (lines > 0) breakTo(state, lines > 1 ? BREAK.stop : BREAK.line)
}

function breakTo(state: State, level: number) {
  state.directBreak = Math.max(state.directBreak, level)
  state.breakBefore = Math.max(state.breakBefore, level)
}

/** A run between spaces that is not letters alone: a word and its punctuation, or stranger things. */
function readRun(state: State, start: number, end: number) {
  const { text } = state.folded
  let first = start
  let last = end
  while (first < last && !isInner(text, first, 1)) first += 1
  while (last > first && !isInner(text, last - 1, -1)) last -= 1
  if (first > start) breakTo(state, BREAK.comma)
  if (first === last) return readPunctuation(state, start, end, 0)
  let letters = first
  while (letters < last && KIND[text.charCodeAt(letters)] === LETTER) letters += 1
  if (letters === last) emitLetters(state, first, last)
  else readMixed(state, first, last)
  if (last < end) readPunctuation(state, last, end, last - first)
}

/** A letter or figure, or a sign that is read as a letter because one stands beside it. */
function isInner(text: string, at: number, towards: 1 | -1): boolean {
  const unit = text.charCodeAt(at)
  const kind = KIND[unit]
  if (kind === LETTER || kind === FIGURE) return true
  return (unit === 36 || unit === 64) && KIND[text.charCodeAt(at + towards)] === LETTER
}

/** The signs from `start` on, after a word of `length`. */
function readPunctuation(state: State, start: number, end: number, length: number) {
  const { text } = state.folded
  // Whatever stands behind the first few signs changes nothing.
  const signs = text.slice(start, Math.min(end, start + 8))
  if (/[.!?]/.test(signs) && !signs.includes('..')) {
    // An abbreviation's last point, or one between spaced-out letters, ends nothing.
    const short = length === 1 || (length < 12 && text.slice(start - length, start).includes('.'))
    if (signs === '.' && short) return breakTo(state, BREAK.comma)
    if (signs.includes('?')) state.afterQuestion = true
    return breakTo(state, beginsSmall(state, end) ? BREAK.stop : BREAK.end)
  }
  return breakTo(state, signs.includes(';') ? BREAK.stop : BREAK.comma)
}

/** Whether the text goes on in lower case: then a full stop may be there to hide a claim. */
function beginsSmall({ folded }: State, at: number): boolean {
  const { text } = folded
  let next = at
  while (next < text.length && KIND[text.charCodeAt(next)] === SPACE) {
    if (text.charCodeAt(next) === 0) return false
    next += 1
  }
  const unit = next < text.length ? writtenAt(folded, next) : 0
  return unit >= 97 && unit <= 122
}

/** A figure, an amount, a disguised word, or several of these with signs between them. */
function readMixed(state: State, start: number, end: number) {
  if (readWhole(state, start, end)) return
  const { text } = state.folded
  for (let at = start; at < end; ) {
    const part = at
    while (at < end && !isBetween(text.charCodeAt(at))) at += 1
    const isWhole = at - part === end - start
    if (at > part && (isWhole || at - part === 1 || !readWhole(state, part, at))) {
      readParts(state, part, at)
    }
    const signs = at
    while (at < end && isBetween(text.charCodeAt(at))) at += 1
    if (at > signs) readBetween(state, signs, at)
  }
}

/** Signs that part words, as opposed to those that may be put for a letter. */
const isBetween = (unit: number) =>
  KIND[unit] === SIGN && !isStar(unit) && !isLetterLike(unit) && unit !== 46 && unit !== 126

function readWhole(state: State, start: number, end: number): boolean {
  if (emitAmount(state, start, end)) return true
  if (end - start > DISGUISE_MAX) return false
  const whole = findDisguised(state.folded.text, start, end)
  if (whole < 0) return false
  emitPiece(state, whole, start, end)
  return true
}

/** Every row of letters and figures for itself. */
function readParts(state: State, start: number, end: number) {
  const { text } = state.folded
  for (let at = start; at < end; ) {
    const signs = at
    while (at < end && KIND[text.charCodeAt(at)] === SIGN) at += 1
    if (at > signs) readBetween(state, signs, at)
    const part = at
    while (KIND[text.charCodeAt(at)] === LETTER && at < end) at += 1
    if (at < end && KIND[text.charCodeAt(at)] === FIGURE) {
      while (at < end && (KIND[text.charCodeAt(at)] ?? SIGN) < SIGN) at += 1
      readPart(state, part, at)
    } else if (at > part) emitLetters(state, part, at)
  }
}

const PER = findWord('per')
const AND = findWord('and')

function readBetween(state: State, start: number, end: number) {
  const unit = state.folded.text.charCodeAt(start)
  if (end - start > 1) return breakTo(state, BREAK.comma)
  if (unit === 45 || unit === 39 || unit === 95 || unit === 126) return
  if (unit === 47) emit(state, PER, start, end)
  else if (unit === 38 || unit === 43) emit(state, AND, start, end)
  else breakTo(state, unit === 59 ? BREAK.stop : BREAK.comma)
}

/** Letters and figures without a sign between them. */
function readPart(state: State, start: number, end: number) {
  const { text } = state.folded
  if (emitAmount(state, start, end)) return
  const node = walk(LOOKS_OF_WORDS, text, start, end)
  const alike = LOOKS_OF_WORDS.word[node] ?? -1
  if (alike >= 0) return emit(state, alike, start, end)
  emitPiece(state, -1, start, end)
}

/** "250", "2.5", "250mcg", "3x": a number, and its unit as a word of its own. */
function emitAmount(state: State, start: number, end: number): boolean {
  const { text } = state.folded
  let at = start
  while (at < end && isOfNumber(text, at, end)) at += 1
  if (at === start || end - at > 4) return false
  const unit = text.slice(at, end)
  if (unit !== '' && !UNITS.has(unit)) return false
  const value = at - start > 3 ? 1_000 : Number(text.slice(start, at).replaceAll(',', ''))
  const word = value <= 20 ? SMALL_NUMBER : NUMBER
  if (end - start === 1) emitPiece(state, word, start, end)
  else emit(state, word, start, at)
  if (unit !== '') emit(state, findWord(unit === 'x' ? 'times' : unit), at, end)
  return true
}

/** A figure, or a point or comma between two. */
function isOfNumber(text: string, at: number, end: number): boolean {
  const unit = text.charCodeAt(at)
  if (KIND[unit] === FIGURE) return true
  return (unit === 44 || unit === 46) && at + 1 < end && KIND[text.charCodeAt(at + 1)] === FIGURE
}

/** A word of letters alone: known as it is, known by its looks, several words in one, or none. */
function emitLetters(state: State, start: number, end: number) {
  const { text } = state.folded
  let node = 0
  let at = start
  let hasKeyWithin = false
  while (at < end) {
    node = step(WRITTEN_WORDS, node, text.charCodeAt(at))
    if (node === 0) break
    at += 1
    if (at - start >= 3 && at < end) hasKeyWithin ||= isKeyWord(WRITTEN_WORDS.word[node] ?? -1)
  }
  const known = node === 0 ? -1 : (WRITTEN_WORDS.word[node] ?? -1)
  if (known >= 0) return emitPiece(state, known, start, end)
  const length = end - start
  if (length >= 3 && length <= 32) {
    const alike = findByLooks(state.folded, start, end)
    if (alike >= 0) return emit(state, alike, start, end)
    if (hasKeyWithin && length >= 6 && emitSegments(state, start, end)) return
  }
  emitPiece(state, -1, start, end)
}

/** Words written together ("curescancer"), if nothing else is left between them. */
function emitSegments(state: State, start: number, end: number): boolean {
  const { text } = state.folded
  const nextAfter = new Map<number, number>([[end, end]])
  for (let at = end - 3; at >= start; at -= 1) {
    let node = 0
    for (let stop = at; stop < end; ) {
      node = step(WRITTEN_WORDS, node, text.charCodeAt(stop))
      if (node === 0) break
      stop += 1
      const whole = stop - at >= 3 && nextAfter.has(stop)
      if (whole && isKeyWord(WRITTEN_WORDS.word[node] ?? -1)) nextAfter.set(at, stop)
    }
  }
  if (!nextAfter.has(start)) return false
  for (let at = start; at < end; ) {
    const stop = nextAfter.get(at) ?? end
    emit(state, findWord(text.slice(at, stop)), at, stop)
    at = stop
  }
  return true
}
