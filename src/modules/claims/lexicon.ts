import { PHRASES, type PhraseOwner } from './rules.ts'
import { buildTrie } from './trie.ts'
import { GRAMMAR, VERB_CLASSES, WORDS } from './words.ts'

/** A word step of a phrase that a word can take. */
export interface Trigger {
  phrase: number
  /** Where the state of this step is kept. The state of the step before stands one below. */
  state: number
  /** How many other words may stand before it; -1 for the first step. */
  gap: number
  last: boolean
}

export interface Phrase {
  owner: PhraseOwner
  /** Reads denied words too. */
  raw: boolean
}

export type GrammarClass = keyof typeof GRAMMAR

export interface Word {
  text: string
  /** Steps of claims and notices, for a first look. */
  first: Trigger[]
  /** Steps of neutral senses. */
  neutral: Trigger[]
  /** Steps of claims, and those of them that a denied word can take. */
  claims: Trigger[]
  rawClaims: Trigger[]
  /** The classes of grammar it is in, as bits. */
  grammar: number
  verb: boolean
  /** A verb of the third person: "treats". */
  thirdPerson: boolean
  isGoods: boolean
}

const GRAMMAR_BITS = Object.fromEntries(
  Object.keys(GRAMMAR).map((name, bit) => [name, 1 << bit]),
) as Record<GrammarClass, number>

export const isOfClass = ({ grammar }: Word, name: GrammarClass): boolean =>
  (grammar & GRAMMAR_BITS[name]) !== 0

const list = (words: string) => words.trim().split(/\s+/)

const phrases: Phrase[] = []
const words: Word[] = []
const byText = new Map<string, number>()
let stateCount = 0

function intern(text: string): Word {
  let at = byText.get(text)
  if (at === undefined) {
    at = words.length
    byText.set(text, at)
    words.push({
      text,
      first: [],
      neutral: [],
      claims: [],
      rawClaims: [],
      grammar: 0,
      verb: false,
      thirdPerson: false,
      isGoods: false,
    })
  }
  return words[at] as Word
}

/** The words a step stands for: a class, a word, or several of either. */
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

/** Figures are words of their own: any number, and one that a person could take. */
const numberName = (name: string) => `#${name}`

function addTrigger(word: Word, trigger: Trigger) {
  const { owner, raw } = phrases[trigger.phrase] as Phrase
  if (owner === 'neutral') word.neutral.push(trigger)
  else word.first.push(trigger)
  if (owner === 'neutral' || owner === 'notice') return
  word.claims.push(trigger)
  if (raw) word.rawClaims.push(trigger)
}

function addPhrase(owner: PhraseOwner, line: string) {
  const raw = line.startsWith('!')
  const phrase = phrases.push({ owner, raw }) - 1
  const steps = line.replace('!', '').split(' ')
  let gap = 0
  let first = true
  const rows: { step: string; gap: number }[] = []
  for (const step of steps) {
    if (step.startsWith('~')) {
      gap = Number(step.slice(1))
      continue
    }
    rows.push({ step, gap: first ? -1 : gap })
    first = false
    gap = 0
  }
  // Later steps first: a word must not serve two steps of one phrase at once.
  rows
    .map((row, index) => ({ ...row, state: stateCount + index, last: index === rows.length - 1 }))
    .reverse()
    .forEach(({ step, gap, state, last }) => {
      for (const text of wordsOf(step)) {
        addTrigger(intern(text), { phrase, state, gap, last })
      }
    })
  stateCount += rows.length
}

for (const [owner, text] of Object.entries(PHRASES)) {
  for (const line of text.trim().split('\n')) addPhrase(owner as PhraseOwner, line.trim())
}
for (const [name, text] of Object.entries(GRAMMAR)) {
  for (const word of list(text)) {
    intern(word).grammar |= GRAMMAR_BITS[name as GrammarClass]
  }
}
for (const name of VERB_CLASSES) {
  const verbs = new Set(list((WORDS as Readonly<Record<string, string>>)[name] ?? ''))
  for (const verb of verbs) {
    const word = intern(verb)
    word.verb = true
    word.thirdPerson ||= verb.endsWith('s') && (verbs.has(verb.slice(0, -1)) || verb.endsWith('es'))
  }
}
for (const name of list(WORDS.RESEARCH_GOODS)) intern(name).isGoods = true

/** A small number is a number too. */
const small = intern(numberName('SMALL'))
const number = intern(numberName('NUM'))
small.first.push(...number.first)
small.neutral.push(...number.neutral)
small.claims.push(...number.claims)
small.rawClaims.push(...number.rawClaims)

export const NUMBER = words.indexOf(number)
export const SMALL_NUMBER = words.indexOf(small)

/** Words that turn a denial into a claim, and so are worth a disguise too. */
const TURNS: readonly GrammarClass[] = ['TURNING', 'TAKEN_BACK', 'CONTRAST']

/** Words that make a claim, as opposed to words that only hold a sentence together. */
const isKey = (word: Word) =>
  /^[a-z]{3,}/.test(word.text) &&
  (word.claims.length > 0 || TURNS.some((name) => isOfClass(word, name)))

const entries = [...words.entries()].filter(([, { text }]) => /^[a-z0-9]+$/.test(text))
const keys = entries.filter(([, word]) => isKey(word) && /^[a-z]+$/.test(word.text))

/** Every word with each of its letters starred out once. */
const starred = keys.flatMap(([at, { text }]) =>
  text.length < 4
    ? []
    : Array.from({ length: text.length - 1 }, (_, i): [string, number] => [
        `${text.slice(0, i + 1)}*${text.slice(i + 2)}`,
        at,
      ]),
)

const asEntry = ([at, { text }]: [number, Word]): [string, number] => [text, at]

/** All words, as they are written. */
export const WRITTEN_WORDS = buildTrie([...entries.map(asEntry), ...starred], 'written')
/** The words that make claims, as they look: other words are not worth a disguise. */
export const LOOKS_OF_WORDS = buildTrie(keys.map(asEntry), 'looks')

export const LEXICON = { phrases, words, stateCount } as const

export const findWord = (text: string): number => byText.get(text) ?? -1
const keyFlags = Uint8Array.from(words, (word) => (isKey(word) ? 1 : 0))
export const isKeyWord = (at: number): boolean => keyFlags[at] === 1
