import { translate } from '@fairdock/messages'
import { oneLine } from '../../platform/mail.ts'
import type { Content } from '../sites/mail-content.ts'
import de from './words/de.json' with { type: 'json' }
import en from './words/en.json' with { type: 'json' }
import es from './words/es.json' with { type: 'json' }
import fr from './words/fr.json' with { type: 'json' }
import type { Placeholders } from './words/placeholders.ts'

/** The texts that the readers of a newsletter see in a store of any language, and the language that they are in. */
export const { isTranslated, languageOf, textsIn } = translate<typeof en, Placeholders>({
  de,
  en,
  es,
  fr,
})

/** More than a browser sends. */
const ACCEPTED_MAX = 200

/** The first language of a browser that the texts are in: for a page whose store is not known. */
export function acceptedLanguage(header: string | undefined): string {
  const tags = (header ?? '').slice(0, ACCEPTED_MAX).toLowerCase().split(',')
  const languages = tags.map((tag) => /^\s*([a-z]{2})\b/.exec(tag)?.[1] ?? '')
  return languages.find(isTranslated) ?? 'en'
}

/** The version of the question and its button. It changes with every change of them, in any language. */
const TEXT_VERSION = 'newsletter-1'

/** Returns the text that a reader sees before agreeing: the question, and the button that says yes. */
export function confirmationText(language: string, store: string) {
  const texts = textsIn(language)
  return {
    version: TEXT_VERSION,
    locale: languageOf(language),
    text: `${texts.ask({ store })}\n[${texts.confirm}]`,
  }
}

/** The content of the mail with the link. */
export function confirmationContent(language: string, store: string, url: string): Content {
  const texts = textsIn(language)
  const name = oneLine(store)
  return {
    subject: texts.subject({ store: name }),
    reference: null,
    heading: texts.subject({ store: name }),
    blocks: [
      { type: 'text', text: texts.asked({ store: name }) },
      { type: 'button', label: texts.confirm, url },
      { type: 'note', text: texts.days },
    ],
    footer: [texts.ignore],
  }
}
