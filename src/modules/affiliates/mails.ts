import { type TextsOf, translate } from '@fairdock/messages'
import { decimalAmount } from '../../kernel/money.ts'
import { oneLine } from '../../platform/mail.ts'
import de from './words/de.json' with { type: 'json' }
import en from './words/en.json' with { type: 'json' }
import es from './words/es.json' with { type: 'json' }
import fr from './words/fr.json' with { type: 'json' }
import type { Placeholders } from './words/placeholders.ts'

/** The mails to affiliates, in the languages of the storefront. */

type Words = TextsOf<typeof en, Placeholders>

const { languageOf, textsIn } = translate<typeof en, Placeholders>({ de, en, es, fr })

/** A mail to an affiliate, before it is written in the look of the store. */
export interface AffiliateMail {
  language: string
  subject: string
  blocks: (
    | { type: 'text' | 'note'; text: string }
    | { type: 'button'; label: string; url: string }
  )[]
}

/** The end of a mail, which links to the page of the affiliate; nothing if the store has no host. */
const pageBlocks = ({ opens, open, secret }: Words, url: string | null): AffiliateMail['blocks'] =>
  url === null
    ? []
    : [
        { type: 'text', text: opens },
        { type: 'button', label: open, url },
        { type: 'note', text: secret },
      ]

interface Approved {
  store: string
  url: string | null
  code: string | null
}

export function approvedMail(language: string, { store, url, code }: Approved): AffiliateMail {
  const words = textsIn(language)
  const name = oneLine(store)
  const texts = [
    words.approvedText({ store: name }),
    ...(code === null ? [] : [words.code({ code })]),
  ]
  return {
    language: languageOf(language),
    subject: words.approved({ store: name }),
    blocks: [...texts.map((text) => ({ type: 'text' as const, text })), ...pageBlocks(words, url)],
  }
}

interface Paid {
  store: string
  url: string | null
  amount_cents: number
  currency: string
  reference: string
}

export function paidMail(language: string, paid: Paid): AffiliateMail {
  const { store, url, amount_cents, currency, reference } = paid
  const words = textsIn(language)
  const name = oneLine(store)
  const amount = `${decimalAmount(amount_cents, currency)} ${currency}`
  return {
    language: languageOf(language),
    subject: words.paid({ store: name }),
    blocks: [
      { type: 'text', text: words.paidText({ amount, store: name, reference }) },
      ...pageBlocks(words, url),
    ],
  }
}
