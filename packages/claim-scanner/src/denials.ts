import { CLASS, LEXICON, type LexiconEntry } from './lexicon.ts'
import { BREAK, type Token } from './token-list.ts'

/** How many words a denial covers, by its kind. The longest disclaimers have about twenty-five. */
const REACH = { clause: 30, few: 4, next: 3 } as const

interface Scope {
  /** The last word that the denial covers, by its order. */
  until: number
  order: number
  sawVerb: boolean
  sawThirdPerson: boolean
  sawThat: boolean
}

const entryOf = (token: Token) => LEXICON.words[token.word] as LexiconEntry

/** Whether a token is in one of the grammar classes. */
const is = (token: Token | undefined, classes: number) =>
  token !== undefined && (entryOf(token).grammar & classes) !== 0

/**
 * Marks each token that its clause denies: "not intended to treat any disease" is no claim. A
 * denial ends with its clause, so that "not for resale, treats cancer" is a claim.
 */
export function findDenied(tokens: readonly Token[]): Uint8Array {
  const denied = new Uint8Array(tokens.length)
  let scope: Scope | undefined
  let sentence = 0
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token
    const before = at > 0 ? tokens[at - 1] : undefined
    if (token.breakBefore >= BREAK.stop) {
      if (answersNo(tokens, at) && is(tokens[sentence], CLASS.AUX)) denied.fill(1, sentence, at)
      sentence = at
    }
    if (scope !== undefined && endsScope(scope, token, before)) scope = undefined
    const opened = openScope(tokens, at)
    if (opened !== undefined) scope = isDoubleDenial(scope, token) ? undefined : opened
    else if (scope !== undefined) {
      denied[at] = 1
      updateScope(scope, token)
      if (is(token, CLASS.TURNING)) scope = undefined
    }
    const refuses = is(token, CLASS.FORBIDDEN) || (denied[at] === 1 && is(token, CLASS.PERMITTED))
    if (refuses) denyBackwards(tokens, at, denied)
  }
  return denied
}

/** Whether a token answers the question before it with no: "Is it for human use? No." */
function answersNo(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]
  if (token === undefined || !token.afterQuestion) return false
  if (!is(token, CLASS.NOT | CLASS.NO)) return false
  return !isTakenBack(tokens, at)
}

function isTakenBack(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]
  const next = tokens[at + 1]
  if (token === undefined) return false
  const follows = next !== undefined && next.order === token.order + 1
  if (follows && is(next, CLASS.TAKEN_BACK)) return true
  const before = tokens[at - 1]
  return is(before, CLASS.WHY) && before?.order === token.order - 1
}

/** The scope of a denying word; undefined if the word denies nothing or is taken back at once. */
function openScope(tokens: readonly Token[], at: number): Scope | undefined {
  const token = tokens[at] as Token
  let reach = 0
  if (is(token, CLASS.NOT)) reach = REACH.clause
  else if (is(token, CLASS.LACKING)) reach = REACH.few
  else if (is(token, CLASS.NO)) reach = hasSubject(tokens, at) ? REACH.clause : REACH.next
  if (reach === 0 || isTakenBack(tokens, at)) return undefined
  const { order } = token
  return {
    until: order + reach,
    order,
    sawVerb: false,
    sawThirdPerson: false,
    sawThat: false,
  }
}

function hasSubject(tokens: readonly Token[], at: number): boolean {
  const { order } = tokens[at] as Token
  for (let next = at + 1; next < tokens.length && next <= at + 3; next += 1) {
    const token = tokens[next] as Token
    if (token.order > order + 3 || token.breakBefore !== BREAK.none) return false
    if (is(token, CLASS.SUBJECT)) return true
  }
  return false
}

/** A double denial is a claim: "cannot not heal", "it is not true that it does not cure". */
const isDoubleDenial = (scope: Scope | undefined, token: Token) =>
  scope !== undefined &&
  (scope.sawThat || (token.order - scope.order <= 2 && token.breakBefore === BREAK.none))

function updateScope(scope: Scope, token: Token) {
  const { verb, thirdPerson } = entryOf(token)
  scope.sawVerb ||= verb
  scope.sawThirdPerson ||= thirdPerson
  scope.sawThat ||= is(token, CLASS.THAT)
}

function endsScope(scope: Scope, token: Token, before: Token | undefined): boolean {
  if (token.order > scope.until || token.breakBefore >= BREAK.stop) return true
  if (token.breakBefore === BREAK.line) {
    const goesOn = is(before, CLASS.GLUE) && before?.order === token.order - 1
    if (!goesOn) return true
  }
  if (is(token, CLASS.CONTRAST)) return true
  const joined = is(before, CLASS.AND) && before?.order === token.order - 1
  const fresh = token.directBreak !== BREAK.none || joined
  if (!fresh) return false
  if (is(token, CLASS.PRONOUN)) return true
  const { verb, thirdPerson } = entryOf(token)
  return verb && (!scope.sawVerb || (thirdPerson && !scope.sawThirdPerson))
}

/** Denies the words before: "Human consumption is strictly prohibited", "is not permitted". */
function denyBackwards(tokens: readonly Token[], at: number, denied: Uint8Array) {
  const { order } = tokens[at] as Token
  let copula = -1
  for (let back = at; back > 0; back -= 1) {
    const token = tokens[back] as Token
    const isAside = back === copula && token.breakBefore === BREAK.comma
    if ((token.breakBefore !== BREAK.none && !isAside) || is(token, CLASS.CONTRAST)) break
    const earlier = tokens[back - 1] as Token
    if (earlier.order < order - REACH.clause) break
    if (copula < 0 && earlier.order >= order - 3 && is(earlier, CLASS.COPULA)) copula = back - 1
    if (copula >= 0) denied[back - 1] = 1
    if (copula < 0 && earlier.order < order - 3) break
  }
}
