import { MAIL_LANGUAGES, type MailLanguage } from './schema.ts'
import { de } from './words-de.ts'
import { en } from './words-en.ts'
import { es } from './words-es.ts'
import { fr } from './words-fr.ts'
import type { Words } from './words-schema.ts'

const WORDS: Record<MailLanguage, Words> = { en, de, es, fr }

/** Returns the language of a store's mails: the store's own, or English where there are no texts in it. */
export const languageOf = (tag: string): MailLanguage =>
  MAIL_LANGUAGES.find((each) => each === tag.split('-')[0]) ?? 'en'

export const wordsIn = (language: MailLanguage): Words => WORDS[language]
