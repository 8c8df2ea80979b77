import type { GiftRecipient } from '../api/types.ts'
import { cleanText } from '../http/forms.ts'

/** The recipient of a gift card, as a shopper enters it on its product page. */

/** The fields of the form. */
export const GIFT_FIELDS = ['recipient_email', 'recipient_name', 'message', 'send_on'] as const

const NAME_MAX = 100
/** A cart lives in a cookie, which has room for some messages of this length. */
export const MESSAGE_MAX = 300
const EMAIL_MAX = 200

const EMAIL = /^[^@\s]{1,64}@[^@\s]+\.[^@\s]+$/
const DAY = /^\d{4}-\d\d-\d\d$/

/** Whether a text is a day of the calendar, or empty. */
const isDay = (text: string): boolean =>
  text === '' || (DAY.test(text) && !Number.isNaN(Date.parse(text)))

const LINE_BREAK = /\r\n?|\n/

/** Cleans each line of a message, so that its line breaks stay. */
const cleanLines = (text: string | null): string =>
  (text ?? '')
    .split(LINE_BREAK)
    .map((line) => cleanText(line, MESSAGE_MAX))
    .join('\n')
    .trim()
    .slice(0, MESSAGE_MAX)
    .toWellFormed()

/**
 * Reads the fields. Returns null when all are empty: then the shopper gets the card. Returns `wrong` when a field was
 * filled in, and the address or the day is not valid.
 */
export function readGift(form: URLSearchParams): GiftRecipient | null | 'wrong' {
  const recipient_email = cleanText(form.get('recipient_email'), EMAIL_MAX)
  const recipient_name = cleanText(form.get('recipient_name'), NAME_MAX)
  const message = cleanLines(form.get('message'))
  const send_on = cleanText(form.get('send_on'), 10)
  if (![recipient_email, recipient_name, message, send_on].some(Boolean)) return null
  if (!EMAIL.test(recipient_email) || !isDay(send_on)) return 'wrong'
  return {
    recipient_email,
    ...(recipient_name !== '' && { recipient_name }),
    ...(message !== '' && { message }),
    ...(send_on !== '' && { send_on }),
  }
}

/** Removes a day that has come: a cart may be old, and the card is then sent at once. */
export function withoutPastDay<I extends { gift_card?: GiftRecipient }>(item: I): I {
  const { gift_card } = item
  const today = new Date().toISOString().slice(0, 10)
  if (gift_card?.send_on === undefined || gift_card.send_on > today) return item
  const { send_on: _, ...rest } = gift_card
  return { ...item, gift_card: rest }
}
