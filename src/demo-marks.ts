/** The icons of the demo stores as SVG, and the makers' marks that one of them shows. */

const drawing = (size: number, shapes: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size}" height="${size}">${shapes}</svg>`

/** The icon of Harbour & Hearth: a cup on teal. */
export const HARBOUR_ICON = drawing(
  64,
  '<rect width="64" height="64" rx="14" fill="#0b5c6b"/><path d="M14 22h30v14a15 15 0 0 1-30 0z" fill="#fffdf8"/><path d="M44 26h3a7 7 0 0 1 0 14h-4" fill="none" stroke="#fffdf8" stroke-width="4"/>',
)

/** The icon of Plain Objects: a red ring on black. */
export const OBJECTS_ICON = drawing(
  64,
  '<rect width="64" height="64" fill="#0a0a0a"/><circle cx="32" cy="32" r="16" fill="none" stroke="#e5352b" stroke-width="9"/>',
)

/** The icon of Glut & Roggen: a flame on dark brown. */
export const EMBER_ICON = drawing(
  64,
  '<rect width="64" height="64" rx="6" fill="#17110e"/><path d="M33 8c2 12 15 17 15 31a16 16 0 0 1-32 0c0-9 6-12 8-20 4 3 6 6 6 10 3-5 4-12 3-21z" fill="#e0a458"/><path d="M32 36c4 5 7 7 7 12a7 7 0 0 1-14 0c0-5 4-7 7-12z" fill="#17110e"/>',
)

interface Mark {
  alt: string
  svg: string
}

const mark = (alt: string, shapes: string): Mark => ({
  alt,
  svg: drawing(96, `<g fill="none" stroke="#0a0a0a" stroke-width="7">${shapes}</g>`),
})

/** The marks of the makers of Plain Objects, as they would stamp them on clay, steel and wool. */
export const MAKERS_MARKS: readonly Mark[] = [
  mark(
    'The kiln: an arch',
    '<path d="M16 84V48a32 32 0 0 1 64 0v36M36 84V52a12 12 0 0 1 24 0v32"/>',
  ),
  mark('The forge: a folded sheet', '<path d="M12 76 48 20l36 56zM30 76l18-28 18 28"/>'),
  mark('The loom: warp and weft', '<path d="M24 12v72M48 12v72M72 12v72M12 30h72M12 66h72"/>'),
  mark('The chandler: a wick', '<circle cx="48" cy="48" r="36"/><path d="M48 28v40"/>'),
]
