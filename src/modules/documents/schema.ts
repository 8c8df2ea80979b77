import type { Tender } from '../orders/schema.ts'

/** Documents of a store as data. Amounts are cents; `sheet.ts` writes them as a reader sees them. */

/** The store as its documents show it. */
export interface Letterhead {
  name: string
  /** The main colour of the store, dark enough for text on white: `#rrggbb`. */
  colour: string
  /** The ref of the store's logo; null if it has none. */
  logo_ref: string | null
  /** The seller: name, address, register and tax number, as far as the manifest has them. */
  seller: readonly string[]
  /** The note that every invoice shows, as the manifest has it. */
  note: string | null
}

/** The members of all documents. */
interface Common {
  letterhead: Letterhead
  /** The store's language, a tag of BCP 47. */
  language: string
  time_zone: string
  order_number: number
  ordered_at: string
  ship_to: Address | null
  /** Not a real sale. */
  is_test: boolean
  cancelled_at: string | null
}

export interface Address {
  name?: string | null | undefined
  line1: string
  line2: string | null
  city: string
  state: string
  postal_code: string
  country: string
}

export interface InvoiceLine {
  name: string
  label: string | null
  sku: string
  quantity: number
  unit_price_cents: number
  total_cents: number
}

/** A line of the arithmetic below the goods. */
export type InvoiceSum =
  | { kind: 'subtotal' | 'shipping' | 'total' | 'net' | 'gift_cards'; cents: number }
  | { kind: 'discount'; cents: number; code: string | null }
  /** Added to the prices, or a part of them. Without a rate, a tax provider computed the amount. */
  | { kind: 'tax' | 'tax_inside'; cents: number; rate_bps: number | null }

/** Money that came or went. Returned money is negative. */
export type InvoicePayment =
  | { kind: 'paid'; cents: number; tender: Tender; brand: string | null; last4: string | null }
  /** `change`: the order was made smaller, and its total with it. */
  | { kind: 'refund' | 'change'; cents: number; at: string }

export interface Invoice extends Common {
  kind: 'invoice'
  currency: string
  email: string | null
  lines: readonly InvoiceLine[]
  sums: readonly InvoiceSum[]
  payments: readonly InvoicePayment[]
  /** The shopper's money that the store has for this order now. */
  paid_cents: number
}

export interface SlipLine {
  name: string
  label: string | null
  sku: string
  quantity: number
}

export interface PackingSlip extends Common {
  kind: 'packing_slip'
  fulfillment_number: string
  carrier: string | null
  service: string | null
  tracking_number: string | null
  lines: readonly SlipLine[]
  /** Units of the order that are in no parcel yet. */
  open_units: number
}

export type StoreDocument = Invoice | PackingSlip

/** A document as it is printed: texts alone, in the order in which they stand. */
export interface Sheet {
  /** The language of the texts. */
  language: string
  title: string
  /** Stands above everything: the document must not be taken for an ordinary one. */
  notice: string | null
  brand: { name: string; colour: string }
  seller: readonly string[]
  facts: readonly { label: string; value: string }[]
  address: { label: string; lines: readonly string[] } | null
  columns: readonly Column[]
  rows: readonly Row[]
  sums: readonly SheetSum[]
  footer: readonly string[]
  /** `Page 1 of 2`, with the numbers in place of `{page}` and `{pages}`. */
  page: string
}

export interface Column {
  label: string
  /** The part of the page's width, in hundredths. */
  width: number
  align: 'start' | 'end'
}

/** A row has a cell for each column; `details` stand small below the first. */
export interface Row {
  cells: readonly string[]
  details: readonly string[]
}

export interface SheetSum {
  label: string
  value: string
  weight: 'normal' | 'strong' | 'quiet'
}

/** A shipping label as it is printed. */
export interface LabelSheet {
  carrier: string
  service: string
  from: readonly string[]
  to: readonly string[]
  tracking_number: string
  reference: string
  weight: string
  /** Stands across the label: it must not be taken for a real one. */
  notice: string | null
}

/** What a PDF process draws. */
export type PdfJob =
  | { kind: 'sheet'; sheet: Sheet; logo: Buffer | null }
  | { kind: 'label'; label: LabelSheet }
