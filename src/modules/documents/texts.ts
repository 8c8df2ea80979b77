import { type TextsOf, translate } from '@fairdock/messages'
import de from './words/de.json' with { type: 'json' }
import en from './words/en.json' with { type: 'json' }
import es from './words/es.json' with { type: 'json' }
import fr from './words/fr.json' with { type: 'json' }
import type { Placeholders } from './words/placeholders.ts'

/** The fixed texts of documents. */
export type Texts = TextsOf<typeof en, Placeholders>

const { languageOf, textsIn } = translate<typeof en, Placeholders>({ de, en, es, fr })

/** The language of a document's texts: English where there is no translation. */
export const textsFor = (language: string): { language: string; texts: Texts } => ({
  language: languageOf(language),
  texts: textsIn(language),
})
