import sharp, { type Sharp } from 'sharp'
import { serveJobs } from '../../platform/child-program.ts'
import type { ImageInput, ImageReply, ImageTask } from './image-processes.ts'
import type { Raster } from './schema.ts'

/**
 * The program of an image process: decodes, turns, resizes and encodes one image at a time. It runs in
 * a process of its own, because a decoder cannot be stopped in any other way, and because a broken one
 * then takes nothing else with it. It has no credentials and no connection but the one to its parent.
 */

/** The width to which an image is decoded for verification: all of it is read, little is in memory. */
const VERIFY_WIDTH = 32

// A decoded image is not needed again, and there is one job at a time.
sharp.cache(false)
sharp.concurrency(1)

/** Performs a job. If the decoder refuses an image, that is a reply and not a fault of this process. */
async function perform({ bytes, animated, task }: ImageInput): Promise<ImageReply> {
  try {
    const image = sharp(bytes, { animated, failOn: 'error', sequentialRead: true })
    if (task.kind === 'verify') return await verify(image)
    const { data, info } = await draw(image, task).toBuffer({ resolveWithObject: true })
    return {
      kind: 'done',
      bytes: data,
      width: info.width,
      height: info.pageHeight ?? info.height,
    }
  } catch (error) {
    return { kind: 'damaged', message: error instanceof Error ? error.message : 'not an Error' }
  }
}

async function verify(image: Sharp): Promise<ImageReply> {
  const { width, height } = await image.metadata()
  await image.resize({ width: VERIFY_WIDTH }).raw().toBuffer()
  return { kind: 'done', bytes: null, width, height }
}

function draw(image: Sharp, task: Exclude<ImageTask, { kind: 'verify' }>): Sharp {
  if (task.kind === 'reencode')
    return encode(toUpright(image, task.orientation), task.contentType, ORIGINAL)
  const smaller = image.resize({ width: task.width, withoutEnlargement: true })
  return encode(smaller, task.contentType, SMALLER)
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

/** How well an image is encoded. `effort` exists only for AVIF, whose scale of quality is another one. */
interface Encoding {
  quality: number
  avif: { quality: number; effort: number }
}

/**
 * The encoding of the stored image: without visible loss, since the smaller ones are made from it. 12 megapixels of
 * AVIF take 4 s of CPU with an effort of 0, and 14 s with 2; the highest effort takes minutes.
 */
const ORIGINAL: Encoding = { quality: 90, avif: { quality: 70, effort: 0 } }

/** The encoding of resized images. Most screens that show them have pixels too small to see the loss. */
const SMALLER: Encoding = { quality: 72, avif: { quality: 52, effort: 2 } }

/** Encodes in the original format. */
function encode(image: Sharp, contentType: Raster, { quality, avif }: Encoding): Sharp {
  if (contentType === 'image/png') return image.png()
  if (contentType === 'image/jpeg') return image.jpeg({ quality })
  if (contentType === 'image/webp') return image.webp({ quality })
  if (contentType === 'image/gif') return image.gif()
  return image.avif(avif)
}

serveJobs(perform)
