import { findDenied } from './denials.ts'
import { type Folded, fold, positionInSource } from './fold.ts'
import { LEXICON, type LexiconEntry, type PhraseStep } from './lexicon.ts'
import type { PhraseOwner } from './rules.ts'
import type { RuleId } from './schema.ts'
import type { Token } from './token-list.ts'
import { tokenize } from './tokenize.ts'

/** A phrase found in a text, with its start and end in the source. */
export interface Match {
  rule: RuleId
  start: number
  end: number
}

/** The claims of a text in order, and the facts that decide whether a notice is missing. */
export interface TextMatches {
  matches: Match[]
  hasNotice: boolean
  /** The first mention of research goods. */
  goods: { start: number; end: number } | undefined
}

/**
 * The state after every step of every phrase: the word at which it was last reached, and the token
 * with which the phrase began. Only the latest counts, since every gap is measured from there. So
 * the cost of a word is the number of its steps, whatever the words around it are.
 */
const reachedAt = new Float64Array(LEXICON.stateCount).fill(-1)
const beganAt = new Int32Array(LEXICON.stateCount)

/** Added to the order of words, so that states of an earlier text are too far away to continue. */
let base = 0
const TEXT_GAP = 1_000

type OnMatch = (phrase: number, first: number, last: number) => void
type ChooseSteps = (word: LexiconEntry, at: number) => readonly PhraseStep[]

/** Matches the tokens against the steps that `choose` names for each of them. */
function matchPhrases(tokens: readonly Token[], choose: ChooseSteps, onMatch: OnMatch) {
  base += TEXT_GAP
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token
    const order = base + token.order
    const steps = choose(LEXICON.words[token.word] as LexiconEntry, at)
    for (let i = 0; i < steps.length; i += 1) {
      const step = steps[i] as PhraseStep
      const { from, to } = step
      if (from >= 0 && order - (reachedAt[from] as number) - 1 > step.gap) continue
      const began = from < 0 ? at : (beganAt[from] as number)
      if (to < 0) onMatch(step.phrase, began, at)
      else {
        reachedAt[to] = order
        beganAt[to] = began
      }
    }
  }
  base += tokens.at(-1)?.order ?? 0
}

const NO_MATCHES: TextMatches = { matches: [], hasNotice: false, goods: undefined }

/** Matches one text against every rule. */
export function findMatches(source: string): TextMatches {
  const folded = fold(source)
  const tokens = tokenize(folded)
  if (tokens.length === 0) return NO_MATCHES
  let hasNotice = false
  let isSuspect = false
  // Most texts complete no phrase, denied or not: they are done after this pass.
  matchPhrases(
    tokens,
    ({ firstPass }) => firstPass,
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

/**
 * The claims whose words are neither denied nor in a harmless sense; the first of those that
 * overlap.
 */
function findClaims(tokens: readonly Token[]): Span[] {
  const neutral = new Uint8Array(tokens.length)
  matchPhrases(
    tokens,
    (word) => word.neutral,
    (_, first, last) => neutral.fill(1, first, last + 1),
  )
  const denied = findDenied(tokens)
  const spans: Span[] = []
  const lastOf = new Map<PhraseOwner, number>()
  matchPhrases(
    tokens,
    ({ claims, claimsDespiteDenial }, at) =>
      neutral[at] === 1 ? [] : denied[at] === 1 ? claimsDespiteDenial : claims,
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
  positionInSource(folded, (tokens[first] as Token).start, (tokens[last] as Token).end)
