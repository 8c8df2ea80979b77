import { translate } from '@fairdock/messages'
import de from './words/de.json' with { type: 'json' }
import en from './words/en.json' with { type: 'json' }
import es from './words/es.json' with { type: 'json' }
import fr from './words/fr.json' with { type: 'json' }
import type { Placeholders } from './words/placeholders.ts'

/** The texts of a reminder in the language of a store, English where there is no translation. */
export const { textsIn } = translate<typeof en, Placeholders>({ de, en, es, fr })
