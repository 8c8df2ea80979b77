import type { ReceivedMail } from './smtp.ts'

/** Reads mails as a mail program does, as far as ours need it. */

/** The part of RFC 2047 that a subject uses. */
export const decodeWords = (text: string) =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      decodeBytes(kind.toLowerCase() === 'b' ? word : word.replaceAll('_', ' '), kind),
    )

const decodeBytes = (word: string, kind: string) =>
  kind.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word)

const decodeQuoted = (text: string) =>
  Buffer.from(
    text
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    'latin1',
  ).toString()

export function decodeBody(body: string, how: string | undefined): string {
  if (how === 'base64') return Buffer.from(body, 'base64').toString()
  return how === 'quoted-printable' ? decodeQuoted(body) : body
}

export interface ReadMail {
  to: string[]
  subject: string
  text: string
  html: string | null
  /** The value of a header, on one line. */
  header(name: string): string | null
}

/** A message with its parts decoded. */
export function readMail({ raw, to }: ReceivedMail): ReadMail {
  const { head, body } = split(raw)
  const boundary = /boundary="([^"]+)"/i.exec(head)?.[1]
  const parts = boundary === undefined ? [{ head, body }] : partsOf(body, boundary)
  const find = (type: string) => parts.find((part) => part.head.includes(type))
  const decoded = (part: Part | undefined) =>
    part === undefined
      ? null
      : decodeBody(part.body, headerIn(part.head, ENCODING) ?? undefined).replaceAll('\r\n', '\n')
  return {
    to,
    subject: decodeWords(headerIn(head, 'subject') ?? ''),
    text: decoded(find('text/plain')) ?? '',
    html: decoded(find('text/html')),
    header: (name) => headerIn(head, name),
  }
}

const ENCODING = 'content-transfer-encoding'

interface Part {
  head: string
  body: string
}

function split(raw: string): Part {
  const at = raw.indexOf('\r\n\r\n')
  return { head: raw.slice(0, at), body: raw.slice(at + 4) }
}

const partsOf = (body: string, boundary: string): Part[] =>
  body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, '').replace(/\r\n$/, '')))

const headerIn = (head: string, name: string): string | null =>
  new RegExp(`^${name}: ((?:.|\\r\\n[ \\t])+)`, 'im').exec(head)?.[1]?.replace(/\r\n[ \t]/g, ' ') ??
  null
