import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import type { TestApp } from '../../harness/app.ts'

export type Headers = Record<string, string>

const mac = (key: string | Buffer, text: string, raw: Buffer) =>
  createHmac('sha256', key).update(text).update(raw)

export const signNmi = (key: string, raw: Buffer, nonce = 'AbC123'): Headers => ({
  'webhook-signature': `t=${nonce},s=${mac(key, `${nonce}.`, raw).digest('hex')}`,
})

export const signStripe = (key: string, raw: Buffer, seconds: number): Headers => ({
  'stripe-signature': `t=${seconds},v1=${mac(key, `${seconds}.`, raw).digest('hex')}`,
})

export function signStandard(
  key: string,
  raw: Buffer,
  { id, seconds }: { id: string; seconds: number },
): Headers {
  const bytes = Buffer.from(key.replace('whsec_', ''), 'base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac(bytes, `${id}.${seconds}.`, raw).digest('base64')}`,
  }
}

type Scheme = 'nmi' | 'stripe' | 'standard'

export const KEYS: Record<Scheme, string> = {
  nmi: '4F9A1C2E3B5D6F708192A3B4C5D6E7F8',
  stripe: 'whsec_test_0123456789abcdef',
  standard: `whsec_${Buffer.alloc(24, 'a key for tests').toString('base64')}`,
}

/** Registers an account for a store, which is created if it does not exist. */
export async function register(
  app: TestApp,
  tenant: string,
  { provider, account }: { provider: string; account: string },
  scheme: Scheme = 'nmi',
) {
  await app.store(tenant)
  const path = `/v1/gateway/${provider}/${account}`
  const body = { tenant_ref: tenant, scheme, signing_key: KEYS[scheme] }
  const answer = await app.operator.put(path, body)
  assert.equal(answer.status, 200, answer.text)
  return path
}

/** Sends the bytes unchanged. */
export async function deliver(
  app: TestApp,
  path: string,
  raw: Buffer,
  headers: Headers,
  type: string | null = 'application/json',
) {
  const answer = await fetch(app.url + path, {
    method: 'POST',
    headers: { ...(type !== null && { 'content-type': type }), ...headers },
    body: new Uint8Array(raw),
  })
  const text = await answer.text()
  return { status: answer.status, text, body: JSON.parse(text), headers: answer.headers }
}

/** An event as NMI sends it, about one of our references. */
export const nmiEvent = ({
  id = randomBytes(8).toString('hex'),
  type = 'transaction.sale.success',
  ...body
}: {
  id?: string
  type?: string
  [member: string]: unknown
} = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      event_id: id,
      event_type: type,
      event_body: { merchant: { id: '1', name: 'A' }, ...body },
    }),
  )

export const deliverNmi = (app: TestApp, path: string, raw: Buffer) =>
  deliver(app, path, raw, signNmi(KEYS.nmi, raw))
