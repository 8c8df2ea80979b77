import fc from 'fast-check'

/** Between these two there are no characters, only halves of pairs. */
const FIRST_HALF = 0xd800
const AFTER_HALVES = 0xe000
const HALVES = AFTER_HALVES - FIRST_HALF
const CHARACTERS = 0x110000 - HALVES

/**
 * Any character of Unicode, the same as fast-check's `unit: 'binary'` draws. That one first makes a list of
 * all million of them: a second or two, and a hundred megabytes until the process ends.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(CHARACTERS - 1).map(
  (at) => String.fromCodePoint(at < FIRST_HALF ? at : at + HALVES),
  (drawn) => {
    const code = typeof drawn === 'string' ? (drawn.codePointAt(0) ?? -1) : -1
    const isHalf = code >= FIRST_HALF && code < AFTER_HALVES
    if (code < 0 || isHalf || String.fromCodePoint(code) !== drawn)
      throw new Error('not drawn here')
    return code < FIRST_HALF ? code : code - HALVES
  },
)
