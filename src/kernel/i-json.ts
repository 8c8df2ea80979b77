import { isUtf8 } from 'node:buffer'

export interface Limits {
  /** How deep arrays and objects may be nested. */
  depth: number
  /** The number of values of every kind, containers included. Names are not values. */
  nodes: number
  /** Characters (code points) of a member's name, after its escapes are decoded. */
  keyLength: number
}

export const LIMITS: Readonly<Limits> = { depth: 64, nodes: 20_000, keyLength: 256 }

/** The messages never quote the body: it may hold a card number. */
const REASONS = {
  not_utf8: 'The body is not UTF-8. Encode it as UTF-8.',
  byte_order_mark: 'The body begins with a byte order mark. Remove it.',
  syntax: 'The body is not valid JSON.',
  too_deep: 'The body is nested more than 64 levels deep.',
  too_many_nodes: 'The body has more than 20,000 values.',
  key_too_long: "A member's name is longer than 256 characters.",
  duplicate_key: 'An object has the same member twice.',
  forbidden_key: 'A member must not be named __proto__, constructor or prototype.',
  nul_character: 'A string must not contain the character U+0000.',
  lone_surrogate: 'A string contains half of a surrogate pair. Send complete characters.',
  unsafe_number: 'A number must be between -(2^53 - 1) and 2^53 - 1.',
} as const

export type IJsonReason = keyof typeof REASONS

export class IJsonError extends Error {
  readonly reason: IJsonReason
  /** RFC 6901 pointer to the value, or to the nearest container known. */
  readonly path: string

  constructor(reason: IJsonReason, path: string) {
    super(REASONS[reason])
    this.name = 'IJsonError'
    this.reason = reason
    this.path = path
  }
}

export interface Slice {
  /** Offsets in bytes, `end` exclusive. */
  start: number
  end: number
}

interface Frame {
  isObject: boolean
  /**
   * The current member, in an object. Names are stored as their UTF-8 bytes, one character for
   * each: they compare correctly, and seldom need decoding.
   */
  name: string | null
  /** The index of the current element, in an array. */
  index: number
  names: string[]
  /** The same names as a set, once there are many. */
  seen: Set<string> | null
}

interface Scan {
  bytes: Buffer
  /** One character for each byte: much faster to search and slice than the bytes. */
  latin1: string
  limits: Limits
  frames: Frame[]
  /** Whether the last string contained an escape. */
  isEscaped: boolean
  /** The position of the next backslash. Outside of strings there is none. */
  backslash: number
  sliceOf: string | undefined
  /** The position of the value of the member `sliceOf`, with the space around it. */
  start: number
  end: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const COLON = 0x3a
const BRACKET_OPEN = 0x5b
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/**
 * Parses JSON in the I-JSON profile (RFC 7493), so that hashing, comparing and merging are safe. Why no library:
 * decision 0070.
 *
 * One pass over the text checks the profile and the limits; then `JSON.parse` makes the value. The
 * pass does not check the grammar: it reads any well-formed text correctly, and `JSON.parse`
 * refuses all other text. So the two can never disagree about a value.
 */
export function parseIJson(
  bytes: Uint8Array,
  options: { limits?: Partial<Limits>; sliceOf?: string } = {},
): { value: unknown; slice?: Slice } {
  if (!isUtf8(bytes)) throw new IJsonError('not_utf8', '')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new IJsonError('byte_order_mark', '')
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString()
  const latin1 = text.length === buffer.length ? text : buffer.toString('latin1')
  const scan: Scan = {
    bytes: buffer,
    latin1,
    limits: options.limits === undefined ? LIMITS : { ...LIMITS, ...options.limits },
    frames: [],
    isEscaped: false,
    backslash: findBackslash(latin1, 0),
    sliceOf: options.sliceOf && toLatin1(options.sliceOf),
    start: -1,
    end: -1,
  }
  scanBytes(scan)
  const value = parse(scan, text)
  return scan.end === -1 ? { value } : { value, slice: trimSlice(scan) }
}

function scanBytes(scan: Scan): void {
  const { bytes, limits, frames } = scan
  const { length } = bytes
  let top: Frame | undefined
  let awaitsName = false
  let nodes = 0
  let at = 0
  while (at < length) {
    const code = bytes[at] as number
    if (isSpace(code)) {
      at += 1
    } else if (code === COLON) {
      at += 1
      if (frames.length === 1 && top?.name === scan.sliceOf) scan.start = at
    } else if (code === COMMA) {
      if (top === undefined) throw refusal(scan, 'syntax')
      if (frames.length === 1 && scan.end < scan.start) scan.end = at
      top.index += 1
      top.name = null
      awaitsName = top.isObject
      at += 1
    } else if (code === BRACE_CLOSE || code === BRACKET_CLOSE) {
      if (frames.length === 1 && scan.end < scan.start) scan.end = at
      if (frames.pop() === undefined) throw refusal(scan, 'syntax')
      top = frames.at(-1)
      at += 1
    } else if (code === QUOTE && awaitsName && top !== undefined) {
      const end = skipString(scan, at)
      addName(scan, top, at, end)
      awaitsName = false
      at = end
    } else {
      nodes += 1
      if (nodes > limits.nodes) throw refusal(scan, 'too_many_nodes')
      if (code === BRACE_OPEN || code === BRACKET_OPEN) {
        if (frames.length === limits.depth) throw refusal(scan, 'too_deep')
        awaitsName = code === BRACE_OPEN
        top = { isObject: awaitsName, name: null, index: 0, names: [], seen: null }
        frames.push(top)
        at += 1
      } else {
        at = skipScalar(scan, at, code)
      }
    }
  }
}

function skipScalar(scan: Scan, at: number, code: number): number {
  if (code === QUOTE) return skipString(scan, at)
  if (code === MINUS || (code >= 0x30 && code <= 0x39)) return skipNumber(scan, at)
  if (code === 0x74 || code === 0x6e) return at + 4 // true, null
  if (code === 0x66) return at + 5 // false
  throw refusal(scan, 'syntax')
}

/** Skips a string: from its opening quote to the position after its closing quote. */
function skipString(scan: Scan, from: number): number {
  const { latin1 } = scan
  let quote = latin1.indexOf('"', from + 1)
  scan.isEscaped = scan.backslash < quote
  while (scan.backslash < quote) {
    const at = skipEscape(scan, scan.backslash)
    scan.backslash = findBackslash(latin1, at)
    if (at > quote) quote = latin1.indexOf('"', at)
  }
  if (quote === -1) throw refusal(scan, 'syntax')
  return quote + 1
}

function findBackslash(latin1: string, from: number): number {
  const found = latin1.indexOf('\\', from)
  return found === -1 ? Number.POSITIVE_INFINITY : found
}

function skipEscape(scan: Scan, at: number): number {
  if (scan.bytes[at + 1] !== 0x75) return at + 2
  const unit = readUnit(scan, at + 2)
  if (unit === 0) throw refusal(scan, 'nul_character')
  if (unit < 0xd800 || unit > 0xdfff) return at + 6
  // UTF-8 has no surrogates, so the other half can only be an escape too.
  const isPair = unit < 0xdc00 && scan.latin1.startsWith('\\u', at + 6)
  const low = isPair ? readUnit(scan, at + 8) : 0
  if (low < 0xdc00 || low > 0xdfff) throw refusal(scan, 'lone_surrogate')
  return at + 12
}

/** The value of the four hexadecimal digits of an escape. */
function readUnit(scan: Scan, from: number): number {
  let unit = 0
  for (let at = from; at < from + 4; at += 1) {
    const code = scan.bytes[at] ?? 0
    const lower = code | 0x20
    if (code >= 0x30 && code <= 0x39) unit = unit * 16 + code - 0x30
    else if (lower >= 0x61 && lower <= 0x66) unit = unit * 16 + lower - 0x57
    else throw refusal(scan, 'syntax')
  }
  return unit
}

/**
 * Skips a number. Beyond 2^53 every number is an integer, so one limit covers all spellings, also 1e20 and 1.5e300.
 */
function skipNumber(scan: Scan, from: number): number {
  const { bytes } = scan
  const { length } = bytes
  let at = from + 1
  let hasExponent = false
  while (at < length) {
    const code = bytes[at] as number
    if (code === 0x65 || code === 0x45) hasExponent = true
    else if ((code < 0x30 || code > 0x39) && code !== 0x2e && code !== 0x2b && code !== MINUS) break
    at += 1
  }
  // 2^53 has sixteen digits.
  if (!hasExponent && at - from < 16) return at
  const value = Number(scan.latin1.slice(from, at))
  if (Number.isNaN(value)) throw refusal(scan, 'syntax')
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw refusal(scan, 'unsafe_number')
  return at
}

/** Up to this many names, searching the array is faster than making a Set. */
const FEW_NAMES = 12

/** Adds the name between two quotes: `from` is at the first, `end` is after the second. */
function addName(scan: Scan, frame: Frame, from: number, end: number): void {
  const name = scan.isEscaped ? readEscaped(scan, from, end) : scan.latin1.slice(from + 1, end - 1)
  if (isLonger(name, scan.limits.keyLength)) throw refusal(scan, 'key_too_long')
  frame.name = name
  if (name === '__proto__' || name === 'constructor' || name === 'prototype') {
    throw refusal(scan, 'forbidden_key')
  }
  const { names, seen } = frame
  if (seen === null ? names.includes(name) : seen.has(name)) throw refusal(scan, 'duplicate_key')
  if (seen !== null) seen.add(name)
  else if (names.push(name) > FEW_NAMES) frame.seen = new Set(names)
}

const readEscaped = (scan: Scan, from: number, end: number): string =>
  toLatin1(String(parse(scan, scan.bytes.toString('utf8', from, end))))

const toLatin1 = (name: string): string => Buffer.from(name).toString('latin1')
const fromLatin1 = (name: string): string => Buffer.from(name, 'latin1').toString()

function isLonger(name: string, characters: number): boolean {
  if (name.length <= characters) return false
  // A character takes four bytes at most.
  return name.length > 4 * characters || [...fromLatin1(name)].length > characters
}

/** Parses JSON. The message of `JSON.parse` quotes the text, so its error is replaced here. */
function parse(scan: Scan, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refusal(scan, 'syntax')
  }
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function refusal(scan: Scan, reason: IJsonReason): IJsonError {
  let path = ''
  for (const { isObject, name, index } of scan.frames) {
    if (isObject && name === null) break
    path += `/${name === null ? index : escapePointer(fromLatin1(name))}`
  }
  return new IJsonError(reason, path)
}

function trimSlice({ bytes, start, end }: Scan): Slice {
  while (isSpace(bytes[start] ?? 0)) start += 1
  while (isSpace(bytes[end - 1] ?? 0)) end -= 1
  return { start, end }
}
