import type { Folded } from './fold.ts'
import { isEnglishWord, LOOKALIKE_WORDS } from './lexicon.ts'
import { step, walk } from './word-trie.ts'

/** The break between two words, from none to the end of a sentence. */
export const BREAK = { none: 0, comma: 1, line: 2, stop: 3, end: 4 } as const

/** The distance that the end of a sentence puts between two words: more than any phrase allows. */
const SENTENCE_GAP = 100

/** A word that the rules know. Other words are only counted. */
export interface Token {
  word: number
  /** Its number among all words; the end of a sentence counts as several words. */
  order: number
  /** Its position in the folded text. */
  start: number
  end: number
  /** The break right before it, and the greatest break since the previous known word. */
  directBreak: number
  breakBefore: number
  /** A question ended before it. */
  afterQuestion: boolean
}

/** Letters read so far that may still grow into one spaced-out word. */
interface Piece {
  /** Its node in the trie of words. */
  node: number
  start: number
  order: number
  hasUnknown: boolean
  /** None of its pieces is a word by itself. */
  allUnknown: boolean
  allSingle: boolean
}

export interface State {
  /** The text in ASCII, for words that are put together from pieces. */
  folded: Folded
  tokens: Token[]
  order: number
  directBreak: number
  breakBefore: number
  afterQuestion: boolean
  pieces: Piece[]
  /** The word before was a single letter. */
  afterSingle: boolean
  /** The word before is in no list, and longer than a letter. */
  afterUnknown: boolean
}

export const newState = (folded: Folded): State => ({
  folded,
  tokens: [],
  order: 0,
  directBreak: BREAK.none,
  breakBefore: BREAK.none,
  afterQuestion: false,
  pieces: [],
  afterSingle: false,
  afterUnknown: false,
})

/**
 * Lets a hyphen join the previous word to the next: "stub-born" is one word of a gap. A word of the lists is counted by
 * itself.
 */
export function joinNext(state: State) {
  if (state.afterUnknown) state.order -= 1
  state.afterUnknown = false
}

/** Notes a break before the next word. */
export function breakTo(state: State, level: number) {
  state.directBreak = Math.max(state.directBreak, level)
  state.breakBefore = Math.max(state.breakBefore, level)
}

/** A word longer than this is no piece of another. */
const PIECE_MAX = 12

/** Drops the pieces. Most words are no pieces, so that there is rarely anything to drop. */
function dropPieces(state: State) {
  if (state.pieces.length > 0) state.pieces = []
}

export function emit(state: State, word: number, start: number, end: number) {
  dropPieces(state)
  push(state, word, start, end)
}

function push(state: State, word: number, start: number, end: number) {
  const single = end - start === 1
  if (state.directBreak === BREAK.end) state.order += SENTENCE_GAP
  // Consecutive single letters count as one word.
  else if (!single || !state.afterSingle || state.directBreak > BREAK.comma) state.order += 1
  state.afterSingle = single
  state.afterUnknown = word < 0 && !single
  const { order, directBreak, breakBefore, afterQuestion } = state
  if (word >= 0) {
    state.tokens.push({ word, order, start, end, directBreak, breakBefore, afterQuestion })
    state.breakBefore = BREAK.none
    state.afterQuestion = false
  }
  state.directBreak = BREAK.none
}

/**
 * Emits a word, and the spaced-out word that it completes if there is one: "t r e a t s", "tre
 * ats". At least one of the pieces must be no word by itself, so that ordinary text stays as it is.
 */
export function emitPiece(state: State, word: number, start: number, end: number) {
  const { directBreak } = state
  const length = end - start
  const single = length === 1
  const isKnown = isEnglishWord(word)
  push(state, word, start, end)
  if (state.pieces.length > 0) {
    if (length <= PIECE_MAX && (directBreak === BREAK.none || single)) {
      extendPieces(state, { isKnown, start, end, broken: directBreak !== BREAK.none })
    } else dropPieces(state)
  }
  if ((!isKnown && length <= PIECE_MAX) || length <= 3) {
    const node = walk(LOOKALIKE_WORDS, state.folded.units, start, end)
    if (node === 0) return
    const allUnknown = !isKnown
    const hasUnknown = allUnknown || single
    const { order } = state
    state.pieces.push({ node, start, order, hasUnknown, allUnknown, allSingle: single })
  }
}

interface Addition {
  isKnown: boolean
  start: number
  end: number
  broken: boolean
}

/** Extends every piece by the addition, and keeps those that may still become a word. */
function extendPieces(state: State, { isKnown, start, end, broken }: Addition) {
  const { pieces } = state
  const { units } = state.folded
  const single = end - start === 1
  let isDone = false
  let kept = 0
  for (const piece of pieces) {
    if (broken && !piece.allSingle) continue
    for (let at = start; at < end && piece.node !== 0; at += 1) {
      piece.node = step(LOOKALIKE_WORDS, piece.node, units[at] as number)
    }
    if (piece.node === 0) continue
    piece.hasUnknown ||= !isKnown
    piece.allUnknown &&= !isKnown
    piece.allSingle &&= single
    pieces[kept] = piece
    kept += 1
    const { hasUnknown, allUnknown, allSingle } = piece
    const found = hasUnknown ? (LOOKALIKE_WORDS.word[piece.node] as number) : -1
    if (found < 0 || isDone || !(allSingle || end - piece.start > (allUnknown ? 4 : 5))) continue
    replacePieces(state, piece, found, end)
    isDone = true
  }
  while (pieces.length > kept) pieces.pop()
}

/** Replaces the tokens of the pieces by the one word that they spell. */
function replacePieces(state: State, piece: Piece, word: number, end: number) {
  const { order, start } = piece
  const { tokens } = state
  let removed: Token | undefined
  while (tokens.length > 0 && (tokens[tokens.length - 1] as Token).start >= start) {
    removed = tokens.pop()
  }
  const { directBreak, breakBefore, afterQuestion } = removed ?? {
    directBreak: BREAK.none,
    breakBefore: BREAK.none,
    afterQuestion: false,
  }
  tokens.push({ word, order, start, end, directBreak, breakBefore, afterQuestion })
  state.order = order
}
