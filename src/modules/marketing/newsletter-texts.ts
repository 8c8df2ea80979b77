import { oneLine } from '../../platform/mail.ts'
import type { Content } from '../sites/mail-content.ts'

/** The texts that the readers of a newsletter see, in the languages of the storefront. */

interface Texts {
  subject(store: string): string
  asked(store: string): string
  days: string
  ignore: string
  title: string
  ask(store: string): string
  confirm: string
  confirmed(store: string): string
  leave: string
  askLeave(store: string): string
  left(store: string): string
  /** A link to confirm that is over. */
  ended: string
  /** A link to leave of which no reader is known. */
  leaveEnded: string
}

const TEXTS: Record<string, Texts> = {
  en: {
    subject: (store) => `Do you want to hear from ${store}?`,
    asked: (store) =>
      `Someone, most likely you, asked for the newsletter of ${store} with this address.`,
    days: 'The link works for seven days.',
    ignore: 'If it was not you, ignore this mail: you will get no other.',
    title: 'Newsletter',
    ask: (store) => `Do you want to get the newsletter of ${store}?`,
    confirm: 'Yes, I want it',
    confirmed: (store) => `Thank you. You will hear from ${store}.`,
    leave: 'Unsubscribe',
    askLeave: (store) => `Do you no longer want the newsletter of ${store}?`,
    left: (store) => `You will get no more newsletters of ${store}.`,
    ended: 'This link has expired, or it is not complete. Please ask for the newsletter again.',
    leaveEnded:
      'This link is not complete. Please open it again from the latest newsletter that you got.',
  },
  de: {
    subject: (store) => `Möchten Sie von ${store} hören?`,
    asked: (store) =>
      `Jemand, vermutlich Sie, hat mit dieser Adresse den Newsletter von ${store} bestellt.`,
    days: 'Der Link gilt sieben Tage.',
    ignore: 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Sie bekommen keine weitere.',
    title: 'Newsletter',
    ask: (store) => `Möchten Sie den Newsletter von ${store} bekommen?`,
    confirm: 'Ja, gern',
    confirmed: (store) => `Vielen Dank. Sie hören von ${store}.`,
    leave: 'Abmelden',
    askLeave: (store) => `Möchten Sie den Newsletter von ${store} nicht mehr bekommen?`,
    left: (store) => `Sie bekommen keinen Newsletter von ${store} mehr.`,
    ended:
      'Dieser Link ist abgelaufen oder unvollständig. Bitte bestellen Sie den Newsletter noch einmal.',
    leaveEnded:
      'Dieser Link ist unvollständig. Bitte öffnen Sie ihn erneut aus dem neuesten Newsletter, den Sie bekommen haben.',
  },
  es: {
    subject: (store) => `¿Quiere recibir noticias de ${store}?`,
    asked: (store) =>
      `Alguien, probablemente usted, ha pedido el boletín de ${store} con esta dirección.`,
    days: 'El enlace es válido durante siete días.',
    ignore: 'Si no ha sido usted, ignore este correo: no recibirá ninguno más.',
    title: 'Boletín',
    ask: (store) => `¿Quiere recibir el boletín de ${store}?`,
    confirm: 'Sí, quiero recibirlo',
    confirmed: (store) => `Gracias. Recibirá noticias de ${store}.`,
    leave: 'Darse de baja',
    askLeave: (store) => `¿Ya no quiere recibir el boletín de ${store}?`,
    left: (store) => `Ya no recibirá el boletín de ${store}.`,
    ended: 'Este enlace ha caducado o está incompleto. Pida el boletín otra vez, por favor.',
    leaveEnded:
      'Este enlace está incompleto. Ábralo de nuevo desde el último boletín que haya recibido, por favor.',
  },
  fr: {
    subject: (store) => `Voulez-vous recevoir des nouvelles de ${store} ?`,
    asked: (store) =>
      `Quelqu'un, sans doute vous, a demandé la lettre d'information de ${store} avec cette adresse.`,
    days: 'Le lien est valable sept jours.',
    ignore: "Si ce n'était pas vous, ignorez ce message : vous n'en recevrez pas d'autre.",
    title: "Lettre d'information",
    ask: (store) => `Voulez-vous recevoir la lettre d'information de ${store} ?`,
    confirm: 'Oui, je la veux',
    confirmed: (store) => `Merci. Vous recevrez des nouvelles de ${store}.`,
    leave: 'Se désabonner',
    askLeave: (store) => `Ne voulez-vous plus recevoir la lettre d'information de ${store} ?`,
    left: (store) => `Vous ne recevrez plus la lettre d'information de ${store}.`,
    ended:
      "Ce lien n'est plus valable ou n'est pas complet. Veuillez redemander la lettre d'information.",
    leaveEnded:
      "Ce lien n'est pas complet. Veuillez l'ouvrir de nouveau depuis la dernière lettre d'information que vous avez reçue.",
  },
}

/** Returns the texts of a language, or the English ones if it has none. */
export function textsIn(language: string): Texts {
  const texts = TEXTS[language.split('-')[0] ?? ''] ?? TEXTS.en
  if (texts === undefined) throw new Error('there are no English texts')
  return texts
}

/** The language that the texts are in, for a store of any language. */
export const languageOf = (language: string): string => {
  const [own = ''] = language.split('-')
  return Object.hasOwn(TEXTS, own) ? own : 'en'
}

/** More than a browser sends. */
const ACCEPTED_MAX = 200

/** The first language of a browser that the texts are in: for a page whose store is not known. */
export function acceptedLanguage(header: string | undefined): string {
  const tags = (header ?? '').slice(0, ACCEPTED_MAX).toLowerCase().split(',')
  const languages = tags.map((tag) => /^\s*([a-z]{2})\b/.exec(tag)?.[1] ?? '')
  return languages.find((each) => Object.hasOwn(TEXTS, each)) ?? 'en'
}

/** The version of the question and its button. It changes with every change of them, in any language. */
const TEXT_VERSION = 'newsletter-1'

/** Returns the text that a reader sees before agreeing: the question, and the button that says yes. */
export function confirmationText(language: string, store: string) {
  const texts = textsIn(language)
  return {
    version: TEXT_VERSION,
    locale: languageOf(language),
    text: `${texts.ask(store)}\n[${texts.confirm}]`,
  }
}

/** The content of the mail with the link. */
export function confirmationContent(language: string, store: string, url: string): Content {
  const texts = textsIn(language)
  const name = oneLine(store)
  return {
    subject: texts.subject(name),
    reference: null,
    heading: texts.subject(name),
    blocks: [
      { type: 'text', text: texts.asked(name) },
      { type: 'button', label: texts.confirm, url },
      { type: 'note', text: texts.days },
    ],
    footer: [texts.ignore],
  }
}
