import { damaged, PARTS_MAX, type ParsedImage } from './parsed-image.ts'

interface Box {
  type: string
  payload: Buffer
}

/** Boxes that contain boxes, and the number of bytes before the first. */
const CONTAINERS: Readonly<Record<string, number>> = { meta: 4, iprp: 0, ipco: 0 }

const TOP_LEVEL = new Set(['ftyp', 'meta', 'mdat'])
/**
 * The item types that are images: coded images and grids of them. Overlays are refused, since they
 * can ask for any amount of work.
 */
const IMAGE_ITEMS = new Set(['av01', 'grid'])
const METADATA_ITEMS = new Set(['Exif', 'mime', 'uri '])

/**
 * Reads an AVIF file. Its metadata and thumbnails are items among the images, which cannot be cut
 * out without moving everything else. So a file that has any, or a colour profile, is encoded
 * again.
 */
export function readAvif(bytes: Buffer): ParsedImage {
  const boxes = readBoxes(bytes)
  const all = boxes.flatMap(withChildren)
  const items = all.filter(({ type }) => type === 'iinf').flatMap(itemTypes)
  if (items.some((type) => !IMAGE_ITEMS.has(type) && !METADATA_ITEMS.has(type))) throw damaged()
  // The fields are 32 bits wide, after 4 bytes of version and flags.
  const sizes = all
    .filter(({ type }) => type === 'ispe')
    .map(({ payload }) => ({ width: payload.readUInt32BE(4), height: payload.readUInt32BE(8) }))
  if (sizes.length === 0 || !items.some((type) => IMAGE_ITEMS.has(type))) throw damaged()
  const width = Math.max(...sizes.map((size) => size.width))
  const height = Math.max(...sizes.map((size) => size.height))
  const hasProfile = all.some(
    ({ type, payload }) => type === 'colr' && payload.toString('latin1', 0, 4) !== 'nclx',
  )
  const needsReencoding =
    hasProfile ||
    all.some(hasThumbnail) ||
    items.some((type) => METADATA_ITEMS.has(type)) ||
    boxes.some(({ type }) => !TOP_LEVEL.has(type))
  return {
    width,
    height,
    pixels: width * height,
    animated: false,
    clean: bytes,
    withProfile: null,
    orientation: 1,
    needsReencoding,
  }
}

function readBoxes(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at < bytes.length; ) {
    if (boxes.length > PARTS_MAX) throw damaged()
    const short = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    // 0 means to the end of the file; 1 means that the length follows the type, in 64 bits.
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
 * Whether an item is a thumbnail of another: it may show parts that were cut off the image later.
 */
const hasThumbnail = ({ type, payload }: Box): boolean =>
  type === 'iref' && readBoxes(payload.subarray(4)).some((each) => each.type === 'thmb')

/** The types of the items in an `iinf`, whose entries are boxes after a count. */
function itemTypes({ payload }: Box): string[] {
  const countBytes = payload.readUInt8(0) === 0 ? 2 : 4
  return readBoxes(payload.subarray(4 + countBytes)).map(({ payload: entry }) => {
    const version = entry.readUInt8(0)
    if (version < 2) throw damaged()
    const at = version === 2 ? 8 : 10
    return entry.toString('latin1', at, at + 4)
  })
}
