import { GIFT_FIELDS, MESSAGE_MAX } from '../cart/gift-recipient.ts'
import { type Field, textField } from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'

/** The fields of a gift card's product page: its recipient, its message, and its day. */
export function giftCardFields({ site }: PageContext): Html {
  const { texts } = site.locale
  const [emailName, nameName, messageName, dayName] = GIFT_FIELDS
  const optional = { autocomplete: 'off', optional: true }
  const email: Field = { ...optional, name: emailName, label: texts.giftEmail, type: 'email' }
  const name: Field = { ...optional, name: nameName, label: texts.giftName }
  const day: Field = { ...optional, name: dayName, label: texts.giftDay, type: 'date' }
  return html`<fieldset class="gift-fields"><legend>${texts.giftWho}</legend><p class="note">${texts.giftHint}</p><div class="gift-grid">${textField(email, '')}${textField(name, '')}
<label class="field"><span>${texts.giftMessage}</span><textarea name="${messageName}" maxlength="${MESSAGE_MAX}" rows="3" autocomplete="off"></textarea></label>${textField(day, '')}</div></fieldset>`
}
