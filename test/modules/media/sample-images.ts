import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

/** Images for tests, generated on demand. */

type Format = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif'

/** Four corners in four colours, so that a test sees which side is up. */
export async function corners(width = 64, height = 32): Promise<Buffer> {
  const raw = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [right, low] = [x >= width / 2, y >= height / 2]
      raw.set([right ? 255 : 0, low ? 255 : 0, right === low ? 255 : 0], (y * width + x) * 3)
    }
  }
  return sharp(raw, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
}

/** A small image of one colour; each `shade` gives other bytes. */
export const plain = (format: Format, shade = 0, [width, height] = [40, 20]): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: { r: shade, g: 99, b: 3 } } })
    .toFormat(format)
    .toBuffer()

/** An image with place, camera and orientation, as a phone writes it. */
export const photographed = async (format: Format, orientation = 1): Promise<Buffer> =>
  sharp(await corners())
    .withExif({
      IFD0: { Make: 'SECRET-CAMERA', Orientation: String(orientation) },
      IFD3: { GPSLatitude: '48/1 51/1 29/1', GPSLatitudeRef: 'N', GPSAreaInformation: 'SECRET' },
    })
    .withMetadata({ orientation })
    .toFormat(format, format === 'avif' ? { lossless: true } : { quality: 100 })
    .toBuffer()

export async function animated(format: 'gif' | 'webp', frames = 3): Promise<Buffer> {
  const shades = await Promise.all(Array.from({ length: frames }, (_, i) => plain('png', i * 40)))
  return sharp(shades, { join: { animated: true } })
    .toFormat(format)
    .toBuffer()
}

export function pngChunk(type: string, payload: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + payload.length)
  chunk.writeUInt32BE(payload.length)
  chunk.write(type, 4, 'latin1')
  payload.copy(chunk, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4)
  return chunk
}

/** Inserts chunks after the header of a PNG. */
export const withChunks = (png: Buffer, ...chunks: Buffer[]): Buffer =>
  Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)])

/** A PNG of a few bytes whose header states any size. */
export function pngWithSize(width: number, height: number): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0])
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.alloc(1_000))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

const heavy = new Map<number, Promise<Buffer>>()

/**
 * An image that takes seconds to encode again: noise, with metadata that cannot be cut out. It takes as
 * long to make, so that all tests of a file have the same one.
 */
export function heavyAvif(side: number): Promise<Buffer> {
  const known = heavy.get(side) ?? encodeHeavy(side)
  heavy.set(side, known)
  return known
}

function encodeHeavy(side: number): Promise<Buffer> {
  const raw = { width: 256, height: 256, channels: 3 as const }
  return sharp(randomBytes(256 * 256 * 3), { raw })
    .resize(side, side, { kernel: 'nearest' })
    .withExif({ IFD0: { Make: 'x' } })
    .avif({ quality: 30, effort: 0 })
    .toBuffer()
}

/** An AVIF whose container states another size than its image has. */
export function withStatedSize(avif: Buffer, side: number): Buffer {
  const stated = Buffer.from(avif)
  const box = stated.indexOf('ispe')
  stated.writeUInt32BE(side, box + 8)
  stated.writeUInt32BE(side, box + 12)
  return stated
}
