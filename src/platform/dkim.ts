import { createPrivateKey, hash, sign as signBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { type DkimKey, SIGNED_HEADERS } from './mail.ts'

/** Signs a message that `mime.ts` has written: its lines end with CRLF, and each header occurs once. */
export type Sign = (message: string) => Promise<string>

const signLater = promisify(signBytes)

const NAMES = SIGNED_HEADERS.split(':').map((name) => name.toLowerCase())

/** The characters of one line of the signature. */
const LINES = /.{72}(?=.)/g

/**
 * Opens a signer of many messages (RFC 6376, rsa-sha256, relaxed). The library reads the key again for each message,
 * and signs on the main thread, which can send nothing meanwhile: a signature takes longer than all the other work
 * for a message.
 */
export function openSigner({ domainName, keySelector, privateKey }: DkimKey): Sign {
  const key = createPrivateKey(privateKey)
  return async (message) => {
    const end = message.indexOf('\r\n\r\n')
    const headers = readHeaders(message.slice(0, end))
    const names = NAMES.filter((name) => headers.has(name))
    const bodyHash = hash('sha256', relaxBody(message.slice(end + 4)), 'base64')
    const header = [
      `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domainName}; s=${keySelector}`,
      `h=${names.join(':')}`,
      `bh=${bodyHash}`,
      'b=',
    ].join(';\r\n ')
    const signed = [...names.map((name) => headers.get(name)), relaxHeader(header)].join('\r\n')
    const signature = await signLater('sha256', Buffer.from(signed), key)
    return `${header}${signature.toString('base64').replace(LINES, '$&\r\n ')}\r\n${message}`
  }
}

/** Reads the headers, in the form in which they are signed, by their names. */
const readHeaders = (head: string): Map<string, string> =>
  new Map(
    head.split(/\r\n(?![ \t])/).map((line) => {
      const relaxed = relaxHeader(line)
      return [relaxed.slice(0, relaxed.indexOf(':')), relaxed]
    }),
  )

/** Relaxes a header: one line, the name in lower case, and one space in place of several (RFC 6376, 3.4.2). */
function relaxHeader(line: string): string {
  const at = line.indexOf(':')
  const value = line.slice(at + 1).replace(/\r\n/g, '')
  return `${line.slice(0, at).toLowerCase()}:${value.replace(/[ \t]+/g, ' ').trim()}`
}

/** Relaxes a body: no spaces at the ends of lines, and no empty lines at its end (RFC 6376, 3.4.4). */
function relaxBody(body: string): string {
  const lines = body.replace(/[ \t]+/g, ' ').replace(/ (?=\r\n|$)/g, '')
  let end = lines.length
  while (end >= 2 && lines.startsWith('\r\n', end - 2)) end -= 2
  return end === 0 ? '' : `${lines.slice(0, end)}\r\n`
}
