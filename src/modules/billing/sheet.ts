import { cleanText } from '../documents/clean-text.ts'
import { createFormats } from '../documents/formats.ts'
import type { Row, Sheet, SheetSum } from '../documents/schema.ts'
import type { Meter, MeterPrice } from './plan-schema.ts'
import type { CreditNoteRow, Invoice, InvoiceLine, IssuerParty, Party } from './schema.ts'

/**
 * Invoices and credit notes in print, made from the same data as the answers of the API. They are the operator's
 * documents, not the store's: in English, with the dates of UTC.
 */

const formats = createFormats('en', 'UTC')
const numbers = new Intl.NumberFormat('en')

/** Dark enough for paper, and the colour of no store. */
const COLOUR = '#1f2a44'

const addressOf = ({ name, lines }: Party): Sheet['address'] => ({
  label: 'Bill to',
  lines: [name, ...lines].map(cleanText),
})

/** The parts that both kinds of documents share. A draft has no parties yet. */
const frame = (issuer: IssuerParty | null, recipient: Party | null) => ({
  language: 'en',
  brand: { name: cleanText(issuer?.name ?? 'Draft'), colour: COLOUR },
  seller: issuer === null ? [] : [issuer.name, ...issuer.lines].map(cleanText),
  address: recipient === null ? null : addressOf(recipient),
  footer: issuer?.note ? [cleanText(issuer.note)] : [],
  page: 'Page {page} of {pages}',
})

const COLUMNS: Sheet['columns'] = [
  { label: 'Description', width: 58, align: 'start' },
  { label: 'Quantity', width: 22, align: 'end' },
  { label: 'Amount', width: 20, align: 'end' },
]

type Money = (cents: number) => string

const UNITS: Readonly<Record<Meter, string>> = {
  orders: 'orders',
  gross_volume: '',
  webhook_deliveries: 'deliveries',
  media_bytes: 'bytes',
  api_calls: 'calls',
}

function amountOf(meter: Meter, units: number, money: Money): string {
  return meter === 'gross_volume'
    ? money(units)
    : `${numbers.format(units)} ${UNITS[meter]}`.trimEnd()
}

/** How the amount of a line follows from its quantity. */
function priceDetails(meter: Meter, { included, tiers }: MeterPrice, money: Money): string[] {
  const units = (count: number) => amountOf(meter, count, money)
  return [
    ...(included > 0 ? [`${units(included)} included`] : []),
    ...tiers.map(({ up_to, price_cents, per }) => {
      const until = up_to === null ? '' : `, up to ${units(up_to)}`
      return `${money(price_cents)} for ${units(per)}${until}`
    }),
  ]
}

function positionsOf({ meter, from_position, to_position }: InvoiceLine): string[] {
  if (from_position === null || to_position === null) return []
  const what = {
    orders: 'journals',
    gross_volume: 'journals',
    webhook_deliveries: 'events',
    media_bytes: 'days',
    api_calls: 'days',
  }[meter ?? 'orders']
  return [`Counted from the ${what} ${from_position} to ${to_position}`]
}

function toRow(line: InvoiceLine, money: Money): Row {
  const { kind, description, amount_cents, meter, quantity, price, from_day, to_day } = line
  const cells = (middle: string) => [cleanText(description), middle, money(amount_cents)]
  if (kind === 'plan') {
    return { cells: cells(''), details: [`${from_day} to ${to_day}`] }
  }
  if (meter === null || quantity === null || price === null)
    return { cells: cells(''), details: [] }
  return {
    cells: cells(amountOf(meter, quantity, money)),
    details: [...priceDetails(meter, price, money), ...positionsOf(line)],
  }
}

function sumsOf(invoice: Invoice, money: Money): SheetSum[] {
  const { total_cents, balance_cents, credit_notes, payments } = invoice
  return [
    { label: 'Total', value: money(total_cents), weight: 'strong' },
    ...credit_notes.map(({ number, amount_cents }) => ({
      label: `Credit note ${number}`,
      value: money(-amount_cents),
      weight: 'normal' as const,
    })),
    ...payments.map(({ kind, paid_on, amount_cents }) => ({
      label: kind === 'payment' ? `Paid on ${paid_on}` : `Paid back on ${paid_on}`,
      value: money(kind === 'payment' ? -amount_cents : amount_cents),
      weight: 'normal' as const,
    })),
    ...(invoice.status === 'draft'
      ? []
      : [{ label: 'Open', value: money(balance_cents), weight: 'strong' as const }]),
  ]
}

export function invoiceSheet(invoice: Invoice): Sheet {
  const { number, status, period, issued_at, due_at, currency } = invoice
  const money: Money = (cents) => formats.money(cents, currency)
  const facts = [
    { label: 'Number', value: number ?? '' },
    { label: 'Month', value: period },
    { label: 'Date', value: issued_at === null ? '' : formats.date(issued_at) },
    { label: 'Due on', value: due_at === null ? '' : formats.date(due_at) },
  ]
  return {
    ...frame(invoice.issuer, invoice.recipient),
    title: number === null ? `Draft for ${period}` : `Invoice ${number}`,
    notice: status === 'draft' ? 'Draft: not an invoice' : status === 'void' ? 'Void' : null,
    facts: facts.filter(({ value }) => value !== ''),
    columns: COLUMNS,
    rows: invoice.lines.map((line) => toRow(line, money)),
    sums: sumsOf(invoice, money),
  }
}

export function creditNoteSheet(note: CreditNoteRow): Sheet {
  const value = formats.money(-note.amount_cents, note.currency)
  return {
    ...frame(note.issuer, note.recipient),
    title: `Credit note ${note.number}`,
    notice: null,
    facts: [
      { label: 'Number', value: note.number },
      { label: 'Date', value: formats.date(note.created_at) },
      { label: 'Invoice', value: note.invoice_number },
      { label: 'Of', value: formats.date(note.invoice_issued_at) },
    ],
    columns: COLUMNS,
    rows: [{ cells: [cleanText(note.reason), '', value], details: [] }],
    sums: [{ label: 'Total', value, weight: 'strong' }],
  }
}
