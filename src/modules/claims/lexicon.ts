import { PHRASES, type PhraseOwner } from './rules.ts'
import { GRAMMAR, VERB_CLASSES, WORDS } from './word-classes.ts'
import { buildTrie } from './word-trie.ts'

/**
 * A step of a phrase that a word completes. Phrases with the same beginning share their first
 * steps.
 */
export interface PhraseStep {
  /** The state before the step; -1 for the first step. */
  from: number
  /** How many other words may stand before it. */
  gap: number
  /** The state after the step, or -1 if the step completes the phrase. */
  to: number
  phrase: number
  /** How many steps of the phrase come before it. */
  depth: number
}

export interface Phrase {
  owner: PhraseOwner
  /** The phrase is a claim even where its words are denied: "no side effects". */
  despiteDenial: boolean
}

type GrammarClass = keyof typeof GRAMMAR

/** A dictionary word that the rules know, and the steps of phrases that it completes. */
export interface LexiconEntry {
  text: string
  /** Steps of claims and notices: most texts complete none of them and are done after one pass. */
  firstPass: PhraseStep[]
  /** Steps of phrases in which the word has a harmless sense. */
  neutral: PhraseStep[]
  /** Steps of claims, and those of them that a denied word completes too. */
  claims: PhraseStep[]
  claimsDespiteDenial: PhraseStep[]
  /** The classes of grammar it is in, as bits. */
  grammar: number
  verb: boolean
  /** A verb of the third person: "treats". */
  thirdPerson: boolean
  isGoods: boolean
}

/** A bit for each class of grammar. */
export const CLASS = Object.fromEntries(
  Object.keys(GRAMMAR).map((name, bit) => [name, 1 << bit]),
) as Record<GrammarClass, number>

const list = (words: string) => words.trim().split(/\s+/)

const phrases: Phrase[] = []
const words: LexiconEntry[] = []
const byText = new Map<string, number>()
/** The steps that phrases share, by the written steps up to them. */
const sharedSteps = new Map<string, PhraseStep>()

/** The entry of a word, created on first use. */
function entryOf(text: string): LexiconEntry {
  let at = byText.get(text)
  if (at === undefined) {
    at = words.length
    byText.set(text, at)
    words.push({
      text,
      firstPass: [],
      neutral: [],
      claims: [],
      claimsDespiteDenial: [],
      grammar: 0,
      verb: false,
      thirdPerson: false,
      isGoods: false,
    })
  }
  return words[at] as LexiconEntry
}

/** The words of a written step: a class, a word, or several of either. */
function wordsOf(step: string): Set<string> {
  const classes: Readonly<Record<string, string>> = WORDS
  return new Set(
    step.split('|').flatMap((name) => {
      if (name !== name.toUpperCase() || /^\d/.test(name)) return [name]
      const found = classes[name]
      if (found === undefined) throw new Error(`no class of words is called ${name}`)
      return name === 'NUM' || name === 'SMALL' ? [...list(found), numberName(name)] : list(found)
    }),
  )
}

/** The entry of a number in figures: `#NUM` is any number, `#SMALL` one that can be a dose. */
const numberName = (name: string) => `#${name}`

function addStep(word: LexiconEntry, step: PhraseStep) {
  const { owner, despiteDenial } = phrases[step.phrase] as Phrase
  if (owner === 'neutral') word.neutral.push(step)
  else word.firstPass.push(step)
  if (owner === 'neutral' || owner === 'notice') return
  word.claims.push(step)
  if (despiteDenial) word.claimsDespiteDenial.push(step)
}

function addPhrase(owner: PhraseOwner, line: string) {
  const despiteDenial = line.startsWith('!')
  const phrase = phrases.push({ owner, despiteDenial }) - 1
  const written = line
    .replace('!', '')
    .matchAll(/(?:~(\d+) )?(\S+)/g)
    .toArray()
  // Phrases share steps only if they treat denied words alike.
  let path = owner === 'neutral' || owner === 'notice' ? owner : `claim ${despiteDenial}`
  let from = -1
  for (const [depth, [part, gap = '0', choice = '']] of written.entries()) {
    const isLast = depth === written.length - 1
    path += ` ${part}`
    const known = isLast ? undefined : sharedSteps.get(path)
    const to = isLast ? -1 : sharedSteps.size
    const step = known ?? { from, gap: Number(gap), to, phrase, depth }
    from = step.to
    if (known !== undefined) continue
    if (!isLast) sharedSteps.set(path, step)
    for (const text of wordsOf(choice)) addStep(entryOf(text), step)
  }
}

for (const [owner, text] of Object.entries(PHRASES)) {
  for (const line of text.trim().split('\n')) addPhrase(owner as PhraseOwner, line.trim())
}
for (const [name, text] of Object.entries(GRAMMAR)) {
  for (const word of list(text)) {
    entryOf(word).grammar |= CLASS[name as GrammarClass]
  }
}
for (const name of VERB_CLASSES) {
  const verbs = new Set(list((WORDS as Readonly<Record<string, string>>)[name] ?? ''))
  for (const verb of verbs) {
    const word = entryOf(verb)
    word.verb = true
    word.thirdPerson ||= verb.endsWith('s') && (verbs.has(verb.slice(0, -1)) || verb.endsWith('es'))
  }
}
for (const name of list(WORDS.RESEARCH_GOODS)) entryOf(name).isGoods = true

/**
 * Completed phrases first, then later steps, so that one word never completes two steps of a
 * phrase.
 */
const rankOf = ({ to, depth }: PhraseStep) => (to < 0 ? Number.MAX_SAFE_INTEGER : depth)
for (const { firstPass, neutral, claims, claimsDespiteDenial } of words) {
  for (const steps of [firstPass, neutral, claims, claimsDespiteDenial]) {
    steps.sort((a, b) => rankOf(b) - rankOf(a))
  }
}

/** A small number completes the steps of any number too. */
const small = entryOf(numberName('SMALL'))
const number = entryOf(numberName('NUM'))
small.firstPass.push(...number.firstPass)
small.neutral.push(...number.neutral)
small.claims.push(...number.claims)
small.claimsDespiteDenial.push(...number.claimsDespiteDenial)

export const NUMBER = words.indexOf(number)
export const SMALL_NUMBER = words.indexOf(small)

/** Words that turn a denial into a claim, so that a merchant may obfuscate them too. */
const DENIAL_ENDING = CLASS.TURNING | CLASS.TAKEN_BACK | CLASS.CONTRAST

/** Words that make a claim, unlike words that only connect a sentence. */
const makesClaim = (word: LexiconEntry) =>
  /^[a-z]{3,}/.test(word.text) && (word.claims.length > 0 || (word.grammar & DENIAL_ENDING) !== 0)

const entries = [...words.entries()].filter(([, { text }]) => /^[a-z0-9]+$/.test(text))
/** The claim words, which are recognised however they are obfuscated. */
export const CLAIM_WORDS: readonly [text: string, id: number][] = entries
  .filter(([, word]) => makesClaim(word) && /^[a-z]+$/.test(word.text))
  .map(([at, { text }]) => [text, at])

/** All words, and each claim word with one of its letters replaced by a star. */
function* writtenForms(): Generator<[text: string, id: number]> {
  for (const [at, { text }] of entries) yield [text, at]
  for (const [text, at] of CLAIM_WORDS) {
    if (text.length < 4) continue
    for (let i = 1; i < text.length; i += 1) yield [`${text.slice(0, i)}*${text.slice(i + 1)}`, at]
  }
}

/** All words, as they are written. */
export const WRITTEN_WORDS = buildTrie(writtenForms(), 'written')
/** The claim words, with look-alike characters read as letters. No other words are obfuscated. */
export const LOOKALIKE_WORDS = buildTrie(CLAIM_WORDS, 'lookalike')

export const LEXICON = { phrases, words, stateCount: sharedSteps.size } as const

export const findWord = (text: string): number => byText.get(text) ?? -1
const claimFlags = Uint8Array.from(words, (word) => (makesClaim(word) ? 1 : 0))
export const isClaimWord = (at: number): boolean => claimFlags[at] === 1
