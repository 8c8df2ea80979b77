import { DecodingMode, HtmlEntityDecoder } from 'entities/decode'
import { buildTrie, step } from './word-trie.ts'

/** The text that a reader sees, and where each part of it is in the source. */
export interface VisibleText {
  text: string
  /** The rewrites of the source, in order. */
  steps: Rewrite[]
}

/**
 * One rewrite of a text, piece by piece: the piece that begins at `at[i]` was copied from `from[i]`
 * on, or, where `to[i]` is not -1, replaces the source between the two.
 */
interface Rewrite {
  at: number[]
  from: number[]
  to: number[]
}

/** Nested escapes are decoded this often. A browser shows no text that is escaped more often. */
const ROUNDS = 3

/** Ends a sentence in any case. It separates the text from the attributes and comments after it. */
const HARD_BREAK = '\u0000'

/** Elements that begin a new line. Any other tag is removed without a gap. */
const BLOCK_ELEMENTS = buildTrie(
  `address article aside blockquote body br button caption dd details dialog div dl dt fieldset
   figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe legend li main nav ol
   option p pre section select summary table tbody td textarea tfoot th thead title tr ul`
    .split(/\s+/)
    .map((name, at) => [name, at]),
  'written',
)

/** Removes tags and comments, decodes entities and escapes. Linear in the input. */
export function readVisibleText(source: string): VisibleText {
  let visible: VisibleText = { text: source, steps: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = visible
    if (visible.text.includes('<') || visible.text.includes('&')) visible = decodeMarkup(visible)
    if (round === 0 && visible.text.includes('%')) visible = decodePercent(visible)
    if (round === 0 && visible.text.includes('\\')) visible = decodeBackslashes(visible)
    if (visible === before) break
  }
  return visible
}

/** Builds a new text and records where each piece of it came from. */
class Writer {
  readonly #visible: VisibleText
  #text = ''
  readonly #rewrite: Rewrite = { at: [], from: [], to: [] }

  constructor(visible: VisibleText) {
    this.#visible = visible
  }

  copy(start: number, end: number) {
    if (start < end) this.#add(this.#visible.text.slice(start, end), start, -1)
  }

  /** Writes the replacement of the source from `start` to `end`. */
  put(text: string, start: number, end: number) {
    this.#add(text, start, end)
  }

  #add(text: string, from: number, to: number) {
    this.#rewrite.at.push(this.#text.length)
    this.#rewrite.from.push(from)
    this.#rewrite.to.push(to)
    this.#text += text
  }

  /** The new text, or the old one if it was copied as a whole. */
  finish(): VisibleText {
    const { text, steps } = this.#visible
    const isSame = this.#rewrite.at.length === 1 && this.#text.length === text.length
    if (isSame) return this.#visible
    return { text: this.#text, steps: [...steps, this.#rewrite] }
  }
}

/** The position in the source of the visible text from `start` to `end`. */
export function locateInSource(
  visible: VisibleText,
  start: number,
  end: number,
): { start: number; end: number } {
  let first = start
  let last = end
  for (const step of visible.steps.toReversed()) {
    const piece = pieceOf(step, first)
    const from = step.from[piece] as number
    first = step.to[piece] === -1 ? from + first - (step.at[piece] as number) : from
    const lastPiece = pieceOf(step, last - 1)
    const to = step.to[lastPiece] as number
    const copied = (step.from[lastPiece] as number) + last - (step.at[lastPiece] as number)
    last = to === -1 ? copied : to
  }
  return { start: first, end: last }
}

/** The piece that contains a position, by bisection. */
function pieceOf({ at }: Rewrite, place: number): number {
  let low = 0
  let high = at.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((at[middle] as number) <= place) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * One round: removes tags and decodes entities. The attributes and comments are appended to the
 * text, so that they are scanned too.
 */
function decodeMarkup(visible: VisibleText): VisibleText {
  const { text } = visible
  const writer = new Writer(visible)
  const tagEnd = tagReader(text)
  const nextSign = signReader(text)
  const appended: [start: number, end: number][] = []
  let copied = 0
  for (let at = nextSign(0); at < text.length; ) {
    const isTag = text.charCodeAt(at) === 60
    const end = isTag ? tagEnd(at) : at + readEntity(text, at)
    if (end <= at) {
      at = nextSign(at + 1)
      continue
    }
    writer.copy(copied, at)
    if (!isTag) writer.put(decodedText(), at, end)
    else if (isBlock(text, at)) writer.put('\n', at, end)
    if (isTag && mayContainWords(text, at, end)) appended.push([at + 1, end])
    copied = end
    at = nextSign(end)
  }
  writer.copy(copied, text.length)
  for (const [start, end] of appended) {
    writer.put(HARD_BREAK, start, end)
    writer.copy(start, end)
  }
  return writer.finish()
}

/** Finds the next `<` or `&` from a position on, or the end. Positions must not decrease. */
function signReader(text: string): (from: number) => number {
  const find = (sign: string, from: number) => {
    const at = text.indexOf(sign, from)
    return at < 0 ? text.length : at
  }
  let tag = -1
  let entity = -1
  return (from) => {
    const unit = text.charCodeAt(from)
    if (unit === 60 || unit === 38) return from
    if (tag < from) tag = find('<', from)
    if (entity < from) entity = find('&', from)
    return Math.min(tag, entity)
  }
}

const decoded: number[] = []
const decoder = new HtmlEntityDecoder((code) => decoded.push(code))

/** Converts the decoded code points to text. Few entities decode to more than one. */
const decodedText = () =>
  decoded.length === 1
    ? String.fromCodePoint(decoded[0] as number)
    : String.fromCodePoint(...decoded)

/** Decodes the entity at `at` and returns its length; 0 if there is none. */
function readEntity(text: string, at: number): number {
  const next = text.charCodeAt(at + 1) | 32
  if (next !== 35 && !(next >= 97 && next <= 122)) return 0
  decoded.length = 0
  decoder.startEntity(DecodingMode.Legacy)
  const used = decoder.write(text, at + 1)
  return used < 0 ? decoder.end() : used
}

/** Whether a tag may contain words: an opening tag with attributes, or a comment. */
function mayContainWords(text: string, at: number, end: number): boolean {
  if (text.charCodeAt(at + 1) === SLASH || end - at <= 6) return false
  for (let i = at; i < end; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit === EQUALS || isSpace(unit)) return true
  }
  return false
}

const SLASH = 47
const EQUALS = 61

const isSpace = (unit: number) =>
  unit === 32 || (unit >= 9 && unit <= 13) || (unit > 127 && /\s/.test(String.fromCharCode(unit)))

function isBlock(text: string, at: number): boolean {
  let node = 0
  for (let i = text.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1; ; i += 1) {
    const unit = text.charCodeAt(i)
    const lower = unit >= 65 && unit <= 90 ? unit + 32 : unit
    const isOfName = (lower >= 97 && lower <= 122) || (unit >= 48 && unit <= 57)
    if (!isOfName) return (BLOCK_ELEMENTS.word[node] as number) >= 0
    node = step(BLOCK_ELEMENTS, node, lower)
    if (node === 0) return false
  }
}

/**
 * Finds the end of the tag or comment that opens at a `<`, or 0 if the `<` is a plain character. A
 * quote counts only where an attribute's value begins, as in a browser. Failed searches are counted
 * and limited, so that no input makes the reader search the same text again and again.
 */
function tagReader(text: string): (at: number) => number {
  let lastClose = -2
  let failures = 0
  const hasClose = (at: number) => {
    if (lastClose === -2) lastClose = text.lastIndexOf('>')
    return lastClose > at
  }
  return (at) => {
    const next = text.charCodeAt(at + 1) | 32
    const opens = (next >= 97 && next <= 122) || next === 47 || next === 33 || next === 63
    if (!opens || !hasClose(at)) return 0
    if (text.startsWith('<!--', at)) {
      const end = failures < 16 ? text.indexOf('-->', at + 4) : -1
      if (end >= 0) return end + 3
      failures += 1
      return text.indexOf('>', at) + 1
    }
    const end = failures < 16 ? walkTag(text, at) : 0
    if (end > 0) return end
    failures += 1
    return text.indexOf('>', at) + 1
  }
}

/** The end of a tag, past its quoted values; 0 if a quote or the tag stays open. */
function walkTag(text: string, at: number): number {
  let afterEquals = false
  for (let i = at + 1; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit === 62) return i + 1
    if (afterEquals && (unit === 34 || unit === 39)) {
      i = text.indexOf(unit === 34 ? '"' : "'", i + 1)
      if (i < 0) return 0
      afterEquals = false
    } else if (unit > 32) afterEquals = unit === EQUALS
  }
  return 0
}

function decodePercent(visible: VisibleText): VisibleText {
  const { text } = visible
  const writer = new Writer(visible)
  let copied = 0
  for (let at = text.indexOf('%'); at >= 0; ) {
    const lead = byteAt(text, at)
    let end = at + 1
    if (lead >= 0) {
      const [code, bytes] = readUtf8(text, at, lead)
      end = at + bytes * 3
      writer.copy(copied, at)
      writer.put(String.fromCodePoint(code), at, end)
      copied = end
    }
    at = text.indexOf('%', end)
  }
  writer.copy(copied, text.length)
  return writer.finish()
}

/**
 * Decodes the percent-escaped UTF-8 code point at `at`. A stray byte becomes the code point of its
 * value.
 */
function readUtf8(text: string, at: number, lead: number): [code: number, bytes: number] {
  const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  let code = bytes === 1 ? lead : lead & (0xff >> (bytes + 1))
  for (let i = 1; i < bytes; i += 1) {
    const next = byteAt(text, at + i * 3)
    if (next < 0x80 || next > 0xbf) return [lead, 1]
    code = (code << 6) | (next & 0x3f)
  }
  return code > 0x10ffff ? [lead, 1] : [code, bytes]
}

function byteAt(text: string, at: number): number {
  if (text.charCodeAt(at) !== 37) return -1
  const high = hexDigit(text.charCodeAt(at + 1))
  const low = hexDigit(text.charCodeAt(at + 2))
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

function hexDigit(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48
  const letter = unit | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

const BACKSLASH = 92

/** Decodes the escapes of program texts, which some editors leave in: `\u0063`, `\u{63}`, `\x63`. */
function decodeBackslashes(visible: VisibleText): VisibleText {
  const { text } = visible
  const writer = new Writer(visible)
  let copied = 0
  for (let at = text.indexOf('\\'); at >= 0; ) {
    let letter = at + 1
    while (text.charCodeAt(letter) === BACKSLASH) letter += 1
    const [code, end] = readEscape(text, letter)
    if (code >= 0) {
      writer.copy(copied, at)
      writer.put(String.fromCodePoint(code), at, end)
      copied = end
    }
    at = text.indexOf('\\', code >= 0 ? end : letter)
  }
  writer.copy(copied, text.length)
  return writer.finish()
}

/** The code point of the escape whose letter is at `at`, and its end; -1 if there is none. */
function readEscape(text: string, at: number): [code: number, end: number] {
  const letter = text[at]
  if (letter === 'x') return readHex(text, at + 1, 2)
  if (letter !== 'u') return [-1, at]
  if (text[at + 1] !== '{') return readHex(text, at + 1, 4)
  const close = text.slice(at + 2, at + 9).indexOf('}')
  if (close < 1) return [-1, at]
  const [code, end] = readHex(text, at + 2, close)
  return code > 0x10ffff ? [-1, at] : [code, end + 1]
}

function readHex(text: string, at: number, digits: number): [code: number, end: number] {
  let code = 0
  for (let i = at; i < at + digits; i += 1) {
    const digit = hexDigit(text.charCodeAt(i))
    if (digit < 0) return [-1, at]
    code = code * 16 + digit
  }
  return [code, at + digits]
}
