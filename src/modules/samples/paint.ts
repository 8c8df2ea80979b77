/**
 * The paints of the sample drawings: colours, light on round and flat things, and textures. All are made from
 * numbers alone, so that a drawing has the same bytes everywhere.
 */

export interface Palette {
  /** The wall, and the table in front of it. */
  wall: string
  table: string
  /** The object: its light side, its dark side, and its details. */
  light: string
  dark: string
  accent: string
}

const channels = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

/** A colour between two colours: the first at 0, the second at 1. */
export function mix(from: string, to: string, share: number): string {
  const other = channels(to)
  const mixed = channels(from).map((each, i) => Math.round(each + ((other[i] ?? 0) - each) * share))
  return `#${mixed.map((each) => each.toString(16).padStart(2, '0')).join('')}`
}

export const lighten = (colour: string, share: number) => mix(colour, '#ffffff', share)
export const darken = (colour: string, share: number) => mix(colour, '#140a06', share)

/** Numbers from 0 to 1 that look random and are the same every time (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Stop = readonly [offset: number, colour: string, opacity?: number]

const stopsOf = (stops: readonly Stop[]) =>
  stops
    .map(
      ([offset, colour, opacity]) =>
        `<stop offset="${offset}" stop-color="${colour}"${opacity === undefined ? '' : ` stop-opacity="${opacity}"`}/>`,
    )
    .join('')

/** A gradient from left to right, or from top to bottom. */
export const linear = (id: string, stops: readonly Stop[], down = false) =>
  `<linearGradient id="${id}"${down ? ' x2="0" y2="1"' : ''}>${stopsOf(stops)}</linearGradient>`

export const radial = (id: string, stops: readonly Stop[], place = '') =>
  `<radialGradient id="${id}" ${place}>${stopsOf(stops)}</radialGradient>`

/** The light on an upright round thing: a bright band at the left, and at the right edge light from the room. */
export const roundLight = (id: string, light: string, dark: string) =>
  linear(id, [
    [0, mix(light, dark, 0.5)],
    [0.1, mix(light, dark, 0.12)],
    [0.27, lighten(light, 0.3)],
    [0.45, light],
    [0.74, mix(light, dark, 0.72)],
    [0.93, darken(dark, 0.16)],
    [1, mix(dark, light, 0.34)],
  ])

/** The light on the inside of a round thing, like `roundLight`: the far wall has the light at the right. */
export const innerLight = (id: string, light: string, dark: string) =>
  linear(id, [
    [0, darken(dark, 0.35)],
    [0.35, mix(dark, light, 0.2)],
    [0.8, mix(dark, light, 0.75)],
    [1, light],
  ])

/** A shade that grows toward the bottom: laid over a body. */
export const fadeBelow = (id: string, strength = 0.34) =>
  linear(
    id,
    [
      [0, '#ffffff', 0.1],
      [0.35, '#1c0f08', 0],
      [1, '#1c0f08', strength],
    ],
    true,
  )

interface Area {
  x: number
  y: number
  w: number
  h: number
}

/** Dots of iron in a glaze. */
export function speckles(seed: number, { x, y, w, h }: Area, colour: string, count = 150): string {
  const random = randomOf(seed)
  const dots = Array.from({ length: count }, () => {
    const size = 0.7 + 2.3 * random() ** 3
    const at = `cx="${(x + w * random()).toFixed(1)}" cy="${(y + h * random()).toFixed(1)}"`
    return `<circle ${at} r="${size.toFixed(2)}" fill-opacity="${(0.25 + 0.5 * random()).toFixed(2)}"/>`
  })
  return `<g fill="${colour}">${dots.join('')}</g>`
}

/** Threads that cross: a pattern to lay over cloth. */
export const weave = (id: string, size: number, strength = 0.16) => `
  <pattern id="${id}" width="${size}" height="${size}" patternUnits="userSpaceOnUse">
    <path d="M0 ${size * 0.25}h${size * 0.5}M${size * 0.5} ${size * 0.75}h${size * 0.5}" stroke="#fff" stroke-opacity="${strength}" stroke-width="${size * 0.36}"/>
    <path d="M${size * 0.25} ${size * 0.5}v${size * 0.5}M${size * 0.75} 0v${size * 0.5}" stroke="#1c0f08" stroke-opacity="${strength}" stroke-width="${size * 0.34}"/>
  </pattern>`

/** The grain of a board: long lines that nearly run side by side. */
export function grain(seed: number, { x, y, w, h }: Area, colour: string, count = 26): string {
  const random = randomOf(seed)
  const lines = Array.from({ length: count }, (_, i) => {
    const at = y + (h * (i + random())) / count
    const bend = () => ((random() - 0.5) * h * 0.05).toFixed(1)
    const opacity = (0.08 + 0.2 * random()).toFixed(2)
    return `<path d="M${x} ${at.toFixed(1)}c${w * 0.3} ${bend()} ${w * 0.6} ${bend()} ${w} ${bend()}" stroke-width="${(0.8 + 2.6 * random()).toFixed(1)}" stroke-opacity="${opacity}"/>`
  })
  return `<g fill="none" stroke="${colour}">${lines.join('')}</g>`
}
