import { PHRASES, type PhraseOwner } from './rules.ts'
import { buildTrie } from './trie.ts'
import { GRAMMAR, VERB_CLASSES, WORDS } from './words.ts'

/** A step of a phrase that a word can take. Phrases that begin alike share their first steps. */
export interface Trigger {
  /** The state it goes on from; -1 for the first step. */
  from: number
  /** How many other words may stand before it. */
  gap: number
  /** The state it leads to, or -1 when it completes the phrase. */
  to: number
  phrase: number
  /** How many steps of the phrase come before it. */
  depth: number
}

export interface Phrase {
  owner: PhraseOwner
  /** Reads denied words too. */
  raw: boolean
}

type GrammarClass = keyof typeof GRAMMAR

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

/** A bit for each class of grammar. */
export const CLASS = Object.fromEntries(
  Object.keys(GRAMMAR).map((name, bit) => [name, 1 << bit]),
) as Record<GrammarClass, number>

const list = (words: string) => words.trim().split(/\s+/)

const phrases: Phrase[] = []
const words: Word[] = []
const byText = new Map<string, number>()
/** The triggers that lead to a state, by the steps that lead there. */
const shared = new Map<string, Trigger>()

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
  const steps = line
    .replace('!', '')
    .matchAll(/(?:~(\d+) )?(\S+)/g)
    .toArray()
  // Only phrases that are read together may share: a denied word takes no step for the others.
  let path = owner === 'neutral' || owner === 'notice' ? owner : `claim ${raw}`
  let from = -1
  for (const [depth, [written, gap = '0', step = '']] of steps.entries()) {
    const isLast = depth === steps.length - 1
    path += ` ${written}`
    const known = isLast ? undefined : shared.get(path)
    const to = isLast ? -1 : shared.size
    const trigger = known ?? { from, gap: Number(gap), to, phrase, depth }
    from = trigger.to
    if (known !== undefined) continue
    if (!isLast) shared.set(path, trigger)
    for (const text of wordsOf(step)) addTrigger(intern(text), trigger)
  }
}

for (const [owner, text] of Object.entries(PHRASES)) {
  for (const line of text.trim().split('\n')) addPhrase(owner as PhraseOwner, line.trim())
}
for (const [name, text] of Object.entries(GRAMMAR)) {
  for (const word of list(text)) {
    intern(word).grammar |= CLASS[name as GrammarClass]
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

/** Completed phrases first, then later steps: no word may serve two steps of one phrase at once. */
const turn = ({ to, depth }: Trigger) => (to < 0 ? Number.MAX_SAFE_INTEGER : depth)
for (const { first, neutral, claims, rawClaims } of words) {
  for (const triggers of [first, neutral, claims, rawClaims]) {
    triggers.sort((a, b) => turn(b) - turn(a))
  }
}

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
const TURNS = CLASS.TURNING | CLASS.TAKEN_BACK | CLASS.CONTRAST

/** Words that make a claim, as opposed to words that only hold a sentence together. */
const isKey = (word: Word) =>
  /^[a-z]{3,}/.test(word.text) && (word.claims.length > 0 || (word.grammar & TURNS) !== 0)

const entries = [...words.entries()].filter(([, { text }]) => /^[a-z0-9]+$/.test(text))
const keys = entries.filter(([, word]) => isKey(word) && /^[a-z]+$/.test(word.text))

/** All words, and those that make claims with each of their letters starred out once. */
function* writtenForms(): Generator<[text: string, id: number]> {
  for (const [at, { text }] of entries) yield [text, at]
  for (const [at, { text }] of keys) {
    if (text.length < 4) continue
    for (let i = 1; i < text.length; i += 1) yield [`${text.slice(0, i)}*${text.slice(i + 1)}`, at]
  }
}

/** All words, as they are written. */
export const WRITTEN_WORDS = buildTrie(writtenForms(), 'written')
/** The words that make claims, as they look: other words are not worth a disguise. */
export const LOOKS_OF_WORDS = buildTrie(
  keys.map(([at, { text }]) => [text, at]),
  'looks',
)

export const LEXICON = { phrases, words, stateCount: shared.size } as const

export const findWord = (text: string): number => byText.get(text) ?? -1
const keyFlags = Uint8Array.from(words, (word) => (isKey(word) ? 1 : 0))
export const isKeyWord = (at: number): boolean => keyFlags[at] === 1
