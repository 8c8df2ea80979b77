/**
 * What a mail says, before it is HTML or plain text. Both are written from it, so that neither says less
 * than the other. Every text here is plain: the writers escape it.
 */
export interface Content {
  subject: string
  /** Beside the name of the store: which order the mail is about. */
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
  /** Set apart from the rows before it. */
  isTotal?: boolean
  /** In smaller letters. */
  isQuiet?: boolean
}

export type Block =
  | { type: 'text'; text: string }
  | { type: 'note'; text: string }
  | { type: 'button'; label: string; url: string }
  /** A button of less weight. */
  | { type: 'link'; label: string; url: string }
  | { type: 'lines'; title: string; lines: ContentLine[] }
  | { type: 'totals'; rows: ContentRow[] }
  | { type: 'facts'; rows: ContentRow[] }
  | { type: 'address'; title: string; lines: string[] }
  | { type: 'code'; title: string; code: string; amount: string; below: string | null }
