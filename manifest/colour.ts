import { HEX_COLOUR, RGB_COLOUR } from './forms.ts'

/** Computes with colours, to keep text readable on any background that a merchant chooses. */

export type Colour = readonly [red: number, green: number, blue: number]

/** Reads a colour. Returns null for a value that is not `#rgb`, `#rrggbb` or `rgb(…)`. */
export function parseColour(value: unknown): Colour | null {
  if (typeof value !== 'string' || value.length > 100) return null
  const rgb = RGB_COLOUR.exec(value)
  if (rgb !== null) return [channel(rgb[1]), channel(rgb[2]), channel(rgb[3])]
  const hex = HEX_COLOUR.exec(value.trim())?.[1]
  if (hex === undefined) return null
  const full = hex.length === 3 ? [...hex].map((each) => each + each).join('') : hex
  const part = (at: number) => Number.parseInt(full.slice(at, at + 2), 16)
  return [part(0), part(2), part(4)]
}

const channel = (text = '0') => Math.min(Number(text), 255)

/** Writes a colour as `#rrggbb`. */
export const formatColour = (colour: Colour): string =>
  `#${colour.map((each) => Math.round(each).toString(16).padStart(2, '0')).join('')}`

/** Mixes two colours. `share` is the part of the first, from 0 to 1. */
export const mix = (a: Colour, b: Colour, share: number): Colour => [
  a[0] * share + b[0] * (1 - share),
  a[1] * share + b[1] * (1 - share),
  a[2] * share + b[2] * (1 - share),
]

/** The relative luminance of WCAG 2. */
function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((each) => {
    const part = each / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast ratio of WCAG 2, from 1 to 21. */
export function contrast(a: Colour, b: Colour): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const BLACK: Colour = [17, 17, 17]
const WHITE: Colour = [255, 255, 255]

/** Black or white, whichever has more contrast to the background. */
export const readableOn = (background: Colour): Colour =>
  contrast(WHITE, background) >= contrast(BLACK, background) ? WHITE : BLACK

/** WCAG asks 4.5 of running text. A little more, because colours are rounded afterwards. */
const CONTRAST_MIN = 4.6

/** The colour itself if it is readable on the background; else mixed with `towards` until it is readable. */
export function readableColour(colour: Colour, background: Colour, towards: Colour): Colour {
  for (let share = 1; share > 0; share -= 0.1) {
    const mixed = mix(colour, towards, share)
    if (contrast(mixed, background) >= CONTRAST_MIN) return mixed
  }
  return contrast(towards, background) >= CONTRAST_MIN ? towards : readableOn(background)
}

export const isDark = (colour: Colour): boolean => luminance(colour) < 0.2
