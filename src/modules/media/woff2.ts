import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { refuse } from './errors.ts'
import { FONT_BYTES_MAX } from './schema.ts'

/**
 * Web fonts (WOFF2, a recommendation of the W3C): they are checked, and stored as they are. Why no library:
 * decision 0070.
 */

const decompress = promisify(brotliDecompress)

/** The most bytes that a font may unpack to: more than a font of that size needs. A decompression bomb ends here. */
const UNPACKED_BYTES_MAX = 16 * 1_024 * 1_024

const HEADER_BYTES = 48
const TABLES_MAX = 100

/** The accepted flavours: TrueType and OpenType outlines. Collections are not for the web. */
const FLAVOURS = new Set([0x00010000, 0x4f54544f, 0x74727565])

/** The number of a table whose tag is written out, and those of the tables with a transform of their own. */
const [OWN_TAG, GLYF, LOCA] = [63, 10, 11]

const invalid = (what: string) =>
  refuse('image_invalid', { message: `The file is not a web font: ${what}.` })

/**
 * Checks a font: its header, its list of tables, and that the rest unpacks to exactly these tables. A browser
 * checks their content, and shows another font if it refuses this one.
 */
export async function checkFont(bytes: Buffer): Promise<void> {
  if (bytes.length > FONT_BYTES_MAX) {
    throw refuse('asset_too_large', {
      message: `A font has at most ${FONT_BYTES_MAX} bytes. Leave out the characters that the store does not need.`,
    })
  }
  if (bytes.length < HEADER_BYTES) throw invalid('it is too short')
  if (!FLAVOURS.has(bytes.readUInt32BE(4)))
    throw invalid('it is a collection, or of an unknown kind')
  if (bytes.readUInt32BE(8) !== bytes.length) throw invalid('it is cut off, or longer than it says')
  const { end, unpackedBytes } = readTables(bytes, bytes.readUInt16BE(12))
  const packed = bytes.subarray(end, end + bytes.readUInt32BE(20))
  const unpacked = await decompress(packed, { maxOutputLength: UNPACKED_BYTES_MAX }).catch(() => {
    throw invalid('its tables cannot be unpacked')
  })
  if (unpacked.length !== unpackedBytes) throw invalid('its tables are not of the sizes it names')
}

/** Reads the list of tables. Returns where it ends, and how long the tables are together. */
function readTables(bytes: Buffer, count: number): { end: number; unpackedBytes: number } {
  if (count === 0 || count > TABLES_MAX) throw invalid('it has no tables, or too many')
  let at = HEADER_BYTES
  const readByte = () => {
    const byte = bytes[at++]
    if (byte === undefined) throw invalid('its list of tables is cut off')
    return byte
  }
  // Each byte has seven bits of the number; the last one has no high bit. There are at most five bytes.
  const readNumber = () => {
    let value = 0
    for (let digits = 0; digits < 5; digits++) {
      const byte = readByte()
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) return value
    }
    throw invalid('the size of a table is no number')
  }
  let unpackedBytes = 0
  for (let table = 0; table < count; table++) {
    const flags = readByte()
    const [tag, transform] = [flags & 0x3f, flags >> 6]
    if (tag === OWN_TAG) at += 4
    const length = readNumber()
    const isOutline = tag === GLYF || tag === LOCA
    const isTransformed = isOutline ? transform === 0 : transform !== 0
    unpackedBytes += isTransformed ? readNumber() : length
  }
  return { end: at, unpackedBytes }
}
