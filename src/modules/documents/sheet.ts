import { addressLines } from './address-lines.ts'
import { cleanText } from './clean-text.ts'
import { createFormats, type Formats } from './formats.ts'
import type {
  Invoice,
  InvoicePayment,
  InvoiceSum,
  PackingSlip,
  Sheet,
  SheetSum,
  StoreDocument,
} from './schema.ts'
import { type Texts, textsFor } from './texts.ts'

/** Documents in print: both renderers show the same sheet. */

/** The language and formats in which every part of a sheet is written. */
interface Writing {
  texts: Texts
  formats: Formats
}

export function toSheet(document: StoreDocument): Sheet {
  const { language, texts } = textsFor(document.language)
  const formats = createFormats(document.language, document.time_zone)
  const { letterhead, ship_to } = document
  const writing = { texts, formats }
  const parts =
    document.kind === 'invoice' ? invoiceParts(writing, document) : slipParts(writing, document)
  return {
    language,
    notice: noticeOf(writing, document),
    brand: { name: cleanText(letterhead.name), colour: letterhead.colour },
    seller: letterhead.seller.map(cleanText),
    address:
      ship_to === null
        ? null
        : { label: texts.shipTo, lines: addressLines(ship_to, formats.country) },
    page: texts.page({ page: '{page}', pages: '{pages}' }),
    ...parts,
  }
}

/** Returns the notice of a test or a cancelled document, which must not be taken for an ordinary one. */
function noticeOf({ texts, formats }: Writing, { is_test, cancelled_at }: StoreDocument) {
  if (is_test) return texts.test
  return cancelled_at === null ? null : texts.cancelledOn({ date: formats.date(cancelled_at) })
}

type Parts = Pick<Sheet, 'title' | 'facts' | 'columns' | 'rows' | 'sums' | 'footer'>

function invoiceParts(writing: Writing, invoice: Invoice): Parts {
  const { texts, formats } = writing
  const money = (cents: number) => formats.money(cents, invoice.currency)
  const { email } = invoice
  return {
    title: `${texts.invoice} ${invoice.order_number}`,
    facts: [
      { label: texts.number, value: String(invoice.order_number) },
      { label: texts.invoiceDate, value: formats.date(invoice.ordered_at) },
      ...(email === null ? [] : [{ label: texts.email, value: cleanText(email) }]),
    ],
    columns: [
      { label: texts.product, width: 52, align: 'start' },
      { label: texts.quantity, width: 12, align: 'end' },
      { label: texts.unitPrice, width: 18, align: 'end' },
      { label: texts.amount, width: 18, align: 'end' },
    ],
    rows: invoice.lines.map((line) => ({
      cells: [
        cleanText(line.name),
        String(line.quantity),
        money(line.unit_price_cents),
        money(line.total_cents),
      ],
      details: detailsOf(texts, line),
    })),
    sums: [
      ...invoice.sums.map((sum) => writeSum(writing, sum, money)),
      ...invoice.payments.map((payment) => writePayment(writing, payment, money)),
      { label: texts.paid, value: money(invoice.paid_cents), weight: 'strong' },
    ],
    footer: invoice.letterhead.note === null ? [] : [cleanText(invoice.letterhead.note)],
  }
}

const detailsOf = (texts: Texts, { label, sku }: { label: string | null; sku: string }) =>
  [label === null ? '' : cleanText(label), `${texts.sku} ${cleanText(sku)}`].filter(Boolean)

function writeSum(
  { texts, formats }: Writing,
  sum: InvoiceSum,
  money: (cents: number) => string,
): SheetSum {
  const value = money(sum.cents)
  if (sum.kind === 'total') return { label: texts.total, value, weight: 'strong' }
  if (sum.kind === 'tax' || sum.kind === 'tax_inside') {
    const rate = sum.rate_bps === null ? null : formats.rate(sum.rate_bps)
    return sum.kind === 'tax'
      ? { label: rate === null ? texts.tax : texts.taxAt({ rate }), value, weight: 'normal' }
      : {
          label: rate === null ? texts.taxInside : texts.taxInsideAt({ rate }),
          value,
          weight: 'quiet',
        }
  }
  if (sum.kind === 'discount') {
    const label = sum.code === null ? texts.discount : `${texts.discount} ${cleanText(sum.code)}`
    return { label, value, weight: 'normal' }
  }
  return { label: texts[sum.kind], value, weight: sum.kind === 'net' ? 'quiet' : 'normal' }
}

function writePayment(
  { texts, formats }: Writing,
  payment: InvoicePayment,
  money: (cents: number) => string,
): SheetSum {
  const value = money(payment.cents)
  if (payment.kind !== 'paid') {
    const write = payment.kind === 'refund' ? texts.refundOn : texts.changeOn
    return { label: write({ date: formats.date(payment.at) }), value, weight: 'normal' }
  }
  const { tender, brand, last4 } = payment
  const name = brand === null ? texts.tenders[tender] : capitalised(cleanText(brand))
  const label = texts.paidWith({
    what: last4 === null ? name : texts.endingIn({ what: name, last4 }),
  })
  return { label, value, weight: 'normal' }
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function slipParts({ texts, formats }: Writing, slip: PackingSlip): Parts {
  const sentWith = [slip.carrier, slip.service].filter((each) => each !== null).join(', ')
  const facts = [
    { label: texts.parcel, value: slip.fulfillment_number },
    { label: texts.orderNumber, value: String(slip.order_number) },
    { label: texts.orderDate, value: formats.date(slip.ordered_at) },
    { label: texts.carrier, value: cleanText(sentWith) },
    { label: texts.trackingNumber, value: cleanText(slip.tracking_number ?? '') },
  ]
  return {
    title: `${texts.packingSlip} ${slip.fulfillment_number}`,
    facts: facts.filter(({ value }) => value !== ''),
    columns: [
      { label: texts.product, width: 84, align: 'start' },
      { label: texts.quantity, width: 16, align: 'end' },
    ],
    rows: slip.lines.map((line) => ({
      cells: [cleanText(line.name), String(line.quantity)],
      details: detailsOf(texts, line),
    })),
    sums: [],
    footer:
      slip.open_units > 0
        ? [texts.moreFollows({ units: texts.units({ count: slip.open_units }) })]
        : [],
  }
}
