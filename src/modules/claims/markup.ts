import { DecodingMode, HtmlEntityDecoder } from 'entities/decode'
import { buildTrie, step } from './trie.ts'

/** The text a reader sees, and the way back to where it was written. */
export interface View {
  text: string
  /** What was done to the source, in turn. */
  steps: Step[]
}

/**
 * One text made from another, piece by piece: the piece that begins at `at[i]` was copied from
 * `from[i]` on, or, where `to[i]` is not -1, stands for all that is between the two.
 */
interface Step {
  at: number[]
  from: number[]
  to: number[]
}

/** Nested escapes are unfolded this often; what is escaped more often no browser shows. */
const ROUNDS = 3

/**
 * Ends a sentence whatever stands on either side: attributes and comments follow the text behind
 * it.
 */
const HARD_BREAK = '\u0000'

/** Elements that begin a line of their own. Every other tag joins what it splits. */
const BLOCKS = buildTrie(
  `address article aside blockquote body br button caption dd details dialog div dl dt fieldset
   figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe legend li main nav ol
   option p pre section select summary table tbody td textarea tfoot th thead title tr ul`
    .split(/\s+/)
    .map((name, at) => [name, at]),
  'written',
)

/** Takes away tags and comments, decodes entities and percent escapes. Linear in the input. */
export function readMarkup(source: string): View {
  let view: View = { text: source, steps: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = view
    if (view.text.includes('<') || view.text.includes('&')) view = unfold(view)
    if (round === 0 && view.text.includes('%')) view = decodePercent(view)
    if (view === before) break
  }
  return view
}

/** Puts a new text together and keeps where each piece of it came from. */
class Writer {
  readonly #view: View
  #text = ''
  readonly #step: Step = { at: [], from: [], to: [] }

  constructor(view: View) {
    this.#view = view
  }

  copy(start: number, end: number) {
    if (start < end) this.#add(this.#view.text.slice(start, end), start, -1)
  }

  /** Writes what the source from `start` to `end` stands for. */
  put(text: string, start: number, end: number) {
    this.#add(text, start, end)
  }

  #add(text: string, from: number, to: number) {
    this.#step.at.push(this.#text.length)
    this.#step.from.push(from)
    this.#step.to.push(to)
    this.#text += text
  }

  /** The new view, or the old one when it was copied as a whole. */
  finish(): View {
    const { text, steps } = this.#view
    const isSame = this.#step.at.length === 1 && this.#text.length === text.length
    if (isSame) return this.#view
    return { text: this.#text, steps: [...steps, this.#step] }
  }
}

/** Where the part of a view from `start` to `end` stands in the source. */
export function locate(view: View, start: number, end: number): { start: number; end: number } {
  let first = start
  let last = end
  for (const step of view.steps.toReversed()) {
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

/** The piece that holds a place, by bisection. */
function pieceOf({ at }: Step, place: number): number {
  let low = 0
  let high = at.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((at[middle] as number) <= place) low = middle
    else high = middle - 1
  }
  return low
}

/** One round: tags out, entities in. What a tag holds is read too, behind the text. */
function unfold(view: View): View {
  const { text } = view
  const writer = new Writer(view)
  const tagEnd = tagReader(text)
  const nextSign = signReader(text)
  const asides: [start: number, end: number][] = []
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
    if (isTag && isTelling(text, at, end)) asides.push([at + 1, end])
    copied = end
    at = nextSign(end)
  }
  writer.copy(copied, text.length)
  for (const [start, end] of asides) {
    writer.put(HARD_BREAK, start, end)
    writer.copy(start, end)
  }
  return writer.finish()
}

/** Finds the next `<` or `&` from a place on, or the end; the places asked for must not fall. */
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

/** Hardly any entity stands for more than one code point. */
const decodedText = () =>
  decoded.length === 1
    ? String.fromCodePoint(decoded[0] as number)
    : String.fromCodePoint(...decoded)

/** Decodes the entity at `at`, and says how long it is; 0 when it is none. */
function readEntity(text: string, at: number): number {
  const next = text.charCodeAt(at + 1) | 32
  if (next !== 35 && !(next >= 97 && next <= 122)) return 0
  decoded.length = 0
  decoder.startEntity(DecodingMode.Legacy)
  const used = decoder.write(text, at + 1)
  return used < 0 ? decoder.end() : used
}

/** An opening tag with attributes, or a comment: there may be words in it. */
function isTelling(text: string, at: number, end: number): boolean {
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
    const small = unit >= 65 && unit <= 90 ? unit + 32 : unit
    const isOfName = (small >= 97 && small <= 122) || (unit >= 48 && unit <= 57)
    if (!isOfName) return (BLOCKS.word[node] as number) >= 0
    node = step(BLOCKS, node, small)
    if (node === 0) return false
  }
}

/**
 * Finds where the tag or comment that opens at a `<` ends, or 0 when it is a plain character. A
 * quote counts only where an attribute's value begins, as in a browser. Walks that came to nothing
 * are counted, so that no input makes the reader walk the same text again and again.
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

/** The end of a tag with regard to quoted values, or 0 when a quote or the tag stays open. */
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

function decodePercent(view: View): View {
  const { text } = view
  const writer = new Writer(view)
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

/** The code point whose UTF-8 form is escaped from `at` on; a stray byte stands for itself. */
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
