import assert from 'node:assert/strict'
import { inflateSync } from 'node:zlib'

/**
 * Reads the text of a PDF back, as far as pdfkit writes it: its fonts have two-byte codes and a table that
 * says which characters they stand for. The texts of a page come in the order in which they were drawn.
 */
export function readPdf(bytes: Buffer): { pages: string[][]; images: number } {
  const text = bytes.toString('latin1')
  assert.match(text, /^%PDF-1\.\d/)
  assert.match(text, /%%EOF\s*$/)
  const objects = new Map<string, PdfObject>()
  for (const found of text.matchAll(/(?:^|\n)(\d+) 0 obj\n/g)) {
    const [head, id = ''] = found
    objects.set(id, readObject(text, bytes, found.index + head.length))
  }
  const fonts = readFonts(objects)
  const all = [...objects.values()]
  const pages = all
    .filter(({ dict }) => /\/Type \/Page\b(?!s)/.test(dict))
    .map(({ dict }) => {
      const id = /\/Contents (\d+) 0 R/.exec(dict)?.[1] ?? ''
      return readTexts(objects.get(id)?.stream?.toString('latin1') ?? '', fonts)
    })
  return { pages, images: all.filter(({ dict }) => dict.includes('/Subtype /Image')).length }
}

interface PdfObject {
  dict: string
  stream: Buffer | null
}

function readObject(text: string, bytes: Buffer, from: number): PdfObject {
  const end = text.indexOf('endobj', from)
  const start = text.indexOf('stream\n', from)
  if (start === -1 || start > end) return { dict: text.slice(from, end), stream: null }
  const dict = text.slice(from, start)
  const length = Number(/\/Length (\d+)/.exec(dict)?.[1])
  const raw = bytes.subarray(start + 'stream\n'.length, start + 'stream\n'.length + length)
  return { dict, stream: dict.includes('/FlateDecode') ? inflateSync(raw) : raw }
}

/** The characters of each code of each font. */
function readFonts(objects: ReadonlyMap<string, PdfObject>): Map<string, Map<string, string>> {
  const fonts = new Map<string, Map<string, string>>()
  for (const { dict } of objects.values()) {
    for (const [, name = '', id = ''] of dict.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const table = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id)?.dict ?? '')?.[1] ?? ''
      fonts.set(name, readTable(objects.get(table)?.stream?.toString('latin1') ?? ''))
    }
  }
  return fonts
}

function readTable(table: string): Map<string, string> {
  const codes = new Map<string, string>()
  for (const [, from = '', entries = ''] of table.matchAll(
    /<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/gi,
  )) {
    let code = Number.parseInt(from, 16)
    for (const [, hex = ''] of entries.matchAll(/<([0-9a-f ]*)>/gi)) {
      const units = (hex.replaceAll(' ', '').match(/.{4}/g) ?? []).map((unit) =>
        Number.parseInt(unit, 16),
      )
      codes.set(code.toString(16).padStart(4, '0'), String.fromCharCode(...units))
      code += 1
    }
  }
  return codes
}

function readTexts(content: string, fonts: ReadonlyMap<string, Map<string, string>>): string[] {
  const texts: string[] = []
  for (const [, block = ''] of content.matchAll(/BT\n([\s\S]*?)ET/g)) {
    const codes = fonts.get(/\/(F\d+) /.exec(block)?.[1] ?? '') ?? new Map()
    const hex = [...block.matchAll(/<([0-9a-f]+)>/g)].map(([, part]) => part).join('')
    texts.push((hex.match(/.{4}/g) ?? []).map((code) => codes.get(code) ?? '?').join(''))
  }
  return texts
}
