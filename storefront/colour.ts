/** Just enough of colour to keep a text readable on whatever a merchant chose. */

export type Colour = readonly [red: number, green: number, blue: number]

const HEX = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i
const RGB = /^rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/i

/** Null for what is no plain colour: it would go into a style sheet as it is. */
export function readColour(value: unknown): Colour | null {
  if (typeof value !== 'string') return null
  const rgb = RGB.exec(value)
  if (rgb !== null) return [channel(rgb[1]), channel(rgb[2]), channel(rgb[3])]
  const hex = HEX.exec(value.trim())?.[1]
  if (hex === undefined) return null
  const full = hex.length === 3 ? [...hex].map((each) => each + each).join('') : hex
  const part = (at: number) => Number.parseInt(full.slice(at, at + 2), 16)
  return [part(0), part(2), part(4)]
}

const channel = (text = '0') => Math.min(Number(text), 255)

export const writeColour = (colour: Colour): string =>
  `#${colour.map((each) => Math.round(each).toString(16).padStart(2, '0')).join('')}`

/** So much of the first in the second. */
export const mix = (a: Colour, b: Colour, share: number): Colour => [
  a[0] * share + b[0] * (1 - share),
  a[1] * share + b[1] * (1 - share),
  a[2] * share + b[2] * (1 - share),
]

/** WCAG 2: relative luminance. */
function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((each) => {
    const part = each / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

export function contrast(a: Colour, b: Colour): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const BLACK: Colour = [17, 17, 17]
const WHITE: Colour = [255, 255, 255]

/** Black or white, whichever is easier to read on it. */
export const readableOn = (ground: Colour): Colour =>
  contrast(WHITE, ground) >= contrast(BLACK, ground) ? WHITE : BLACK

/** What WCAG asks of running text. A little more, because rounding takes some away. */
const READABLE = 4.6

/** The colour itself where it can be read on the ground, else as much of it as can be. */
export function readable(colour: Colour, ground: Colour, against: Colour): Colour {
  for (let share = 1; share > 0; share -= 0.1) {
    const mixed = mix(colour, against, share)
    if (contrast(mixed, ground) >= READABLE) return mixed
  }
  return contrast(against, ground) >= READABLE ? against : readableOn(ground)
}

export const isDark = (colour: Colour): boolean => luminance(colour) < 0.2
