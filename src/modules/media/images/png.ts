import { crc32, inflateSync } from 'node:zlib'
import { damaged, isSrgb, PARTS_MAX, type ParsedImage, readOrientation } from './parsed-image.ts'

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** The chunks that are kept. Text, time, EXIF and the frames of an animated PNG are removed. */
const KEPT = new Set([
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'tRNS',
  'gAMA',
  'cHRM',
  'sRGB',
  'cICP',
  'sBIT',
  'bKGD',
  'pHYs',
])

/** The largest profile: no real one is larger. One that inflates to more is dropped. */
const PROFILE_BYTES_MAX = 1_024 * 1_024

export function readPng(bytes: Buffer): ParsedImage {
  const kept: Buffer[] = [PNG_SIGNATURE]
  const withProfile: Buffer[] = [PNG_SIGNATURE]
  let profiles = 0
  let hasProfile = false
  let hasData = false
  let orientation = 1
  let at = PNG_SIGNATURE.length
  for (let type = '', parts = 0; type !== 'IEND'; parts++) {
    if (parts > PARTS_MAX) throw damaged()
    const end = at + 12 + bytes.readUInt32BE(at)
    if (end > bytes.length) throw damaged()
    type = bytes.toString('latin1', at + 4, at + 8)
    const payload = bytes.subarray(at + 8, end - 4)
    const whole = bytes.subarray(at, end)
    if ((at === PNG_SIGNATURE.length) !== (type === 'IHDR')) throw damaged()
    hasData ||= type === 'IDAT'
    if (type === 'eXIf') orientation = readOrientation(payload)
    // A valid file has at most one. Inflating twenty thousand would take a minute.
    if (type === 'iCCP' && ++profiles === 1 && isOtherProfile(payload)) {
      hasProfile = true
      withProfile.push(whole)
    }
    if (KEPT.has(type)) {
      if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) throw damaged()
      kept.push(whole)
      withProfile.push(whole)
    }
    at = end
  }
  if (!hasData) throw damaged()
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  return {
    width,
    height,
    pixels: width * height,
    animated: false,
    clean: Buffer.concat(kept),
    withProfile: hasProfile ? Buffer.concat(withProfile) : null,
    orientation,
  }
}

/** Whether a profile is another than sRGB. A profile that cannot be inflated is dropped. */
function isOtherProfile(payload: Buffer): boolean {
  try {
    const deflated = payload.subarray(payload.indexOf(0) + 2)
    return !isSrgb(inflateSync(deflated, { maxOutputLength: PROFILE_BYTES_MAX }))
  } catch {
    return false
  }
}
