import {
  type Colour,
  formatColour,
  isDark,
  mix,
  parseColour,
  readableColour,
  readableOn,
} from '../../manifest/colour.ts'
import { ASSET_REF } from '../../manifest/forms.ts'
import type { ValuesOf } from '../../manifest/prop.ts'
import { readProps } from '../../manifest/read-props.ts'
import { THEME_TOKENS } from '../../manifest/theme-tokens.ts'
import { asObject } from './manifest.ts'

/**
 * The theme of a manifest, as variables of the one style sheet and as attributes that choose
 * between its layouts. A value of the manifest reaches the style sheet only if it has a known form,
 * because the merchant's text would become part of the CSS.
 */
export interface Theme {
  /** The CSS rules that load the store's fonts and set the variables. */
  css: string
  /** The address of the font that most of the text needs; null for a font of the reader's machine. */
  bodyFont: string | null
  /** Attributes of the `html` element that choose a layout, such as `data-hero`. */
  layout: Record<string, string>
  backgroundColour: string
  scheme: 'light' | 'dark'
  /** The colours of the generated icon. */
  icon: { background: string; text: string }
}

const SERIF = "'Iowan Old Style', 'Palatino Linotype', Palatino, 'Book Antiqua', Georgia, serif"
const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

const LAYOUTS = ['header', 'hero', 'card', 'density', 'button'] as const

export function readTheme(theme: unknown, tenant: string | null = null): Theme {
  const { color, type, layout } = asObject(theme)
  const { variables, primary, background } = colourVariables(readProps(THEME_TOKENS.color, color))
  const chosen = readProps(THEME_TOKENS.layout, layout)
  const scheme = isDark(background) ? 'dark' : 'light'
  const typeTokens = readProps(THEME_TOKENS.type, type)
  const own = ownFonts(typeTokens, tenant)
  const all = [...variables, ...typeVariables(typeTokens, own), ...layoutVariables(chosen)]
  return {
    bodyFont: own.body,
    css: `${fontFaces(own, typeTokens)}:root{color-scheme:${scheme};${all.map(([name, value]) => `--${name}:${value}`).join(';')}}`,
    layout: Object.fromEntries(LAYOUTS.map((name) => [`data-${name}`, chosen[name]])),
    backgroundColour: formatColour(background),
    scheme,
    icon: { background: formatColour(primary), text: formatColour(readableOn(primary)) },
  }
}

type Tokens = typeof THEME_TOKENS

type Variable = readonly [name: string, value: string]

/** Every text colour is made readable on its background, whatever the merchant chose. */
function colourVariables(color: ValuesOf<Tokens['color']>): {
  variables: Variable[]
  primary: Colour
  background: Colour
} {
  const background = parseColour(color.background) ?? [255, 255, 255]
  const contrasting = readableOn(background)
  const text = readableColour(parseColour(color.text) ?? contrasting, background, contrasting)
  const primary = parseColour(color.primary) ?? text
  const surface = parseColour(color.surface) ?? mix(text, background, 0.04)
  const accent = parseColour(color.accent) ?? primary
  const colours: Record<string, Colour> = {
    bg: background,
    text,
    muted: readableColour(mix(text, background, 0.66), background, text),
    line: mix(text, background, 0.16),
    'line-strong': mix(text, background, 0.55),
    surface,
    'surface-text': readableColour(text, surface, readableOn(surface)),
    'surface-muted': readableColour(mix(text, surface, 0.66), surface, readableOn(surface)),
    primary,
    'on-primary': readableOn(primary),
    'primary-strong': mix(primary, readableOn(primary), 0.86),
    accent,
    'on-accent': readableOn(accent),
    link: readableColour(primary, background, text),
    'surface-link': readableColour(primary, surface, readableOn(surface)),
    bad: readableColour([190, 30, 45], background, text),
    good: readableColour([28, 120, 70], background, text),
  }
  const variables = Object.entries(colours).map(
    ([name, colour]): Variable => [name, formatColour(colour)],
  )
  return { variables, primary, background }
}

type TypeTokens = ValuesOf<Tokens['type']>

/** The addresses of the fonts that the store has uploaded, by their use. */
type OwnFonts = Record<'body' | 'head', string | null>

/**
 * Finds the store's own fonts, and none of another store. They come from its own host, whichever host serves images.
 */
function ownFonts({ bodyFont, headingFont }: TypeTokens, tenant: string | null): OwnFonts {
  const address = (ref: string | null) => {
    const [, owner, file] = ASSET_REF.exec(ref ?? '') ?? []
    return owner === tenant && file !== undefined ? `/stores/${owner}/assets/${file}` : null
  }
  return { body: address(bodyFont), head: address(headingFont) }
}

/**
 * Writes the CSS that loads the fonts. The names of the families are ours, so that no text of the merchant becomes one.
 * A font for headings is used in its own weight; the text also needs a bold one, which the browser draws if the font
 * has only one weight.
 */
function fontFaces({ body, head }: OwnFonts, { bodyWeights }: TypeTokens): string {
  const face = (name: string, url: string, weights: string) =>
    `@font-face{font-family:${name};src:url("${url}") format("woff2");font-display:swap;font-weight:${weights}}`
  const ofBody = bodyWeights === 'all' ? ALL_WEIGHTS : '400'
  return [
    body === null ? '' : face(BODY_FONT, body, ofBody),
    head === null ? '' : face(HEAD_FONT, head, ALL_WEIGHTS),
  ].join('')
}

const ALL_WEIGHTS = '1 1000'
const [BODY_FONT, HEAD_FONT] = ['fd-body', 'fd-head']

function typeVariables(type: TypeTokens, own: OwnFonts): Variable[] {
  const family = (name: string, url: string | null, others: string) =>
    url === null ? others : `${name},${others}`
  return [
    ['font-body', family(BODY_FONT, own.body, type.body ?? SANS)],
    ['font-head', family(HEAD_FONT, own.head, type.heading ?? SERIF)],
    ['head-weight', String(type.weight)],
    ['head-case', type.case === 'upper' ? 'uppercase' : 'none'],
    ['head-spacing', type.spacing ?? '-0.015em'],
    ['head-style', type.style],
    ['head-scale', String(type.scale)],
  ]
}

function layoutVariables(layout: ValuesOf<Tokens['layout']>): Variable[] {
  return [
    ['width', layout.width ?? '76rem'],
    ['radius', layout.radius ?? '0.5rem'],
    ['ratio', String(layout.imageRatio)],
  ]
}
