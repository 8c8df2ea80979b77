import { isCountry } from './countries.ts'
import { mailTo, safeHref } from './links.ts'
import type { TextKind } from './prop.ts'

/** The forms that texts of a manifest must have, and how a message names each of them. */

interface Form {
  /** Ends the sentence "must be …". */
  expected: string
  /** Returns the text as it is used; null for a text that does not have this form. */
  read(text: string): string | null
}

const like =
  (pattern: RegExp) =>
  (text: string): string | null =>
    pattern.test(text) ? text : null

/** `#rgb`, `#rrggbb` or `rgb(…)`. */
export const HEX_COLOUR = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i
export const RGB_COLOUR = /^rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/i

/** The form of an asset's name. The storefront shows those of its own store only. */
export const ASSET_REF = /^asset:([a-z0-9-]{3,63})\/([0-9a-f]{64}\.[a-z0-9]{3,5})$/

/**
 * Font names between commas, bare or in closed quotes: nothing in them can end a CSS declaration.
 */
const FONT = `(?:[\\p{L}\\p{N} _-]+|'[\\p{L}\\p{N} _-]+'|"[\\p{L}\\p{N} _-]+")`
const FONTS = new RegExp(`^(?=.{1,200}$)${FONT}(?:, ?${FONT})*$`, 'u')
const LENGTH = /^\d{1,4}(\.\d{1,3})?(px|rem|em|ch|vw|%)$/
const SPACING = /^-?\d{1,2}(\.\d{1,3})?(px|rem|em)$/

/** A moment with its offset from UTC: without one, it would depend on the reader's place. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/

/** The names of tax providers that the platform accepts in a checkout. */
const TAX_PROVIDER = /^(null|flat_rate|[a-z0-9]+_tax)$/

export const FORMS: Partial<Record<TextKind, Form>> = {
  link: {
    expected:
      'a path such as /products, or an address that begins with https:, http:, mailto: or tel:',
    read: safeHref,
  },
  email: { expected: 'an e-mail address', read: (text) => (mailTo(text) === null ? null : text) },
  slug: { expected: 'a slug, such as new-arrivals', read: like(/^[^\s/?#%\\]{1,200}$/u) },
  asset: {
    expected: 'the name of an asset: asset:<tenant>/<sha256>.<ext>',
    read: like(ASSET_REF),
  },
  font: {
    expected: 'the name of an uploaded font: asset:<tenant>/<sha256>.woff2',
    read: (text) => (ASSET_REF.test(text) && text.endsWith('.woff2') ? text : null),
  },
  time: {
    expected: 'a moment with its offset, such as 2026-12-24T18:00:00+01:00',
    read: (text) => (TIME.test(text) && !Number.isNaN(Date.parse(text)) ? text : null),
  },
  colour: {
    expected: 'a colour as #rgb, #rrggbb or rgb(r, g, b)',
    read: (text) => (HEX_COLOUR.test(text.trim()) || RGB_COLOUR.test(text) ? text : null),
  },
  fonts: { expected: 'names of fonts between commas', read: like(FONTS) },
  length: { expected: 'a length, such as 12px, 1.5rem or 90%', read: like(LENGTH) },
  country: {
    expected: 'the ISO 3166-1 code of a country, such as DE',
    read: (text) => (isCountry(text) ? text : null),
  },
  taxProvider: {
    expected: 'null, flat_rate or a name ending in _tax',
    read: like(TAX_PROVIDER),
  },
  spacing: { expected: 'a length in px, rem or em, such as -0.02em', read: like(SPACING) },
}
