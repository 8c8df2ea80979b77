import { RULE_SEVERITIES } from './findings.ts'
import { foldWord, phrasesOf, verbsOf } from './language-phrases.ts'
import { LANGUAGES } from './languages/all.ts'
import { PHRASES, type PhraseOwner } from './rules.ts'
import { buildScriptTrie } from './script-trie.ts'
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
  /** An illness is one of its inner steps, so that an illness in a gap of the phrase does not end it. */
  namesAilment: boolean
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
  /** Steps of phrases beside which a claim is about animals or texts. */
  contexts: PhraseStep[]
  /** Steps of claims, and those of them that a denied word completes too. */
  claims: PhraseStep[]
  claimsDespiteDenial: PhraseStep[]
  /** The classes of grammar it is in, as bits. */
  grammar: number
  verb: boolean
  /** A verb that asserts something, unlike "healing" and "treated". */
  asserts: boolean
  /** A verb of the third person: "treats". */
  thirdPerson: boolean
  isGoods: boolean
  /** An illness, or another object of a claim. */
  isAilment: boolean
  /** It is recognised when it is obfuscated or misspelt, too. */
  isDeep: boolean
  /** English has the word, so that it is not counted as a piece of another word by chance. */
  isEnglish: boolean
  /** It is written in a script of its own. */
  isOfScript: boolean
}

/** A bit for each class of grammar. */
export const CLASS = Object.fromEntries(
  Object.keys(GRAMMAR).map((name, bit) => [name, 1 << bit]),
) as Record<GrammarClass, number>

const list = (words: string) => words.trim().split(/\s+/)

const AILMENTS = new Set(list(`${WORDS.CONDITION} ${WORDS.AILMENT} ${WORDS.FAT}`))

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
      contexts: [],
      claims: [],
      claimsDespiteDenial: [],
      grammar: 0,
      verb: false,
      asserts: false,
      thirdPerson: false,
      isGoods: false,
      isAilment: false,
      isDeep: false,
      isEnglish: false,
      isOfScript: /[^a-z0-9*#]/.test(text),
    })
  }
  return words[at] as LexiconEntry
}

/** The words of a written step: a class, a word, or several of either. */
function wordsOf(step: string): Set<string> {
  const classes: Readonly<Record<string, string>> = WORDS
  return new Set(
    step.split('|').flatMap((name) => {
      if (!/^[A-Z_]+$/.test(name)) return [name]
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
  if (owner === 'neutral') return word.neutral.push(step)
  const isClaim = Object.hasOwn(RULE_SEVERITIES, owner)
  if (!isClaim && owner !== 'notice') return word.contexts.push(step)
  word.firstPass.push(step)
  if (!isClaim) return
  word.claims.push(step)
  if (despiteDenial) word.claimsDespiteDenial.push(step)
}

function addPhrase(owner: PhraseOwner, line: string, isDeep: boolean) {
  const despiteDenial = line.startsWith('!')
  const written = line
    .replace('!', '')
    .matchAll(/(?:~(\d+) )?(\S+)/g)
    .toArray()
  const inner = written.slice(1, -1).flatMap(([, , choice = '']) => [...wordsOf(choice)])
  const namesAilment = inner.some((word) => AILMENTS.has(word))
  const phrase = phrases.push({ owner, despiteDenial, namesAilment }) - 1
  // Phrases share steps only if they treat denied words alike.
  const isClaim = Object.hasOwn(RULE_SEVERITIES, owner)
  let path = isClaim ? `claim ${despiteDenial}` : owner
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
    for (const text of wordsOf(choice)) {
      const word = entryOf(text)
      addStep(word, step)
      word.isDeep ||= isDeep && !text.endsWith('*')
    }
  }
}

for (const [owner, text] of Object.entries(PHRASES)) {
  for (const line of text.trim().split('\n')) addPhrase(owner as PhraseOwner, line.trim(), true)
}
for (const [name, text] of Object.entries(GRAMMAR)) {
  for (const word of list(text)) {
    const entry = entryOf(word)
    entry.grammar |= CLASS[name as GrammarClass]
    entry.isDeep = true
  }
}
for (const word of words) word.isEnglish = true
for (const name of VERB_CLASSES) {
  const verbs = new Set(list((WORDS as Readonly<Record<string, string>>)[name] ?? ''))
  for (const verb of verbs) {
    const word = entryOf(verb)
    word.verb = true
    word.asserts = !/(?:ing|ed)$/.test(verb)
    word.thirdPerson ||= verb.endsWith('s') && (verbs.has(verb.slice(0, -1)) || verb.endsWith('es'))
  }
}
for (const name of list(WORDS.RESEARCH_GOODS)) entryOf(name).isGoods = true
for (const name of AILMENTS) entryOf(name).isAilment = true
for (const language of LANGUAGES) {
  for (const [owner, line] of phrasesOf(language)) {
    addPhrase(owner as PhraseOwner, line, language.isDeep)
  }
  for (const [name, text] of Object.entries(language.grammar ?? {})) {
    for (const word of list(text)) {
      entryOf(foldWord(language, word)).grammar |= CLASS[name as GrammarClass]
    }
  }
  for (const verb of verbsOf(language)) entryOf(verb).verb = true
  for (const word of list(language.ignored ?? '')) entryOf(foldWord(language, word))
}
inheritFromStems()

/** A word that begins with a stem completes the steps of the stem, too. */
function inheritFromStems() {
  for (const stem of words.filter(({ text }) => text.endsWith('*'))) {
    const letters = stem.text.slice(0, -1)
    for (const word of words) {
      if (word === stem || !word.text.startsWith(letters)) continue
      word.firstPass.push(...stem.firstPass)
      word.neutral.push(...stem.neutral)
      word.contexts.push(...stem.contexts)
      word.claims.push(...stem.claims)
      word.claimsDespiteDenial.push(...stem.claimsDespiteDenial)
      word.grammar |= stem.grammar
    }
  }
}

/**
 * Completed phrases first, then later steps, so that one word never completes two steps of a
 * phrase.
 */
const rankOf = ({ to, depth }: PhraseStep) => (to < 0 ? Number.MAX_SAFE_INTEGER : depth)
for (const { firstPass, neutral, contexts, claims, claimsDespiteDenial } of words) {
  for (const steps of [firstPass, neutral, contexts, claims, claimsDespiteDenial]) {
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
  word.isDeep &&
  /^[a-z]{3,}/.test(word.text) &&
  (word.claims.length > 0 || (word.grammar & DENIAL_ENDING) !== 0)

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

/** The words of other scripts, and the stems of all: the endings of a stem are free. */
export const SCRIPT_WORDS = buildScriptTrie(
  [...words.entries()].filter(([, word]) => word.isOfScript).map(([at, { text }]) => [text, at]),
)
export const LATIN_STEMS = buildTrie(
  [...words.entries()]
    .filter(([, { text }]) => /^[a-z]+\*$/.test(text))
    .map(([at, { text }]) => [text.slice(0, -1), at]),
  'written',
)

/** All words, as they are written. */
export const WRITTEN_WORDS = buildTrie(writtenForms(), 'written')
/** The claim words, with look-alike characters read as letters. No other words are obfuscated. */
export const LOOKALIKE_WORDS = buildTrie(CLAIM_WORDS, 'lookalike')

export const LEXICON = { phrases, words, stateCount: sharedSteps.size } as const

export const findWord = (text: string): number => byText.get(text) ?? -1
const claimFlags = Uint8Array.from(words, (word) => (makesClaim(word) ? 1 : 0))
const englishFlags = Uint8Array.from(words, ({ isEnglish }) => (isEnglish ? 1 : 0))
export const isEnglishWord = (at: number): boolean => englishFlags[at] === 1
export const isClaimWord = (at: number): boolean => claimFlags[at] === 1
