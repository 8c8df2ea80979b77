import { translate } from '@fairdock/messages'
import { oneLine } from '../../platform/mail.ts'
import type { Content } from '../sites/mail-content.ts'
import de from './words/de.json' with { type: 'json' }
import en from './words/en.json' with { type: 'json' }
import es from './words/es.json' with { type: 'json' }
import fr from './words/fr.json' with { type: 'json' }
import type { Placeholders } from './words/placeholders.ts'

/** The mail with the link to an order, in the languages of the storefront. */

interface Link {
  store: string
  number: number
  url: string
}

const translations = translate<typeof en, Placeholders>({ de, en, es, fr })

/** The language that the mail is in, for a store of any language. */
export const { languageOf } = translations

export function linkContent(language: string, { store, number, url }: Link): Content {
  const words = translations.textsIn(language)
  const subject = words.subject({ number, store: oneLine(store) })
  return {
    subject,
    reference: null,
    heading: subject,
    blocks: [
      { type: 'text', text: `${words.opens} ${words.days}` },
      { type: 'button', label: words.open, url },
      { type: 'note', text: words.secret },
    ],
    footer: [words.ignore],
  }
}
