import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import sharp from 'sharp'
import { code128 } from '../../../src/modules/documents/code-128.ts'
import { drawSheet } from '../../../src/modules/documents/draw-sheet.ts'
import { invoiceOf } from '../../../src/modules/documents/invoice.ts'
import { packingSlipOf } from '../../../src/modules/documents/packing-slip.ts'
import {
  createPdfProcesses,
  type PdfProcesses,
} from '../../../src/modules/documents/pdf-processes.ts'
import type { LabelSheet, Sheet, StoreDocument } from '../../../src/modules/documents/schema.ts'
import { toSheet } from '../../../src/modules/documents/sheet.ts'
import { visualRuns } from '../../../src/modules/documents/visual-runs.ts'
import { wrapText } from '../../../src/modules/documents/wrap-text.ts'
import type { Fulfillment } from '../../../src/modules/orders/parcel-schema.ts'
import { readPdf } from '../../harness/pdf-text.ts'
import { type SampleLine, STORE, sampleOrder } from './sample-orders.ts'

/** Shares that make no store wait, and tell what each used. */
const sharesTelling = (told: [string, number][]) => ({
  add: (store: string, ms: number) => void told.push([store, ms]),
  turn: async () => {},
})

describe('a PDF', () => {
  let pdfs: PdfProcesses
  before(() => {
    pdfs = createPdfProcesses()
  })
  after(() => pdfs.close())

  const draw = async (sheet: Sheet, logo: Buffer | null = null) =>
    readPdf(await pdfs.draw('acme', { kind: 'sheet', sheet, logo }))
  const invoice = (lines: readonly SampleLine[]): StoreDocument =>
    invoiceOf(STORE, sampleOrder(lines))
  const textOf = async (document: StoreDocument) => {
    const { pages } = await draw(toSheet(document))
    return pages.flat()
  }

  test('has every text of its document, in any of the scripts of its font', async () => {
    const names = ['Größe Œuvre', 'Ωμέγα', 'Щука', 'Łódź ~ ﬁ', '½ € ₽ ₴ → ✓']
    const lines = names.map((name) => ({ name, quantity: 1, unit_price_cents: 1_050 }))
    const texts = await textOf(invoice(lines))
    for (const text of [
      ...names,
      'Invoice 1001',
      'Acme Ltd',
      'Hauptstraße 1',
      '10115 Berlin',
      'SKU MUG-1',
      '€10.50',
      '€52.50',
      'Page 1 of 1',
    ]) {
      assert.ok(texts.includes(text), `${text} is missing in ${texts.join(' | ')}`)
    }
  })

  test('shows a replacement sign for characters that its font lacks, and is never broken by them', async () => {
    const name = 'Tea 茶 👨‍👩‍👧‍👦 ❤️ \u{1f1e9}\u{1f1ea} \ud800 \u0000\u001b[31m \u202eevil'
    const texts = await textOf(invoice([{ name, quantity: 1, unit_price_cents: 1 }]))
    assert.ok(texts.includes('Tea □ □ ❤ □ \ufffd [31m evil'), texts.join(' | '))
  })

  test('writes Hebrew and Arabic from right to left, and numbers in them from left to right', () => {
    const runs = (text: string, isRightToLeft: boolean) =>
      visualRuns(text, isRightToLeft).map((run) => run.text)
    assert.deepEqual(runs('Size XL', false), ['Size XL'])
    assert.deepEqual(runs('Mug ספל גדול XL', false), ['Mug ', 'ספל גדול', ' XL'])
    assert.deepEqual(runs('ספל 12 גדול', true), [' גדול', '12', 'ספל '])
    assert.deepEqual(runs('ספל (גדול)', true), ['ספל )גדול('])
    assert.deepEqual(runs('XL ספל', true), [' ספל', 'XL'])
  })

  test('has texts from right to left on its page', async () => {
    const texts = await textOf(
      invoice([{ name: 'ספל (גדול) 12', label: 'كوب كبير', quantity: 1, unit_price_cents: 1 }]),
    )
    // The letters of a run are drawn in the order in which they are seen.
    assert.ok(texts.join('|').includes([...'גדול'].reverse().join('')), texts.join('|'))
  })

  test('breaks a name of 500 characters and a word that is wider than its column', async () => {
    const long = `${'x'.repeat(120)} ${'Wide word '.repeat(38)}`.slice(0, 500)
    const label = 'L'.repeat(300)
    const { pages } = await draw(
      toSheet(
        invoice([{ name: long, label, sku: 'S'.repeat(100), quantity: 1, unit_price_cents: 1 }]),
      ),
    )
    assert.equal(pages.length, 1)
    const all = pages.flat().join('').replaceAll(' ', '')
    assert.ok(all.includes(long.replaceAll(' ', '')))
    assert.ok(all.includes(label))
  })

  test('a PDF of 500 lines has as many pages as needed, each with its number and the table head', async () => {
    const lines = Array.from({ length: 500 }, (_, at) => ({
      name: `Item ${at} with a name that is rather long, so that it takes more than one line`,
      quantity: 2,
      unit_price_cents: 1_000,
    }))
    const { pages } = await draw(toSheet(invoice(lines)))
    assert.ok(pages.length > 20, `${pages.length} pages`)
    for (const [at, texts] of pages.entries()) {
      assert.ok(texts.includes(`Page ${at + 1} of ${pages.length}`))
    }
    const all = pages.flat().join('')
    for (const { name } of lines) assert.ok(all.includes(name.slice(0, 20)))
    assert.ok(pages.at(-1)?.includes('€10,000.00'))
    // The last page may have the sums alone.
    assert.ok(pages.slice(0, -1).every((texts) => texts.includes('Unit price')))
  })

  test('has the logo of the store, whatever image it is, and is drawn without a broken one', async () => {
    const sheet = toSheet(invoice([]))
    const png = await sharp({
      create: { width: 90, height: 30, channels: 4, background: '#0b5bd380' },
    })
      .png()
      .toBuffer()
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 10"><rect width="30" height="10" fill="red"/></svg>',
    )
    for (const logo of [png, svg, await sharp(png).webp().toBuffer()]) {
      const { images, pages } = await draw(sheet, logo)
      assert.equal(images, 1)
      assert.ok(!pages.flat().includes('Acme'), 'the logo stands for the name')
    }
    const broken = await draw(sheet, Buffer.from('no image'))
    assert.equal(broken.images, 0)
    assert.ok(broken.pages.flat().includes('Acme'))
  })

  test('a PDF of a packing slip has the goods and no price', async () => {
    const { order } = sampleOrder([{ quantity: 5, unit_price_cents: 1_000 }])
    const parcel = {
      fulfillment_number: '1001-F1',
      carrier: 'DPD',
      service: null,
      tracking_number: 'T1',
      cancelled_at: null,
      items: [{ product_name: 'Mug', label: 'Blue', sku: 'MUG-1', quantity: 3 }],
    } as unknown as Fulfillment
    const texts = await textOf(packingSlipOf(STORE, parcel, { ...order, q_packed: 3 }))
    for (const text of ['Packing slip 1001-F1', 'Mug', 'Blue', '3', 'DPD', 'T1']) {
      assert.ok(texts.includes(text), text)
    }
    assert.ok(texts.includes('2 units of this order follow in another parcel.'))
    assert.ok(!texts.join(' ').includes('€'))
  })

  test('a PDF of a label has its address, and bars that say its tracking number', async () => {
    const label: LabelSheet = {
      carrier: 'Simulated carrier',
      service: 'Express',
      from: ['Acme Ltd', '1 High Street'],
      to: [...Array.from({ length: 20 }, () => 'x'.repeat(200)), 'the country'],
      tracking_number: 'SIM0123456789',
      reference: '1001-F1',
      weight: '1.2 kg',
      notice: 'Not a real label',
    }
    const { pages } = readPdf(await pdfs.draw('acme', { kind: 'label', label }))
    assert.equal(pages.length, 1)
    const texts = pages.flat()
    for (const text of ['Express', 'Acme Ltd', 'SIM0123456789', 'Not a real label']) {
      assert.ok(texts.includes(text), text)
    }
    assert.ok(
      texts.some((text) => text.endsWith('the country')),
      'the country is never left out',
    )
  })

  test('a PDF of a label has the whole of a long address', async () => {
    const to = [
      'Maximiliana Konstantinopolitanskaya-Featherstonehaugh',
      'c/o Institut für Angewandte Papierwissenschaften, Hinterhaus, dritter Stock links',
      'Donaudampfschifffahrtsgesellschaftskapitänsstraße 12345',
      '10115 Berlin',
      'Germany',
    ]
    const label = {
      carrier: 'Simulated carrier',
      service: 'Standard',
      from: to,
      to,
      tracking_number: 'SIM012345678901234',
      reference: '1001-F1',
      weight: '1 kg',
      notice: null,
    }
    const { pages } = readPdf(await pdfs.draw('acme', { kind: 'label', label }))
    const all = pages.flat().join('').replaceAll(' ', '')
    const address = to.join('').replaceAll(' ', '')
    assert.equal(all.split(address).length - 1, 2, all)
  })

  test('a PDF of one store does not wait for many PDFs of another', async () => {
    const many = toSheet(
      invoice(Array.from({ length: 60 }, () => ({ quantity: 1, unit_price_cents: 1 }))),
    )
    const few = toSheet(invoice([{ quantity: 1, unit_price_cents: 1 }]))
    const order: string[] = []
    const drawn = Array.from({ length: 12 }, (_, n) => {
      const sheet = { ...many, title: `Invoice ${n}` }
      return pdfs.draw('busy', { kind: 'sheet', sheet, logo: null }).then(() => order.push('busy'))
    })
    const other = pdfs
      .draw('quiet', { kind: 'sheet', sheet: few, logo: null })
      .then(() => order.push('quiet'))
    await Promise.all([...drawn, other])
    assert.ok(order.indexOf('quiet') <= 4, order.join(' '))
  })

  test('a PDF that costs too much ends with its process, and the next PDF is drawn', async (t) => {
    const bounded = createPdfProcesses({ bounds: { wallMs: 1 } })
    t.after(() => bounded.close())
    const sheet = toSheet(invoice([]))
    await assert.rejects(bounded.draw('acme', { kind: 'sheet', sheet, logo: null }), {
      code: 'service_unavailable',
    })
    const aborted = AbortSignal.abort(new Error('hung up'))
    await assert.rejects(
      pdfs.draw('acme', { kind: 'sheet', sheet, logo: null }, aborted),
      /hung up/,
    )
    assert.equal((await draw(sheet)).pages.length, 1)
  })

  test('is drawn once while its content stays the same, and is never shown to another store', async (t) => {
    const told: [string, number][] = []
    const shares = sharesTelling(told)
    const counted = createPdfProcesses({ shares })
    t.after(() => counted.close())
    const lines = Array.from({ length: 50 }, () => ({ quantity: 1, unit_price_cents: 1 }))
    const drawFor = (store: string, of = lines) =>
      counted.draw(store, { kind: 'sheet', sheet: toSheet(invoice(of)), logo: null })
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => drawFor('acme')))
    for (const other of others) assert.deepEqual(other, first)
    assert.deepEqual(
      told.map(([store]) => store),
      ['acme'],
    )
    await drawFor('acme', lines.slice(1))
    await drawFor('globex')
    assert.deepEqual(
      told.map(([store]) => store),
      ['acme', 'acme', 'globex'],
    )
  })

  test('a PDF of four hundred lines with long names takes at most a few times as long as with short ones', async () => {
    const named = (name: string) => {
      const sheet = toSheet(
        invoice(Array.from({ length: 400 }, () => ({ quantity: 1, unit_price_cents: 1 }))),
      )
      const rows = sheet.rows.map((row, n) => ({
        ...row,
        cells: row.cells.with(0, `${n} ${name}`),
      }))
      return { ...sheet, rows }
    }
    const timeOf = async (name: string) => {
      const before = process.cpuUsage()
      await drawSheet(named(name), null)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    await timeOf('warm')
    const short = Math.min(await timeOf('Mug'), await timeOf('Cup'))
    const thai = 'สวัสดีชาวโลกผลิตภัณฑ์ยาวมาก'.repeat(8).slice(0, 200)
    const long = Math.min(await timeOf(thai), await timeOf(`${thai}x`))
    // It was forty times.
    assert.ok(long < 15 * short, `${long} µs and ${short} µs`)
  })

  test('is counted as use of its store, also if the caller hangs up', async (t) => {
    const told: [string, number][] = []
    const counted = createPdfProcesses({ shares: sharesTelling(told) })
    t.after(() => counted.close())
    const lines = Array.from({ length: 200 }, () => ({ quantity: 1, unit_price_cents: 1 }))
    const job = { kind: 'sheet', sheet: toSheet(invoice(lines)), logo: null } as const
    await counted.draw('acme', job)
    assert.ok(told[0]?.[0] === 'acme' && told[0][1] > 10, JSON.stringify(told))

    const caller = new AbortController()
    const drawing = counted.draw('other', job, caller.signal)
    await setImmediate()
    caller.abort(new Error('hung up'))
    await assert.rejects(drawing, /hung up/)
    assert.equal(told.length, 2)
    assert.ok(told[1]?.[0] === 'other' && told[1][1] > 0, JSON.stringify(told))
  })
})

describe('lines of a width', () => {
  const widthOf = (text: string) => text.length

  test('break at spaces, break words that are too wide, and lose nothing', () => {
    assert.deepEqual(wrapText('one two three', 7, widthOf), ['one two', 'three'])
    assert.deepEqual(wrapText('abcdefgh', 3, widthOf), ['abc', 'def', 'gh'])
    assert.deepEqual(wrapText('a abcdef b', 4, widthOf), ['a', 'abcd', 'ef b'])
    assert.deepEqual(wrapText('', 4, widthOf), [''])
    assert.deepEqual(wrapText('wide', 0, widthOf), ['w', 'i', 'd', 'e'])
  })
})

describe('Code 128', () => {
  const bars = (text: string) => code128(text).join('')

  test('has the start, the characters, the check and the stop of the standard', () => {
    const widths = [
      '211214', // start B
      ...['313121', '112133', '112133', '123221', '223211', '221132', '131321'], // PJJ123C
      '311321', // the check: (104 + 1 * 48 + 2 * 42 + 3 * 42 + 4 * 17 + ...) mod 103 = 55
      '2331112', // stop
    ]
    assert.equal(bars('PJJ123C'), widths.join(''))
  })

  test('has eleven modules for each character, an even number of them black', () => {
    for (let code = 0x20; code <= 0x7e; code++) {
      const widths = code128(String.fromCharCode(code)).slice(6, 12)
      const total = widths.reduce((sum, width) => sum + width, 0)
      const black = widths.filter((_, at) => at % 2 === 0).reduce((sum, width) => sum + width, 0)
      assert.deepEqual([total, black % 2], [11, 0], String.fromCharCode(code))
    }
    const all = Array.from({ length: 95 }, (_, at) =>
      bars(String.fromCharCode(at + 0x20)).slice(6, 12),
    )
    assert.equal(new Set(all).size, 95)
    assert.throws(() => code128('ü'), RangeError)
  })
})
