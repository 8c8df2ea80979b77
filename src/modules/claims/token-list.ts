import type { Folded } from './fold.ts'
import { LOOKS_OF_WORDS } from './lexicon.ts'
import { stepByLooks, walk } from './trie.ts'

/** What stands between two words, from nothing to the end of a sentence. */
export const BREAK = { none: 0, comma: 1, line: 2, stop: 3, end: 4 } as const

/** How far apart the end of a sentence puts two words: further than any phrase reaches. */
const SENTENCE_GAP = 100

/** A word that the rules know. Of the others only the count is kept. */
export interface Token {
  word: number
  /** Its place among all words; a sentence's end counts as many. */
  order: number
  /** Where it stands in the folded text. */
  start: number
  end: number
  /** The break right before it, and the greatest since the known word before. */
  directBreak: number
  breakBefore: number
  /** A question ended before it. */
  afterQuestion: boolean
}

/** Letters read so far that may yet grow into one spaced-out word. */
interface Piece {
  /** How far it has come in the tree of words. */
  node: number
  start: number
  order: number
  hasUnknown: boolean
  /** None of its pieces is a word by itself. */
  allUnknown: boolean
  allSingle: boolean
}

export interface State {
  folded: Folded
  tokens: Token[]
  order: number
  directBreak: number
  breakBefore: number
  afterQuestion: boolean
  pieces: Piece[]
  /** The word before was a single letter. */
  afterSingle: boolean
}

/** A word longer than this is no piece of another. */
const PIECE_MAX = 12

export function emit(state: State, word: number, start: number, end: number) {
  if (state.pieces.length > 0) state.pieces = []
  push(state, word, start, end)
}

function push(state: State, word: number, start: number, end: number) {
  const single = end - start === 1
  if (state.directBreak === BREAK.end) state.order += SENTENCE_GAP
  // Letters that stand alone in a row are counted as one word.
  else if (!single || !state.afterSingle || state.directBreak > BREAK.comma) state.order += 1
  state.afterSingle = single
  const { order, directBreak, breakBefore, afterQuestion } = state
  if (word >= 0) {
    state.tokens.push({ word, order, start, end, directBreak, breakBefore, afterQuestion })
    state.breakBefore = BREAK.none
    state.afterQuestion = false
  }
  state.directBreak = BREAK.none
}

/**
 * Emits a word, and the spaced-out word that it completes if there is one: "t r e a t s", "tre ats".
 * At least one of the pieces must be no word by itself, so that ordinary text stays as it is.
 */
export function emitPiece(state: State, word: number, start: number, end: number) {
  const { directBreak, pieces } = state
  const length = end - start
  const single = length === 1
  push(state, word, start, end)
  if (pieces.length > 0) {
    state.pieces = []
    if (length <= PIECE_MAX && (directBreak === BREAK.none || single)) {
      grow(state, pieces, { word, start, end, broken: directBreak !== BREAK.none })
    }
  }
  if ((word < 0 && length <= PIECE_MAX) || length <= 3) {
    const node = walk(LOOKS_OF_WORDS, state.folded.text, start, end)
    if (node === 0) return
    const hasUnknown = word < 0 || single
    const { order } = state
    const allUnknown = word < 0
    state.pieces.push({ node, start, order, hasUnknown, allUnknown, allSingle: single })
  }
}

interface Addition {
  word: number
  start: number
  end: number
  broken: boolean
}

function grow(state: State, pieces: readonly Piece[], added: Addition) {
  const { start, end, word, broken } = added
  const single = end - start === 1
  const { text } = state.folded
  let isDone = false
  for (const piece of pieces) {
    if (broken && !piece.allSingle) continue
    let { node } = piece
    for (let at = start; at < end && node !== 0; at += 1) {
      node = stepByLooks(LOOKS_OF_WORDS, node, text.charCodeAt(at))
    }
    if (node === 0) continue
    const hasUnknown = piece.hasUnknown || word < 0
    const allSingle = piece.allSingle && single
    const allUnknown = piece.allUnknown && word < 0
    const { start: first, order } = piece
    state.pieces.push({ node, start: first, order, hasUnknown, allUnknown, allSingle })
    const found = hasUnknown ? (LOOKS_OF_WORDS.word[node] ?? -1) : -1
    if (found < 0 || isDone || !(allSingle || end - piece.start > (allUnknown ? 4 : 5))) continue
    replacePieces(state, piece, found, end)
    isDone = true
  }
}

/** The pieces were one word all along. */
function replacePieces(state: State, piece: Piece, word: number, end: number) {
  const { order, start } = piece
  const { tokens } = state
  let taken: Token | undefined
  while (tokens.length > 0 && (tokens[tokens.length - 1] as Token).start >= start) {
    taken = tokens.pop()
  }
  const { directBreak, breakBefore, afterQuestion } = taken ?? {
    directBreak: BREAK.none,
    breakBefore: BREAK.none,
    afterQuestion: false,
  }
  tokens.push({ word, order, start, end, directBreak, breakBefore, afterQuestion })
  state.order = order
}
