import { ApiError } from '../../errors.ts'
import type { ShipTo } from './schema.ts'

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
