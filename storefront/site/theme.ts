import {
  type Colour,
  formatColour,
  isDark,
  mix,
  parseColour,
  readableColour,
  readableOn,
} from './colour.ts'
import { asNumber, asObject, type JsonObject } from './manifest.ts'

/**
 * The theme of a manifest, as variables of the one style sheet and as attributes that choose
 * between its layouts. A value of the manifest reaches the style sheet only if it has a known form,
 * because the merchant's text would become part of the CSS.
 */
export interface Theme {
  /** The CSS rule that sets the variables. */
  css: string
  /** Attributes of the `html` element that choose a layout, such as `data-hero`. */
  layout: Record<string, string>
  backgroundColour: string
  scheme: 'light' | 'dark'
  /** The colours of the generated icon. */
  icon: { background: string; text: string }
}

/** The layouts to choose from. The first of each is the default. */
const LAYOUTS = {
  header: ['left', 'center', 'bar'],
  hero: ['split', 'cover', 'poster'],
  card: ['soft', 'framed', 'quiet'],
  density: ['regular', 'airy', 'compact'],
  button: ['solid', 'outline', 'block'],
} as const

const SERIF = "'Iowan Old Style', 'Palatino Linotype', Palatino, 'Book Antiqua', Georgia, serif"
const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

/**
 * Font names between commas, bare or in closed quotes: nothing in them can end a CSS declaration.
 */
const FONT = `(?:[\\p{L}\\p{N} _-]+|'[\\p{L}\\p{N} _-]+'|"[\\p{L}\\p{N} _-]+")`
const FONTS = new RegExp(`^(?=.{1,200}$)${FONT}(?:, ?${FONT})*$`, 'u')
const LENGTH = /^\d{1,4}(\.\d{1,3})?(px|rem|em|ch|vw|%)$/
const SPACING = /^-?\d{1,2}(\.\d{1,3})?(px|rem|em)$/

const textOr = (value: unknown, form: RegExp, otherwise: string): string =>
  typeof value === 'string' && value.length <= 200 && form.test(value) ? value : otherwise

const oneOf = (value: unknown, choices: readonly string[]): string =>
  choices.find((each) => each === value) ?? choices[0] ?? ''

export function readTheme(theme: unknown): Theme {
  const { color, type, layout } = asObject(theme)
  const { variables, primary, background } = colourVariables(asObject(color))
  const chosen = asObject(layout)
  const scheme = isDark(background) ? 'dark' : 'light'
  const all = [...variables, ...typeVariables(asObject(type)), ...layoutVariables(chosen)]
  return {
    css: `:root{color-scheme:${scheme};${all.map(([name, value]) => `--${name}:${value}`).join(';')}}`,
    layout: Object.fromEntries(
      Object.entries(LAYOUTS).map(([name, choices]) => [
        `data-${name}`,
        oneOf(chosen[name], choices),
      ]),
    ),
    backgroundColour: formatColour(background),
    scheme,
    icon: { background: formatColour(primary), text: formatColour(readableOn(primary)) },
  }
}

type Variable = readonly [name: string, value: string]

/** Every text colour is made readable on its background, whatever the merchant chose. */
function colourVariables(color: JsonObject): {
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

function typeVariables(type: JsonObject): Variable[] {
  const isUpper = type.case === 'upper'
  const weight = asNumber(type.weight)
  const scale = asNumber(type.scale)
  return [
    ['font-body', textOr(type.body, FONTS, SANS)],
    ['font-head', textOr(type.heading, FONTS, SERIF)],
    ['head-weight', weight >= 100 && weight <= 900 ? String(Math.round(weight)) : '600'],
    ['head-case', isUpper ? 'uppercase' : 'none'],
    ['head-spacing', textOr(type.spacing, SPACING, '-0.015em')],
    ['head-style', type.style === 'italic' ? 'italic' : 'normal'],
    ['head-scale', scale >= 0.7 && scale <= 1.6 ? String(scale) : '1'],
  ]
}

function layoutVariables(layout: JsonObject): Variable[] {
  const ratio = asNumber(layout.imageRatio)
  return [
    ['width', textOr(layout.width, LENGTH, '76rem')],
    ['radius', textOr(layout.radius, LENGTH, '0.5rem')],
    ['ratio', ratio >= 0.5 && ratio <= 2 ? String(ratio) : '1'],
  ]
}
