import type { Address } from './schema.ts'

/** `normalize` takes quadratic time for runs of combining marks, so longer texts are cut. */
const ADDRESS_LENGTH_MAX = 500

/**
 * Reduces an address to its letters and digits: "12, Müller St." and "12 Muller st" are one address.
 * Invisible characters, such as variation selectors, are removed.
 */
export function foldAddress(text: string): string | null {
  const folded = text
    .replace(/[\s\p{P}\p{Default_Ignorable_Code_Point}]/gu, '')
    .slice(0, ADDRESS_LENGTH_MAX)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '')
    .slice(0, ADDRESS_LENGTH_MAX)
  return folded === '' ? null : folded
}

/** The text of an order's address, as a ban of it is stored. It has no state: many shoppers omit it. */
export const addressText = ({ line1, line2, postal_code, city, country }: Address): string =>
  [line1, line2, postal_code, city, country].join(' ')

/** The orders in which the parts between street and country are written in different countries. */
const LAYOUTS: readonly (readonly ('postal_code' | 'city' | 'state')[])[] = [
  ['postal_code', 'city'],
  ['city', 'postal_code'],
  ['city', 'state', 'postal_code'],
  ['city', 'postal_code', 'state'],
  ['postal_code', 'city', 'state'],
]

/** Every spelling in which a merchant may have typed a banned address, folded. */
export function foldedSpellings(address: Address): string[] {
  const fold = (text: string | null | undefined) => foldAddress(text ?? '') ?? ''
  const parts = {
    city: fold(address.city),
    state: fold(address.state),
    postal_code: fold(address.postal_code),
  }
  const street = fold(address.line1) + fold(address.line2)
  const country = fold(address.country)
  const spellings = LAYOUTS.flatMap((layout) => {
    const written = street + layout.map((name) => parts[name]).join('')
    return [written + country, written]
  })
  return [...new Set(spellings)].filter((each) => each !== '' && each.length <= ADDRESS_LENGTH_MAX)
}
