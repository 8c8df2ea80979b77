import { randomBytes } from 'node:crypto'
import { open, seal } from '../../kernel/tokens.ts'
import { type SigningKey, signingKey } from './envelope.ts'

/** As Standard Webhooks has it: 32 random bytes behind a prefix that scanners for leaks know. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** Bound to its row, so that it opens in no other. */
const context = (tenant: string, id: string) => `webhook secret of ${tenant}/${id}`

export const sealSecret = (key: Buffer, secret: string, tenant: string, id: string): Buffer =>
  seal(key, secret, context(tenant, id))

interface Sealed {
  secret_sealed: Buffer | null
  previous_sealed: Buffer | null
}

/** Those that sign now, the newest first. */
export const openKeys = (key: Buffer, sealed: Sealed, tenant: string, id: string): SigningKey[] =>
  [sealed.secret_sealed, sealed.previous_sealed]
    .filter((each) => each !== null)
    .map((each) => signingKey(open(key, each, context(tenant, id)).toString('utf8')))
