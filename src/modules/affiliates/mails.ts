import { decimalAmount } from '../../kernel/money.ts'
import { oneLine } from '../../platform/mail.ts'

/** The texts of the mails to affiliates, in the languages of the storefront. */

interface Words {
  approved(store: string): string
  approvedText(store: string): string
  code(code: string): string
  paid(store: string): string
  paidText(amount: string, store: string, reference: string): string
  page(url: string): string
}

const WORDS: Record<string, Words> = {
  en: {
    approved: (store) => `You are an affiliate of ${store} now`,
    approvedText: (store) => `${store} has approved you as an affiliate.`,
    code: (code) => `Your code is ${code}.`,
    paid: (store) => `${store} has paid you`,
    paidText: (amount, store, reference) =>
      `${store} has paid you ${amount}. The reference on your bank statement is ${reference}.`,
    page: (url) =>
      `This link opens your page with codes, commissions and payouts. It works for 90 days:\n\n${url}\n\nAnyone who has the link can see the page: do not pass it on.`,
  },
  de: {
    approved: (store) => `Sie sind jetzt Partner von ${store}`,
    approvedText: (store) => `${store} hat Sie als Partner angenommen.`,
    code: (code) => `Ihr Code ist ${code}.`,
    paid: (store) => `${store} hat Sie bezahlt`,
    paidText: (amount, store, reference) =>
      `${store} hat Ihnen ${amount} gezahlt. Der Verwendungszweck auf Ihrem Kontoauszug ist ${reference}.`,
    page: (url) =>
      `Dieser Link öffnet Ihre Seite mit Codes, Provisionen und Auszahlungen. Er gilt 90 Tage:\n\n${url}\n\nWer den Link hat, kann die Seite sehen: Geben Sie ihn nicht weiter.`,
  },
  es: {
    approved: (store) => `Ya es afiliado de ${store}`,
    approvedText: (store) => `${store} le ha aceptado como afiliado.`,
    code: (code) => `Su código es ${code}.`,
    paid: (store) => `${store} le ha pagado`,
    paidText: (amount, store, reference) =>
      `${store} le ha pagado ${amount}. La referencia en su extracto bancario es ${reference}.`,
    page: (url) =>
      `Este enlace abre su página con códigos, comisiones y pagos. Es válido durante 90 días:\n\n${url}\n\nQuien tenga el enlace puede ver la página: no lo comparta.`,
  },
  fr: {
    approved: (store) => `Vous êtes désormais affilié de ${store}`,
    approvedText: (store) => `${store} vous a accepté comme affilié.`,
    code: (code) => `Votre code est ${code}.`,
    paid: (store) => `${store} vous a payé`,
    paidText: (amount, store, reference) =>
      `${store} vous a payé ${amount}. La référence sur votre relevé bancaire est ${reference}.`,
    page: (url) =>
      `Ce lien ouvre votre page avec vos codes, commissions et paiements. Il est valable 90 jours :\n\n${url}\n\nToute personne qui a ce lien peut voir la page : ne le transmettez pas.`,
  },
}

function wordsIn(language: string): Words {
  const words = WORDS[language.split('-')[0] ?? ''] ?? WORDS.en
  if (words === undefined) throw new Error('there are no English words')
  return words
}

/** Joins paragraphs, without those for which a store or an affiliate has no text. */
const paragraphs = (parts: readonly (string | null)[]): string =>
  `${parts.filter((part) => part !== null).join('\n\n')}\n`

interface Approved {
  store: string
  url: string | null
  code: string | null
}

export function approvedMail(language: string, { store, url, code }: Approved) {
  const words = wordsIn(language)
  const name = oneLine(store)
  return {
    subject: words.approved(name),
    text: paragraphs([
      words.approvedText(name),
      code === null ? null : words.code(code),
      url === null ? null : words.page(url),
    ]),
  }
}

interface Paid {
  store: string
  url: string | null
  amount_cents: number
  currency: string
  reference: string
}

export function paidMail(language: string, paid: Paid) {
  const { store, url, amount_cents, currency, reference } = paid
  const words = wordsIn(language)
  const name = oneLine(store)
  const amount = `${decimalAmount(amount_cents, currency)} ${currency}`
  return {
    subject: words.paid(name),
    text: paragraphs([
      words.paidText(amount, name, reference),
      url === null ? null : words.page(url),
    ]),
  }
}
