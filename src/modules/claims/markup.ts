import { DecodingMode, HtmlEntityDecoder } from 'entities/decode'

/**
 * The text a reader sees, and for each of its code units where it was written: unit `i` stands for
 * the source from `from[i]` to `to[i]`. Null means the text is the source.
 */
export interface Text {
  text: string
  from: Uint32Array | null
  to: Uint32Array | null
}

/** Nested escapes are unfolded this often; what is escaped more often no browser shows. */
const ROUNDS = 3

/** Ends a sentence whatever stands on either side: attributes and comments follow the text behind it. */
export const HARD_BREAK = '\u0000'

/** Elements that begin a line of their own. Every other tag joins what it splits. */
const BLOCKS = new Set(
  `address article aside blockquote body br button caption dd details dialog div dl dt fieldset
   figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe legend li main nav ol
   option p pre section select summary table tbody td textarea tfoot th thead title tr ul`.split(
    /\s+/,
  ),
)

/** Takes away tags and comments, decodes entities and percent escapes. Linear in the input. */
export function readMarkup(source: string): Text {
  let view: Text = { text: source, from: null, to: null }
  for (let round = 0; round < ROUNDS; round += 1) {
    if (/[<&]/.test(view.text)) view = unfold(view)
    if (round === 0 && /%[0-9a-f]{2}/i.test(view.text)) view = decodePercent(view)
    else if (!/[<&]/.test(view.text)) break
  }
  return view
}

interface Scratch {
  units: Uint16Array<ArrayBuffer>
  from: Uint32Array
  to: Uint32Array
}

const newScratch = (size: number): Scratch => ({
  units: new Uint16Array(size),
  from: new Uint32Array(size),
  to: new Uint32Array(size),
})

/** Written over in turn: a round reads the positions that the round before wrote. */
const scratches = [newScratch(8_192), newScratch(8_192)]
let turn = 0

function takeScratch(size: number): Scratch {
  turn = 1 - turn
  let scratch = scratches[turn] as Scratch
  if (scratch.units.length < size) {
    scratch = newScratch(size)
    scratches[turn] = scratch
  }
  return scratch
}

/** Collects the units of a new view. A view is at most twice as long as what it was made from. */
class Writer {
  readonly #source: Text
  readonly #units: Uint16Array<ArrayBuffer>
  readonly #from: Uint32Array
  readonly #to: Uint32Array
  #length = 0

  constructor(source: Text) {
    const scratch = takeScratch(source.text.length * 2 + 2)
    this.#source = source
    this.#units = scratch.units
    this.#from = scratch.from
    this.#to = scratch.to
  }

  /** Writes one unit that stands for the source view from `start` to `end`. */
  put(unit: number, start: number, end: number) {
    const { from, to } = this.#source
    const at = this.#length
    this.#units[at] = unit
    this.#from[at] = from === null ? start : (from[start] ?? 0)
    this.#to[at] = to === null ? end : (to[end - 1] ?? 0)
    this.#length = at + 1
  }

  putCodePoint(code: number, start: number, end: number) {
    if (code > 0xffff) {
      this.put(0xd800 + ((code - 0x10000) >> 10), start, end)
      this.put(0xdc00 + ((code - 0x10000) & 0x3ff), start, end)
    } else this.put(code, start, end)
  }

  copy(start: number, end: number) {
    const { text, from, to } = this.#source
    let length = this.#length
    for (let at = start; at < end; at += 1) {
      this.#units[length] = text.charCodeAt(at)
      this.#from[length] = from === null ? at : (from[at] as number)
      this.#to[length] = to === null ? at + 1 : (to[at] as number)
      length += 1
    }
    this.#length = length
  }

  finish(): Text {
    const bytes = Buffer.from(this.#units.buffer, 0, this.#length * 2)
    return { text: bytes.toString('utf16le'), from: this.#from, to: this.#to }
  }
}

/** One round: tags out, entities in. What a tag holds is read too, behind the text. */
function unfold(view: Text): Text {
  const { text } = view
  const writer = new Writer(view)
  const tags = tagReader(text)
  const asides: [start: number, end: number][] = []
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at)
    const tagEnd = unit === 60 ? tags(at) : 0
    if (tagEnd > 0) {
      writer.copy(copied, at)
      if (isBlock(text, at)) writer.put(10, at, tagEnd)
      if (isTelling(text, at, tagEnd)) asides.push([at + 1, tagEnd])
      at = tagEnd
      copied = at
      continue
    }
    const used = unit === 38 ? readEntity(text, at) : 0
    if (used > 0) {
      writer.copy(copied, at)
      for (const code of decoded) writer.putCodePoint(code, at, at + used)
      copied = at + used
    }
    at += Math.max(used, 1)
  }
  writer.copy(copied, text.length)
  for (const [start, end] of asides) {
    writer.put(0, start, start + 1)
    writer.copy(start, end)
  }
  return writer.finish()
}

const decoded: number[] = []
const decoder = new HtmlEntityDecoder((code) => decoded.push(code))

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
const isTelling = (text: string, at: number, end: number) =>
  text.charCodeAt(at + 1) !== 47 && end - at > 6 && /[\s=]/.test(text.slice(at, end))

function isBlock(text: string, at: number): boolean {
  const start = text.charCodeAt(at + 1) === 47 ? at + 2 : at + 1
  const name = /^[a-z][a-z0-9]*/i.exec(text.slice(start, start + 12))?.[0]
  return name !== undefined && BLOCKS.has(name.toLowerCase())
}

/**
 * Finds where the tag or comment that opens at a `<` ends, or 0 when it is a plain character.
 * A quote counts only where an attribute's value begins, as in a browser. Walks that came to nothing
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
    } else if (unit > 32) afterEquals = unit === 61
  }
  return 0
}

function decodePercent(view: Text): Text {
  const { text } = view
  const writer = new Writer(view)
  let at = 0
  while (at < text.length) {
    const lead = byteAt(text, at)
    if (lead < 0) {
      writer.put(text.charCodeAt(at), at, at + 1)
      at += 1
      continue
    }
    const [code, bytes] = readUtf8(text, at, lead)
    writer.putCodePoint(code, at, at + bytes * 3)
    at += bytes * 3
  }
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
