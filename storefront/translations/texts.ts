import { type TextsOf, translate } from '@fairdock/messages'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import type { Placeholders } from './placeholders.ts'

/** Every fixed text of the pages. */
export type Texts = TextsOf<typeof en, Placeholders>

/** The texts for a language tag, English where there is no translation; and whether there is one. */
export const { isTranslated, textsIn } = translate<typeof en, Placeholders>({ de, en, es, fr })
