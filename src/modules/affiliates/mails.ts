import { decimalAmount } from '../../kernel/money.ts'
import { oneLine } from '../../platform/mail.ts'

/** The mails to affiliates, in the languages of the storefront. */

interface Words {
  approved(store: string): string
  approvedText(store: string): string
  code(code: string): string
  paid(store: string): string
  paidText(amount: string, store: string, reference: string): string
  opens: string
  open: string
  secret: string
}

const WORDS: Record<string, Words> = {
  en: {
    approved: (store) => `You are an affiliate of ${store} now`,
    approvedText: (store) => `${store} has approved you as an affiliate.`,
    code: (code) => `Your code is ${code}.`,
    paid: (store) => `${store} has paid you`,
    paidText: (amount, store, reference) =>
      `${store} has paid you ${amount}. The reference on your bank statement is ${reference}.`,
    opens: 'This link opens your page with codes, commissions and payouts. It works for 90 days.',
    open: 'Open your page',
    secret: 'Anyone who has the link can see the page: do not pass it on.',
  },
  de: {
    approved: (store) => `Sie sind jetzt Partner von ${store}`,
    approvedText: (store) => `${store} hat Sie als Partner angenommen.`,
    code: (code) => `Ihr Code ist ${code}.`,
    paid: (store) => `${store} hat Sie bezahlt`,
    paidText: (amount, store, reference) =>
      `${store} hat Ihnen ${amount} gezahlt. Der Verwendungszweck auf Ihrem Kontoauszug ist ${reference}.`,
    opens:
      'Dieser Link öffnet Ihre Seite mit Codes, Provisionen und Auszahlungen. Er gilt 90 Tage.',
    open: 'Seite öffnen',
    secret: 'Wer den Link hat, kann die Seite sehen: Geben Sie ihn nicht weiter.',
  },
  es: {
    approved: (store) => `Ya es afiliado de ${store}`,
    approvedText: (store) => `${store} le ha aceptado como afiliado.`,
    code: (code) => `Su código es ${code}.`,
    paid: (store) => `${store} le ha pagado`,
    paidText: (amount, store, reference) =>
      `${store} le ha pagado ${amount}. La referencia en su extracto bancario es ${reference}.`,
    opens: 'Este enlace abre su página con códigos, comisiones y pagos. Es válido durante 90 días.',
    open: 'Abrir su página',
    secret: 'Quien tenga el enlace puede ver la página: no lo comparta.',
  },
  fr: {
    approved: (store) => `Vous êtes désormais affilié de ${store}`,
    approvedText: (store) => `${store} vous a accepté comme affilié.`,
    code: (code) => `Votre code est ${code}.`,
    paid: (store) => `${store} vous a payé`,
    paidText: (amount, store, reference) =>
      `${store} vous a payé ${amount}. La référence sur votre relevé bancaire est ${reference}.`,
    opens:
      'Ce lien ouvre votre page avec vos codes, commissions et paiements. Il est valable 90 jours.',
    open: 'Ouvrir votre page',
    secret: 'Toute personne qui a ce lien peut voir la page : ne le transmettez pas.',
  },
}

/** Chooses the language of the mails for a store of any language. */
const languageOf = (language: string): string => {
  const [own = ''] = language.split('-')
  return Object.hasOwn(WORDS, own) ? own : 'en'
}

function wordsIn(language: string): Words {
  const words = WORDS[languageOf(language)]
  if (words === undefined) throw new Error('there are no English words')
  return words
}

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
  const words = wordsIn(language)
  const name = oneLine(store)
  const texts = [words.approvedText(name), ...(code === null ? [] : [words.code(code)])]
  return {
    language: languageOf(language),
    subject: words.approved(name),
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
  const words = wordsIn(language)
  const name = oneLine(store)
  const amount = `${decimalAmount(amount_cents, currency)} ${currency}`
  return {
    language: languageOf(language),
    subject: words.paid(name),
    blocks: [
      { type: 'text', text: words.paidText(amount, name, reference) },
      ...pageBlocks(words, url),
    ],
  }
}
