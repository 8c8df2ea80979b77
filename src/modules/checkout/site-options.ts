import { readShippingCountries } from '../../../manifest/countries.ts'
import { member, switchesReader } from '../sites/switches.ts'

/** What a store's site offers at its checkout. */
export interface SiteOptions {
  storeCredit: boolean
  giftCards: boolean
  /** The version of the statement that shoppers must accept; null where there is none. */
  statementVersion: string | null
  /** Whether the store's prices have the tax inside. */
  pricesIncludeTax: boolean
  /** The countries that the store ships to; null for every country. */
  countries: readonly string[] | null
}

const NOTHING: SiteOptions = {
  storeCredit: false,
  giftCards: false,
  statementVersion: null,
  pricesIncludeTax: false,
  countries: null,
}

/** Manifests may hold anything: an option that is missing or malformed is switched off. */
function readOptions(manifest: unknown): SiteOptions {
  const behavior = member(manifest, 'behavior')
  const funnel = member(behavior, 'funnelGate')
  const version = member(funnel, 'statementVersion')
  const asked = member(funnel, 'enabled') === true
  return {
    storeCredit: member(member(behavior, 'storeCredit'), 'enabled') === true,
    giftCards: member(member(behavior, 'giftCards'), 'enabled') === true,
    statementVersion: asked ? toVersion(version) : null,
    pricesIncludeTax: member(member(manifest, 'tax'), 'prices_include_tax') === true,
    countries: readShippingCountries(member(member(behavior, 'shipping'), 'countries')),
  }
}

/** A text or a number. Any other value is no version, and `String` would throw for some of them. */
const toVersion = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `${value}` : ''

export const optionsOf = switchesReader(NOTHING, readOptions)
