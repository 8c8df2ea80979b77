import { refuse } from '../errors.ts'

/** An image as its container describes it, before anything is decoded. */
export interface ParsedImage {
  width: number
  height: number
  /** The pixels of all frames together: they determine the memory that a decoder needs. */
  pixels: number
  animated: boolean
  /** The visible parts alone: no location, camera, comment, thumbnail or trailing bytes. */
  clean: Buffer
  /** The same bytes with the colour profile of the image, if it has one other than sRGB. */
  withProfile: Buffer | null
  /** EXIF's orientation, 1 to 8. */
  orientation: number
  /** Whether the metadata cannot be cut out of this container, so that the image must be encoded again. */
  needsReencoding?: boolean
}

/** The longest side: more pixels than any screen shows, and the limit of WebP and of most decoders. */
const SIDE_MAX = 16_384

/** Checks the size in the header, before a decoder allocates memory for it. */
export function checkSize({ width, height, pixels }: ParsedImage, pixelsMax: number): void {
  if (width < 1 || height < 1) throw damaged()
  if (width > SIDE_MAX || height > SIDE_MAX || pixels > pixelsMax) {
    throw refuse('image_invalid', {
      message: `The image is too large: at most ${SIDE_MAX} pixels a side and ${pixelsMax} in all frames. Upload a smaller one.`,
    })
  }
}

/** Checks the size of an image that must be encoded again, which takes many times as long. */
export function checkEncodable({ pixels }: ParsedImage, pixelsMax: number): void {
  if (pixels <= pixelsMax) return
  throw refuse('image_invalid', {
    message: `The image is rotated, or has metadata or a colour profile, and is too large to be encoded again: at most ${pixelsMax} pixels. Upload a smaller one, or one that is upright, in sRGB and without metadata.`,
  })
}

/**
 * The most chunks, segments, blocks or boxes of a file. Twenty megabytes of empty ones
 * would be millions of objects.
 */
export const PARTS_MAX = 50_000

export const damaged = (cause?: unknown) =>
  refuse('image_invalid', {
    message: 'The image is damaged or incomplete. Export it again and upload the new file.',
    cause,
  })

/** Refuses a file that ends too early: reading past the end of a buffer throws a RangeError. */
export function refuseTruncated<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw damaged(error)
    throw error
  }
}

const ORIENTATION = 0x0112

/** Returns the orientation in a block of EXIF, or 1. Nothing else of the block is read. */
export function readOrientation(tiff: Buffer): number {
  try {
    const little = tiff.toString('latin1', 0, 2) === 'II'
    const u16 = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
    const start = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
    const entries = u16(start)
    for (let i = 0; i < entries; i++) {
      const at = start + 2 + 12 * i
      if (u16(at) !== ORIENTATION) continue
      const orientation = u16(at + 8)
      return orientation >= 1 && orientation <= 8 ? orientation : 1
    }
    return 1
  } catch {
    // A block that cannot be read has no orientation. It is removed in any case.
    return 1
  }
}

/** Whether a profile is sRGB, by its description in either of the encodings that profiles use. */
export const isSrgb = (profile: Buffer): boolean =>
  profile.includes('sRGB', 0, 'latin1') || profile.includes('\0s\0R\0G\0B', 0, 'latin1')
