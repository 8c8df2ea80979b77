import { damaged } from './parsed-image.ts'

export type Token =
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string> }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string }

/** The most elements: more than a drawing needs. They limit the work of a browser that shows the drawing. */
const ELEMENTS_MAX = 10_000
const DEPTH_MAX = 64

const NAME = '[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?'
const OPEN = new RegExp(`<(${NAME})`, 'y')
const CLOSE = new RegExp(`</(${NAME})\\s*>`, 'y')
const ATTRIBUTE = new RegExp(`\\s+(${NAME})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'y')
const TAG_END = /\s*(\/?)>/y
const TEXT = /[^<]+/y
/** A document type without an internal subset, which could define entities. */
const DOCTYPE = /<!DOCTYPE[^<>[\]]*>/iy

/** The beginnings and ends of the parts that are skipped. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<?', '?>'],
] as const
const CDATA = ['<![CDATA[', ']]>'] as const

/**
 * Reads the subset of XML that SVG needs, strictly and in linear time. Every element that is opened
 * must be closed. Entities other than XML's own five are an error, so that none can expand without
 * limit.
 */
export function* readSvgTokens(text: string): Generator<Token> {
  const open: string[] = []
  let elements = 0
  let at = 0

  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  const skipTo = (end: string, from: number) => {
    const found = text.indexOf(end, from)
    if (found === -1) throw damaged()
    at = found + end.length
    return text.slice(from, found)
  }
  const readAttributes = () => {
    const attributes = new Map<string, string>()
    for (let found = match(ATTRIBUTE); found !== null; found = match(ATTRIBUTE)) {
      const [, name = '', double, single] = found
      if (attributes.has(name)) throw damaged()
      attributes.set(name, decode(double ?? single ?? ''))
    }
    return attributes
  }

  while (at < text.length) {
    const skipped = SKIPPED.find(([start]) => text.startsWith(start, at))
    if (skipped !== undefined) {
      skipTo(skipped[1], at + skipped[0].length)
      continue
    }
    if (text.startsWith(CDATA[0], at)) {
      yield { kind: 'text', text: plain(skipTo(CDATA[1], at + CDATA[0].length)) }
      continue
    }
    if (open.length === 0 && elements === 0 && match(DOCTYPE) !== null) continue
    const found = match(TEXT)
    if (found !== null) {
      const content = decode(found[0])
      if (open.length === 0 && content.trim() !== '') throw damaged()
      yield { kind: 'text', text: content }
      continue
    }
    const closed = match(CLOSE)?.[1]
    if (closed !== undefined) {
      if (open.pop() !== closed) throw damaged()
      yield { kind: 'close', name: closed }
      continue
    }
    const name = match(OPEN)?.[1]
    if (name === undefined || ++elements > ELEMENTS_MAX || open.length >= DEPTH_MAX) throw damaged()
    yield { kind: 'open', name, attributes: readAttributes() }
    const end = match(TAG_END)
    if (end === null) throw damaged()
    if (end[1] === '/') yield { kind: 'close', name }
    else open.push(name)
  }
  if (open.length > 0) throw damaged()
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}

const BROKEN_ENTITY = /&(?!(?:#x[0-9a-f]{1,6}|#\d{1,7}|lt|gt|amp|quot|apos);)/i

function decode(text: string): string {
  if (!text.includes('&')) return plain(text)
  if (BROKEN_ENTITY.test(text)) throw damaged()
  return plain(
    text.replace(/&([#\w]+);/g, (_, name: string) => ENTITIES[name] ?? characterOf(name)),
  )
}

function characterOf(name: string): string {
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  if (!(code <= 0x10ffff)) throw damaged()
  return String.fromCodePoint(code)
}

/** Removes the characters that XML cannot contain. */
const plain = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
  text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu, '')
