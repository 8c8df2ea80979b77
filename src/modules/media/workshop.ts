import { ApiError } from '../../errors.ts'
import { WorkQueue } from '../../platform/work-queue.ts'
import { readAvif } from './images/avif.ts'
import { readGif } from './images/gif.ts'
import { readJpeg } from './images/jpeg.ts'
import { checkSize, damaged, type Picture, reading } from './images/picture.ts'
import { readPng } from './images/png.ts'
import { sniff } from './images/sniff.ts'
import { cleanSvg } from './images/svg.ts'
import { readWebp } from './images/webp.ts'
import type { ContentType } from './schema.ts'

type Raster = Exclude<ContentType, 'image/svg+xml'>

/** An image that is fit to be kept and shown to strangers. */
export interface Fit {
  bytes: Buffer
  width: number | null
  height: number | null
}

/**
 * Where images are opened. Each can be 20 MB, and several times that once decoded: two at a time
 * are in memory. A thousand may wait; a later one is better served without.
 */
export const createWorkshop = () => new WorkQueue({ running: 2, waiting: 1_000 })

/** A picture that is only looked at is decoded to this width: all is read, little is kept. */
const GLANCE_PIXELS = 32

/**
 * Gives the memory of a buffer back at once. The garbage collector counts objects and not what they
 * hold, so it would let a hundred images pile up before it came.
 */
export function free(bytes: Buffer): void {
  const { buffer } = bytes
  // A small one is part of a block that it shares with others.
  const isWhole = buffer.byteLength === bytes.length && buffer instanceof ArrayBuffer
  if (isWhole) buffer.transfer(0)
}

const READERS: Record<Raster, (bytes: Buffer) => Picture> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
  'image/gif': readGif,
  'image/avif': readAvif,
}

/** Checks an upload and takes out of it whatever is not the picture. In a slot only. */
export async function makeFit(bytes: Buffer, contentType: ContentType): Promise<Fit> {
  if (sniff(bytes) !== contentType) throw new ApiError('content_mismatch')
  if (contentType === 'image/svg+xml') {
    const { clean, width, height } = cleanSvg(bytes)
    return { bytes: clean, width, height }
  }
  const picture = reading(() => READERS[contentType](bytes))
  checkSize(picture)
  const mustEncode = picture.turn !== 1 || picture.coloured !== null || picture.stained
  return mustEncode ? encodeAnew(picture, contentType) : glance(picture)
}

/** Decodes all of it, so that a picture that is kept is one that can be shown. */
async function glance(picture: Picture): Promise<Fit> {
  const image = await open(picture.clean, picture.animated)
  const { width, height } = await orDamaged(image.metadata())
  await orDamaged(image.resize({ width: GLANCE_PIXELS }).raw().toBuffer())
  return {
    bytes: picture.clean,
    width: width ?? picture.width,
    height: pageHeight(picture, height),
  }
}

/** Frames lie below one another while they are worked on. */
const pageHeight = ({ animated, height }: Picture, decoded: number | undefined) =>
  animated ? height : (decoded ?? height)

/** Turned upright and in sRGB. The encoder adds nothing about where the picture comes from. */
async function encodeAnew(picture: Picture, contentType: Raster): Promise<Fit> {
  const image = await open(picture.coloured ?? picture.clean, picture.animated)
  const upright = encode(turn(image, picture.turn), contentType)
  const { data, info } = await orDamaged(upright.toBuffer({ resolveWithObject: true }))
  return { bytes: data, width: info.width, height: info.pageHeight ?? info.height }
}

/** A smaller form of an image that is kept already. In a slot only. */
export async function resize(bytes: Buffer, contentType: Raster, width: number): Promise<Buffer> {
  const animated = contentType === 'image/gif' || contentType === 'image/webp'
  const image = await open(bytes, animated)
  return encode(image.resize({ width, withoutEnlargement: true }), contentType).toBuffer()
}

type Sharp = import('sharp').Sharp

/** Loaded with the first image: most processes never open one. */
async function open(bytes: Buffer, animated: boolean): Promise<Sharp> {
  const { default: sharp } = await import('sharp')
  // What is decoded is not asked for again soon, and the slots are all the parallelism there is.
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp(bytes, { animated, failOn: 'error', sequentialRead: true })
}

/** EXIF's orientations: what has to be done to see the picture upright. */
function turn(image: Sharp, orientation: number): Sharp {
  if (orientation === 2) return image.flop()
  if (orientation === 3) return image.rotate(180)
  if (orientation === 4) return image.flip()
  if (orientation === 5) return image.flip().rotate(90)
  if (orientation === 6) return image.rotate(90)
  if (orientation === 7) return image.flop().rotate(90)
  return orientation === 8 ? image.rotate(270) : image
}

/** As good as the eye can tell, in the format it came in. AVIF's best efforts take minutes. */
function encode(image: Sharp, contentType: Raster): Sharp {
  if (contentType === 'image/png') return image.png()
  if (contentType === 'image/jpeg') return image.jpeg({ quality: 90 })
  if (contentType === 'image/webp') return image.webp({ quality: 90 })
  if (contentType === 'image/gif') return image.gif()
  return image.avif({ quality: 70, effort: 2 })
}

/** What the decoder stumbles over is the caller's file, not our fault. */
async function orDamaged<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw damaged(error)
  }
}
