import { createHash } from 'node:crypto'
import type { Quote, ShippingAddress } from '../api/types.ts'
import type { Site } from '../site/site.ts'
import { addressErrors } from './address.ts'
import type { CheckoutDetails } from './checkout-form.ts'

/** The facts that a checkout form keeps about the page it was shown on, in its hidden field `key`. */
export interface FormKey {
  idempotencyKey: string
  /** The price that the shopper saw. */
  quoteToken: string
  /** The items that the shopper saw. */
  fingerprint: string
  /** The address of the total: a digest, `NO_ADDRESS`, or empty if no address changes it. */
  quotedFor: string
}

/** The total is not final: the address is missing. */
export const NO_ADDRESS = 'none'

export const writeFormKey = ({
  idempotencyKey,
  quoteToken,
  fingerprint,
  quotedFor,
}: FormKey): string => [idempotencyKey, quoteToken, fingerprint, quotedFor].join('|')

export function readFormKey(form: URLSearchParams): FormKey {
  const parts = (form.get('key') ?? '').split('|')
  const [idempotencyKey = '', quoteToken = '', fingerprint = '', quotedFor = ''] = parts
  return { idempotencyKey, quoteToken, fingerprint, quotedFor }
}

/** The address of a form as the platform takes it. */
export function shippingAddress(details: CheckoutDetails): ShippingAddress {
  const { name, line1, line2, city, state, postal_code, country } = details
  return { label: name, name, line1, line2: line2 || null, city, state, postal_code, country }
}

/** The address to price a cart for, once it is complete; null before. */
export const completeAddress = (site: Site, details: CheckoutDetails): ShippingAddress | null =>
  Object.keys(addressErrors(site, details)).length === 0 ? shippingAddress(details) : null

/** Returns the address that the total of a quote is for. */
export function quotedFor(site: Site, quote: Quote, address: ShippingAddress | null): string {
  // If prices contain the tax, the address changes the tax in the total and not the total.
  if (quote.prices_include_tax) return ''
  if (quote.address_required) return NO_ADDRESS
  return address !== null && taxesByAddress(site) ? digestOf(address) : ''
}

/** Whether the total that a form showed is that of its address. */
export const isQuotedFor = ({ quotedFor }: FormKey, details: CheckoutDetails): boolean =>
  quotedFor === '' || quotedFor === digestOf(shippingAddress(details))

/** Whether the tax depends on the address: a provider computes it. */
const taxesByAddress = ({ policies: { tax } }: Site): boolean =>
  tax !== null && !['null', 'flat_rate'].includes(tax.provider)

/** Without the name, which changes no tax. */
const digestOf = ({ label: _label, name: _name, ...place }: ShippingAddress): string =>
  createHash('sha256').update(JSON.stringify(place)).digest('base64url').slice(0, 16)
