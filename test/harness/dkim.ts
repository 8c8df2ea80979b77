import assert from 'node:assert/strict'
import { createHash, createVerify, type KeyLike } from 'node:crypto'

/** Verifies a signature as a receiver of mail does (RFC 6376, relaxed/relaxed), apart from the library that signs. */

interface Header {
  name: string
  /** The header as it was received, with its line ends. */
  raw: string
}

/** The headers of a message, and the bytes of its body. */
function split(message: string): { headers: Header[]; body: string } {
  const at = message.indexOf('\r\n\r\n')
  const headers = message
    .slice(0, at)
    .split(/\r\n(?![ \t])/)
    .map((raw) => ({ name: raw.slice(0, raw.indexOf(':')).toLowerCase(), raw }))
  return { headers, body: message.slice(at + 4) }
}

const relaxed = ({ name, raw }: Header): string =>
  `${name}:${raw
    .slice(raw.indexOf(':') + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim()}`

function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  return lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`
}

export interface Signature {
  /** The headers that it covers, in lower case. */
  covered: string[]
  domain: string
  selector: string
  isValid: boolean
}

/** Verifies the signature of a message. Returns null where it is not signed. */
export function verifyDkim(message: string, publicKey: KeyLike): Signature | null {
  const { headers, body } = split(message)
  const signature = headers.find(({ name }) => name === 'dkim-signature')
  if (signature === undefined) return null
  const tags = new Map(
    signature.raw
      .slice(signature.raw.indexOf(':') + 1)
      .split(';')
      .map((tag) => tag.replace(/\s+/g, ''))
      .map((tag) => [tag.slice(0, tag.indexOf('=')), tag.slice(tag.indexOf('=') + 1)] as const),
  )
  assert.deepEqual([tags.get('a'), tags.get('c')], ['rsa-sha256', 'relaxed/relaxed'])
  const covered = (tags.get('h') ?? '').toLowerCase().split(':')
  const left = headers.toReversed()
  const signed = covered.flatMap((name) => {
    const at = left.findIndex((header) => header.name === name)
    return at === -1 ? [] : left.splice(at, 1).map(relaxed)
  })
  const unsigned = relaxed({
    ...signature,
    raw: signature.raw.replace(/(;\s*b=)[^;]*$/, '$1'),
  })
  const hash = createHash('sha256').update(relaxedBody(body)).digest('base64')
  const isValid =
    hash === tags.get('bh') &&
    createVerify('rsa-sha256')
      .update([...signed, unsigned].join('\r\n'))
      .verify(publicKey, tags.get('b') ?? '', 'base64')
  return { covered, domain: tags.get('d') ?? '', selector: tags.get('s') ?? '', isValid }
}
