import { setImmediate as turn } from 'node:timers/promises'
import sharp from 'sharp'
import { PdfWriter, type TextStyle } from './pdf-writer.ts'
import type { Row, Sheet, SheetSum } from './schema.ts'

/** The second renderer: a sheet as a PDF of A4 pages. Why not by a browser: decision 0035. */

const PAGE = { width: 595.28, height: 841.89 }
const MARGIN = 45
const WIDTH = PAGE.width - 2 * MARGIN
/** The page number stands below this. */
const BOTTOM = PAGE.height - 60
const GAP = 6

const QUIET = '#566173'
const ALARM = '#a8321a'
const RULE = '#dfe4ec'

const NORMAL: TextStyle = { size: 9 }
const SMALL: TextStyle = { size: 7.5, colour: QUIET }
const STYLES: Record<SheetSum['weight'], TextStyle> = {
  normal: NORMAL,
  strong: { size: 10, bold: true },
  quiet: { size: 8, colour: QUIET },
}

/** The largest size of a printed logo, at 300 dots per inch. */
const LOGO = { width: 180, height: 46, dots: { width: 750, height: 192 } }

/** A logo of more dots takes hundreds of megabytes to decode. It is not shown. */
const LOGO_PIXELS_MAX = 16_000_000

/** Rows that are drawn before other work may run: the bounds of the process are checked in between. */
const ROWS_PER_TURN = 20

export async function drawSheet(sheet: Sheet, logo: Buffer | null): Promise<Buffer> {
  const writer = new PdfWriter({
    size: [PAGE.width, PAGE.height],
    bufferPages: true,
    lang: sheet.language,
    displayTitle: true,
    info: { Title: sheet.title, Author: sheet.brand.name },
  })
  writer.doc.addPage()
  const image = logo === null ? null : await readLogo(logo)
  let y = drawHead(writer, sheet, image)
  y = await drawTable(writer, sheet, y)
  y = drawSums(writer, sheet, y + GAP)
  drawFooter(writer, sheet, y + 2 * GAP)
  numberPages(writer, sheet)
  return writer.end()
}

/** Reads a logo. Returns null for one that cannot be drawn: a document without a logo is better than no document. */
async function readLogo(bytes: Buffer): Promise<Buffer | null> {
  try {
    return await sharp(bytes, { limitInputPixels: LOGO_PIXELS_MAX, density: 300 })
      .resize({ ...LOGO.dots, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .png()
      .toBuffer()
  } catch {
    return null
  }
}

function drawHead(writer: PdfWriter, sheet: Sheet, logo: Buffer | null): number {
  const { doc } = writer
  const { brand, seller } = sheet
  let left = MARGIN
  if (logo === null) {
    const style = { size: 15, bold: true, colour: brand.colour }
    left = writer.write(brand.name, style, { x: MARGIN, y: MARGIN, width: 260 })
  } else {
    doc.image(logo, MARGIN, MARGIN, { fit: [LOGO.width, LOGO.height] })
    left = MARGIN + LOGO.height
  }
  let right = MARGIN
  for (const line of seller) {
    const box = { x: MARGIN + 280, y: right, width: WIDTH - 280, align: 'end' as const }
    right = writer.write(line, SMALL, box)
  }
  const below = Math.max(left, right) + GAP
  rule(writer, below, brand.colour, 2)
  let y = writer.write(
    sheet.title,
    { size: 16, bold: true },
    { x: MARGIN, y: below + 16, width: WIDTH },
  )
  if (sheet.notice !== null) {
    const style = { size: 11, bold: true, colour: ALARM }
    y = writer.write(sheet.notice, style, { x: MARGIN, y: y + 4, width: WIDTH })
  }
  return drawFacts(writer, sheet, y + 10) + 14
}

/** Draws the address on the left, and the facts on the right. */
function drawFacts(writer: PdfWriter, { address, facts }: Sheet, top: number): number {
  let left = top
  for (const [at, line] of [address?.label, ...(address?.lines ?? [])].entries()) {
    if (line === undefined) continue
    left = writer.write(line, at === 0 ? SMALL : NORMAL, { x: MARGIN, y: left, width: 230 })
  }
  const x = MARGIN + 260
  let right = top
  for (const { label, value } of facts) {
    const named = writer.write(label, { ...NORMAL, colour: QUIET }, { x, y: right, width: 100 })
    const box = { x: x + 105, y: right, width: WIDTH - 365, align: 'end' as const }
    right = Math.max(named, writer.write(value, NORMAL, box))
  }
  return Math.max(left, right)
}

function rule({ doc }: PdfWriter, y: number, colour: string, thickness: number): void {
  doc
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + WIDTH, y)
    .lineWidth(thickness)
    .strokeColor(colour)
    .stroke()
}

async function drawTable(writer: PdfWriter, sheet: Sheet, top: number): Promise<number> {
  let y = drawTableHead(writer, sheet, top)
  for (const [at, row] of sheet.rows.entries()) {
    if (at % ROWS_PER_TURN === 0) await turn()
    const measured = measureRow(writer, sheet, row)
    if (y + measured.height > BOTTOM) {
      writer.doc.addPage()
      y = drawTableHead(writer, sheet, MARGIN)
    }
    drawRow(writer, measured, y)
    y += measured.height
    rule(writer, y, RULE, 0.5)
  }
  return y
}

/** Returns where each column begins, and how wide its texts may be. */
function placesOf({ columns }: Sheet) {
  let x = MARGIN
  return columns.map(({ width, align, label }, at) => {
    const gap = at === columns.length - 1 ? 0 : 8
    const place = { x, width: (WIDTH * width) / 100 - gap, align, label }
    x += (WIDTH * width) / 100
    return place
  })
}

function drawTableHead(writer: PdfWriter, sheet: Sheet, y: number): number {
  const style = { size: 8, bold: true, colour: sheet.brand.colour }
  const ends = placesOf(sheet).map(({ label, ...box }) => writer.write(label, style, { ...box, y }))
  const below = Math.max(...ends) + 2
  rule(writer, below, sheet.brand.colour, 1)
  return below
}

type MeasuredRow = ReturnType<typeof measureRow>

function measureRow(writer: PdfWriter, sheet: Sheet, { cells, details }: Row) {
  const places = placesOf(sheet)
  const first = places[0]?.width ?? WIDTH
  const texts = places.map((place, at) => ({
    place,
    lines: writer.lines(cells[at] ?? '', NORMAL, place.width),
  }))
  const small = details.flatMap((detail) => writer.lines(detail, SMALL, first))
  const most = Math.max(...texts.slice(1).map(({ lines }) => lines.length), 1)
  const named = writer.height(texts[0]?.lines.length ?? 1, NORMAL)
  const height =
    Math.max(named + writer.height(small.length, SMALL), writer.height(most, NORMAL)) + 2 * GAP
  return { texts, small, named, height }
}

function drawRow(writer: PdfWriter, { texts, small, named }: MeasuredRow, top: number): void {
  const y = top + GAP
  for (const { place, lines } of texts) writer.writeLines(lines, NORMAL, { ...place, y })
  const [first] = texts
  if (first === undefined) return
  // Each line by itself: one may be written from right to left, and the next not.
  let below = y + named
  for (const line of small) {
    below = writer.writeLines([line], SMALL, { ...first.place, y: below })
  }
}

/** Draws the sums together: on the next page if this one has no room for all of them. */
function drawSums(writer: PdfWriter, { sums }: Sheet, top: number): number {
  const x = MARGIN + WIDTH * 0.38
  const box = { label: WIDTH * 0.4, value: WIDTH * 0.22 }
  const measured = sums.map((sum) => {
    const style = STYLES[sum.weight]
    const label = writer.lines(sum.label, style, box.label)
    return { ...sum, style, lines: label, height: writer.height(label.length, style) + 3 }
  })
  const height = measured.reduce((sum, each) => sum + each.height, 0)
  let y = top
  if (y + height > BOTTOM) {
    writer.doc.addPage()
    y = MARGIN
  }
  for (const { lines, value, style, height: lineHeight } of measured) {
    // There may be more sums than a page has room for: an order can have hundreds of refunds.
    if (y + lineHeight > BOTTOM) {
      writer.doc.addPage()
      y = MARGIN
    }
    writer.writeLines(lines, style, { x, y, width: box.label })
    writer.write(value, style, { x: x + box.label, y, width: box.value, align: 'end' })
    y += lineHeight
  }
  return y
}

function drawFooter(writer: PdfWriter, { footer }: Sheet, top: number): void {
  let y = top
  for (const text of footer) {
    for (const line of writer.lines(text, SMALL, WIDTH)) {
      if (y + writer.height(1, SMALL) > BOTTOM) {
        writer.doc.addPage()
        y = MARGIN
      }
      y = writer.writeLines([line], SMALL, { x: MARGIN, y, width: WIDTH })
    }
  }
}

function numberPages(writer: PdfWriter, { page, title }: Sheet): void {
  const { start, count } = writer.doc.bufferedPageRange()
  for (let at = 0; at < count; at++) {
    writer.doc.switchToPage(start + at)
    const number = page.replace('{page}', String(at + 1)).replace('{pages}', String(count))
    const box = { x: MARGIN, y: PAGE.height - 42, width: WIDTH }
    writer.write(title, SMALL, box)
    writer.write(number, SMALL, { ...box, align: 'end' })
  }
}
