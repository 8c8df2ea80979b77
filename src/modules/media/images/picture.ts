import { ApiError } from '../../../errors.ts'

/** A picture as its container describes it. Nothing was decoded yet. */
export interface Picture {
  width: number
  height: number
  /** Of all frames together: what a decoder would have to make room for. */
  pixels: number
  animated: boolean
  /** What is seen and nothing else: no place, camera, comment, thumbnail or trailing bytes. */
  clean: Buffer
  /** The same with its colour profile, when it has one other than sRGB. */
  coloured: Buffer | null
  /** EXIF's orientation, 1 to 8. */
  turn: number
  /** Metadata that cannot be cut out of this container: it has to be encoded anew. */
  stained?: boolean
}

/** More than any screen shows; WebP and most decoders know no more. */
const SIDE_MAX = 16_384

/** The largest photographs of telephones, or 200 frames of 500 x 500. */
const PIXELS_MAX = 50_000_000

/** Refuses by what the file claims, before a decoder believes it. */
export function checkSize({ width, height, pixels }: Picture): void {
  if (width < 1 || height < 1) throw damaged()
  if (width > SIDE_MAX || height > SIDE_MAX || pixels > PIXELS_MAX) {
    throw new ApiError('image_invalid', {
      message: `The image is too large: at most ${SIDE_MAX} pixels a side and ${PIXELS_MAX} in all frames. Upload a smaller one.`,
    })
  }
}

/**
 * Chunks, segments, blocks or boxes. Twenty megabytes of empty ones would be millions of objects.
 */
export const PARTS_MAX = 50_000

export const damaged = (cause?: unknown) =>
  new ApiError('image_invalid', {
    message: 'The image is damaged or incomplete. Export it again and upload the new file.',
    cause,
  })

/** Reading past the end of a buffer throws a RangeError: the file ends too early. */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw damaged(error)
    throw error
  }
}

const ORIENTATION = 0x0112

/** The orientation in a block of EXIF, or 1. Nothing else of it is looked at. */
export function readOrientation(tiff: Buffer): number {
  try {
    const little = tiff.toString('latin1', 0, 2) === 'II'
    const u16 = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
    const start = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
    const entries = u16(start)
    for (let i = 0; i < entries; i++) {
      const at = start + 2 + 12 * i
      if (u16(at) !== ORIENTATION) continue
      const turn = u16(at + 8)
      return turn >= 1 && turn <= 8 ? turn : 1
    }
    return 1
  } catch {
    // A block that cannot be read says nothing; it is dropped in any case.
    return 1
  }
}

/** By its description, in either of the encodings profiles use. */
export const isSrgb = (profile: Buffer): boolean =>
  profile.includes('sRGB', 0, 'latin1') || profile.includes('\0s\0R\0G\0B', 0, 'latin1')
