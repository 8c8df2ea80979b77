import type { Address } from './schema.ts'

/** `normalize` is quadratic in runs of combining marks, so only so much is looked at. */
const ADDRESS_LENGTH_MAX = 500

/**
 * Letters and digits alone: "12, Müller St." and "12 Muller st" are one address. Marks that nobody
 * sees, such as variation selectors, are no part of it.
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

/** How a ban of an order's own address is spelt. The state is left out: many write none. */
export const writtenOut = ({ line1, line2, postal_code, city, country }: Address): string =>
  [line1, line2, postal_code, city, country].join(' ')

/** What stands between the street and the country, as it is written here and there. */
const ENDS: readonly (readonly ('postal_code' | 'city' | 'state')[])[] = [
  ['postal_code', 'city'],
  ['city', 'postal_code'],
  ['city', 'state', 'postal_code'],
  ['city', 'postal_code', 'state'],
  ['postal_code', 'city', 'state'],
]

/** Every way in which somebody may have typed the address that they ban, folded. */
export function foldedForms(address: Address): string[] {
  const fold = (text: string | null | undefined) => foldAddress(text ?? '') ?? ''
  const parts = {
    city: fold(address.city),
    state: fold(address.state),
    postal_code: fold(address.postal_code),
  }
  const street = fold(address.line1) + fold(address.line2)
  const country = fold(address.country)
  const forms = ENDS.flatMap((end) => {
    const written = street + end.map((name) => parts[name]).join('')
    return [written + country, written]
  })
  return [...new Set(forms)].filter((each) => each !== '' && each.length <= ADDRESS_LENGTH_MAX)
}
