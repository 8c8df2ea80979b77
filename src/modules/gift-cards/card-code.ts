import { randomBytes } from 'node:crypto'
import { hmacBytes } from '../../kernel/hmac.ts'
import { decryptText, encryptText } from '../../kernel/tokens.ts'

/**
 * The letters of a code: Crockford's base 32, which has no I, L, O or U, so that a code can
 * be read aloud without errors.
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * The length of a code: 15 random characters (75 bits, too many to guess) and a check
 * character against typing errors.
 */
const LENGTH = 16
const GROUP = /.{4}(?=.)/g

/** The key of the hash that finds a code, and the key that encrypts it while it may be shown again. */
export interface CodeKeys {
  lookup: Buffer
  encryption: Buffer
}

export const codeKeys = (key: (purpose: string) => Buffer): CodeKeys => ({
  lookup: key('gift card code'),
  encryption: key('gift card code at rest'),
})

/** Generates a code in groups: `7K2M-9QXA-BC3D-EF45`. */
export function generateCode(): string {
  const letters = [...randomBytes(LENGTH - 1)].map((byte) => ALPHABET.charAt(byte % 32)).join('')
  return (letters + checkLetter(letters)).replace(GROUP, '$&-')
}

/**
 * Parses a typed code into its original spelling. Returns null if the text cannot be a code. Case, spaces and hyphens
 * do not matter, and the letters I, L and O are read as the digits that they look like.
 */
export function parseCode(text: string): string | null {
  // A text this long is no code, and must not cost time.
  if (text.length > 100) return null
  const letters = text.toUpperCase().replace(/[\s-]/g, '').replace(/[IL]/g, '1').replace(/O/g, '0')
  if (letters.length !== LENGTH || [...letters].some((each) => !ALPHABET.includes(each)))
    return null
  const [body, check] = [letters.slice(0, -1), letters.slice(-1)]
  return checkLetter(body) === check ? letters.replace(GROUP, '$&-') : null
}

/** Luhn's sum over 32 letters: it finds any one wrong letter, and nearly any two swapped letters. */
function checkLetter(letters: string): string {
  let sum = 0
  for (const [index, letter] of [...letters].reverse().entries()) {
    const value = ALPHABET.indexOf(letter) * (index % 2 === 0 ? 2 : 1)
    sum += Math.floor(value / 32) + (value % 32)
  }
  return ALPHABET.charAt((32 - (sum % 32)) % 32)
}

/** The hash by which a code is found. It differs between stores. */
export const hashCode = (keys: Pick<CodeKeys, 'lookup'>, tenant: string, code: string): Buffer =>
  hmacBytes(keys.lookup, [`${tenant}\n${code}`])

/** Binds an encrypted code to its card, whose hash is in the same row. */
const context = (tenant: string, hash: Buffer) => `gift card/${tenant}/${hash.toString('hex')}`

export function encryptCode(keys: CodeKeys, tenant: string, code: string): Buffer {
  return encryptText(keys.encryption, code, context(tenant, hashCode(keys, tenant, code)))
}

export const decryptCode = (
  keys: CodeKeys,
  tenant: string,
  hash: Buffer,
  encrypted: Buffer,
): string => decryptText(keys.encryption, encrypted, context(tenant, hash)).toString()
