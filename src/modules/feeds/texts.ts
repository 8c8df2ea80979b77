/** Texts for feeds. Merchants write any characters; a feed has one line for each item. */

/**
 * Characters that end a line for some reader, and other control characters. Programs that split a text by lines accept
 * more than the line feed: U+0085, U+2028 and U+2029 too.
 */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu

/**
 * Characters that change the direction of all text after them, and the byte order mark. Letters of scripts that run
 * from right to left stay: they change nothing but their own direction.
 */
const TURNS = /[\u202a-\u202e\u2066-\u2069\ufeff]/g

/** A text in one line, of at most so many characters. */
export function toLine(text: string, lengthMax: number): string {
  const line = text.toWellFormed().replace(TURNS, '').replace(BREAKS, ' ').trim()
  // A surrogate pair is one character: half of it would not be a character.
  return line.length <= lengthMax ? line : [...line].slice(0, lengthMax).join('').trimEnd()
}

/** Makes one line of a value of metadata, which may be anything, like `toLine`; null if there is no text in it. */
export function toLineOrNull(value: unknown, lengthMax: number): string | null {
  const text = typeof value === 'number' ? String(value) : value
  const line = typeof text === 'string' ? toLine(text, lengthMax) : ''
  return line === '' ? null : line
}

const GTIN_LENGTHS = [8, 12, 13, 14]

/** A GTIN (EAN, UPC, ISBN-13) with a right check digit; null for any other value. */
export function toGtin(value: unknown): string | null {
  const digits = (toLineOrNull(value, 40) ?? '').replaceAll(/[ -]/g, '')
  if (!/^\d+$/.test(digits) || !GTIN_LENGTHS.includes(digits.length)) return null
  const weighted = [...digits].toReversed().map((each, at) => Number(each) * (at % 2 === 0 ? 1 : 3))
  return weighted.reduce((sum, each) => sum + each, 0) % 10 === 0 ? digits : null
}
