import { RETURN_DAYS_MAX } from '../../../manifest/behavior-props.ts'
import { isCountry, readShippingCountries } from '../../../manifest/countries.ts'
import { PAGE_KINDS, PAGE_PROPS, PAGES_MAX, type PageKind } from '../../../manifest/page-props.ts'
import { readShippingPolicy, type ShippingPolicy } from '../../../manifest/policies.ts'
import { readProps } from '../../../manifest/read-props.ts'
import { asLine } from '../sites/brand.ts'
import { member, switchesReader } from '../sites/switches.ts'

/** The facts about a store for its feeds, from its published manifest. */
export interface SiteFacts {
  /** The name that shoppers know; null if the manifest has none. */
  brand: string | null
  country: string | null
  /** The countries that the store ships to; null if it does not say. */
  countries: readonly string[] | null
  shipping: ShippingPolicy | null
  returnDays: number | null
  /** The paths of the pages that feeds link to. */
  paths: { withdrawal: string | null; privacy: string | null; terms: string | null }
}

const NOTHING: SiteFacts = {
  brand: null,
  country: null,
  countries: null,
  shipping: null,
  returnDays: null,
  paths: { withdrawal: null, privacy: null, terms: null },
}

/** Reads the facts of a manifest, which may hold anything: a fact that is missing or malformed is left out. */
function readFacts(manifest: unknown): SiteFacts {
  const behavior = member(manifest, 'behavior')
  const country = member(member(manifest, 'store'), 'country')
  const days = member(member(behavior, 'returns'), 'windowDays')
  const paths = readPaths(member(manifest, 'pages'))
  return {
    brand: asLine(member(member(manifest, 'brand'), 'name')),
    country: isCountry(country) ? country : null,
    countries: readShippingCountries(member(member(behavior, 'shipping'), 'countries')),
    shipping: readShippingPolicy(member(behavior, 'shipping')),
    returnDays: isCents(days) && days <= RETURN_DAYS_MAX ? days : null,
    paths: {
      withdrawal: paths.get('withdrawal') ?? null,
      privacy: paths.get('privacy') ?? null,
      terms: paths.get('terms') ?? null,
    },
  }
}

/** The path of the first page of each kind. A page whose slug is a kind has that kind. */
function readPaths(value: unknown): Map<PageKind, string> {
  const paths = new Map<PageKind, string>()
  for (const each of Array.isArray(value) ? value.slice(0, PAGES_MAX) : []) {
    const { slug, kind: said } = readProps(PAGE_PROPS, each)
    if (slug === null) continue
    const kind = said === 'other' ? (PAGE_KINDS.find((known) => known === slug) ?? said) : said
    if (!paths.has(kind)) paths.set(kind, `/pages/${encodeURIComponent(slug)}`)
  }
  return paths
}

const isCents = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

export const siteFactsOf = switchesReader(NOTHING, readFacts)
