import type { ContentType } from '../schema.ts'
import { PNG_SIGNATURE } from './png.ts'

/** The bytes at the beginning of a file that are searched for `<svg`. */
const HEAD_BYTES = 4_096

/** The content type of the bytes, whatever the caller declares. */
export function sniff(bytes: Buffer): ContentType | null {
  const text = (start: number, end: number) => bytes.toString('latin1', start, end)
  if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return 'image/png'
  if (text(0, 3) === '\xff\xd8\xff') return 'image/jpeg'
  if (/^GIF8[79]a$/.test(text(0, 6))) return 'image/gif'
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'image/webp'
  if (text(0, 4) === 'wOF2') return 'font/woff2'
  if (text(4, 8) === 'ftyp') return text(8, 12) === 'avif' ? 'image/avif' : null
  const head = bytes
    .toString('utf8', 0, HEAD_BYTES)
    .replace(/^\ufeff/, '')
    .trimStart()
  return head.startsWith('<') && head.includes('<svg') ? 'image/svg+xml' : null
}
