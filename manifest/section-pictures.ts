/** Small drawings of sections, so that a person sees what a type is before they use it. */

const WIDTH = 160
const HEIGHT = 100

type Shape = string

const rect = (
  [x, y, width, height]: readonly [number, number, number, number],
  fill: string,
  radius = 2,
): Shape =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"/>`

/** A line of text; `strong` is a heading. */
export const words = (x: number, y: number, width: number, strong = false): Shape =>
  rect([x, y, width, strong ? 6 : 3], strong ? '#57606a' : '#aeb6bf', 1)

export const button = (x: number, y: number, width = 28): Shape =>
  rect([x, y, width, 9], '#0b5c6b', 3)

/** An image: a box with a hill and a sun. */
export const photo = (x: number, y: number, width: number, height: number): Shape => {
  const base = y + height
  const hill = `${x},${base} ${x + width * 0.38},${y + height * 0.45} ${x + width * 0.6},${y + height * 0.75} ${x + width * 0.75},${y + height * 0.6} ${x + width},${base}`
  const radius = Math.min(width, height) / 11
  return `${rect([x, y, width, height], '#dbe4e6')}<polygon points="${hill}" fill="#9fb8bd"/><circle cx="${x + width * 0.75}" cy="${y + height * 0.28}" r="${radius}" fill="#f4eee2"/>`
}

export const field = (x: number, y: number, width: number): Shape =>
  `<rect x="${x}.5" y="${y}.5" width="${width}" height="10" rx="3" fill="#fff" stroke="#aeb6bf"/>`

export const rule = (y: number): Shape => rect([12, y, WIDTH - 24, 1], '#d8dee4', 0)

export const band = (y: number, height: number): Shape =>
  rect([1, y, WIDTH - 2, height], '#e7eff0', 0)

export const play = (x: number, y: number): Shape =>
  `<circle cx="${x}" cy="${y}" r="11" fill="#0b5c6b"/><polygon points="${x - 3},${y - 5} ${x + 6},${y} ${x - 3},${y + 5}" fill="#fff"/>`

/** Draws the same shape several times, side by side. */
export const row = (count: number, step: number, shape: (x: number) => Shape): Shape =>
  Array.from({ length: count }, (_, at) => shape(12 + at * step)).join('')

export const drawing = (...shapes: readonly Shape[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH * 2}" height="${HEIGHT * 2}"><rect x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="5" fill="#fff" stroke="#d0d7de"/>${shapes.join('')}</svg>`
