import { oneLine } from '../../platform/mail.ts'
import type { Content } from '../sites/mail-content.ts'

/** The mail with the link to an order, in the languages of the storefront. */

interface Link {
  store: string
  number: number
  url: string
}

interface Words {
  subject(number: number, store: string): string
  opens: string
  open: string
  days: string
  secret: string
  ignore: string
}

const WORDS: Record<string, Words> = {
  en: {
    subject: (number, store) => `Your order ${number} at ${store}`,
    opens: 'This link opens your order.',
    open: 'Open the order',
    days: 'It works for seven days.',
    secret: 'Anyone who has the link can see the order and change it: do not pass it on.',
    ignore: 'If you did not ask for it, ignore this mail.',
  },
  de: {
    subject: (number, store) => `Ihre Bestellung ${number} bei ${store}`,
    opens: 'Dieser Link öffnet Ihre Bestellung.',
    open: 'Bestellung öffnen',
    days: 'Er gilt sieben Tage.',
    secret: 'Wer den Link hat, kann die Bestellung sehen und ändern: Geben Sie ihn nicht weiter.',
    ignore: 'Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail.',
  },
  es: {
    subject: (number, store) => `Su pedido ${number} en ${store}`,
    opens: 'Este enlace abre su pedido.',
    open: 'Abrir el pedido',
    days: 'Es válido durante siete días.',
    secret: 'Quien tenga el enlace puede ver y cambiar el pedido: no lo comparta.',
    ignore: 'Si no lo ha solicitado, ignore este correo.',
  },
  fr: {
    subject: (number, store) => `Votre commande ${number} chez ${store}`,
    opens: 'Ce lien ouvre votre commande.',
    open: 'Ouvrir la commande',
    days: 'Il est valable sept jours.',
    secret:
      'Toute personne qui a ce lien peut voir et modifier la commande : ne le transmettez pas.',
    ignore: "Si vous ne l'avez pas demandé, ignorez ce message.",
  },
}

/** The language that the mail is in, for a store of any language. */
export const languageOf = (language: string): string => {
  const [own = ''] = language.split('-')
  return Object.hasOwn(WORDS, own) ? own : 'en'
}

export function linkContent(language: string, { store, number, url }: Link): Content {
  const words = WORDS[languageOf(language)] ?? WORDS.en
  if (words === undefined) throw new Error('there are no English words')
  const subject = words.subject(number, oneLine(store))
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
