import type { Palette } from './paint.ts'

/** What the drawing of an object needs. */
export interface Brush {
  /** Begins the ids of its gradients: a scene has several objects. */
  id: string
  palette: Palette
  /** Whether its lamp or flame is lit. */
  lit?: boolean
}

export interface Drawing {
  /** The outline, for the shadow. */
  outline: string
  /** The part that a close view shows: the middle and the width. */
  focus: readonly [x: number, y: number, width: number]
  /** Half its width where it stands. */
  foot: number
  draw(brush: Brush): string
}

export const CREAM = '#fbf6ea'
export const seedOf = (id: string) =>
  [...id].reduce((sum, each) => sum * 31 + each.charCodeAt(0), 7)

/** Soft light from a window on a glazed surface. Strokes of several widths cost far less than a blur. */
export const gloss = (d: string, opacity = 0.5) =>
  `<g fill="none" stroke="#fff" stroke-linecap="round">${[34, 25, 17, 10, 5]
    .map(
      (width) =>
        `<path d="${d}" stroke-width="${width}" stroke-opacity="${(opacity * 0.27).toFixed(3)}"/>`,
    )
    .join('')}</g>`
