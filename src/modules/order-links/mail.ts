import { oneLine } from '../../platform/mail.ts'

/** The mail with the link to an order, in the languages of the storefront. */

interface Link {
  store: string
  number: number
  url: string
}

interface Words {
  subject(number: number, store: string): string
  text(number: number, store: string, url: string): string
}

const WORDS: Record<string, Words> = {
  en: {
    subject: (number, store) => `Your order ${number} at ${store}`,
    text: (number, store, url) =>
      `This link opens your order ${number} at ${store}. It works for seven days:\n\n${url}\n\nAnyone who has the link can see the order and change it: do not pass it on.\nIf you did not ask for it, ignore this mail.\n`,
  },
  de: {
    subject: (number, store) => `Ihre Bestellung ${number} bei ${store}`,
    text: (number, store, url) =>
      `Dieser Link öffnet Ihre Bestellung ${number} bei ${store}. Er gilt sieben Tage:\n\n${url}\n\nWer den Link hat, kann die Bestellung sehen und ändern: Geben Sie ihn nicht weiter.\nWenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail.\n`,
  },
  es: {
    subject: (number, store) => `Su pedido ${number} en ${store}`,
    text: (number, store, url) =>
      `Este enlace abre su pedido ${number} en ${store}. Es válido durante siete días:\n\n${url}\n\nQuien tenga el enlace puede ver y cambiar el pedido: no lo comparta.\nSi no lo ha solicitado, ignore este correo.\n`,
  },
  fr: {
    subject: (number, store) => `Votre commande ${number} chez ${store}`,
    text: (number, store, url) =>
      `Ce lien ouvre votre commande ${number} chez ${store}. Il est valable sept jours :\n\n${url}\n\nToute personne qui a ce lien peut voir et modifier la commande : ne le transmettez pas.\nSi vous ne l'avez pas demandé, ignorez ce message.\n`,
  },
}

export function linkMail(language: string, { store, number, url }: Link) {
  const words = WORDS[language.split('-')[0] ?? ''] ?? WORDS.en
  if (words === undefined) throw new Error('there are no English words')
  const name = oneLine(store)
  return { subject: words.subject(number, name), text: words.text(number, name, url) }
}
