import { cleanText } from '../http/forms.ts'
import type { Site } from '../site/site.ts'
import { type Address, addressErrors, keepKnownParts } from './address.ts'

/** What a shopper enters at the checkout, except the card: a card is never shown again. */
export interface CheckoutDetails extends Address {
  email: string
  /** The code of a gift card. */
  gift: string
  expedited: boolean
  /** Whether to use store credit. */
  credit: boolean
  subscribe: boolean
  /** Whether this browser should remember the address. */
  remember: boolean
  /** The version of the store's statement that was accepted, after the time when it was shown. */
  attested: string
}

export const NO_DETAILS: CheckoutDetails = {
  email: '',
  name: '',
  line1: '',
  line2: '',
  city: '',
  state: '',
  postal_code: '',
  country: '',
  gift: '',
  expedited: false,
  credit: false,
  subscribe: false,
  remember: false,
  attested: '',
}

const TEXT_FIELDS = [
  'email',
  'name',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'country',
] as const

type TextFields = Pick<CheckoutDetails, (typeof TEXT_FIELDS)[number]>

const FIELD_LENGTH_MAX = 200

export function readDetails(form: URLSearchParams): CheckoutDetails {
  const text = (name: string) => cleanText(form.get(name), FIELD_LENGTH_MAX)
  const fields = Object.fromEntries(TEXT_FIELDS.map((name) => [name, text(name)]))
  return keepKnownParts({
    ...(fields as TextFields),
    gift: text('gift'),
    expedited: form.get('speed') === 'expedited',
    credit: form.has('credit'),
    subscribe: form.has('subscribe'),
    remember: form.has('remember'),
    attested: (form.get('attested') ?? '').trim().slice(0, FIELD_LENGTH_MAX),
  })
}

/** The faults of a form, by field. The platform checks everything else. */
export function findErrors(
  site: Site,
  details: CheckoutDetails,
  hasAddress: boolean,
): Record<string, string> {
  const { texts } = site.locale
  const errors: Record<string, string> = {}
  if (details.email === '') errors.email = texts.fieldRequired
  else if (!EMAIL.test(details.email)) errors.email = texts.checkEmail
  if (hasAddress) Object.assign(errors, addressErrors(site, details))
  const isUnconfirmed = site.offers.statement !== null && details.attested === ''
  if (isUnconfirmed) errors.attested = texts.confirmToContinue
  return errors
}

const EMAIL = /^[^@\s]{1,64}@[^@\s]+\.[^@\s]+$/

/**
 * The `attestation` of a checkout. Its time is when the form was shown, so that a form that is sent twice is the same
 * request twice. The platform compares the version with the store's own.
 */
export function readAttestation(value: string) {
  const [, shown = '', version = ''] = /^(\S+) (.*)$/.exec(value) ?? []
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(shown) && !Number.isNaN(Date.parse(shown))
  return { statement_version: version, accepted_at: isTime ? shown : new Date().toISOString() }
}
