import { damaged, PARTS_MAX, type ParsedImage } from './parsed-image.ts'

const IMAGE = 0x2c
const EXTENSION = 0x21
const TRAILER = 0x3b
const GRAPHIC_CONTROL = 0xf9
const APPLICATION = 0xff

/**
 * Extensions that say how often an animation repeats: the only application extensions that are
 * kept.
 */
const LOOPS = ['NETSCAPE2.0', 'ANIMEXTS1.0']
const LOOP_BYTES = 19
const CONTROL_BYTES = 8

export function readGif(bytes: Buffer): ParsedImage {
  const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]
  let at = 13 + tableBytes(bytes.readUInt8(10))
  const kept: Buffer[] = [bytes.subarray(0, at)]
  let pixels = 0
  let frames = 0
  for (let parts = 0; ; parts++) {
    if (parts > PARTS_MAX) throw damaged()
    const kind = bytes.readUInt8(at)
    if (kind === TRAILER) break
    const start = at
    if (kind === IMAGE) {
      const area = bytes.readUInt16LE(at + 5) * bytes.readUInt16LE(at + 7)
      // A frame that is larger than its canvas is decoded all the same.
      pixels += Math.max(area, width * height)
      frames++
      at = skipBlocks(bytes, at + 11 + tableBytes(bytes.readUInt8(at + 9)))
    } else if (kind === EXTENSION) at = skipBlocks(bytes, at + 2)
    else throw damaged()
    const block = bytes.subarray(start, at)
    if (kind === IMAGE || isVisible(block)) kept.push(block)
  }
  if (frames === 0) throw damaged()
  kept.push(bytes.subarray(at, at + 1))
  const clean = Buffer.concat(kept)
  return { width, height, pixels, animated: frames > 1, clean, withProfile: null, orientation: 1 }
}

/** The length of the colour table, if the flags announce one. */
const tableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

function skipBlocks(bytes: Buffer, start: number): number {
  let at = start
  for (let length = bytes.readUInt8(at); length > 0; length = bytes.readUInt8(at)) at += 1 + length
  return at + 1
}

function isVisible(block: Buffer): boolean {
  if (block[1] === GRAPHIC_CONTROL) return block.length === CONTROL_BYTES
  if (block[1] !== APPLICATION || block.length !== LOOP_BYTES) return false
  return LOOPS.includes(block.toString('latin1', 3, 14))
}
