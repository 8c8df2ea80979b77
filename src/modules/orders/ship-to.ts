import { ApiError } from '../../errors.ts'
import type { OrderRow, ShipTo } from './schema.ts'

/** Addresses as callers send them. */

/**
 * The known members of an address. Others may be anything, such as a card number, and are not stored.
 */
export const knownAddress = ({
  name,
  label,
  line1,
  line2 = null,
  city,
  state,
  ...rest
}: ShipTo) => {
  const { postal_code, country } = rest
  return { label, ...(name && { name }), line1, line2, city, state, postal_code, country }
}

/**
 * The address of an order with the name of who gets the parcel: that of the address, or else the shopper's. The
 * label of an address is no name, since it may say "Home".
 */
export function deliveryAddress({ ship_to, customer_name }: DeliveredOrder): OrderRow['ship_to'] {
  if (ship_to === null) return null
  return { ...ship_to, name: ship_to.name?.trim() || customer_name }
}

type DeliveredOrder = Pick<OrderRow, 'ship_to' | 'customer_name'>

/**
 * Refuses an address in a country that the store does not ship to. The refusal does not repeat the
 * country that was sent, which may be any text.
 */
export function requireServedCountry(
  member: string,
  to: Pick<ShipTo, 'country'> | null | undefined,
  countries: readonly string[] | null,
): void {
  if (countries === null || !to || countries.includes(to.country.trim().toUpperCase())) return
  const message = `must be one of ${countries.join(', ')}`
  const issues = [{ path: `${member}.country`, message }]
  throw new ApiError('country_not_served', { body: { issues, countries } })
}
