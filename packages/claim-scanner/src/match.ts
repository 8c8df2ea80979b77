import { CONTEXT, isForReview } from './contexts.ts'
import { findDenied } from './denials.ts'
import { RULE_SEVERITIES, type RuleId, type Severity } from './findings.ts'
import { type Folded, fold, positionInSource } from './fold.ts'
import { LEXICON, type LexiconEntry, type PhraseStep } from './lexicon.ts'
import type { PhraseOwner } from './rules.ts'
import { readScripts } from './script-tokens.ts'
import type { Token } from './token-list.ts'
import { tokenize } from './tokenize.ts'

/** A phrase found in a text, with its start and end in the source. */
export interface Match {
  rule: RuleId
  severity: Severity
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
 * For the state after every step of every phrase: the word at which it was last reached, and the token with which the
 * phrase began. Only the latest counts, since every gap is measured from there. So the cost of a word is the number of
 * its steps, whatever the words around it are.
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

/** Matches one text against every rule, in every script that it is written in. */
export function findMatches(source: string): TextMatches {
  const folded = fold(source)
  const found = matchTokens(tokenize(folded), folded, () => true)
  if (!folded.hasScripts) return found
  const { tokens, folded: scripts } = readScripts(folded)
  // The words in Latin letters alone were read above, with all their disguises.
  const isOfScript = ({ first, last }: Span) => {
    for (let at = first; at <= last; at += 1) {
      if (LEXICON.words[(tokens[at] as Token).word]?.isOfScript) return true
    }
    return false
  }
  const others = matchTokens(tokens, scripts, isOfScript)
  return {
    matches: [...found.matches, ...others.matches].sort((a, b) => a.start - b.start),
    hasNotice: found.hasNotice || others.hasNotice,
    goods: found.goods,
  }
}

type Located = Pick<Folded, 'visible' | 'at'>

function matchTokens(
  tokens: readonly Token[],
  folded: Located,
  isKept: (span: Span) => boolean,
): TextMatches {
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
  const spans = isSuspect ? findClaims(tokens).filter(isKept) : []
  return {
    matches: spans.map(({ rule, severity, first, last }) => ({
      rule,
      severity,
      ...place(folded, tokens, first, last),
    })),
    hasNotice,
    goods: goods && place(folded, [goods], 0, 0),
  }
}

interface Span {
  rule: RuleId
  severity: Severity
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
    (phrase, first, last) => {
      if (!hasAilmentBetween(tokens, phrase, first, last)) neutral.fill(1, first, last + 1)
    },
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
      const rule = owner as RuleId
      spans.push({ rule, severity: RULE_SEVERITIES[rule], first, last })
    },
  )
  markForReview(tokens, spans)
  return spans.sort((a, b) => a.first - b.first)
}

/** Whether an illness stands in a gap of a phrase: "cures cancer resin" is not about resin. */
function hasAilmentBetween(
  tokens: readonly Token[],
  phrase: number,
  first: number,
  last: number,
): boolean {
  if (LEXICON.phrases[phrase]?.namesAilment) return false
  for (let at = first + 1; at < last; at += 1) {
    if (LEXICON.words[(tokens[at] as Token).word]?.isAilment) return true
  }
  return false
}

/** Lowers the severity of the claims that are about animals or texts. */
function markForReview(tokens: readonly Token[], spans: readonly Span[]) {
  const contexts = new Uint8Array(tokens.length)
  matchPhrases(
    tokens,
    (word) => word.contexts,
    (phrase, first, last) => {
      const context = CONTEXT[LEXICON.phrases[phrase]?.owner as keyof typeof CONTEXT]
      for (let at = first; at <= last; at += 1) contexts[at] = (contexts[at] as number) | context
    },
  )
  for (const span of spans) {
    if (span.severity === 'CRITICAL' && isForReview(tokens, span, contexts)) {
      span.severity = 'WARNING'
    }
  }
}

const place = (folded: Located, tokens: readonly Token[], first: number, last: number) =>
  positionInSource(folded, (tokens[first] as Token).start, (tokens[last] as Token).end)
