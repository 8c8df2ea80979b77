import {
  type Colour,
  formatColour,
  isDark,
  mix,
  parseColour,
  readableColour,
  readableOn,
} from '../../../manifest/colour.ts'
import { mailTo } from '../../../manifest/links.ts'
import { readProps } from '../../../manifest/read-props.ts'
import { THEME_TOKENS } from '../../../manifest/theme-tokens.ts'
import type { Db } from '../../db/database.ts'
import { isObject } from './page-warnings.ts'
import { readManifest } from './service.ts'

/** How a store looks outside of its pages, as in its mails. All colours are `#rrggbb`. */
export interface Brand {
  /** Null where the manifest has no name. */
  name: string | null
  email: string | null
  logoRef: string | null
  colours: {
    background: string
    surface: string
    /** The colour of text on the surface, and of quiet text on it. */
    surfaceText: string
    surfaceMuted: string
    text: string
    muted: string
    line: string
    primary: string
    onPrimary: string
    link: string
  }
  /** The same for a dark screen, with the store's own primary colour. */
  darkColours: Brand['colours']
}

const NAME_LENGTH_MAX = 100

/** How many brands are cached; they are small objects. When there are more, the map starts again empty. */
const CACHED_MAX = 2_000

/** The brands by store and version. A version never changes, so its brand can be cached. */
const cache = new Map<string, Brand>()

/** Returns the brand of a version of the site; a plain one for a store without a site. */
export async function brandOf(db: Db, version: number | null): Promise<Brand> {
  if (version === null) return readBrand(null)
  const key = `${db.tenant} ${version}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const brand = readBrand(await readManifest(db, version))
  if (cache.size >= CACHED_MAX) cache.clear()
  cache.set(key, brand)
  return brand
}

/** Reads the brand of a manifest. Manifests may hold anything: a part without the expected form counts as missing. */
export function readBrand(manifest: unknown): Brand {
  const { brand, theme } = isObject(manifest) ? manifest : {}
  const { name, email, logoRef } = isObject(brand) ? brand : {}
  const { color } = isObject(theme) ? theme : {}
  return {
    name: asLine(name),
    email: typeof email === 'string' && mailTo(email) !== null ? email : null,
    logoRef: typeof logoRef === 'string' ? logoRef : null,
    colours: coloursOf(color),
    darkColours: darkColoursOf(color),
  }
}

/** Makes one line of a text, since a name also stands in headers of mails. */
export function asLine(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const line = value
    .slice(0, 2 * NAME_LENGTH_MAX)
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return line === '' ? null : [...line].slice(0, NAME_LENGTH_MAX).join('')
}

/** Nearly black, as dark screens have it, and its text. */
const DARK = { background: '#17191d', surface: '#0e1013', text: '#eceef1' }

/** Computes the colours for a dark screen. A store that is dark itself keeps its own. */
function darkColoursOf(given: unknown): Brand['colours'] {
  const own = coloursOf(given)
  const background = parseColour(own.background)
  return background !== null && isDark(background)
    ? own
    : coloursOf({ ...DARK, primary: own.primary })
}

/** Computes the colours as the storefront's style sheet does: text is readable on the background below it. */
function coloursOf(given: unknown): Brand['colours'] {
  const color = readProps(THEME_TOKENS.color, given)
  const background = parseColour(color.background) ?? [255, 255, 255]
  const contrasting = readableOn(background)
  const text = readableColour(parseColour(color.text) ?? contrasting, background, contrasting)
  const primary = parseColour(color.primary) ?? text
  const surface = parseColour(color.surface) ?? mix(text, background, 0.04)
  const colours: Record<keyof Brand['colours'], Colour> = {
    background,
    surface,
    surfaceText: readableColour(text, surface, readableOn(surface)),
    surfaceMuted: readableColour(mix(text, surface, 0.66), surface, readableOn(surface)),
    text,
    muted: readableColour(mix(text, background, 0.66), background, text),
    line: mix(text, background, 0.16),
    primary,
    onPrimary: readableOn(primary),
    link: readableColour(primary, background, text),
  }
  return Object.fromEntries(
    Object.entries(colours).map(([name, colour]) => [name, formatColour(colour)]),
  ) as Brand['colours']
}
