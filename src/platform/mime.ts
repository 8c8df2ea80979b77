import { html as asHtml } from '../kernel/html.ts'
import { LINE_LENGTH_MAX, type ListHeaders } from './mail.ts'

/** The parts that the messages to all readers of a list have in common. */
export interface CommonParts {
  from: { name: string; address: string }
  replyTo: string | null
  subject: string
  /** The text and its HTML in pieces, between which the link of each reader comes. */
  text: readonly string[]
  html: readonly string[]
}

/** The parts that only the message to one person has. */
export interface ReaderParts {
  to: string
  /** The id without the angle brackets. */
  messageId: string
  date: Date
  /** The link by which the reader unsubscribes. */
  url: string
  headers: ListHeaders
}

export type WriteMessage = (reader: ReaderParts) => string

/** The line between the two parts. Both are encoded, and no encoded line has an underscore. */
const BOUNDARY = '=_parts'

/**
 * Writes messages without the library: that builds a tree of streams for each, which takes longer than sending it,
 * and folds the long value of List-Unsubscribe, which some servers then sign wrongly. The common parts are encoded
 * once, up to the line in which the reader's link begins. More on this: decision 0070.
 */
export function prepareMessage({ from, replyTo, subject, text, html }: CommonParts): WriteMessage {
  const common = writeHeaders({
    From: `${encodePhrase(from.name)} <${from.address}>`,
    ...(replyTo !== null && { 'Reply-To': replyTo }),
    Subject: encodeText(subject),
    'MIME-Version': '1.0',
    'Content-Type': `multipart/alternative; boundary="${BOUNDARY}"`,
  })
  const writeText = preparePart('text/plain', text)
  const writeHtml = preparePart('text/html', html)
  return ({ to, messageId, date, url, headers }) => {
    const own = writeHeaders({
      To: to,
      'Message-ID': `<${messageId}>`,
      Date: date.toUTCString().replace('GMT', '+0000'),
      ...headers,
    })
    return `${common}${own}\r\n${writeText(url)}${writeHtml(asHtml`${url}`.text)}--${BOUNDARY}--\r\n`
  }
}

const writeHeaders = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${requireLines(name, value)}\r\n`)
    .join('')

/** The number of bytes in a line of encoded text, and of its characters, as RFC 2045 bounds them. */
const LINE_BYTES = 57
const LINE_LENGTH = 76

function preparePart(type: string, [first = '', ...rest]: readonly string[]) {
  const bytes = Buffer.from(first)
  const whole = bytes.length - (bytes.length % LINE_BYTES)
  const head = `--${BOUNDARY}\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n`
  const known = `${head}${encodeLines(bytes.subarray(0, whole))}`
  const tail = bytes.subarray(whole)
  const pieces = rest.map((piece) => Buffer.from(piece))
  return (link: string): string => {
    const own = pieces.flatMap((piece) => [Buffer.from(link), piece])
    const last = encodeLines(Buffer.concat([tail, ...own]))
    return `${known}${last}${last === '' || last.endsWith('\n') ? '' : '\r\n'}`
  }
}

/** Encodes text in lines. Each line that is full ends with a line break. */
function encodeLines(content: Buffer): string {
  const text = content.toString('base64')
  const lines: string[] = []
  for (let at = 0; at <= text.length; at += LINE_LENGTH) {
    lines.push(text.slice(at, at + LINE_LENGTH))
  }
  return lines.join('\r\n')
}

/** The headers whose text is encoded here, with encoded words on lines of their own. */
const FOLDED: readonly string[] = ['From', 'Subject']

/** Refuses a header that could begin another one: all text from outside must be encoded. */
function requireLines(name: string, value: string): string {
  const line = `${name}: ${value}`
  const lines = FOLDED.includes(name) ? line.split('\r\n ') : [line]
  const areValid = lines.every(
    (each) => /^[\x20-\x7e]*$/.test(each) && each.length <= LINE_LENGTH_MAX,
  )
  if (!areValid) throw new Error(`the header ${name} is not valid`)
  return line
}

/** The bytes of one encoded word: with its frame it has at most 75 characters, as RFC 2047 requires. */
const WORD_BYTES = 45

/** Encodes the text of a header: short ASCII stays as it is, any other text becomes encoded words. */
function encodeText(text: string): string {
  if (/^[\x20-\x7e]{0,900}$/.test(text) && !text.includes('=?')) return text
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  words.push(word)
  return words.map((each) => `=?UTF-8?B?${Buffer.from(each).toString('base64')}?=`).join('\r\n ')
}

/** Writes a name before an address: quoted, or in encoded words. */
const encodePhrase = (name: string): string =>
  /^[\x20-\x7e]*$/.test(name) && !name.includes('=?')
    ? `"${name.replace(/["\\]/g, '\\$&')}"`
    : encodeText(name)
