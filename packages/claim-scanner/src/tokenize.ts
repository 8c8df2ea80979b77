import { type Folded, visibleCharAt } from './fold.ts'
import {
  findWord,
  isClaimWord,
  LATIN_STEMS,
  LOOKALIKE_WORDS,
  NUMBER,
  SMALL_NUMBER,
  WRITTEN_WORDS,
} from './lexicon.ts'
import { findMisspelt } from './misspelt-words.ts'
import {
  FIGURE,
  findLookalike,
  findObfuscated,
  isLetterLike,
  isStar,
  KIND,
  LETTER,
  SIGN,
  SPACE,
} from './obfuscated-words.ts'
import {
  BREAK,
  breakTo,
  emit,
  emitPiece,
  joinNext,
  newState,
  type State,
  type Token,
} from './token-list.ts'
import { buildTrie, findStem, lookUp, step, walk } from './word-trie.ts'

const OBFUSCATED_MAX = 64

/** Units that may follow a number without a space, and the word of each. */
const UNITS = buildTrie(
  'mg mcg ug iu ml mls cc g kg kgs lbs lb mgs mcgs x ius'
    .split(' ')
    .map((unit) => [unit, findWord(unit === 'x' ? 'times' : unit)]),
  'written',
)

/** The known words of a text in order. Linear: a run of text is read a fixed number of times. */
export function tokenize(folded: Folded): Token[] {
  const state = newState(folded)
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
    if (at > run) at = readRun(state, run, at)
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

/**
 * Reads a run between spaces that is not letters alone: a word with punctuation, or a mixture. Returns where
 * the text goes on.
 */
function readRun(state: State, start: number, end: number): number {
  const { units } = state.folded
  let first = start
  let last = end
  while (first < last && !isInner(units, first, 1)) first += 1
  while (last > first && !isInner(units, last - 1, -1)) last -= 1
  if (first > start) breakTo(state, BREAK.comma)
  if (first === last) {
    readPunctuation(state, start, end, 0)
    return end
  }
  let letters = first
  while (letters < last && kindAt(units, letters) === LETTER) letters += 1
  if (units[last] === HYPHEN && last + 1 === end) {
    const next = readDivided(state, first, end)
    if (next > 0) return next
  }
  if (letters === last) emitLetters(state, first, last)
  else readMixed(state, first, last)
  if (last < end) readPunctuation(state, last, end, last - first)
  if (units[last] === HYPHEN && last + 1 === end) joinNext(state)
  return end
}

const HYPHEN = 45
/** A word is divided in at most so many parts, with at most so many spaces before each. */
const PARTS_MAX = 6
const INDENT_MAX = 64

/**
 * Reads a run that ends with a claim word that hyphens at the ends of lines divide: "anti-can-", "cer".
 * `next` is the end of the first of these hyphens. Returns where the text goes on, or 0 if the parts are no
 * such word.
 */
function readDivided(state: State, run: number, next: number): number {
  const { units } = state.folded
  let start = next - 1
  while (start > run && kindAt(units, start - 1) === LETTER) start -= 1
  let node = walk(LOOKALIKE_WORDS, units, start, next - 1)
  let at = next
  for (let part = 1; part < PARTS_MAX && node !== 0; part += 1) {
    const indent = at
    while (at - indent < INDENT_MAX && (units[at] === 32 || units[at] === 10)) at += 1
    const first = at
    for (; node !== 0 && kindAt(units, at) === LETTER; at += 1) {
      node = step(LOOKALIKE_WORDS, node, units[at] as number)
    }
    if (node === 0 || at === first) return 0
    const isDivided = units[at] === HYPHEN && kindAt(units, at + 1) === SPACE
    if (isDivided) {
      at += 1
      continue
    }
    const word = LOOKALIKE_WORDS.word[node] as number
    if (word < 0) return 0
    if (start > run) readMixed(state, run, start)
    emit(state, word, start, at)
    return at
  }
  return 0
}

/** A letter or figure, or a sign that is read as a letter because of what is next to it. */
function isInner(units: Uint8Array, at: number, towards: 1 | -1): boolean {
  const kind = kindAt(units, at)
  if (kind === LETTER || kind === FIGURE) return true
  if (units[at] !== 36 && units[at] !== 64) return false
  const next = kindAt(units, at + towards)
  if (next === FIGURE) return kindAt(units, at + 2 * towards) === LETTER
  return next === LETTER || isLetterLike(units[at + towards] as number)
}

/** Reads the punctuation from `start` on, after a word of `length`. */
function readPunctuation(state: State, start: number, end: number, length: number) {
  const { units } = state.folded
  // Only the first few signs matter.
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
  // The last point of an abbreviation, or one between spaced-out letters, ends no sentence.
  const isPoint = last - start === 1 && units[start] === POINT
  if (isPoint && isShort(units, start - length, start)) return breakTo(state, BREAK.comma)
  state.afterQuestion ||= asks
  breakTo(state, continuesInLowerCase(state, end) ? BREAK.stop : BREAK.end)
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

/** Whether the text continues in lower case: then the full stop may be there to hide a claim. */
function continuesInLowerCase({ folded }: State, at: number): boolean {
  const { units, length } = folded
  let next = at
  while (next < length && kindAt(units, next) === SPACE) {
    if (units[next] === 0) return false
    next += 1
  }
  const unit = next < length ? visibleCharAt(folded, next) : 0
  return unit >= 97 && unit <= 122
}

/** Reads a figure, an amount, an obfuscated word, or several of these with signs between them. */
function readMixed(state: State, start: number, end: number) {
  if (readAsOne(state, start, end)) return
  const { units } = state.folded
  for (let at = start; at < end; ) {
    const part = at
    while (at < end && !isBetween(units, at)) at += 1
    const isWhole = at - part === end - start
    if (at > part && (isWhole || at - part === 1 || !readAsOne(state, part, at))) {
      readParts(state, part, at)
    }
    const signs = at
    while (at < end && isBetween(units, at)) at += 1
    if (at > signs) readBetween(state, signs, at)
  }
}

/** Signs that separate words, unlike those that may replace a letter. */
const BETWEEN = KIND.map((kind, unit) =>
  kind === SIGN && !isStar(unit) && !isLetterLike(unit) && unit !== POINT && unit !== 126 ? 1 : 0,
)
const isBetween = (units: Uint8Array, at: number) => BETWEEN[units[at] as number] === 1

function readAsOne(state: State, start: number, end: number): boolean {
  if (emitAmount(state, start, end)) return true
  if (end - start > OBFUSCATED_MAX) return false
  const whole = findObfuscated(state.folded.units, start, end)
  if (whole < 0) return false
  emitPiece(state, whole, start, end)
  return true
}

/** Reads each sequence of letters and figures by itself. */
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
const PLUS = 43

function readBetween(state: State, start: number, end: number) {
  const unit = state.folded.units[start]
  if (end - start > 1) return breakTo(state, BREAK.comma)
  if (unit === HYPHEN || unit === 39 || unit === 95 || unit === 126 || unit === 42) {
    return joinNext(state)
  }
  if (unit === 47) emit(state, PER, start, end)
  else if (unit === 38) emit(state, AND, start, end)
  else if (unit === PLUS) {
    // In an address a plus is a space, so it joins clauses and does not count as a word.
    state.order -= 1
    emit(state, AND, start, end)
  } else breakTo(state, unit === 59 ? BREAK.stop : BREAK.comma)
}

/** Reads letters and figures without a sign between them. */
function readPart(state: State, start: number, end: number) {
  if (emitAmount(state, start, end)) return
  const lookalike = lookUp(LOOKALIKE_WORDS, state.folded.units, start, end)
  if (lookalike >= 0) emit(state, lookalike, start, end)
  else emitPiece(state, -1, start, end)
}

/** Reads "250", "2.5", "250mcg", "3x": a number, and its unit as a separate word. */
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

/** The number without its decimals. */
function wholePart(units: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start; at < end && units[at] !== POINT; at += 1) {
    if (kindAt(units, at) === FIGURE) value = value * 10 + (units[at] as number) - 48
  }
  return value
}

/** Reads a word of letters alone: a known word, a look-alike, several words in one, or none. */
function emitLetters(state: State, start: number, end: number) {
  const { units } = state.folded
  let node = 0
  let at = start
  let hasClaimWordWithin = false
  while (at < end) {
    node = step(WRITTEN_WORDS, node, units[at] as number)
    if (node === 0) break
    at += 1
    if (at - start >= 3 && at < end)
      hasClaimWordWithin ||= isClaimWord(WRITTEN_WORDS.word[node] as number)
  }
  const known = WRITTEN_WORDS.word[node] as number
  if (known >= 0) return emitPiece(state, known, start, end)
  const length = end - start
  if (length >= 3 && length <= SEGMENTED_MAX) {
    const lookalike = findLookalike(state.folded, start, end)
    if (lookalike >= 0) return emit(state, lookalike, start, end)
    const stem = findStem(LATIN_STEMS, units, start, end)
    if (stem >= 0) return emit(state, stem, start, end)
    if (hasClaimWordWithin && length >= 6 && emitSegments(state, start, end)) return
    const misspelt = findMisspelt(units, start, end)
    if (misspelt >= 0) return emitPiece(state, misspelt, start, end)
  }
  emitPiece(state, -1, start, end)
}

/** A longer sequence of letters is not read as several words written together. */
const SEGMENTED_MAX = 32

/**
 * For each position in a sequence of letters, the length of the word that begins a sequence of
 * words there; 0 if there is none.
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
      if (isClaimWord(WRITTEN_WORDS.word[node] as number)) lengths[at - start] = stop - at
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
