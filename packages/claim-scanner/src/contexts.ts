import type { RuleId } from './findings.ts'
import { CLASS, LEXICON, type LexiconEntry } from './lexicon.ts'
import { BREAK, type Token } from './token-list.ts'

/** What the words beside a claim are about, for each token. */
export const CONTEXT = { none: 0, laboratory: 1, literature: 2, illness_named: 4 } as const

/** Rules whose claims can be about animals or about a book. A dose or an approval never is. */
const REVIEWABLE: ReadonlySet<RuleId> = new Set(['disease_claim', 'body_outcome'])

/** How many words may stand between a claim and the words that say what it is about. */
const NEAR = 4
/** How far the sentence is searched for words that speak to people, in known words. */
const SENTENCE_MAX = 40

const entryOf = (token: Token) => LEXICON.words[token.word] as LexiconEntry

interface Span {
  rule: RuleId
  first: number
  last: number
}

/**
 * Whether a claim is for review: it is about animals, cells or a book, and its sentence speaks of no
 * people. "Heals wounds in mice" is reported, and "heals your wounds in mice" is refused.
 */
export function isForReview(
  tokens: readonly Token[],
  { rule, first, last }: Span,
  contexts: Uint8Array,
): boolean {
  if (!REVIEWABLE.has(rule)) return false
  for (let at = first; at <= last; at += 1) {
    if (((contexts[at] as number) & CONTEXT.illness_named) !== 0) return true
  }
  const near = contextsNear(tokens, first, last, contexts) & ~CONTEXT.illness_named
  if (near === CONTEXT.none || speaksToPeople(tokens, first, last)) return false
  if ((near & CONTEXT.laboratory) !== 0) return true
  // "Cures cancer" asserts a claim, also if a book is said to contain it.
  return !tokens.slice(first, last + 1).some((token) => entryOf(token).asserts)
}

/** The contexts within a claim and near it, as bits. */
function contextsNear(
  tokens: readonly Token[],
  first: number,
  last: number,
  contexts: Uint8Array,
): number {
  const begin = (tokens[first] as Token).order - NEAR
  const end = (tokens[last] as Token).order + NEAR
  let found = 0
  for (let at = first; at >= 0 && (tokens[at] as Token).order >= begin; at -= 1) {
    found |= contexts[at] as number
  }
  for (let at = first; at < tokens.length && (tokens[at] as Token).order <= end; at += 1) {
    found |= contexts[at] as number
  }
  return found
}

function speaksToPeople(tokens: readonly Token[], first: number, last: number): boolean {
  let begin = first
  while (begin > 0 && first - begin < SENTENCE_MAX && !endsBefore(tokens, begin)) begin -= 1
  let end = last + 1
  while (end < tokens.length && end - last < SENTENCE_MAX && !endsBefore(tokens, end)) end += 1
  for (let at = begin; at < end; at += 1) {
    if ((entryOf(tokens[at] as Token).grammar & CLASS.ADDRESSED) !== 0) return true
  }
  return false
}

const endsBefore = (tokens: readonly Token[], at: number) =>
  (tokens[at] as Token).breakBefore >= BREAK.stop
