import type { ShippingChange, ShippingMethod, ShippingTerms } from './schema.ts'

/** Terms of shipping as they are stored. */

export type StoredTerms = Required<ShippingTerms>

/** The terms of shipping among other terms that were stored. */
export const termsIn = ({ shipping = null, expedited = false }: ShippingTerms): StoredTerms => ({
  shipping,
  expedited,
})

/** The terms of an order whose shipping has a price that its merchant names, whatever it has in it. */
export const termsAtPrice = (cents: number): StoredTerms => ({
  shipping: {
    mode: 'flat',
    flat_rate_cents: cents,
    expedited_rate_cents: cents,
    max_cents: cents,
  },
  expedited: false,
})

/** Whether a change of an order sends any terms of shipping. */
export const sendsTerms = ({ shipping, expedited }: ShippingChange): boolean =>
  shipping != null || expedited != null

/** The way in which an order is shipped. */
export const methodOf = ({ expedited }: ShippingTerms): ShippingMethod =>
  expedited ? 'expedited' : 'standard'
