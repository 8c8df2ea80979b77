import { type TextsOf, translate } from '@fairdock/messages'
import { MAIL_LANGUAGES, type MailLanguage } from './schema.ts'
import de from './words/de.json' with { type: 'json' }
import en from './words/en.json' with { type: 'json' }
import es from './words/es.json' with { type: 'json' }
import fr from './words/fr.json' with { type: 'json' }
import type { Placeholders } from './words/placeholders.ts'

/** The texts of all mails in one language. */
export type Words = TextsOf<typeof en, Placeholders>

const { textsIn } = translate<typeof en, Placeholders>({ de, en, es, fr })

/** Returns the language of a store's mails: the store's own, or English where there are no texts in it. */
export const languageOf = (tag: string): MailLanguage =>
  MAIL_LANGUAGES.find((each) => each === tag.split('-')[0]) ?? 'en'

export const wordsIn = (language: MailLanguage): Words => textsIn(language)
