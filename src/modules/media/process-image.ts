import { refuse } from './errors.ts'
import type { ImageResult, PerformImageJob } from './image-processes.ts'
import { readAvif } from './images/avif.ts'
import { readGif } from './images/gif.ts'
import { readJpeg } from './images/jpeg.ts'
import {
  checkEncodable,
  checkSize,
  type ParsedImage,
  refuseTruncated,
} from './images/parsed-image.ts'
import { readPng } from './images/png.ts'
import { sniff } from './images/sniff.ts'
import { cleanSvg } from './images/svg.ts'
import { readWebp } from './images/webp.ts'
import type { ContentType, Raster } from './schema.ts'
import { checkFont } from './woff2.ts'

/** An image that was checked and cleaned, and can be stored and published. */
export interface ProcessedImage {
  bytes: Buffer
  width: number | null
  height: number | null
}

/**
 * How many pixels are accepted, in all frames. JPEG and PNG are read in rows; the others need the whole
 * image in memory. AVIF is the most expensive by far: 25 megapixels take 500 MB and 2 s of CPU to
 * decode, and 12 as much to encode.
 */
const PIXELS: Record<Raster, { decode: number; encode: number }> = {
  'image/png': { decode: 50_000_000, encode: 50_000_000 },
  'image/jpeg': { decode: 50_000_000, encode: 50_000_000 },
  'image/gif': { decode: 50_000_000, encode: 50_000_000 },
  'image/webp': { decode: 50_000_000, encode: 25_000_000 },
  'image/avif': { decode: 25_000_000, encode: 12_000_000 },
}

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

/**
 * Checks an upload and removes everything but the image. A font stays as it is. Why it is not simply encoded again:
 * decision 0014.
 */
export async function processImage(
  bytes: Buffer,
  contentType: ContentType,
  perform: PerformImageJob,
): Promise<ProcessedImage> {
  if (sniff(bytes) !== contentType) throw refuse('content_mismatch')
  if (contentType === 'image/svg+xml') {
    const { clean, width, height } = cleanSvg(bytes)
    return { bytes: clean, width, height }
  }
  if (contentType === 'font/woff2') {
    await checkFont(bytes)
    return { bytes, width: null, height: null }
  }
  const parsed = refuseTruncated(() => READERS[contentType](bytes))
  const { decode, encode } = PIXELS[contentType]
  checkSize(parsed, decode)
  const mustEncode =
    parsed.orientation !== 1 || parsed.withProfile !== null || parsed.needsReencoding
  if (!mustEncode) return verifyDecodes(parsed, perform)
  checkEncodable(parsed, encode)
  return reencode(parsed, contentType, perform)
}

async function verifyDecodes(
  parsed: ParsedImage,
  perform: PerformImageJob,
): Promise<ProcessedImage> {
  const { clean, animated } = parsed
  const { width, height } = await perform({ bytes: clean, animated, task: { kind: 'verify' } })
  // The decoder puts the frames of an animation below one another.
  return { bytes: clean, width, height: animated ? parsed.height : height }
}

async function reencode(
  { withProfile, clean, animated, orientation }: ParsedImage,
  contentType: Raster,
  perform: PerformImageJob,
): Promise<ProcessedImage> {
  const task = { kind: 'reencode' as const, contentType, orientation }
  return requireBytes(await perform({ bytes: withProfile ?? clean, animated, task }))
}

/** Makes a smaller copy of a stored image. */
export async function resize(
  bytes: Buffer,
  { contentType, width }: { contentType: Raster; width: number },
  perform: PerformImageJob,
): Promise<Buffer> {
  const animated = contentType === 'image/gif' || contentType === 'image/webp'
  const task = { kind: 'resize' as const, contentType, width }
  return requireBytes(await perform({ bytes, animated, task })).bytes
}

function requireBytes({ bytes, ...size }: ImageResult): ProcessedImage & { bytes: Buffer } {
  if (bytes === null) throw new Error('the image process answered no bytes')
  return { bytes, ...size }
}
