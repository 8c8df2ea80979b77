import { code128 } from './code-128.ts'
import { PdfWriter, type TextBox, type TextStyle } from './pdf-writer.ts'
import type { LabelSheet } from './schema.ts'

/** A shipping label of 4 by 6 inches, as printers for labels expect it. */

const PAGE = { width: 288, height: 432 }
const MARGIN = 14
const WIDTH = PAGE.width - 2 * MARGIN

const BLACK = '#000000'
const NORMAL: TextStyle = { size: 8, colour: BLACK }
const SMALL: TextStyle = { size: 6.5, colour: BLACK }

const BARS = { top: 318, height: 70 }
/** White beside the bars, without which no scanner reads them, in modules. */
const QUIET_ZONE = 10

/** A long address is written smaller, until it fits between the lines. */
const SIZES = { from: [6.5, 5.5, 5], to: [11, 9.5, 8, 7, 6, 5] }
const HEIGHTS = { from: 56, to: 150 }

export async function drawLabel(label: LabelSheet): Promise<Buffer> {
  const writer = new PdfWriter({
    size: [PAGE.width, PAGE.height],
    info: { Title: label.tracking_number, Author: label.carrier },
  })
  writer.doc.addPage()
  const head = { x: MARGIN, y: MARGIN, width: WIDTH }
  let y = writer.write(label.carrier, { size: 14, bold: true, colour: BLACK }, head)
  y = writer.write(label.service, { size: 10, bold: true, colour: BLACK }, { ...head, y })
  line(writer, y + 3)
  y = drawAddress(writer, label.from, 'from', y + 8)
  line(writer, y + 4)
  drawAddress(writer, label.to, 'to', y + 12)
  line(writer, BARS.top - 24)
  const facts = `${label.reference}   ${label.weight}`.trim()
  writer.write(facts, NORMAL, { ...head, y: BARS.top - 18 })
  drawBars(writer, label.tracking_number)
  const number = { ...head, y: BARS.top + BARS.height + 4, align: 'center' as const }
  const below = writer.write(label.tracking_number, { size: 10, bold: true, colour: BLACK }, number)
  if (label.notice !== null) {
    writer.write(label.notice, { ...SMALL, bold: true }, { ...number, y: below })
  }
  return writer.end()
}

/**
 * Draws an address in the largest size that fits. If none fits, the end is left out, except the last line: the country.
 */
function drawAddress(
  writer: PdfWriter,
  lines: readonly string[],
  which: keyof typeof SIZES,
  top: number,
): number {
  const box = { x: MARGIN, y: top, width: WIDTH }
  for (const [at, size] of SIZES[which].entries()) {
    const style = { size, bold: which === 'to', colour: BLACK }
    const wrapped = lines.flatMap((text) => writer.lines(text, style, WIDTH))
    const room = Math.floor(HEIGHTS[which] / writer.height(1, style))
    const isLast = at === SIZES[which].length - 1
    if (wrapped.length > room && !isLast) continue
    const fitting =
      wrapped.length > room ? [...wrapped.slice(0, room - 1), wrapped.at(-1) ?? ''] : wrapped
    return drawLines(writer, fitting, style, box)
  }
  return top
}

/** Draws each line by itself: one may be written from right to left, and the next not. */
function drawLines(
  writer: PdfWriter,
  lines: readonly string[],
  style: TextStyle,
  box: TextBox,
): number {
  let { y } = box
  for (const each of lines) y = writer.writeLines([each], style, { ...box, y })
  return y
}

function line({ doc }: PdfWriter, y: number): void {
  doc
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + WIDTH, y)
    .lineWidth(1)
    .strokeColor(BLACK)
    .stroke()
}

/** Draws the bars as vectors, so that they are as sharp as the printer is. */
function drawBars({ doc }: PdfWriter, text: string): void {
  const widths = code128(text)
  const modules = widths.reduce((sum, width) => sum + width, 0)
  const module = WIDTH / (modules + 2 * QUIET_ZONE)
  let x = MARGIN + QUIET_ZONE * module
  for (const [at, width] of widths.entries()) {
    if (at % 2 === 0) doc.rect(x, BARS.top, width * module, BARS.height)
    x += width * module
  }
  doc.fill(BLACK)
}
