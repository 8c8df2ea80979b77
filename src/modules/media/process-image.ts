import { ApiError } from '../../errors.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { readAvif } from './images/avif.ts'
import { readGif } from './images/gif.ts'
import { readJpeg } from './images/jpeg.ts'
import { checkSize, damaged, type ParsedImage, refuseTruncated } from './images/parsed-image.ts'
import { readPng } from './images/png.ts'
import { sniff } from './images/sniff.ts'
import { cleanSvg } from './images/svg.ts'
import { readWebp } from './images/webp.ts'
import type { ContentType } from './schema.ts'

type Raster = Exclude<ContentType, 'image/svg+xml'>

/** An image that was checked and cleaned, and can be stored and published. */
export interface ProcessedImage {
  bytes: Buffer
  width: number | null
  height: number | null
}

/**
 * The queue of all work on images. Each image can be 20 MB, and several times that once decoded:
 * two at a time are in memory. A thousand may wait; a later caller is refused, since it would wait
 * too long.
 */
export const createImageQueue = () => new WorkQueue({ running: 2, waiting: 1_000 })

/**
 * The width to which an image is decoded for verification: all of it is read, little is in memory.
 */
const VERIFY_WIDTH = 32

/**
 * Frees the memory of a buffer at once. The garbage collector counts objects and not their memory,
 * so it would let a hundred images pile up before it runs.
 */
export function freeBuffer(bytes: Buffer): void {
  const { buffer } = bytes
  // A small buffer is part of a block that it shares with others.
  const isWhole = buffer.byteLength === bytes.length && buffer instanceof ArrayBuffer
  if (isWhole) buffer.transfer(0)
}

const READERS: Record<Raster, (bytes: Buffer) => ParsedImage> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
  'image/gif': readGif,
  'image/avif': readAvif,
}

/** Checks an upload and removes everything but the image. Must run in the image queue. */
export async function processImage(
  bytes: Buffer,
  contentType: ContentType,
): Promise<ProcessedImage> {
  if (sniff(bytes) !== contentType) throw new ApiError('content_mismatch')
  if (contentType === 'image/svg+xml') {
    const { clean, width, height } = cleanSvg(bytes)
    return { bytes: clean, width, height }
  }
  const parsed = refuseTruncated(() => READERS[contentType](bytes))
  checkSize(parsed)
  const mustEncode =
    parsed.orientation !== 1 || parsed.withProfile !== null || parsed.needsReencoding
  return mustEncode ? reencode(parsed, contentType) : verifyDecodes(parsed)
}

/** Decodes the whole image, so that a stored image is one that can be shown. */
async function verifyDecodes(parsed: ParsedImage): Promise<ProcessedImage> {
  const image = await open(parsed.clean, parsed.animated)
  const { width, height } = await orRefuseDamaged(image.metadata())
  await orRefuseDamaged(image.resize({ width: VERIFY_WIDTH }).raw().toBuffer())
  return {
    bytes: parsed.clean,
    width: width ?? parsed.width,
    height: pageHeight(parsed, height),
  }
}

/** The decoder puts the frames of an animation below one another. */
const pageHeight = ({ animated, height }: ParsedImage, decoded: number | undefined) =>
  animated ? height : (decoded ?? height)

/** Encodes the image again, upright and in sRGB. The encoder adds no metadata. */
async function reencode(parsed: ParsedImage, contentType: Raster): Promise<ProcessedImage> {
  const image = await open(parsed.withProfile ?? parsed.clean, parsed.animated)
  const upright = encode(toUpright(image, parsed.orientation), contentType)
  const { data, info } = await orRefuseDamaged(upright.toBuffer({ resolveWithObject: true }))
  return { bytes: data, width: info.width, height: info.pageHeight ?? info.height }
}

/** Makes a smaller copy of a stored image. Must run in the image queue. */
export async function resize(bytes: Buffer, contentType: Raster, width: number): Promise<Buffer> {
  const animated = contentType === 'image/gif' || contentType === 'image/webp'
  const image = await open(bytes, animated)
  return encode(image.resize({ width, withoutEnlargement: true }), contentType).toBuffer()
}

type Sharp = import('sharp').Sharp

/** Imports `sharp` with the first image: most processes never open one. */
async function open(bytes: Buffer, animated: boolean): Promise<Sharp> {
  const { default: sharp } = await import('sharp')
  // A decoded image is not needed again soon, and the image queue decides what runs in parallel.
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp(bytes, { animated, failOn: 'error', sequentialRead: true })
}

/** Turns an image upright, by its EXIF orientation. */
function toUpright(image: Sharp, orientation: number): Sharp {
  if (orientation === 2) return image.flop()
  if (orientation === 3) return image.rotate(180)
  if (orientation === 4) return image.flip()
  if (orientation === 5) return image.flip().rotate(90)
  if (orientation === 6) return image.rotate(90)
  if (orientation === 7) return image.flop().rotate(90)
  return orientation === 8 ? image.rotate(270) : image
}

/** Encodes in the original format without visible loss. AVIF's highest effort takes minutes. */
function encode(image: Sharp, contentType: Raster): Sharp {
  if (contentType === 'image/png') return image.png()
  if (contentType === 'image/jpeg') return image.jpeg({ quality: 90 })
  if (contentType === 'image/webp') return image.webp({ quality: 90 })
  if (contentType === 'image/gif') return image.gif()
  return image.avif({ quality: 70, effort: 2 })
}

/** Turns an error of the decoder into a refusal: the caller's file is at fault. */
async function orRefuseDamaged<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw damaged(error)
  }
}
