import { RETURN_DAYS_MAX } from '../../manifest/behavior-props.ts'
import { isCountry, readShippingCountries } from '../../manifest/countries.ts'
import {
  type DeliveryDays,
  readDeliveryDays,
  readShippingPolicy,
  readTaxPolicy,
  type ShippingPolicy,
  type TaxPolicy,
} from '../../manifest/policies.ts'
import type { Resolved } from '../api/types.ts'
import { getLocale, type Locale } from '../translations/locale.ts'
import { asLine, asObject, asText } from './manifest.ts'
import { type ContentPage, type Menus, readMenus, readPages } from './pages.ts'
import { readSections, type Section } from './sections.ts'
import { readTheme, type Theme } from './theme.ts'

/** A store's site, read from its manifest once for each version. */
export interface Site {
  tenant: string
  /** The platform's ETag of the manifest: values made from the manifest are kept under it. */
  hash: string
  brand: {
    name: string
    tagline: string | null
    logoRef: string | null
    faviconRef: string | null
    ogImageRef: string | null
  }
  seo: { title: string | null; description: string | null }
  /** The sections of the home page. */
  sections: readonly Section[]
  pages: readonly ContentPage[]
  menus: Menus
  theme: Theme
  locale: Locale
  /** The writing direction of pages. */
  direction: Locale['direction']
  hasSearch: boolean
  /** Whether the site links to the shopper's orders, and offers to remember their address. */
  hasAccounts: boolean
  /** Whether a shopper is asked before this browser stores data that no page needs. */
  asksConsent: boolean
  policies: Policies
  /** How many working days a delivery takes; null if the store does not say it. */
  deliveryDays: Record<'standard' | 'expedited', DeliveryDays | null>
  /** The store's own country, which checkout forms name first; null if it is not known. */
  country: string | null
  /** The countries that the store ships to; null for every country. */
  countries: readonly string[] | null
  /** Whether the store's prices have the tax inside. */
  pricesIncludeTax: boolean
  /** How many days after the delivery shoppers may return goods; null if the store has no rule. */
  returnDays: number | null
  offers: Offers
  /** The store's e-mail address, if the manifest names one. */
  email: string | null
  /** The store's main host. */
  canonicalHostname: string | null
  /** Where a request to another of the store's hosts is sent. */
  redirect: string | null
  /** Whether the store takes no real money, and may have a time of its own. */
  isSandbox: boolean
  /** `isDraft`: the store was never open, so its catalog cannot be read. */
  preview: { expiresAt: string; isDraft: boolean } | null
}

/** The options that the store offers beside payment by card. The platform may still refuse each of them. */
export interface Offers {
  giftCards: boolean
  storeCredit: boolean
  /** Whether the site links to the shopper's subscriptions. */
  subscriptions: boolean
  /** Whether products can be subscribed to now. Existing subscriptions continue without that. */
  newSubscriptions: boolean
  /** Whether a new subscription costs the subscription price of its product, if that is the lower one. */
  subscriptionPrices: boolean
  /** Whether shoppers may refund their orders themselves. */
  refunds: boolean
  /** The statement that a shopper must accept at the checkout; null without one. */
  statement: { version: string; text: string } | null
}

/**
 * How orders are shipped and taxed. Sent to the platform with each preview and checkout. If a store has a policy that
 * cannot be read, it is null here, and the platform sells nothing.
 */
interface Policies {
  shipping: ShippingPolicy | null
  tax: TaxPolicy | null
}

/** Reads a manifest. A part that does not have the expected form is treated as missing. */
export function readSite(resolved: Resolved, hash: string): Site {
  const { manifest, tenantRef, canonicalHostname = null, redirect = null, preview } = resolved
  const brand = asObject(manifest.brand)
  const seo = asObject(manifest.seo)
  const store = asObject(manifest.store)
  const behavior = asObject(manifest.behavior)
  const locale = getLocale(store.language, store.timeZone)
  const countries = readShippingCountries(asObject(behavior.shipping).countries)
  const pages = readPages(manifest.pages, locale.texts)
  return {
    tenant: tenantRef,
    hash,
    brand: {
      name: asLine(brand.name) ?? tenantRef,
      tagline: asLine(brand.tagline),
      logoRef: asLine(brand.logoRef),
      faviconRef: asLine(brand.faviconRef),
      ogImageRef: asLine(brand.ogImageRef),
    },
    seo: { title: asLine(seo.title), description: asLine(seo.description) },
    sections: readSections(asObject(manifest.template).sections),
    pages,
    menus: readMenus(manifest.menus, pages),
    theme: readTheme(manifest.theme, tenantRef),
    locale,
    direction:
      store.direction === 'rtl' || store.direction === 'ltr' ? store.direction : locale.direction,
    hasSearch: asObject(behavior.search).enabled !== false,
    hasAccounts: asObject(behavior.accounts).enabled !== false,
    asksConsent: asObject(behavior.consent).enabled === true,
    policies: { shipping: readShippingPolicy(behavior.shipping), tax: readTaxPolicy(behavior.tax) },
    deliveryDays: readDeliveryDays(behavior.shipping),
    country: readCountry(store.country, countries, locale.language),
    countries,
    pricesIncludeTax: asObject(manifest.tax).prices_include_tax === true,
    returnDays: readReturnDays(behavior.returns),
    offers: readOffers(behavior, resolved.addOns ?? []),
    email: asLine(brand.email),
    canonicalHostname,
    redirect,
    isSandbox: resolved.sandbox === true,
    preview:
      preview === undefined
        ? null
        : { expiresAt: preview.expiresAt, isDraft: resolved.status === 'draft' },
  }
}

/** Reads the store's country: the one of the manifest, else the first that it ships to, or that of its language. */
function readCountry(
  value: unknown,
  countries: readonly string[] | null,
  language: string,
): string | null {
  const guess = countries?.[0] ?? new Intl.Locale(language).region
  return [value, guess].find(isCountry) ?? null
}

function readOffers(behavior: Record<string, unknown>, addOns: readonly string[]): Offers {
  const isOn = (name: string, key = 'enabled') => asObject(behavior[name])[key] === true
  const { statementVersion, statement } = asObject(behavior.funnelGate)
  const isNumber = typeof statementVersion === 'number'
  const version = (isNumber ? `${statementVersion}` : asLine(statementVersion)) ?? ''
  return {
    giftCards: isOn('giftCards'),
    storeCredit: isOn('storeCredit'),
    subscriptions: isOn('subscriptions'),
    newSubscriptions: isOn('subscriptions') && addOns.includes('subscriptions'),
    subscriptionPrices: addOns.includes('subscribe_and_save'),
    refunds: isOn('refunds', 'selfServe'),
    statement: isOn('funnelGate') ? { version, text: asText(statement) ?? version } : null,
  }
}

const isCents = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

function readReturnDays(value: unknown): number | null {
  const { windowDays } = asObject(value)
  return isCents(windowDays) && windowDays <= RETURN_DAYS_MAX ? windowDays : null
}
