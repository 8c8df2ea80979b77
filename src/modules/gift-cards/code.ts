import { randomBytes } from 'node:crypto'
import { hmacBytes } from '../../kernel/hmac.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'

/** Crockford's base 32: no I, L, O or U, so that a code survives being read aloud. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 15 characters that nobody can guess (75 bits), and one that finds a slip of the pen. */
const LENGTH = 16
const GROUP = /.{4}(?=.)/g

/** What a code is looked up by, and what it is kept encrypted under while it may be shown again. */
export interface CodeKeys {
  lookup: Buffer
  seal: Buffer
}

export const codeKeys = (key: (purpose: string) => Buffer): CodeKeys => ({
  lookup: key('gift card code'),
  seal: key('gift card code at rest'),
})

/** A new code in groups: `7K2M-9QXA-BC3D-EF45`. */
export function makeCode(): string {
  const letters = [...randomBytes(LENGTH - 1)].map((byte) => ALPHABET.charAt(byte % 32)).join('')
  return (letters + checkLetter(letters)).replace(GROUP, '$&-')
}

/**
 * The code as it was made, or null when it cannot be one. Case, spaces and hyphens do not matter, and
 * look-alikes are read as what they look like.
 */
export function readCode(text: string): string | null {
  // More would be no code, and not worth looking at.
  if (text.length > 100) return null
  const letters = text.toUpperCase().replace(/[\s-]/g, '').replace(/[IL]/g, '1').replace(/O/g, '0')
  if (letters.length !== LENGTH || [...letters].some((each) => !ALPHABET.includes(each)))
    return null
  const [body, check] = [letters.slice(0, -1), letters.slice(-1)]
  return checkLetter(body) === check ? letters.replace(GROUP, '$&-') : null
}

/** Luhn's sum over 32 letters: any one wrong letter shows, and nearly any two that changed places. */
function checkLetter(letters: string): string {
  let sum = 0
  for (const [index, letter] of [...letters].reverse().entries()) {
    const value = ALPHABET.indexOf(letter) * (index % 2 === 0 ? 2 : 1)
    sum += Math.floor(value / 32) + (value % 32)
  }
  return ALPHABET.charAt((32 - (sum % 32)) % 32)
}

/** What is kept of a code. Another store's is another hash. */
export const hashCode = (keys: Pick<CodeKeys, 'lookup'>, tenant: string, code: string): Buffer =>
  hmacBytes(keys.lookup, [`${tenant}\n${code}`])

/** The context binds it to its card, whose hash is in the same row. */
const context = (tenant: string, hash: Buffer) => `gift card/${tenant}/${hash.toString('hex')}`

export function sealCode(keys: CodeKeys, tenant: string, code: string): Buffer {
  return encryptText(keys.seal, code, context(tenant, hashCode(keys, tenant, code)))
}

export const openCode = (keys: CodeKeys, tenant: string, hash: Buffer, sealed: Buffer): string =>
  decryptText(keys.seal, sealed, context(tenant, hash)).toString()
