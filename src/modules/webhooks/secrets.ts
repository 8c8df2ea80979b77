import { randomBytes } from 'node:crypto'
import { decryptText, encryptText } from '../../kernel/tokens.ts'
import { type SigningKey, signingKey } from './envelope.ts'

/** Makes a new secret in the form of Standard Webhooks: 32 random bytes, with a prefix that leak scanners know. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Binds a secret to its row: copied to another row, it cannot be decrypted. */
const context = (tenant: string, id: string) => `webhook secret of ${tenant}/${id}`

export const encryptSecret = (key: Buffer, secret: string, tenant: string, id: string): Buffer =>
  encryptText(key, secret, context(tenant, id))

interface EncryptedSecrets {
  secret_sealed: Buffer | null
  previous_sealed: Buffer | null
}

/** Makes a function that decrypts the keys of one endpoint, and decrypts them again only after they have changed. */
export function createKeyring(key: Buffer, tenant: string, id: string) {
  let last: { encrypted: EncryptedSecrets; keys: SigningKey[] } | null = null
  return (encrypted: EncryptedSecrets): SigningKey[] => {
    if (last === null || !isSame(last.encrypted, encrypted)) {
      last = { encrypted, keys: decryptKeys(key, encrypted, tenant, id) }
    }
    return last.keys
  }
}

const isSame = (one: EncryptedSecrets, other: EncryptedSecrets): boolean =>
  isSameBytes(one.secret_sealed, other.secret_sealed) &&
  isSameBytes(one.previous_sealed, other.previous_sealed)

const isSameBytes = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other)

/** Decrypts the keys that sign now, newest first. */
export const decryptKeys = (
  key: Buffer,
  encrypted: EncryptedSecrets,
  tenant: string,
  id: string,
): SigningKey[] =>
  [encrypted.secret_sealed, encrypted.previous_sealed]
    .filter((each) => each !== null)
    .map((each) => signingKey(decryptText(key, each, context(tenant, id)).toString('utf8')))
