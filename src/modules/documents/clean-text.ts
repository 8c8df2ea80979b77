/** More than any text of an order or a manifest that a document shows. */
const LENGTH_MAX = 2_000

/** Marks that set the direction of what follows: with them a name could turn round the text beside it. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Turns a text of strangers into one line that a document can show, whatever characters it has. */
export const cleanText = (text: string): string =>
  text
    .slice(0, LENGTH_MAX)
    .toWellFormed()
    .replace(DIRECTION, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
