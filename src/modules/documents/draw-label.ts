import { code128 } from './code-128.ts'
import { PdfWriter, type TextStyle } from './pdf-writer.ts'
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

/** Lines of an address that fit. Its last one is the country, which is never left out. */
const ADDRESS_LINES_MAX = 9

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
  y = drawAddress(writer, label.from, SMALL, y + 8)
  line(writer, y + 4)
  drawAddress(writer, label.to, { size: 11, bold: true, colour: BLACK }, y + 12)
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

/** Each line is cut to one, so that no address reaches into the bars. */
function drawAddress(
  writer: PdfWriter,
  lines: readonly string[],
  style: TextStyle,
  top: number,
): number {
  const shown =
    lines.length <= ADDRESS_LINES_MAX
      ? lines
      : [...lines.slice(0, ADDRESS_LINES_MAX - 1), lines.at(-1) ?? '']
  let y = top
  for (const text of shown) {
    const [first = ''] = writer.lines(text, style, WIDTH)
    y = writer.writeLines([first], style, { x: MARGIN, y, width: WIDTH })
  }
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

/** Vectors, so that the bars are as sharp as the printer is. */
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
