/** Splits texts into lines of a width. pdfkit does so, too, but neither shows right to left nor breaks all words. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The characters of a text as a reader counts them: an emoji of several code points is one. */
export const graphemesOf = (text: string): string[] =>
  [...graphemes.segment(text)].map(({ segment }) => segment)

/**
 * Splits a text into lines, each at most `width` wide. A word that is wider than a line is broken. There is
 * at least one line, and each has at least one character, however narrow it is.
 */
export function wrapText(
  text: string,
  width: number,
  widthOf: (piece: string) => number,
): string[] {
  const space = widthOf(' ')
  const lines: string[] = []
  let line = ''
  let used = 0
  const startLine = (piece: string, pieceWidth: number) => {
    if (line !== '') lines.push(line)
    line = piece
    used = pieceWidth
  }
  for (const word of text.split(' ')) {
    const wordWidth = widthOf(word)
    if (line !== '' && used + space + wordWidth <= width) {
      line += ` ${word}`
      used += space + wordWidth
    } else if (wordWidth <= width) {
      startLine(word, wordWidth)
    } else {
      for (const piece of breakWord(word, width, widthOf)) startLine(piece, widthOf(piece))
    }
  }
  return [...lines, line]
}

function breakWord(word: string, width: number, widthOf: (piece: string) => number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const character of graphemesOf(word)) {
    const characterWidth = widthOf(character)
    if (piece !== '' && used + characterWidth > width) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += character
    used += characterWidth
  }
  return [...pieces, piece]
}
