import {
  type Colour,
  isDark,
  mix,
  readable,
  readableOn,
  readColour,
  writeColour,
} from './colour.ts'

/**
 * A manifest's theme, turned into variables of the one style sheet and into a few words that choose
 * between its layouts. Nothing of a theme reaches the style sheet as it came: a value is of a known
 * form, or it is not there.
 */
export interface Look {
  /** The rule that sets the variables. */
  css: string
  /** Attributes of the page that choose a layout, such as `data-hero`. */
  layout: Record<string, string>
  themeColour: string
  scheme: 'light' | 'dark'
  /** The store's own icon, when it has none: its first letter on its colour. */
  icon: { ground: string; ink: string }
}

type Block = Record<string, unknown>

const block = (value: unknown): Block =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Block) : {}

/** The layouts that there are, the first of each being the one that a theme need not name. */
const LAYOUTS = {
  header: ['left', 'center', 'bar'],
  hero: ['split', 'cover', 'poster'],
  card: ['soft', 'framed', 'quiet'],
  density: ['regular', 'airy', 'compact'],
  button: ['solid', 'outline', 'block'],
} as const

const SERIF = "'Iowan Old Style', 'Palatino Linotype', Palatino, 'Book Antiqua', Georgia, serif"
const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

/** Names between commas, bare or in quotes that end: nothing that could end a declaration. */
const FONT = `(?:[\\p{L}\\p{N} _-]+|'[\\p{L}\\p{N} _-]+'|"[\\p{L}\\p{N} _-]+")`
const FONTS = new RegExp(`^(?=.{1,200}$)${FONT}(?:, ?${FONT})*$`, 'u')
const LENGTH = /^\d{1,4}(\.\d{1,3})?(px|rem|em|ch|vw|%)$/
const SPACING = /^-?\d{1,2}(\.\d{1,3})?(px|rem|em)$/

const text = (value: unknown, form: RegExp, otherwise: string): string =>
  typeof value === 'string' && form.test(value) ? value : otherwise

const oneOf = (value: unknown, all: readonly string[]): string =>
  all.find((each) => each === value) ?? all[0] ?? ''

export function readLook(theme: unknown): Look {
  const { color, type, layout } = block(theme)
  const { lines, primary, ground } = colourLines(block(color))
  const chosen = block(layout)
  const scheme = isDark(ground) ? 'dark' : 'light'
  const all = [...lines, ...typeLines(block(type)), ...layoutLines(chosen)]
  return {
    css: `:root{color-scheme:${scheme};${all.map(([name, value]) => `--${name}:${value}`).join(';')}}`,
    layout: Object.fromEntries(
      Object.entries(LAYOUTS).map(([name, all]) => [`data-${name}`, oneOf(chosen[name], all)]),
    ),
    themeColour: writeColour(ground),
    scheme,
    icon: { ground: writeColour(primary), ink: writeColour(readableOn(primary)) },
  }
}

type Line = readonly [name: string, value: string]

/** Every pair of ink and ground is readable, whatever was chosen. */
function colourLines(color: Block): { lines: Line[]; primary: Colour; ground: Colour } {
  const ground = readColour(color.background) ?? [255, 255, 255]
  const ink = readable(readColour(color.text) ?? readableOn(ground), ground, readableOn(ground))
  const primary = readColour(color.primary) ?? ink
  const surface = readColour(color.surface) ?? mix(ink, ground, 0.04)
  const accent = readColour(color.accent) ?? primary
  const named: Record<string, Colour> = {
    bg: ground,
    text: ink,
    muted: readable(mix(ink, ground, 0.66), ground, ink),
    line: mix(ink, ground, 0.16),
    'line-strong': mix(ink, ground, 0.55),
    surface,
    'surface-text': readable(ink, surface, readableOn(surface)),
    'surface-muted': readable(mix(ink, surface, 0.66), surface, readableOn(surface)),
    primary,
    'on-primary': readableOn(primary),
    'primary-strong': mix(primary, readableOn(primary), 0.86),
    accent,
    'on-accent': readableOn(accent),
    link: readable(primary, ground, ink),
    'surface-link': readable(primary, surface, readableOn(surface)),
    bad: readable([190, 30, 45], ground, ink),
    good: readable([28, 120, 70], ground, ink),
  }
  const lines = Object.entries(named).map(([name, value]): Line => [name, writeColour(value)])
  return { lines, primary, ground }
}

function typeLines(type: Block): Line[] {
  const isUpper = type.case === 'upper'
  const weight = Number(type.weight)
  const scale = Number(type.scale)
  return [
    ['font-body', text(type.body, FONTS, SANS)],
    ['font-head', text(type.heading, FONTS, SERIF)],
    ['head-weight', weight >= 100 && weight <= 900 ? String(Math.round(weight)) : '600'],
    ['head-case', isUpper ? 'uppercase' : 'none'],
    ['head-spacing', text(type.spacing, SPACING, '-0.015em')],
    ['head-style', type.style === 'italic' ? 'italic' : 'normal'],
    ['head-scale', scale >= 0.7 && scale <= 1.6 ? String(scale) : '1'],
  ]
}

function layoutLines(layout: Block): Line[] {
  const ratio = Number(layout.imageRatio)
  return [
    ['width', text(layout.width, LENGTH, '76rem')],
    ['radius', text(layout.radius, LENGTH, '0.5rem')],
    ['ratio', ratio >= 0.5 && ratio <= 2 ? String(ratio) : '1'],
  ]
}
