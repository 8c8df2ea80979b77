import type { Brand } from './brand.ts'

/** The store as its mails show it. */
export interface MailStore {
  name: string
  /** The address of the store's storefront. Null where it is not known. */
  url: string | null
  logoUrl: string | null
  colours: Brand['colours']
  /** The same for readers of a dark screen. */
  darkColours: Brand['colours']
}

/** What every mail of a store is written with. */
export interface MailLook {
  language: string
  store: MailStore
}

/**
 * The content of a mail, before it is HTML or plain text. Both are written from it, so that neither says less than
 * the other. Every text here is plain: the writers escape it.
 */
export interface Content {
  subject: string
  /** The order that the mail is about, shown beside the name of the store. */
  reference: string | null
  heading: string
  blocks: Block[]
  /** The last lines: why the mail was sent. */
  footer: string[]
}

/** An item with its picture, where there is one. */
export interface ContentLine {
  name: string
  label: string | null
  quantity: number
  amount: string | null
  imageUrl: string | null
}

export interface ContentRow {
  label: string
  value: string
  url?: string | null
  /** Whether the row is set apart from the rows before it. */
  isTotal?: boolean
  /** Whether the row is shown in smaller letters. */
  isQuiet?: boolean
}

export type Block =
  | { type: 'text'; text: string }
  | { type: 'note'; text: string }
  | { type: 'button'; label: string; url: string }
  /** A less prominent button. */
  | { type: 'link'; label: string; url: string }
  | { type: 'lines'; title: string; lines: ContentLine[] }
  | { type: 'totals'; rows: ContentRow[] }
  | { type: 'facts'; rows: ContentRow[] }
  | { type: 'address'; title: string; lines: string[] }
  | { type: 'code'; title: string; code: string; amount: string; below: string | null }
