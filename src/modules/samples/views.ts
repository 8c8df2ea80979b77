import { drawView, type Room, type View } from './images.ts'
import type { Motif } from './motifs.ts'
import type { Look, Sample } from './products.ts'

/** How a set of samples is drawn. */
export interface DrawingStyle {
  room: Room
  /** Whether all images are higher than wide. Else only those of tall objects and of scenes are. */
  isPortrait: boolean
  /** The alternative texts of the images after the first. */
  closeAlt: (name: string) => string
  sceneAlt: (name: string) => string
}

interface SampleImage {
  alt: string
  view: View
  /** The variants that the image shows. Empty: those that no other image shows. */
  skus: readonly string[]
}

const SQUARE = [1_000, 1_000] as const
const PORTRAIT = [960, 1_200] as const

/** Objects that are higher than wide fill a portrait. */
const TALL: readonly Motif[] = ['vase', 'lamp']

/** The images of a sample: from the front, in the looks of its variants, from near, and beside other things. */
export function listImages(sample: Sample, style: DrawingStyle): SampleImage[] {
  const { motif, palette, product, alt, looks = [], beside, prop } = sample
  const isTall = TALL.includes(motif)
  const size = style.isPortrait || isTall ? PORTRAIT : SQUARE
  const scale = isTall ? 1.12 : 1.28
  const common = { room: style.room, palette, size }
  const front = { motif, at: 0.5, scale }
  const scene: View = {
    ...common,
    size: PORTRAIT,
    objects: [
      { motif: beside, at: 0.27, scale: 0.72, unlit: beside === 'lamp' },
      { motif, at: 0.6, scale: 0.92, nearer: 0.055 },
    ],
    ...(prop === undefined ? {} : { prop }),
  }
  return [
    { alt, view: { ...common, objects: [front] }, skus: [] },
    ...looks.map((look) => ({ alt: look.alt, view: lookOf(look, common, front), skus: look.skus })),
    {
      alt: style.closeAlt(product.name),
      view: { ...common, size: SQUARE, objects: [front], isClose: true },
      skus: [],
    },
    { alt: style.sceneAlt(product.name), view: scene, skus: [] },
  ]
}

/** How much smaller several things are than one, and how far they stand apart. */
const ROWS = {
  1: { scale: 1, gap: 0 },
  2: { scale: 0.66, gap: 0.42 },
  4: { scale: 0.4, gap: 0.23 },
  5: { scale: 0.44, gap: 0.14 },
}

/** A row of the same thing, each a little nearer than the one before. */
function lookOf(
  { palette, scale = 1, count = 1 }: Omit<Look, 'skus' | 'alt'>,
  common: Omit<View, 'objects'>,
  front: View['objects'][number],
): View {
  const row = ROWS[count]
  const objects = Array.from({ length: count }, (_, i) => ({
    ...front,
    at: 0.5 + (i - (count - 1) / 2) * row.gap,
    scale: front.scale * scale * row.scale,
    ...(i > 0 && { nearer: i * 0.02 }),
  }))
  return { ...common, ...(palette !== undefined && { palette }), objects }
}

const drawn = new Map<string, Promise<Buffer>>()

/** Draws each image once, for all stores: the images of a set take less than a megabyte. */
export function drawOnce({ view }: SampleImage): Promise<Buffer> {
  const key = JSON.stringify(view)
  const known = drawn.get(key)
  if (known !== undefined) return known
  const drawing = drawView(view)
  drawn.set(key, drawing)
  drawing.catch(() => drawn.delete(key))
  return drawing
}
