import { damaged, PARTS_MAX, type Picture } from './picture.ts'

interface Box {
  type: string
  payload: Buffer
}

/** Boxes of boxes; a number says how many bytes stand before the first. */
const CONTAINERS: Readonly<Record<string, number>> = { meta: 4, iprp: 0, ipco: 0 }

const TOP_LEVEL = new Set(['ftyp', 'meta', 'mdat'])
/** Coded pictures and pictures put together of them. Overlays can ask for any amount of work. */
const PICTURE_ITEMS = new Set(['av01', 'grid'])
const METADATA_ITEMS = new Set(['Exif', 'mime', 'uri '])

/**
 * AVIF keeps metadata and thumbnails as items among the pictures, where they cannot be cut out
 * without moving all else. So a file that has any, or a colour profile, is only marked, and encoded
 * anew.
 */
export function readAvif(bytes: Buffer): Picture {
  const boxes = readBoxes(bytes)
  const all = boxes.flatMap(withChildren)
  const items = all.filter(({ type }) => type === 'iinf').flatMap(itemTypes)
  if (items.some((type) => !PICTURE_ITEMS.has(type) && !METADATA_ITEMS.has(type))) throw damaged()
  // The fields of each are 32 bits wide, behind 4 bytes of version and flags.
  const sizes = all
    .filter(({ type }) => type === 'ispe')
    .map(({ payload }) => ({ width: payload.readUInt32BE(4), height: payload.readUInt32BE(8) }))
  if (sizes.length === 0 || !items.some((type) => PICTURE_ITEMS.has(type))) throw damaged()
  const width = Math.max(...sizes.map((size) => size.width))
  const height = Math.max(...sizes.map((size) => size.height))
  const hasProfile = all.some(
    ({ type, payload }) => type === 'colr' && payload.toString('latin1', 0, 4) !== 'nclx',
  )
  const stained =
    hasProfile ||
    all.some(namesThumbnail) ||
    items.some((type) => METADATA_ITEMS.has(type)) ||
    boxes.some(({ type }) => !TOP_LEVEL.has(type))
  return {
    width,
    height,
    pixels: width * height,
    animated: false,
    clean: bytes,
    coloured: null,
    turn: 1,
    stained,
  }
}

function readBoxes(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at < bytes.length; ) {
    if (boxes.length > PARTS_MAX) throw damaged()
    const short = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    // 0: to the end of the file; 1: the length stands behind the type, in 64 bits.
    const head = short === 1 ? 16 : 8
    const long = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short
    const end = short === 0 ? bytes.length : at + long
    if (end > bytes.length || end < at + head) throw damaged()
    boxes.push({ type, payload: bytes.subarray(at + head, end) })
    at = end
  }
  return boxes
}

function withChildren(box: Box): Box[] {
  const skipped = CONTAINERS[box.type]
  if (skipped === undefined) return [box]
  return [box, ...readBoxes(box.payload.subarray(skipped)).flatMap(withChildren)]
}

/**
 * Of how one item refers to another: a smaller copy may show what was cut off the picture since.
 */
const namesThumbnail = ({ type, payload }: Box): boolean =>
  type === 'iref' && readBoxes(payload.subarray(4)).some((each) => each.type === 'thmb')

/** The types of the items in an `iinf`, whose entries are boxes behind a count. */
function itemTypes({ payload }: Box): string[] {
  const countBytes = payload.readUInt8(0) === 0 ? 2 : 4
  return readBoxes(payload.subarray(4 + countBytes)).map(({ payload: entry }) => {
    const version = entry.readUInt8(0)
    if (version < 2) throw damaged()
    const at = version === 2 ? 8 : 10
    return entry.toString('latin1', at, at + 4)
  })
}
