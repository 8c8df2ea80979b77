import { contentPolicy } from '../http/response.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import type { Texts } from '../translations/texts.ts'
import { type CardScript, scriptElement } from './card-drivers.ts'

/**
 * Card fields of the gateway: frames of its own in the page, made by its script. The shopper's card goes from there to
 * the gateway, and the form has only the token that comes back. So neither the storefront nor the platform ever sees
 * the number.
 */
export type HostedFields = CardScript

/** Finds the gateway's card fields. Returns null if the store asks for cards in fields of its own. */
export async function findHostedFields(context: PageContext): Promise<HostedFields | null> {
  const { tokenization_key: key, script } = await context.api.readCardForm(context.site)
  // An older platform has a key and names no script. A card must not be typed into fields of the store then.
  if (key !== null && !script) throw new Error('the platform names no script for card fields')
  return script ?? null
}

/** Lets the page load the script and the frames of this one host. */
export function hostedHeaders(
  assetBaseUrl: string | null,
  hosted: HostedFields | null,
): Record<string, string> {
  if (hosted === null) return {}
  const origins = [new URL(hosted.url).origin]
  const policy = contentPolicy(assetBaseUrl, { frames: origins, scripts: origins })
  return { 'content-security-policy': policy }
}

/** The token of a form; undefined without one. */
export function readToken(form: URLSearchParams): { payment_token: string } | undefined {
  const token = (form.get('card_token') ?? '').trim()
  return /^[\x21-\x7e]{1,255}$/.test(token) ? { payment_token: token } : undefined
}

/** The places of the gateway's fields. Our script fills them, or says that it cannot. */
export function hostedCardFields(texts: Texts, hosted: HostedFields): Html {
  const place = (name: string, label: string, placeholder: string, half = false) =>
    html`<div class="field${half && ' field-half'}"><span>${label}</span><div class="hosted" id="field-${name}" data-title="${label}" data-placeholder="${placeholder}"></div></div>`
  return html`<div class="fields" id="hosted-fields" data-driver="${hosted.driver}" data-check="${texts.checkCard}" data-failed="${texts.cardFieldsFailed}">${place('number', texts.cardNumber, '1234 1234 1234 1234')}${place('expiry', texts.expiryDate, texts.expiryHint, true)}${place('cvv', texts.securityCode, '123', true)}</div>
<input type="hidden" name="card_token"><noscript><p class="error error-box">${texts.cardNeedsScript}</p></noscript>
${scriptElement(hosted)}`
}
