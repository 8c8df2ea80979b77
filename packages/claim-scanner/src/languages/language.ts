/** What a word says. A language lists its words for each; a class may be left out. */
export interface WordClasses {
  /** Verbs that say a product acts on an illness, and those that act on symptoms. */
  TREAT?: string
  EASE?: string
  /** Forms of those verbs that stand behind the illness. */
  TREATED?: string
  /** Nouns: treatment, remedy, cure. */
  REMEDY?: string
  /** Before an illness: "against", "from". */
  AGAINST?: string
  /** Illnesses that mean nothing else in a shop, and ailments that are everyday words too. */
  CONDITION?: string
  AILMENT?: string
  /** To lower, and the values of the body that can be lowered. */
  LOWER?: string
  LOWERED?: string
  LEVEL?: string

  /** "Suitable for", "human", and nouns such as "consumption". */
  FIT?: string
  HUMAN?: string
  USE?: string
  TAKE?: string
  INJECT?: string
  SKIN?: string
  NUM?: string
  MASS?: string
  PIECE?: string
  DAILY?: string
  PER?: string
  DAY?: string
  DOSE?: string

  AGENCY?: string
  APPROVED?: string
  DOCTOR?: string
  RECOMMENDED?: string

  LOSE?: string
  WEIGHT?: string
  LOST?: string
  /** Words that promise a loss of weight by themselves. */
  SLIM?: string
  BURN?: string
  FAT?: string
  BURNED?: string
  GROW?: string
  MUSCLE?: string
  GROWN?: string
  BOOST?: string
  VITAL?: string
  BOOSTED?: string
  /** Words that promise youth by themselves. */
  YOUNG?: string

  SELF?: string
  LOST_WEIGHT?: string
  KILOS?: string
  MY?: string
  GONE?: string
}

export type ClassName = keyof WordClasses

/**
 * The words of one language. They are written as people write them; a star at the end stands for
 * any ending. Why words and no model: decision 0030.
 */
export interface Language {
  /** ISO 639-1. */
  code: string
  /** Latin letters; another script with spaces between words; or one without them. */
  script: 'latin' | 'spaced' | 'unspaced'
  /** Its words are recognised when they are obfuscated or misspelt, too. */
  isDeep: boolean
  words: WordClasses
  /** Words for the classes of grammar in word-classes.ts. */
  grammar?: Readonly<Record<string, string>>
  /** Phrases of its own by rule, in the notation of rules.ts, with the classes above. */
  phrases?: Readonly<Record<string, string>>
  /** Longer words that only look as if they contained a word of the rules. */
  ignored?: string
}
