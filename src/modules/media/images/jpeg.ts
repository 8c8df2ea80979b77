import { damaged, isSrgb, PARTS_MAX, type ParsedImage, readOrientation } from './parsed-image.ts'

/** A progressive file has about a dozen. Each costs a decoder a pass over the whole image. */
const SCANS_MAX = 100

const EOI = 0xd9
const SOS = 0xda
const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee
const APP15 = 0xef
const COMMENT = 0xfe

const EXIF = 'Exif\0\0'
const ICC = 'ICC_PROFILE\0'
/** The length of the bytes before a part of a profile: the name, the number of the part, and the number of parts. */
const ICC_HEAD = ICC.length + 2

/** The length of a JFIF header without a thumbnail. */
const JFIF_BYTES = 16

/** Whether a marker begins a frame header. Three markers of this range mean something else. */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

interface Segment {
  marker: number
  /** The segment with its marker and length. */
  whole: Buffer
  payload: Buffer
}

export function readJpeg(bytes: Buffer): ParsedImage {
  const kept: Buffer[] = [bytes.subarray(0, 2)]
  const withProfile: Buffer[] = [bytes.subarray(0, 2)]
  const profile: Buffer[] = []
  let size: { width: number; height: number } | null = null
  let orientation = 1
  let scans = 0
  let at = 2
  for (let parts = 0; ; parts++) {
    if (parts > PARTS_MAX) throw damaged()
    const segment = readSegment(bytes, at)
    const { marker, payload } = segment
    at += segment.whole.length
    if (isFrame(marker)) {
      // A second frame, or a height that follows later: no ordinary image has either.
      if (size !== null || payload.readUInt16BE(1) === 0) throw damaged()
      size = { height: payload.readUInt16BE(1), width: payload.readUInt16BE(3) }
    }
    if (marker === SOS && ++scans > SCANS_MAX) throw damaged()
    if (marker === APP1 && startsWith(payload, EXIF))
      orientation = readOrientation(payload.subarray(6))
    const isProfile = marker === APP2 && startsWith(payload, ICC)
    if (isProfile) profile.push(payload.subarray(ICC_HEAD))
    if (isProfile || isVisible(segment)) withProfile.push(segment.whole)
    if (isVisible(segment)) kept.push(segment.whole)
    if (marker === EOI) break
  }
  if (size === null || scans === 0) throw damaged()
  const plain = profile.length === 0 || isSrgb(Buffer.concat(profile))
  return {
    ...size,
    pixels: size.width * size.height,
    animated: false,
    clean: Buffer.concat(kept),
    withProfile: plain ? null : Buffer.concat(withProfile),
    orientation,
  }
}

/** Reads from one marker to the next. The data of a scan follows its header without a length. */
function readSegment(bytes: Buffer, start: number): Segment {
  let at = start
  if (bytes[at] !== 0xff) throw damaged()
  while (bytes[at + 1] === 0xff) at++
  const marker = bytes[at + 1]
  if (marker === undefined || marker < 0xc0 || isRestart(marker)) throw damaged()
  if (marker === EOI)
    return { marker, whole: bytes.subarray(start, at + 2), payload: bytes.subarray(0, 0) }
  const end = at + 2 + bytes.readUInt16BE(at + 2)
  if (end > bytes.length || end < at + 4) throw damaged()
  const payload = bytes.subarray(at + 4, end)
  const whole = bytes.subarray(start, marker === SOS ? endOfScan(bytes, end) : end)
  return { marker, whole, payload }
}

const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7

/** Finds the end of a scan, byte by byte: with a file of 0xff alone, a new search for each byte would be slow. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = start; at + 1 < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1] ?? 0
    // A marker may be preceded by any number of fill bytes.
    if (next !== 0 && next !== 0xff && !isRestart(next)) return at
  }
  throw damaged()
}

/** Whether a decoder needs the segment: tables, frames, scans and the colour transform. */
function isVisible({ marker, payload, whole }: Segment): boolean {
  if (marker === COMMENT || (marker > APP0 && marker <= APP15 && marker !== APP14)) return false
  if (marker === APP14) return startsWith(payload, 'Adobe') && payload.length === 12
  if (marker === APP0) return startsWith(payload, 'JFIF\0') && whole.length === 2 + JFIF_BYTES
  return true
}

const startsWith = (bytes: Buffer, text: string) =>
  bytes.toString('latin1', 0, text.length) === text
