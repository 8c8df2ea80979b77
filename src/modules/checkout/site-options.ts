import { readShippingCountries } from '../../../manifest/countries.ts'
import type { Db } from '../../db/database.ts'
import * as sites from '../sites/service.ts'

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

/** Some hundred bytes each. Beyond that the longest unused are dropped. */
const CACHED_MAX = 5_000

/** A version never changes, so its options can be cached for ever. */
const cache = new Map<string, SiteOptions>()

export async function optionsOf(db: Db, version: number | null): Promise<SiteOptions> {
  if (version === null) return NOTHING
  const key = `${db.tenant} ${version}`
  const known = cache.get(key)
  if (known !== undefined) return remember(key, known)
  return remember(key, readOptions(await sites.readManifest(db, version)))
}

/** Caches options as the last used. */
function remember(key: string, options: SiteOptions): SiteOptions {
  cache.delete(key)
  const [oldest] = cache.keys()
  if (cache.size >= CACHED_MAX && oldest !== undefined) cache.delete(oldest)
  cache.set(key, options)
  return options
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

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
