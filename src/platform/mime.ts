import { text as readText } from 'node:stream/consumers'
import { type DkimKey, LINE_LENGTH_MAX, type ListHeaders, SIGNED_HEADERS } from './mail.ts'

/** A message to one person, as it is handed to a mail server. */
export interface Message {
  from: { name: string; address: string }
  to: string
  replyTo: string | null
  subject: string
  /** Without the angle brackets. */
  messageId: string
  date: Date
  text: string
  html: string
  headers: ListHeaders
}

/** The lines of encoded text, as RFC 2045 bounds them. */
const LINES = /.{76}/g

/**
 * Writes a message by hand: the library builds a tree of streams for each, which takes longer than sending
 * it, and folds the long value of List-Unsubscribe, which some servers then sign wrongly.
 */
export function writeMessage(message: Message): string {
  const { from, to, replyTo, subject, messageId, date, text, html, headers } = message
  const boundary = `=_${messageId.replace(/[^\w]/g, '')}`
  const part = (type: string, content: string) =>
    `--${boundary}\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${encodeLines(content)}\r\n`
  const head = {
    From: `${encodePhrase(from.name)} <${from.address}>`,
    To: to,
    ...(replyTo !== null && { 'Reply-To': replyTo }),
    Subject: encodeText(subject),
    'Message-ID': `<${messageId}>`,
    Date: date.toUTCString().replace('GMT', '+0000'),
    ...headers,
    'MIME-Version': '1.0',
    'Content-Type': `multipart/alternative; boundary="${boundary}"`,
  }
  const lines = Object.entries(head).map(([name, value]) => `${requireLines(name, value)}\r\n`)
  return `${lines.join('')}\r\n${part('text/plain', text)}${part('text/html', html)}--${boundary}--\r\n`
}

const encodeLines = (content: string): string =>
  Buffer.from(content).toString('base64').replace(LINES, '$&\r\n').trimEnd()

/** Whatever comes from outside is encoded or refused: a header must not begin another. */
function requireLines(name: string, value: string): string {
  const lines = `${name}: ${value}`.split('\r\n ')
  const areValid = lines.every(
    (line) => /^[\x20-\x7e]*$/.test(line) && line.length <= LINE_LENGTH_MAX,
  )
  if (!areValid) throw new Error(`the header ${name} is not valid`)
  return lines.join('\r\n ')
}

/** Signs a message, with the headers that a reader leaves by. */
export async function signMessage(key: DkimKey, message: string): Promise<string> {
  // Loaded with the first mail: most processes never send one.
  const { default: Dkim } = await import('nodemailer/lib/dkim/index.js')
  const signer = new Dkim({ ...key, headerFieldNames: SIGNED_HEADERS })
  return readText(signer.sign(message))
}

/** Bytes of one encoded word: with its frame it has at most 75 characters, as RFC 2047 asks. */
const WORD_BYTES = 45

/** Text of a header: as it is where it is short ASCII, else in encoded words. */
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

/** A name before an address: quoted, or in encoded words. */
const encodePhrase = (name: string): string =>
  /^[\x20-\x7e]*$/.test(name) && !name.includes('=?')
    ? `"${name.replace(/["\\]/g, '\\$&')}"`
    : encodeText(name)
