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
import { buildTrie, lookUp, step } from './trie.ts'

const DISGUISE_MAX = 64

/** What may follow a number without a space, and the word that it is. */
const UNITS = buildTrie(
  'mg mcg ug iu ml mls cc g kg kgs lbs lb mgs mcgs x ius'
    .split(' ')
    .map((unit) => [unit, findWord(unit === 'x' ? 'times' : unit)]),
  'written',
)

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
  const { units, length } = folded
  for (let at = 0; at < length; ) {
    const start = at
    while (at < length && kindAt(units, at) === SPACE) at += 1
    if (at > start && (at - start > 1 || units[start] !== 32)) readSpace(state, start, at)
    const run = at
    while (kindAt(units, at) === LETTER) at += 1
    if (at > run && kindAt(units, at) === SPACE) {
      emitLetters(state, run, at)
      continue
    }
    while (at < length && kindAt(units, at) !== SPACE) at += 1
    if (at > run) readRun(state, run, at)
  }
  return state.tokens
}

const kindAt = (units: Uint8Array, at: number) => KIND[units[at] as number] as number

function readSpace(state: State, start: number, end: number) {
  const { units } = state.folded
  let lines = 0
  for (let at = start; at < end; at += 1) {
    if (units[at] === 0) breakTo(state, BREAK.end)
    else if (units[at] === 10) lines += 1
  }
  if (lines > 0) breakTo(state, lines > 1 ? BREAK.stop : BREAK.line)
}

function breakTo(state: State, level: number) {
  state.directBreak = Math.max(state.directBreak, level)
  state.breakBefore = Math.max(state.breakBefore, level)
}

/**
 * A run between spaces that is not letters alone: a word and its punctuation, or stranger things.
 */
function readRun(state: State, start: number, end: number) {
  const { units } = state.folded
  let first = start
  let last = end
  while (first < last && !isInner(units, first, 1)) first += 1
  while (last > first && !isInner(units, last - 1, -1)) last -= 1
  if (first > start) breakTo(state, BREAK.comma)
  if (first === last) return readPunctuation(state, start, end, 0)
  let letters = first
  while (letters < last && kindAt(units, letters) === LETTER) letters += 1
  if (letters === last) emitLetters(state, first, last)
  else readMixed(state, first, last)
  if (last < end) readPunctuation(state, last, end, last - first)
}

/** A letter or figure, or a sign that is read as a letter because one stands beside it. */
function isInner(units: Uint8Array, at: number, towards: 1 | -1): boolean {
  const kind = kindAt(units, at)
  if (kind === LETTER || kind === FIGURE) return true
  const unit = units[at]
  return (unit === 36 || unit === 64) && kindAt(units, at + towards) === LETTER
}

/** The signs from `start` on, after a word of `length`. */
function readPunctuation(state: State, start: number, end: number, length: number) {
  const { units } = state.folded
  // Whatever stands behind the first few signs changes nothing.
  const last = Math.min(end, start + 8)
  let ends = false
  let asks = false
  let pauses = false
  let trailsOff = false
  for (let at = start; at < last; at += 1) {
    const unit = units[at]
    if (unit === POINT) trailsOff ||= at > start && units[at - 1] === POINT
    asks ||= unit === 63
    ends ||= unit === POINT || unit === 33 || unit === 63
    pauses ||= unit === 59
  }
  if (!ends || trailsOff) return breakTo(state, pauses ? BREAK.stop : BREAK.comma)
  // An abbreviation's last point, or one between spaced-out letters, ends nothing.
  const isPoint = last - start === 1 && units[start] === POINT
  if (isPoint && isShort(units, start - length, start)) return breakTo(state, BREAK.comma)
  state.afterQuestion ||= asks
  breakTo(state, beginsSmall(state, end) ? BREAK.stop : BREAK.end)
}

const POINT = 46

/** A letter, or an abbreviation: "e", "e.g". */
function isShort(units: Uint8Array, start: number, end: number): boolean {
  if (end - start === 1) return true
  if (end - start >= 12) return false
  let at = start
  while (at < end && units[at] !== POINT) at += 1
  return at < end
}

/** Whether the text goes on in lower case: then a full stop may be there to hide a claim. */
function beginsSmall({ folded }: State, at: number): boolean {
  const { units, length } = folded
  let next = at
  while (next < length && kindAt(units, next) === SPACE) {
    if (units[next] === 0) return false
    next += 1
  }
  const unit = next < length ? writtenAt(folded, next) : 0
  return unit >= 97 && unit <= 122
}

/** A figure, an amount, a disguised word, or several of these with signs between them. */
function readMixed(state: State, start: number, end: number) {
  if (readWhole(state, start, end)) return
  const { units } = state.folded
  for (let at = start; at < end; ) {
    const part = at
    while (at < end && !isBetween(units, at)) at += 1
    const isWhole = at - part === end - start
    if (at > part && (isWhole || at - part === 1 || !readWhole(state, part, at))) {
      readParts(state, part, at)
    }
    const signs = at
    while (at < end && isBetween(units, at)) at += 1
    if (at > signs) readBetween(state, signs, at)
  }
}

/** Signs that part words, as opposed to those that may be put for a letter. */
const BETWEEN = KIND.map((kind, unit) =>
  kind === SIGN && !isStar(unit) && !isLetterLike(unit) && unit !== POINT && unit !== 126 ? 1 : 0,
)
const isBetween = (units: Uint8Array, at: number) => BETWEEN[units[at] as number] === 1

function readWhole(state: State, start: number, end: number): boolean {
  if (emitAmount(state, start, end)) return true
  if (end - start > DISGUISE_MAX) return false
  const whole = findDisguised(state.folded.units, start, end)
  if (whole < 0) return false
  emitPiece(state, whole, start, end)
  return true
}

/** Every row of letters and figures for itself. */
function readParts(state: State, start: number, end: number) {
  const { units } = state.folded
  for (let at = start; at < end; ) {
    const signs = at
    while (at < end && kindAt(units, at) === SIGN) at += 1
    if (at > signs) readBetween(state, signs, at)
    const part = at
    while (at < end && kindAt(units, at) === LETTER) at += 1
    if (at < end && kindAt(units, at) === FIGURE) {
      while (at < end && kindAt(units, at) < SIGN) at += 1
      readPart(state, part, at)
    } else if (at > part) emitLetters(state, part, at)
  }
}

const PER = findWord('per')
const AND = findWord('and')

function readBetween(state: State, start: number, end: number) {
  const unit = state.folded.units[start]
  if (end - start > 1) return breakTo(state, BREAK.comma)
  if (unit === 45 || unit === 39 || unit === 95 || unit === 126) return
  if (unit === 47) emit(state, PER, start, end)
  else if (unit === 38 || unit === 43) emit(state, AND, start, end)
  else breakTo(state, unit === 59 ? BREAK.stop : BREAK.comma)
}

/** Letters and figures without a sign between them. */
function readPart(state: State, start: number, end: number) {
  if (emitAmount(state, start, end)) return
  const alike = lookUp(LOOKS_OF_WORDS, state.folded.units, start, end)
  if (alike >= 0) emit(state, alike, start, end)
  else emitPiece(state, -1, start, end)
}

/** "250", "2.5", "250mcg", "3x": a number, and its unit as a word of its own. */
function emitAmount(state: State, start: number, end: number): boolean {
  const { units } = state.folded
  let at = start
  while (at < end && isOfNumber(units, at, end)) at += 1
  if (at === start || end - at > 4) return false
  const unit = at === end ? -1 : lookUp(UNITS, units, at, end)
  if (at < end && unit < 0) return false
  const word = at - start <= 3 && wholePart(units, start, at) <= 20 ? SMALL_NUMBER : NUMBER
  if (end - start === 1) emitPiece(state, word, start, end)
  else emit(state, word, start, at)
  if (unit >= 0) emit(state, unit, at, end)
  return true
}

/** A figure, or a point or comma between two. */
function isOfNumber(units: Uint8Array, at: number, end: number): boolean {
  const unit = units[at] as number
  if (KIND[unit] === FIGURE) return true
  return (unit === 44 || unit === POINT) && at + 1 < end && kindAt(units, at + 1) === FIGURE
}

/** The number that is written, less what stands behind its point. */
function wholePart(units: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start; at < end && units[at] !== POINT; at += 1) {
    if (kindAt(units, at) === FIGURE) value = value * 10 + (units[at] as number) - 48
  }
  return value
}

/** A word of letters alone: known as it is, known by its looks, several words in one, or none. */
function emitLetters(state: State, start: number, end: number) {
  const { units } = state.folded
  let node = 0
  let at = start
  let hasKeyWithin = false
  while (at < end) {
    node = step(WRITTEN_WORDS, node, units[at] as number)
    if (node === 0) break
    at += 1
    if (at - start >= 3 && at < end) hasKeyWithin ||= isKeyWord(WRITTEN_WORDS.word[node] as number)
  }
  const known = WRITTEN_WORDS.word[node] as number
  if (known >= 0) return emitPiece(state, known, start, end)
  const length = end - start
  if (length >= 3 && length <= SEGMENTED_MAX) {
    const alike = findByLooks(state.folded, start, end)
    if (alike >= 0) return emit(state, alike, start, end)
    if (hasKeyWithin && length >= 6 && emitSegments(state, start, end)) return
  }
  emitPiece(state, -1, start, end)
}

/** Letters that are more than this are no words written together. */
const SEGMENTED_MAX = 32

/**
 * For each place in a row of letters how long the word is that begins a row of words there; 0 when
 * none does.
 */
const lengths = new Uint8Array(SEGMENTED_MAX + 1)

/** Words written together ("curescancer"), if nothing else is left between them. */
function emitSegments(state: State, start: number, end: number): boolean {
  const { units } = state.folded
  lengths.fill(0)
  for (let at = end - 3; at >= start; at -= 1) {
    let node = 0
    for (let stop = at; stop < end; ) {
      node = step(WRITTEN_WORDS, node, units[stop] as number)
      if (node === 0) break
      stop += 1
      if (stop - at < 3 || (stop < end && lengths[stop - start] === 0)) continue
      if (isKeyWord(WRITTEN_WORDS.word[node] as number)) lengths[at - start] = stop - at
    }
  }
  if (lengths[0] === 0) return false
  for (let at = start; at < end; ) {
    const stop = at + (lengths[at - start] as number)
    emit(state, lookUp(WRITTEN_WORDS, units, at, stop), at, stop)
    at = stop
  }
  return true
}
