import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import PDFDocument from 'pdfkit'
import { startsRightToLeft, visualRuns } from './visual-runs.ts'
import { graphemesOf, wrapText } from './wrap-text.ts'

/** Writes texts into a PDF, whatever characters they have. */

const { resolve } = createRequire(import.meta.url)
const fontFile = (name: string) => readFileSync(resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`))

/** Latin, Greek, Cyrillic, Arabic, Hebrew and many signs, in one font. */
const FONTS = { normal: fontFile('DejaVuSans'), bold: fontFile('DejaVuSans-Bold') }

/** Stands for a character that the font does not have. */
const REPLACEMENT = '\u25a1'

/** Signs that change the one before them, and show nothing by themselves. */
const INVISIBLE = /\p{Variation_Selector}|[\u200b-\u200d]/gu

export interface TextStyle {
  size: number
  bold?: boolean
  colour?: string
}

export interface TextBox {
  x: number
  y: number
  width: number
  align?: 'start' | 'end' | 'center'
}

/** Without a list of features pdfkit lays texts out word by word, from left to right. */
const AS_ONE = { features: [] }

/**
 * The widths of short pieces, for letters of one point. A name without spaces is measured letter by letter, and to lay
 * out a letter takes as long as a short word.
 */
const widths = { normal: new Map<string, number>(), bold: new Map<string, number>() }
const WIDTHS_MAX = 20_000
const MEASURED_MAX = 24

/** The distance of two lines, as a part of the size of the letters. */
const LINE_HEIGHT = 1.35

export class PdfWriter {
  readonly doc: PDFKit.PDFDocument

  constructor(options: PDFKit.PDFDocumentOptions) {
    this.doc = new PDFDocument({ ...options, margin: 0, autoFirstPage: false })
    this.doc.registerFont('normal', FONTS.normal as unknown as string)
    this.doc.registerFont('bold', FONTS.bold as unknown as string)
  }

  #set({ size, bold = false, colour = '#1b2430' }: TextStyle): void {
    this.doc
      .font(bold ? 'bold' : 'normal')
      .fontSize(size)
      .fillColor(colour)
    keepLayouts((this.doc as unknown as { _font: LaidOutFont })._font)
  }

  /** The lines of a text in a box of this width. */
  lines(text: string, style: TextStyle, width: number): string[] {
    this.#set(style)
    return wrapText(this.#showable(text), width, (piece) => this.#widthOf(piece, style))
  }

  /** The width of a piece in the style that is set. */
  #widthOf(piece: string, { size, bold = false }: TextStyle): number {
    if (piece.length > MEASURED_MAX) return this.doc.widthOfString(piece, AS_ONE)
    const known = widths[bold ? 'bold' : 'normal']
    const width = known.get(piece) ?? this.doc.widthOfString(piece, AS_ONE) / size
    if (known.size >= WIDTHS_MAX) known.clear()
    known.set(piece, width)
    return width * size
  }

  /** How high lines of this style are. */
  height(lines: number, { size }: TextStyle): number {
    return lines * size * LINE_HEIGHT
  }

  /** Writes a text into a box, and returns where the next one can begin. */
  write(text: string, style: TextStyle, box: TextBox): number {
    return this.writeLines(this.lines(text, style, box.width), style, box)
  }

  /** Writes lines that were measured before. */
  writeLines(lines: readonly string[], style: TextStyle, box: TextBox): number {
    this.#set(style)
    const isRightToLeft = startsRightToLeft(lines.join(' '))
    let { y } = box
    for (const line of lines) {
      this.#writeLine(line, { ...box, y }, isRightToLeft)
      y += this.height(1, style)
    }
    return y
  }

  #writeLine(line: string, { x, y, width, align = 'start' }: TextBox, isRightToLeft: boolean) {
    const runs = visualRuns(line, isRightToLeft).map((run) => ({
      text: run.isRightToLeft && !/\p{L}/u.test(run.text) ? reversed(run.text) : run.text,
      width: this.doc.widthOfString(run.text, AS_ONE),
    }))
    const whole = runs.reduce((sum, run) => sum + run.width, 0)
    const free = Math.max(0, width - whole)
    let at = x + { start: 0, center: free / 2, end: free }[align]
    for (const run of runs) {
      this.doc.text(run.text, at, y, { lineBreak: false, ...AS_ONE })
      at += run.width
    }
  }

  /** The text with a sign in place of each character that the font does not have. */
  #showable(text: string): string {
    if (/^[\x20-\x7e]*$/.test(text)) return text
    const { font } = (this.doc as unknown as { _font: { font: FontGlyphs } })._font
    const has = (character: string) =>
      [...character].every((each) => font.hasGlyphForCodePoint(each.codePointAt(0) ?? 0))
    return graphemesOf(text)
      .map((each) => each.replace(INVISIBLE, ''))
      .map((each) => (has(each) ? each : REPLACEMENT))
      .join('')
  }

  /** Ends the document, and returns its bytes. */
  async end(): Promise<Buffer> {
    const bytes = buffer(this.doc as unknown as NodeJS.ReadableStream)
    this.doc.end()
    return bytes
  }
}

/** A font as fontkit opens it. pdfkit has no function that says what a font can show. */
interface FontGlyphs {
  hasGlyphForCodePoint(codePoint: number): boolean
}

/** A font as pdfkit lays out a line of it. */
interface LaidOutFont {
  layoutRun(text: string, features?: unknown): unknown
  keepsLayouts?: true
}

/** How many lines of a font are kept as they were laid out. */
const LAYOUTS_MAX = 64

/**
 * Keeps the last lines of a font as they were laid out. We measure a line, pdfkit writes it and measures it again, and
 * each time it would be laid out anew: that is most of the time that a document takes.
 */
function keepLayouts(font: LaidOutFont): void {
  if (font.keepsLayouts) return
  font.keepsLayouts = true
  const kept = new Map<string, unknown>()
  const layoutRun = font.layoutRun.bind(font)
  font.layoutRun = (text, features) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const made = layoutRun(text, features)
    const [oldest] = kept.keys()
    if (kept.size >= LAYOUTS_MAX && oldest !== undefined) kept.delete(oldest)
    kept.set(text, made)
    return made
  }
}

/** Reverses the characters of a text: only letters tell the font their direction. */
const reversed = (text: string) => graphemesOf(text).reverse().join('')
