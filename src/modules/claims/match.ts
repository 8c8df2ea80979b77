import { findDenied } from './clauses.ts'
import { type Folded, fold, placeOf } from './fold.ts'
import { LEXICON, type Trigger, type Word } from './lexicon.ts'
import type { PhraseOwner } from './rules.ts'
import type { RuleId } from './schema.ts'
import type { Token } from './token-list.ts'
import { tokenize } from './tokens.ts'

/** A phrase found in a text, from and to a place in its source. */
export interface Match {
  rule: RuleId
  start: number
  end: number
}

/** What a text says: its claims in order, and what tells whether a notice is due. */
export interface Reading {
  matches: Match[]
  hasNotice: boolean
  /** The first mention of what is sold for research. */
  goods: { start: number; end: number } | undefined
}

/**
 * The state of every step of every phrase: at which word it was last reached, and with which token
 * the phrase began. The latest is all that counts, since every gap is measured from there; so each
 * word costs as many steps as phrases know it, whatever stands around it.
 */
const reachedAt = new Float64Array(LEXICON.stateCount).fill(-1)
const beganAt = new Int32Array(LEXICON.stateCount)

/**
 * Added to the order of words, so that what one reading left behind is out of the next one's reach.
 */
let base = 0
const READING_GAP = 1_000

type OnMatch = (phrase: number, first: number, last: number) => void
type Choice = (word: Word, at: number) => readonly Trigger[]

/** Leads the tokens through the phrases that `choose` names for each of them. */
function run(tokens: readonly Token[], choose: Choice, onMatch: OnMatch) {
  base += READING_GAP
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token
    const order = base + token.order
    const triggers = choose(LEXICON.words[token.word] as Word, at)
    for (let i = 0; i < triggers.length; i += 1) {
      const trigger = triggers[i] as Trigger
      const { from, to } = trigger
      if (from >= 0 && order - (reachedAt[from] as number) - 1 > trigger.gap) continue
      const began = from < 0 ? at : (beganAt[from] as number)
      if (to < 0) onMatch(trigger.phrase, began, at)
      else {
        reachedAt[to] = order
        beganAt[to] = began
      }
    }
  }
  base += tokens.at(-1)?.order ?? 0
}

const NOTHING: Reading = { matches: [], hasNotice: false, goods: undefined }

/** Reads one text for every rule. */
export function read(source: string): Reading {
  const folded = fold(source)
  const tokens = tokenize(folded)
  if (tokens.length === 0) return NOTHING
  let hasNotice = false
  let isSuspect = false
  // Most texts have no phrase of ours in them, denied or not: they are done after this.
  run(
    tokens,
    ({ first }) => first,
    (phrase) => {
      if (LEXICON.phrases[phrase]?.owner === 'notice') hasNotice = true
      else isSuspect = true
    },
  )
  const goods = tokens.find(({ word }) => LEXICON.words[word]?.isGoods)
  const spans = isSuspect ? findClaims(tokens) : []
  return {
    matches: spans.map(({ rule, first, last }) => ({
      rule,
      ...place(folded, tokens, first, last),
    })),
    hasNotice,
    goods: goods && place(folded, [goods], 0, 0),
  }
}

interface Span {
  rule: RuleId
  first: number
  last: number
}

/** Claims of words that are neither denied nor meant otherwise; of overlapping ones the first. */
function findClaims(tokens: readonly Token[]): Span[] {
  const neutral = new Uint8Array(tokens.length)
  run(
    tokens,
    (word) => word.neutral,
    (_, first, last) => neutral.fill(1, first, last + 1),
  )
  const denied = findDenied(tokens)
  const spans: Span[] = []
  const lastOf = new Map<PhraseOwner, number>()
  run(
    tokens,
    ({ claims, rawClaims }, at) => (neutral[at] === 1 ? [] : denied[at] === 1 ? rawClaims : claims),
    (phrase, first, last) => {
      const { owner } = LEXICON.phrases[phrase] as { owner: PhraseOwner }
      if (first <= (lastOf.get(owner) ?? -1)) return
      lastOf.set(owner, last)
      spans.push({ rule: owner as RuleId, first, last })
    },
  )
  return spans.sort((a, b) => a.first - b.first)
}

const place = (folded: Folded, tokens: readonly Token[], first: number, last: number) =>
  placeOf(folded, (tokens[first] as Token).start, (tokens[last] as Token).end)
