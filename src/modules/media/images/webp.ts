import { damaged, isSrgb, PARTS_MAX, type ParsedImage, readOrientation } from './parsed-image.ts'

interface Chunk {
  type: string
  payload: Buffer
}

/** The flags of an extended file that concern the visible image: animation and alpha. */
const VISIBLE_FLAGS = 0x12
const PROFILE_FLAG = 0x20

const FRAME_PARTS = new Set(['VP8 ', 'VP8L', 'ALPH'])
const KEPT = new Set(['VP8X', 'ANIM', 'ANMF', ...FRAME_PARTS])
/** The bytes of a frame before its parts: position, size and duration. */
const FRAME_HEAD = 16

export function readWebp(bytes: Buffer): ParsedImage {
  const end = bytes.readUInt32LE(4) + 8
  if (end > bytes.length) throw damaged()
  const chunks = readChunks(bytes.subarray(12, end))
  const payloadOf = (type: string) => chunks.find((chunk) => chunk.type === type)?.payload
  const frames = chunks.filter(({ type }) => type === 'ANMF')
  const sizes = chunks.flatMap(sizesOf)
  const canvas = sizes[0]
  if (canvas === undefined || !chunks.some(({ type }) => type === 'ANMF' || type.startsWith('VP8')))
    throw damaged()
  const profile = payloadOf('ICCP')
  const exif = payloadOf('EXIF')
  // Each frame has a canvas of its own. A still image whose two sizes differ is refused later.
  const largest = Math.max(...sizes.map(({ width, height }) => width * height))
  return {
    ...canvas,
    pixels: largest * Math.max(1, frames.length),
    animated: frames.length > 0,
    clean: write(chunks, false),
    withProfile: profile === undefined || isSrgb(profile) ? null : write(chunks, true),
    orientation: exif === undefined ? 1 : readOrientation(withoutPrefix(exif)),
  }
}

/** Removes JPEG's prefix of EXIF, which some encoders write here too. */
const withoutPrefix = (exif: Buffer) =>
  exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif

function readChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = []
  for (let at = 0; at < bytes.length; ) {
    if (chunks.length > PARTS_MAX) throw damaged()
    const length = bytes.readUInt32LE(at + 4)
    if (at + 8 + length > bytes.length) throw damaged()
    const type = bytes.toString('latin1', at, at + 4)
    chunks.push({ type, payload: bytes.subarray(at + 8, at + 8 + length) })
    at += 8 + length + (length % 2)
  }
  return chunks
}

/** Every size that the file states, the canvas first. */
function sizesOf({ type, payload }: Chunk): { width: number; height: number }[] {
  if (type === 'VP8X') {
    return [{ width: payload.readUIntLE(4, 3) + 1, height: payload.readUIntLE(7, 3) + 1 }]
  }
  if (type === 'ANMF') return readChunks(payload.subarray(FRAME_HEAD)).flatMap(sizesOf)
  if (type === 'VP8 ') {
    return [{ width: payload.readUInt16LE(6) & 0x3fff, height: payload.readUInt16LE(8) & 0x3fff }]
  }
  if (type !== 'VP8L') return []
  const bits = payload.readUInt32LE(1)
  return [{ width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }]
}

function write(chunks: readonly Chunk[], withProfile: boolean): Buffer {
  const body = Buffer.concat(
    chunks
      .filter(({ type }) => KEPT.has(type) || (withProfile && type === 'ICCP'))
      .map((chunk) => writeChunk(cleanChunk(chunk, withProfile))),
  )
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  head.writeUInt32LE(body.length + 4, 4)
  return Buffer.concat([head, body])
}

function cleanChunk({ type, payload }: Chunk, withProfile: boolean): Chunk {
  if (type === 'VP8X') {
    const flags = payload.readUInt8(0) & (VISIBLE_FLAGS | (withProfile ? PROFILE_FLAG : 0))
    // Cut to the defined length: a decoder ignores bytes after it.
    return { type, payload: Buffer.from([flags, 0, 0, 0, ...payload.subarray(4, 10)]) }
  }
  if (type !== 'ANMF') return { type, payload }
  const parts = readChunks(payload.subarray(FRAME_HEAD)).filter((part) =>
    FRAME_PARTS.has(part.type),
  )
  return {
    type,
    payload: Buffer.concat([payload.subarray(0, FRAME_HEAD), ...parts.map(writeChunk)]),
  }
}

function writeChunk({ type, payload }: Chunk): Buffer {
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32LE(payload.length, 4)
  return Buffer.concat([head, payload, Buffer.alloc(payload.length % 2)])
}
