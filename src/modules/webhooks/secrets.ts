import { randomBytes } from 'node:crypto'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import { type SigningKey, signingKey } from './envelope.ts'

/** As Standard Webhooks has it: 32 random bytes behind a prefix that scanners for leaks know. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Bound to its row, so that it opens in no other. */
const context = (tenant: string, id: string) => `webhook secret of ${tenant}/${id}`

export const sealSecret = (key: Buffer, secret: string, tenant: string, id: string): Buffer =>
  encryptText(key, secret, context(tenant, id))

interface Sealed {
  secret_sealed: Buffer | null
  previous_sealed: Buffer | null
}

/** Opens the keys of one endpoint, and again only once they are others than the last time. */
export function createKeyring(key: Buffer, tenant: string, id: string) {
  let last: { sealed: Sealed; keys: SigningKey[] } | null = null
  return (sealed: Sealed): SigningKey[] => {
    if (last === null || !isSame(last.sealed, sealed)) {
      last = { sealed, keys: openKeys(key, sealed, tenant, id) }
    }
    return last.keys
  }
}

const isSame = (one: Sealed, other: Sealed): boolean =>
  isSameBytes(one.secret_sealed, other.secret_sealed) &&
  isSameBytes(one.previous_sealed, other.previous_sealed)

const isSameBytes = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other)

/** Those that sign now, the newest first. */
export const openKeys = (key: Buffer, sealed: Sealed, tenant: string, id: string): SigningKey[] =>
  [sealed.secret_sealed, sealed.previous_sealed]
    .filter((each) => each !== null)
    .map((each) => signingKey(decryptText(key, each, context(tenant, id)).toString('utf8')))
