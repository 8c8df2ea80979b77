import { ruleOf } from '../../../manifest/countries.ts'
import { cleanText } from './clean-text.ts'
import type { Address } from './schema.ts'

/** The lines of an address as its country writes them. */
export function addressLines(address: Address, countryName: (code: string) => string): string[] {
  const { name, label, line1, line2, country } = address
  const places = ruleOf(country).order.map((part) => address[part])
  return [
    name,
    label === name ? null : label,
    line1,
    line2,
    places.filter(Boolean).join(' '),
    countryName(country),
  ]
    .map((line) => cleanText(line ?? ''))
    .filter((line) => line !== '')
}
