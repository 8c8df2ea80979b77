import { MOTIFS, type Motif } from './motifs.ts'
import { darken, grain, lighten, linear, mix, type Palette, radial, randomOf } from './paint.ts'

/** The place that the drawings of a store show: a room in the morning, a studio, or a table by night. */
export type Room = 'day' | 'studio' | 'night'

export interface Placed {
  motif: Motif
  /** The horizontal position of its middle, from 0 at the left to 1 at the right. */
  at: number
  scale: number
  /** How much nearer than the other objects it stands, as a share of the height. */
  nearer?: number
  palette?: Palette
  /** Whether it is a candle or a lamp that does not burn. */
  unlit?: boolean
}

export interface View {
  room: Room
  palette: Palette
  size: readonly [width: number, height: number]
  objects: readonly Placed[]
  /** Shows only a part of the first object, from near. */
  isClose?: boolean
  prop?: Prop
}

/** What lies beside the objects. */
export type Prop = 'board' | 'books' | 'cloth' | 'sprig' | 'plinth'

const GROUND = 0.77

/** How far behind the objects the table ends, as a share of the height. */
const DEPTH = 0.13

interface Stage {
  view: View
  width: number
  height: number
  ground: number
  horizon: number
}

/** The light that falls through a window onto the wall, with the shadows of leaves. Its edges are soft by layers. */
function windowLight({ width, height }: Stage, colour: string): string {
  const pane = (x: number, y: number, grow: number) =>
    `<path d="M${width * x - grow} ${height * y - grow}l${width * 0.17 + 2 * grow} ${height * -0.06}v${height * 0.2 + 2 * grow}l${width * -0.17 - 2 * grow} ${height * 0.06}z"/>`
  const panes = [15, 10, 5, 0, -5].map((grow) =>
    [
      pane(0.5, 0.1, grow),
      pane(0.7, 0.03, grow),
      pane(0.5, 0.34, grow),
      pane(0.7, 0.27, grow),
    ].join(''),
  )
  const random = randomOf(41)
  const leaves = Array.from({ length: 30 }, () => {
    const [x, y] = [
      Math.round(width * (0.4 + 0.55 * random())),
      Math.round(height * 0.55 * random()),
    ]
    const turn = Math.round(-75 + 60 * random())
    return `<ellipse cx="${x}" cy="${y}" rx="${(34 + 34 * random()).toFixed(0)}" ry="${(12 + 10 * random()).toFixed(0)}" transform="rotate(${turn} ${x} ${y})"/>`
  })
  return `<defs>${radial('leaf', [
    [0, darken(colour, 0.26), 0.4],
    [0.6, darken(colour, 0.26), 0.26],
    [1, darken(colour, 0.26), 0],
  ])}</defs>
    <g fill="#fffaf0" fill-opacity=".2">${panes.join('</g><g fill="#fffaf0" fill-opacity=".16">')}</g><g fill="url(#leaf)">${leaves.join('')}</g>`
}

const ROOMS: Record<Room, (stage: Stage) => string> = {
  day: (stage) => {
    const { width, height, horizon } = stage
    const { wall, table } = stage.view.palette
    return `<defs>${linear('wall', [
      [0, lighten(wall, 0.35)],
      [0.5, wall],
      [1, darken(wall, 0.13)],
    ])}
      ${linear(
        'table',
        [
          [0, darken(table, 0.12)],
          [0.12, lighten(table, 0.12)],
          [0.6, table],
          [1, darken(table, 0.2)],
        ],
        true,
      )}
      ${radial(
        'sun',
        [
          [0, '#fff6e0', 0.5],
          [1, '#fff6e0', 0],
        ],
        'cx=".2" cy=".15" r=".9"',
      )}</defs>
      <rect width="${width}" height="${horizon}" fill="url(#wall)"/>
      ${windowLight(stage, wall)}
      <rect y="${horizon}" width="${width}" height="${height - horizon}" fill="url(#table)"/>
      ${grain(11, { x: -20, y: horizon + 6, w: width + 40, h: height - horizon }, darken(table, 0.5), 34)}
      <rect y="${horizon - 26}" width="${width}" height="26" fill="${darken(wall, 0.5)}" fill-opacity=".09"/>
      <rect width="${width}" height="${height}" fill="url(#sun)"/>`
  },
  studio: ({ width, height, ground, view }) => {
    const { wall } = view.palette
    return `<defs>${radial(
      'wall',
      [
        [0, lighten(wall, 0.3)],
        [0.55, wall],
        [1, darken(wall, 0.16)],
      ],
      'cx=".36" cy=".3" r=".95"',
    )}
      ${linear(
        'table',
        [
          [0, lighten(wall, 0.2), 0],
          [0.3, lighten(wall, 0.24), 0.8],
          [1, wall, 0],
        ],
        true,
      )}</defs>
      <rect width="${width}" height="${height}" fill="url(#wall)"/>
      <rect y="${ground - height * 0.18}" width="${width}" height="${height * 0.4}" fill="url(#table)"/>`
  },
  night: ({ width, height, horizon, view }) => {
    const { wall, table, accent } = view.palette
    return `<defs>${radial(
      'wall',
      [
        [0, mix(wall, accent, 0.34)],
        [0.5, wall],
        [1, darken(wall, 0.6)],
      ],
      'cx=".4" cy=".42" r=".72"',
    )}
      ${linear(
        'table',
        [
          [0, darken(table, 0.5)],
          [0.2, lighten(table, 0.1)],
          [1, darken(table, 0.55)],
        ],
        true,
      )}
      ${radial('pool', [
        [0, accent, 0.34],
        [1, accent, 0],
      ])}</defs>
      <rect width="${width}" height="${height}" fill="url(#wall)"/>
      <rect y="${horizon}" width="${width}" height="${height - horizon}" fill="url(#table)"/>
      ${grain(23, { x: -20, y: horizon + 4, w: width + 40, h: height - horizon }, '#000000', 30)}
      <ellipse cx="${width / 2}" cy="${horizon + height * 0.13}" rx="${width * 0.52}" ry="${height * 0.09}" fill="url(#pool)"/>`
  },
}

/** How the light of a room throws shadows: how far they reach, how dark they are, and how wide their edge is. */
const SHADOWS: Record<Room, { slant: number; flat: number; dark: number; edge: number }> = {
  day: { slant: -0.75, flat: 0.24, dark: 0.3, edge: 44 },
  studio: { slant: -0.95, flat: 0.3, dark: 0.26, edge: 6 },
  night: { slant: -1.1, flat: 0.2, dark: 0.7, edge: 64 },
}

/** The shadow on the table. Strokes of several widths make its edge soft, at far less cost than a blur. */
function castShadow(room: Room, outline: string): string {
  const { slant, flat, dark, edge } = SHADOWS[room]
  const layers = [1, 0.45].map(
    (share) =>
      `<g opacity="${dark * 0.58}"><path d="${outline}" fill="#1d120b" stroke="#1d120b" stroke-width="${edge * share}" stroke-linejoin="round"/></g>`,
  )
  return `<g transform="matrix(1 0 ${slant} ${flat} ${-slant * 740} ${740 - flat * 740})">${layers.join('')}</g>`
}

function drawObject(
  stage: Stage,
  { motif, at, scale, nearer = 0, palette, unlit }: Placed,
  index: number,
): string {
  const { view, width, height, ground } = stage
  const { outline, foot, draw } = MOTIFS[motif]
  const brush = { id: `o${index}`, palette: palette ?? view.palette, lit: !unlit }
  const shadow = castShadow(view.room, outline)
  const contact = `<ellipse cx="510" cy="742" rx="${foot * 1.3}" ry="${16 + foot * 0.06}" fill="url(#contact)"/>`
  const place = `translate(${width * at - 500 * scale} ${ground + height * nearer - 740 * scale}) scale(${scale})`
  return `<g transform="${place}">${shadow}${contact}${draw(brush)}</g>`
}

const PROPS: Record<Prop, (stage: Stage) => string> = {
  board: ({ width, height, ground }) => {
    const [x, y, w] = [width * 0.1, ground - height * 0.035, width * 0.8]
    return `<defs>${linear(
      'board',
      [
        [0, '#d9a877'],
        [1, '#a8703f'],
      ],
      true,
    )}</defs>
      <path d="M${x + 20} ${y + height * 0.115}h${w}v14h${-w}z" fill="#1d120b" fill-opacity=".22"/>
      <path d="M${x + 46} ${y}h${w - 92}l46 ${height * 0.09}v${height * 0.022}a10 10 0 0 1-10 10H${x + 10}a10 10 0 0 1-10-10v${height * -0.022}z" fill="url(#board)"/>
      ${grain(5, { x: x + 20, y: y + 6, w: w - 40, h: height * 0.085 }, '#6b4020', 14)}
      <path d="M${x} ${y + height * 0.09}h${w}v${height * 0.022}a10 10 0 0 1-10 10H${x + 10}a10 10 0 0 1-10-10z" fill="#7d4f2a"/>`
  },
  books: ({ width, height, ground }) => {
    const book = (y: number, w: number, x: number, colour: string) =>
      `<rect x="${x}" y="${y}" width="${w}" height="46" rx="5" fill="${colour}"/><rect x="${x}" y="${y}" width="${w}" height="12" rx="5" fill="#fff" fill-opacity=".16"/><rect x="${x + w - 18}" y="${y + 7}" width="18" height="32" fill="#efe6d2"/>`
    const [x, y] = [width * 0.6, ground - height * 0.01]
    return `<ellipse cx="${x + 190}" cy="${y}" rx="240" ry="18" fill="url(#contact)"/>${book(y - 46, 360, x, '#6d4f3e')}${book(y - 92, 320, x + 18, '#b98a5e')}${book(y - 138, 340, x + 4, '#3f5560')}`
  },
  cloth: ({ width, height, ground }) => {
    const y = ground - height * 0.05
    return `<defs>${linear('cloth', [
      [0, '#fbf7ee'],
      [0.3, '#e6dece'],
      [0.42, '#fdfaf3'],
      [0.62, '#d9cfbc'],
      [0.72, '#f6f1e6'],
      [1, '#cfc4af'],
    ])}</defs>
      <path d="M${width * -0.02} ${y + 30}c${width * 0.2} -34 ${width * 0.3} 10 ${width * 0.5} -8s${width * 0.16} 30 ${width * 0.2} 70c${width * -0.1} ${height * 0.06} ${width * -0.24} ${height * 0.1} ${width * -0.36} ${height * 0.11}s${width * -0.28} 10 ${width * -0.34} 0z" fill="url(#cloth)"/>
      <path d="M${width * 0.05} ${y + 60}c${width * 0.2} 10 ${width * 0.36} 0 ${width * 0.56} 10M${width * 0.02} ${y + 96}c${width * 0.2} 14 ${width * 0.3} 4 ${width * 0.5} 16" fill="none" stroke="#a99a80" stroke-width="5" stroke-opacity=".28"/>`
  },
  sprig: ({ width, height, ground }) => {
    const leaf = (i: number) => {
      const [x, y, side] = [width * 0.1 + i * 40, ground + height * 0.12 - i * 9, i % 2 ? 1 : -1]
      return `<path d="M${x} ${y}q${10} ${side * 44} ${62} ${side * 46}q${-14} ${side * -40} ${-62} ${side * -46}z" fill="${i % 3 ? '#7d9277' : '#93a68b'}"/>`
    }
    return `<g><path d="M${width * 0.08} ${ground + height * 0.125}q150 -24 ${width * 0.34} -82" fill="none" stroke="#6b5a44" stroke-width="6"/>${Array.from({ length: 8 }, (_, i) => leaf(i)).join('')}</g>`
  },
  plinth: ({ width, height, ground, view }) => {
    const { accent, wall } = view.palette
    const [x, w] = [width * 0.2, width * 0.6]
    const colour = mix(wall, accent, 0.2)
    return `<path d="M${x} ${ground}h${w}v${height}h${-w}z" fill="${darken(colour, 0.16)}"/><path d="M${x + w} ${ground}l${width * 0.1} ${height * -0.06}v${height}h${width * -0.1}z" fill="${darken(colour, 0.36)}"/><path d="M${x} ${ground}l${width * 0.1} ${height * -0.06}h${w}l${width * -0.1} ${height * 0.06}z" fill="${lighten(colour, 0.2)}"/>`
  },
}

/** The drawing as SVG, lit from the left. */
export function viewSvg(view: View): string {
  const [width, height] = view.size
  const ground = height * GROUND
  const stage: Stage = { view, width, height, ground, horizon: ground - height * DEPTH }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBoxOf(view)}" width="${width}" height="${height}">
    <defs>${radial('contact', [
      [0, '#1d120b', 0.62],
      [0.55, '#1d120b', 0.3],
      [1, '#1d120b', 0],
    ])}</defs>
    ${ROOMS[view.room](stage)}
    ${view.prop === undefined ? '' : PROPS[view.prop](stage)}
    ${view.objects.map((each, i) => drawObject(stage, each, i)).join('')}
  </svg>`
}

function viewBoxOf({ size: [width, height], objects: [first], isClose }: View): string {
  if (!isClose || first === undefined) return `0 0 ${width} ${height}`
  const [x, y, wide] = MOTIFS[first.motif].focus
  const w = wide * first.scale
  const h = (w * height) / width
  const left = width * first.at + (x - 500) * first.scale - w / 2
  const top = height * (GROUND + (first.nearer ?? 0)) + (y - 740) * first.scale - h / 2
  return `${left} ${top} ${w} ${h}`
}

/** The type of the drawings. Its files are a third smaller than JPEG, and resized copies keep it. */
export const IMAGE_TYPE = 'image/webp'

type Draw = (svg: string) => Promise<Buffer>

/** Replaces drawing by `keep`, which may draw. Set in tests: each of their processes would draw the same. */
export const drawings: { keep: ((svg: string, draw: Draw) => Promise<Buffer>) | null } = {
  keep: null,
}

export function drawView(view: View): Promise<Buffer> {
  const svg = viewSvg(view)
  return drawings.keep === null ? drawSvg(svg) : drawings.keep(svg, drawSvg)
}

/** Imports `sharp` on first use: most processes never draw an image. */
async function drawSvg(svg: string): Promise<Buffer> {
  const { default: sharp } = await import('sharp')
  return sharp(Buffer.from(svg)).webp({ quality: 80, effort: 2 }).toBuffer()
}
