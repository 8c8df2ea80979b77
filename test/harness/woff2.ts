import { brotliCompressSync, constants } from 'node:zlib'

/** Tables with a number of their own; marked as not transformed. */
const UNTRANSFORMED: Record<string, number> = { glyf: 10 | (3 << 6), loca: 11 | (3 << 6) }

/** A number in as many bytes of seven bits as it needs. */
function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}

/** A web font of these tables. `header` changes it before it is returned. */
export function makeWoff2(
  tables: Record<string, Buffer>,
  header: (bytes: Buffer) => void = () => {},
): Buffer {
  const list = Object.entries(tables).flatMap(([tag, { length }]) => {
    const known = UNTRANSFORMED[tag]
    const name = known === undefined ? [63, ...Buffer.from(tag)] : [known]
    return [...name, ...base128(length)]
  })
  const params = { [constants.BROTLI_PARAM_QUALITY]: 3 }
  const packed = brotliCompressSync(Buffer.concat(Object.values(tables)), { params })
  const length = 48 + list.length + packed.length
  const bytes = Buffer.alloc(length + ((4 - (length % 4)) % 4))
  bytes.write('wOF2', 'latin1')
  bytes.writeUInt32BE(0x00010000, 4)
  bytes.writeUInt32BE(bytes.length, 8)
  bytes.writeUInt16BE(Object.keys(tables).length, 12)
  const sizes = Object.values(tables).map((each) => each.length)
  const size = sizes.reduce((sum, each) => sum + 4 * Math.ceil(each / 4), 12 + 16 * sizes.length)
  bytes.writeUInt32BE(size, 16)
  bytes.writeUInt32BE(packed.length, 20)
  bytes.writeUInt16BE(1, 24)
  Buffer.from(list).copy(bytes, 48)
  packed.copy(bytes, 48 + list.length)
  header(bytes)
  return bytes
}

/** A small font with a valid form. Another `seed` gives other bytes. */
export const sampleFont = (seed = 0): Buffer =>
  makeWoff2({ head: Buffer.alloc(54, seed), glyf: Buffer.alloc(300, 7), loca: Buffer.alloc(12) })

/** A TrueType font as a web font: with the same tables, those of its outlines side by side, as the form requires. */
export function toWoff2(ttf: Buffer): Buffer {
  const tables = Array.from({ length: ttf.readUInt16BE(4) }, (_, index) => {
    const at = 12 + 16 * index
    const [from, length] = [ttf.readUInt32BE(at + 8), ttf.readUInt32BE(at + 12)]
    return [ttf.toString('latin1', at, at + 4), ttf.subarray(from, from + length)] as const
  })
  const rest = tables.filter(([tag]) => !(tag in UNTRANSFORMED))
  const outlines = tables.filter(([tag]) => tag in UNTRANSFORMED)
  return makeWoff2(Object.fromEntries([...rest, ...outlines.toSorted()]))
}
