import { type Look, readLook } from './look.ts'
import type { Resolved } from './types.ts'
import { type Words, wordsOf } from './words.ts'

export interface Section {
  type: string
  props: Record<string, unknown>
}

/** A store as its manifest makes it: read once for each version, and kept. */
export interface Site {
  tenant: string
  /** Of the manifest, as the platform tags it: whatever is made from it may be kept under it. */
  hash: string
  brand: { name: string; tagline: string | null; logoRef: string | null; ogImageRef: string | null }
  seo: { title: string | null; description: string | null }
  sections: readonly Section[]
  look: Look
  words: Words
  hasSearch: boolean
  policies: Policies
  offers: Offers
  /** Where mail to the store goes, if it says so. */
  email: string | null
  /** The store's own host, and where a visitor of another is to be sent. */
  canonicalHostname: string | null
  redirect: string | null
  preview: { expiresAt: string } | null
}

/** What the site switches on beyond buying with a card. The platform has the last word on each. */
export interface Offers {
  giftCards: boolean
  storeCredit: boolean
  subscriptions: boolean
  /** Whether shoppers may take money back by themselves. */
  refunds: boolean
  /** What must be accepted before anything is sold; null where nothing is asked. */
  statement: { version: string; text: string } | null
}

/** How orders are shipped and taxed: said by the manifest, sent with each price that is asked for. */
export interface Policies {
  shipping: ShippingPolicy | null
  tax: { provider: string; rate_bps: number } | null
}

interface ShippingPolicy {
  mode: 'flat'
  flat_rate_cents: number
  expedited_rate_cents: number
  max_cents: number
  free_shipping_threshold_cents: number | null
}

type Block = Record<string, unknown>

export const asBlock = (value: unknown): Block =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Block) : {}

export const asText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null

/** More than any page shows of one kind. */
const LIST_MAX = 200

export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, LIST_MAX) : []

/** Reads a manifest as it is found: what is not of the expected form is not there. */
export function readSite(resolved: Resolved, hash: string): Site {
  const { manifest, tenantRef, canonicalHostname = null, redirect = null, preview } = resolved
  const brand = asBlock(manifest.brand)
  const seo = asBlock(manifest.seo)
  const store = asBlock(manifest.store)
  const behavior = asBlock(manifest.behavior)
  return {
    tenant: tenantRef,
    hash,
    brand: {
      name: asText(brand.name) ?? tenantRef,
      tagline: asText(brand.tagline),
      logoRef: asText(brand.logoRef),
      ogImageRef: asText(brand.ogImageRef),
    },
    seo: { title: asText(seo.title), description: asText(seo.description) },
    sections: readSections(asBlock(manifest.template).sections),
    look: readLook(manifest.theme),
    words: wordsOf(store.language, store.timeZone),
    hasSearch: asBlock(behavior.search).enabled !== false,
    policies: { shipping: readShipping(behavior.shipping), tax: readTax(behavior.tax) },
    offers: readOffers(behavior),
    email: asText(brand.email),
    canonicalHostname,
    redirect,
    preview: preview === undefined ? null : { expiresAt: preview.expiresAt },
  }
}

const readSections = (value: unknown): Section[] =>
  asList(value).map((each) => {
    const { type, props } = asBlock(each)
    return { type: String(type), props: asBlock(props) }
  })

function readOffers(behavior: Block): Offers {
  const isOn = (name: string, key = 'enabled') => asBlock(behavior[name])[key] === true
  const { statementVersion, statement } = asBlock(behavior.funnelGate)
  const version = String(statementVersion ?? '')
  return {
    giftCards: isOn('giftCards'),
    storeCredit: isOn('storeCredit'),
    subscriptions: isOn('subscriptions'),
    refunds: isOn('refunds', 'selfServe'),
    statement: isOn('funnelGate') ? { version, text: asText(statement) ?? version } : null,
  }
}

const isCents = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

function readShipping(value: unknown): ShippingPolicy | null {
  const given = asBlock(value)
  const { flat_rate_cents, expedited_rate_cents, max_cents } = given
  if (!isCents(flat_rate_cents) || !isCents(expedited_rate_cents) || !isCents(max_cents))
    return null
  const threshold = given.free_shipping_threshold_cents
  return {
    mode: 'flat',
    flat_rate_cents,
    expedited_rate_cents,
    max_cents,
    free_shipping_threshold_cents: isCents(threshold) ? threshold : null,
  }
}

function readTax(value: unknown): Policies['tax'] {
  const { provider, rate_bps } = asBlock(value)
  if (typeof provider !== 'string' || !isCents(rate_bps)) return null
  return { provider, rate_bps }
}
