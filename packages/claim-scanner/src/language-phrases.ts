import { fold } from './fold.ts'
import { LANGUAGES } from './languages/all.ts'
import type { ClassName, Language } from './languages/language.ts'
import { foldScriptWord } from './script-text.ts'
import { WORDS } from './word-classes.ts'

/** The phrases that every language has, in the notation of rules.ts, over its word classes (decision 0030). */
export const LANGUAGE_PHRASES: Readonly<Record<string, string>> = {
  disease_claim: `
    TREAT ~4 CONDITION
    TREAT ~3 AILMENT
    EASE ~4 CONDITION
    EASE ~3 AILMENT
    REMEDY ~3 CONDITION|AILMENT
    AGAINST ~2 CONDITION|AILMENT
    CONDITION ~3 TREATED
    AILMENT ~3 TREATED
    LOWER ~3 LEVEL
    LEVEL ~3 LOWERED`,
  human_use: `
    FIT ~3 HUMAN ~2 USE
    FIT ~2 USE ~2 HUMAN
    HUMAN USE
    USE HUMAN
    HUMAN ~1 USE
    INJECT ~3 SKIN`,
  dosage: `
    TAKE ~3 NUM ~1 PIECE
    TAKE ~3 DAILY ~2 PIECE
    TAKE ~5 PER ~1 DAY ~3 PIECE
    TAKE ~2 PIECE
    NUM ~1 PIECE ~2 DAILY
    NUM ~1 PIECE ~4 PER ~1 DAY
    NUM ~1 PIECE ~4 TAKE
    NUM ~1 MASS ~2 DAILY
    NUM ~1 MASS ~2 PER ~1 DAY
    DAILY ~3 NUM ~1 PIECE
    DAILY ~3 NUM ~1 MASS
    DAILY ~1 TAKE
    INJECT ~3 NUM ~1 MASS
    NUM ~1 MASS ~2 INJECT
    INJECT ~4 DAILY
    INJECT ~4 PER ~1 DAY
    DOSE ~3 NUM ~1 MASS`,
  approval_claim: `
    AGENCY ~3 APPROVED
    APPROVED ~3 AGENCY
    DOCTOR ~2 RECOMMENDED
    RECOMMENDED ~3 DOCTOR`,
  body_outcome: `
    LOSE ~3 WEIGHT
    WEIGHT ~2 LOST
    SLIM
    BURN ~3 FAT
    FAT ~2 BURNED
    GROW ~3 MUSCLE
    MUSCLE ~2 GROWN
    BOOST ~3 VITAL
    VITAL ~2 BOOSTED
    YOUNG`,
  testimonial: `
    SELF ~3 LOST_WEIGHT ~4 KILOS
    SELF ~4 KILOS ~2 LOST_WEIGHT
    LOST_WEIGHT ~4 KILOS
    KILOS ~2 LOST_WEIGHT
    MY ~2 CONDITION|AILMENT ~4 GONE
    CONDITION|AILMENT ~2 MY ~2 GONE`,
}

/** The lexicon entry of a number in figures, for texts that are read by the lexicons of other scripts. */
export const SCRIPT_NUMBER = '#SCRIPT_NUM'

const inLatin = LANGUAGES.filter(({ script }) => script === 'latin')
const latinWords = (name: ClassName) => inLatin.map(({ words }) => words[name] ?? '').join(' ')

/**
 * Classes that the languages share: figures, units and names are the same everywhere. One class for all languages in
 * Latin letters lets their phrases share the first steps.
 */
const SHARED: Readonly<Record<'latin' | 'other', Readonly<Record<string, string>>>> = {
  latin: {
    NUM: `#NUM ${latinWords('NUM')}`,
    MASS: WORDS.MASS,
    AGENCY: `${WORDS.AGENCY} ${latinWords('AGENCY')}`,
  },
  other: { NUM: SCRIPT_NUMBER, MASS: WORDS.MASS, AGENCY: WORDS.AGENCY },
}

/** Classes of verbs. After a comma, one of these begins a new clause. */
const VERBS = ['TREAT', 'EASE', 'LOWER', 'TAKE', 'INJECT', 'LOSE', 'BURN', 'GROW', 'BOOST'] as const

const list = (words: string | undefined) => words?.split(/\s+/).filter(Boolean) ?? []

/** The words that were folded before, by script: most are in several phrases. */
const foldings = { latin: new Map<string, string>(), other: new Map<string, string>() }

/** A word as the reader of its script folds it, with the star that stands for any ending. */
export function foldWord({ script }: Language, word: string): string {
  const isLatin = script === 'latin'
  const known = foldings[isLatin ? 'latin' : 'other']
  const found = known.get(word)
  if (found !== undefined) return found
  const isStem = word.endsWith('*')
  const text = isStem ? word.slice(0, -1) : word
  const letters = isLatin || /^[\x20-\x7f]+$/.test(text) ? foldLatin(text) : foldScriptWord(text)
  const folded = isStem ? `${letters}*` : letters
  known.set(word, folded)
  return folded
}

function foldLatin(text: string): string {
  if (text.startsWith('#')) return text
  const { units, length } = fold(text)
  return String.fromCharCode(...units.subarray(0, length))
}

/** The verbs of a language. */
export const verbsOf = (language: Language): string[] =>
  VERBS.flatMap((name) => list(language.words[name])).map((word) => foldWord(language, word))

/** A gap of a script without spaces counts characters, of which a word has about two. */
const CHARACTERS_PER_WORD = 2

/** The phrases of a language by rule, with each class replaced by its words. */
export function* phrasesOf(language: Language): Generator<[owner: string, line: string]> {
  for (const [owner, text] of Object.entries(LANGUAGE_PHRASES)) {
    for (const line of text.trim().split('\n')) yield* expand(language, owner, line.trim(), true)
  }
  for (const [owner, text] of Object.entries(language.phrases ?? {})) {
    for (const line of text.trim().split('\n')) yield* expand(language, owner, line.trim(), false)
  }
}

function* expand(
  language: Language,
  owner: string,
  line: string,
  isCommon: boolean,
): Generator<[owner: string, line: string]> {
  const isDenied = line.startsWith('!')
  const steps = line.replace('!', '').split(' ')
  const factor = isCommon && language.script === 'unspaced' ? CHARACTERS_PER_WORD : 1
  const written: string[] = []
  for (const step of steps) {
    const gap = /^~(\d+)$/.exec(step)?.[1]
    const words =
      gap === undefined ? step.split('|').flatMap((name) => wordsOf(language, name)) : []
    // A language without words of a class has no phrases with it.
    if (gap === undefined && words.length === 0) return
    written.push(gap === undefined ? words.join('|') : `~${Number(gap) * factor}`)
  }
  yield [owner, `${isDenied ? '!' : ''}${written.join(' ')}`]
}

function wordsOf(language: Language, name: string): string[] {
  if (!/^[A-Z_]+$/.test(name)) return [foldWord(language, name)]
  const own = list(language.words[name as ClassName])
  const shared = list(SHARED[language.script === 'latin' ? 'latin' : 'other'][name])
  // The shared words come first, and the same words are always in the same order.
  return [...new Set([...shared, ...own].map((word) => foldWord(language, word)))]
}
