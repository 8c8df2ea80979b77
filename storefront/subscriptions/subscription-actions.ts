import { isRefusal, PlatformError } from '../api/platform-client.ts'
import { type Address, addressErrors, keepKnownParts } from '../checkout/address.ts'
import { cardErrors, readCard } from '../checkout/card.ts'
import { findHostedFields, readToken } from '../checkout/hosted-fields.ts'
import { cleanText } from '../http/forms.ts'
import { type HttpResponse, redirect } from '../http/response.ts'
import type { RequestContext } from '../request-context.ts'
import { errorMessage, fieldErrors, findText } from '../translations/error-messages.ts'
import {
  addressPage,
  cardPage,
  type Found,
  findOwnSubscription,
  subscriptionNotHere,
  subscriptionPage,
} from './subscription-pages.ts'

/** Changes subscriptions, from the forms of their pages. */

export const SUBSCRIPTION_ACTIONS = [
  'pause',
  'resume',
  'skip',
  'unskip',
  'change',
  'address',
  'card',
  'cancel',
] as const
type Form = (typeof SUBSCRIPTION_ACTIONS)[number]

export async function changeSubscription(
  context: RequestContext,
  id: string,
  action: Form,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const found = await findOwnSubscription(context, id)
  if (found === null) return subscriptionNotHere(context)
  if (action === 'card') return changeCard(context, found, form)
  if (action === 'address') return changeAddress(context, found, form)
  try {
    await send(context, found, action, form)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return subscriptionPage(context, id, refusalText(context, error))
  }
  return redirect(`/subscriptions/${id}?done=${DONE[action]}`)
}

const DONE = {
  pause: 'paused',
  resume: 'resumed',
  skip: 'skipped',
  unskip: 'unskipped',
  change: 'changed',
  cancel: 'cancelled',
} as const

type Verb = keyof typeof DONE

function send(
  { api, site }: RequestContext,
  { own }: Found,
  action: Verb,
  form: URLSearchParams,
): Promise<unknown> {
  if (action === 'change') return api.changeSubscription(site, own, readChanges(form))
  return api.actOnSubscription(site, own, action, bodyOf(action, form))
}

const REASON_LENGTH_MAX = 500

function bodyOf(action: Exclude<Verb, 'change'>, form: URLSearchParams): object {
  const date = cleanText(form.get('until'), 40)
  const reason = cleanText(form.get('reason'), REASON_LENGTH_MAX)
  const cycle = Number(/^\d{1,6}$/.exec(form.get('cycle') ?? '')?.[0] ?? 0)
  switch (action) {
    case 'pause':
      return { until: date === '' ? null : date }
    case 'resume':
      return { charge_now: form.has('charge_now') }
    case 'skip':
    case 'unskip':
      return cycle === 0 ? {} : { cycle }
    case 'cancel':
      return {
        at_period_end: form.get('when') === 'period_end',
        ...(reason !== '' && { reason }),
      }
  }
}

/** Reads the changes of a form. The date is sent only if it was changed: it would move the later dates, too. */
function readChanges(form: URLSearchParams): object {
  const date = cleanText(form.get('next_date'), 40)
  const isMoved = date !== '' && date !== form.get('shown_date')
  return {
    quantity: readNumber(form.get('quantity')),
    interval: cleanText(form.get('interval'), 10),
    interval_count: readNumber(form.get('interval_count')),
    ...(isMoved && { next_charge_at: date }),
    version: readNumber(form.get('version')),
  }
}

/** A typed number; the platform says what is too large. 1 for a text that is no number. */
const readNumber = (text: string | null): number =>
  Math.max(1, Math.min(Number.parseInt(text ?? '', 10) || 1, 1_000_000))

/** Refusals of a subscription have texts of their own, since those of an order mention the order. */
const refusalText = ({ site }: RequestContext, error: PlatformError): string =>
  findText(site.locale.texts.subscriptions.refusals, error.code) ??
  errorMessage(site.locale.texts, error)

/** Whether the card form explains an error. It explains a gateway without a reply, too: the card is entered again. */
const isExplained = (error: unknown): error is PlatformError =>
  isRefusal(error) || (error instanceof PlatformError && error.code === 'service_unavailable')

/** Changes the card. Its number never passes through the server if the store's gateway has fields of its own. */
async function changeCard(
  context: RequestContext,
  { own }: Found,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site, ip } = context
  const { texts } = site.locale
  const isHosted = (await findHostedFields(context)) !== null
  const typed = isHosted ? undefined : readCard(form)
  const card = isHosted ? readToken(form) : typed
  const errors = isHosted ? {} : cardErrors(texts, typed)
  if (card === undefined)
    return cardPage(context, own.id, { errors: { ...errors, card: texts.enterCard } })
  if (Object.keys(errors).length > 0) return cardPage(context, own.id, { errors })
  try {
    await api.actOnSubscription(site, own, 'payment-method', { card, ip })
  } catch (error) {
    if (!isExplained(error)) throw error
    const wrong = fieldErrors(texts, error)
    const isMarked = Object.keys(wrong).length > 0
    return cardPage(context, own.id, {
      errors: isMarked ? wrong : { card: refusalText(context, error) },
    })
  }
  return redirect(`/subscriptions/${own.id}?done=card`)
}

const FIELD_LENGTH_MAX = 200
const ADDRESS_FIELDS = [
  'name',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'country',
] as const

function readAddress(form: URLSearchParams): Address {
  const fields = ADDRESS_FIELDS.map((name) => [name, cleanText(form.get(name), FIELD_LENGTH_MAX)])
  return keepKnownParts(Object.fromEntries(fields) as unknown as Address)
}

async function changeAddress(
  context: RequestContext,
  { own }: Found,
  form: URLSearchParams,
): Promise<HttpResponse> {
  const { api, site } = context
  const address = readAddress(form)
  const errors = addressErrors(site, address)
  if (Object.keys(errors).length > 0) {
    return addressPage(context, own.id, {
      errors,
      address,
      notice: site.locale.texts.checkMarkedFields,
    })
  }
  const { name, line2 } = address
  try {
    await api.changeSubscription(site, own, {
      ship_to: { ...address, label: name, line2: line2 || null },
    })
  } catch (error) {
    if (!isRefusal(error)) throw error
    return addressPage(context, own.id, { address, notice: refusalText(context, error) })
  }
  return redirect(`/subscriptions/${own.id}?done=address`)
}
