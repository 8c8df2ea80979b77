import {
  type AddressRule,
  COUNTRIES,
  cityKindOf,
  GENERAL_RULE,
  isCountry,
  type PostcodeRule,
  type RegionRule,
  ruleOf,
  tidyPostcode,
} from '../../manifest/countries.ts'
import { memoize } from '../memo.ts'
import type { Site } from '../site/site.ts'
import type { Texts } from '../translations/texts.ts'

/** What an address has in each country, and what is wrong with one. */

export interface Address {
  name: string
  line1: string
  line2: string
  city: string
  state: string
  postal_code: string
  /** An ISO 3166-1 code; empty if none is chosen. */
  country: string
}

export interface Country {
  code: string
  name: string
}

/** The countries that the store ships to: its own first, the others by name. */
export const listCountries = (site: Site): readonly Country[] =>
  memoize(site, 'countries', () => {
    const { locale, country: own } = site
    const compare = new Intl.Collator(locale.language).compare
    return (site.countries ?? COUNTRIES)
      .map((code) => ({ code, name: locale.countryName(code) }))
      .sort((a, b) => Number(b.code === own) - Number(a.code === own) || compare(a.name, b.name))
  })

/** The country of a new form: the store's own, or the only one that it ships to. */
export function defaultCountry(site: Site): string {
  const [first, second] = listCountries(site)
  if (first === undefined) return ''
  return first.code === site.country || second === undefined ? first.code : ''
}

export const addressRuleOf = (country: string): AddressRule =>
  country === '' ? GENERAL_RULE : ruleOf(country)

const withOptional = (texts: Texts, label: string, isRequired: boolean): string =>
  isRequired ? label : texts.optional({ label })

export const postcodeLabel = (texts: Texts, { kind, required }: PostcodeRule): string =>
  withOptional(texts, texts.postcodeKinds[kind], required)

export const cityLabel = (texts: Texts, country: string): string =>
  texts.cityKinds[cityKindOf(country)]

export const regionLabel = (texts: Texts, { kind, required }: RegionRule): string =>
  withOptional(texts, texts.regionKinds[kind], required)

/** The address without parts that the country's addresses do not have, its postal code as the post writes it. */
export function keepKnownParts<A extends Address>(address: A): A {
  const { postcode, region } = addressRuleOf(address.country)
  return {
    ...address,
    postal_code: postcode === null ? '' : tidyPostcode(address.country, address.postal_code),
    state: region === null ? '' : address.state,
  }
}

const REQUIRED = ['name', 'line1', 'city'] as const

/** What is wrong with an address, by field. */
export function addressErrors(site: Site, address: Address): Record<string, string> {
  const { texts } = site.locale
  const errors: Record<string, string> = {}
  for (const field of REQUIRED) if (address[field] === '') errors[field] = texts.fieldRequired
  const { country, state, postal_code } = address
  if (country === '') errors.country = texts.chooseCountry
  else if (!isServed(site, country)) errors.country = texts.refusals.country_not_served
  const { postcode, region } = addressRuleOf(country)
  if (region !== null && !isRegion(region, state)) errors.state = texts.fieldRequired
  if (postcode !== null && !isPostcode(postcode, postal_code)) {
    errors.postal_code =
      postal_code === '' || postcode.example === null
        ? texts.fieldRequired
        : texts.checkPostcode({ example: postcode.example })
  }
  return errors
}

const isServed = ({ countries }: Site, country: string): boolean =>
  countries === null ? isCountry(country) : countries.includes(country)

function isRegion({ required, choices }: RegionRule, state: string): boolean {
  if (state === '') return !required
  return choices === null || choices.some(({ code }) => code === state)
}

function isPostcode({ required, pattern }: PostcodeRule, text: string): boolean {
  if (text === '') return !required
  return pattern === null || new RegExp(`^(?:${pattern})$`, 'i').test(text)
}

/**
 * The rules as our script reads them, to change the form with the country. Labels stand in a list,
 * and are named by their place in it: most countries have the same.
 */
export const addressData = (site: Site): unknown =>
  memoize(site, 'address data', () => {
    const { texts } = site.locale
    const labels: string[] = []
    const place = (label: string) => {
      if (!labels.includes(label)) labels.push(label)
      return labels.indexOf(label)
    }
    const pack = (country: string, { postcode, region, order }: AddressRule) => ({
      city: [place(cityLabel(texts, country)), 1, ''],
      postal_code: postcode && [
        place(postcodeLabel(texts, postcode)),
        Number(postcode.required),
        postcode.example ?? '',
      ],
      state: region && [
        place(regionLabel(texts, region)),
        Number(region.required),
        region.choices?.map(({ code, name }) => (code === name ? code : [code, name])) ?? null,
      ],
      order,
    })
    const known = listCountries(site).filter(({ code }) => ruleOf(code) !== GENERAL_RULE)
    const rules = Object.fromEntries(known.map(({ code }) => [code, pack(code, ruleOf(code))]))
    return { rules: { ...rules, '': pack('', GENERAL_RULE) }, labels }
  })
