import type { GiftRecipient } from '../api/types.ts'
import type { PageContext } from '../request-context.ts'
import { type Html, html } from './html.ts'

/** Shows below a line the recipient and the day of its gift cards. The message is the shopper's own: plain text. */
export function giftNote({ site }: PageContext, gift: GiftRecipient | null): Html {
  const { texts, formatDay } = site.locale
  if (gift === null) return html`<span class="line-label gift-note">${texts.giftForYou}</span>`
  const { recipient_name: name, recipient_email: email, message, send_on } = gift
  const to = name ? `${name} (${email})` : email
  const when =
    send_on === undefined ? texts.giftAtOnce : texts.giftOnDay({ day: formatDay(send_on) })
  return html`<span class="line-label gift-note">${texts.giftFor({ to })} ${when}</span>${message && html`<span class="line-label gift-message">“${message}”</span>`}`
}
