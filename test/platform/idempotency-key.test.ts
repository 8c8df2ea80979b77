import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../../src/errors.ts'
import { fingerprint, readKey } from '../../src/platform/idempotency-key.ts'

const SECRET = Buffer.alloc(32, 7)
const CARD = { ccnumber: '4111111111111111', exp: '1230', cvv: '987' }
const BODY = { items: [{ variant_id: 'v1', quantity: 2 }], card: CARD, ip: '203.0.113.9' }

const of = (body: unknown, target?: string) => fingerprint(SECRET, body, target).toString('hex')

describe('an Idempotency-Key', () => {
  const codeOf = (header: string | string[] | undefined) => {
    try {
      return readKey(header)
    } catch (error) {
      return error instanceof ApiError ? error.code : error
    }
  }

  test('is required, of 1 to 255 visible ASCII characters, sent once', () => {
    const longest = 'k'.repeat(255)
    assert.equal(codeOf(longest), longest)
    assert.equal(codeOf('!order:~1'), '!order:~1')
    assert.equal(codeOf(undefined), 'idempotency_key_required')
    for (const bad of ['', `${longest}k`, 'a b', 'a\tb', 'é', '\x7f', ['a', 'b']]) {
      assert.equal(codeOf(bad), 'idempotency_key_invalid', JSON.stringify(bad))
    }
  })

  test('an Idempotency-Key of a renewal can be looked up, not sent', () => {
    assert.equal(codeOf('sub:1'), 'idempotency_key_invalid')
    assert.equal(readKey('sub:1', { allowReserved: true }), 'sub:1')
  })
})

describe('the fingerprint of a request', () => {
  test('is the same for the same purchase, however it is written', () => {
    const same: unknown[] = [
      { ip: '198.51.100.1', card: CARD, items: [{ quantity: 2, variant_id: 'v1' }] },
      { items: BODY.items, card: { ...CARD, ccnumber: '4111 1111 1111 1111' } },
      { ...BODY, card: { ...CARD, ccnumber: '4111-1111-1111-1111' } },
      { ...BODY, card: { ...CARD, cvv: '123' } },
      { ...BODY, card: { ccnumber: CARD.ccnumber, exp: CARD.exp } },
      { ...BODY, quote_token: 'of another preview' },
    ]
    for (const body of same) assert.equal(of(body), of(BODY))
    const accepted = (accepted_at: string, statement_version = '1') =>
      of({ ...BODY, attestation: { accepted_at, statement_version } })
    assert.equal(accepted('2026-01-01T00:00:00Z'), accepted('2026-01-02T00:00:00Z'))
    assert.notEqual(accepted('2026-01-01T00:00:00Z'), accepted('2026-01-01T00:00:00Z', '2'))
  })

  test('differs for another card, amount, target, secret or unknown member', () => {
    const others = [
      of({ ...BODY, card: { ...CARD, ccnumber: '4111111111111112' } }),
      of({ ...BODY, card: { ...CARD, exp: '1231' } }),
      of({ ...BODY, items: [{ variant_id: 'v1', quantity: 3 }] }),
      of({ ...BODY, note: 'x' }),
      of({ ...BODY, cvv: '987' }),
      of(BODY, 'order 1'),
      of(BODY, 'order 2'),
      of(undefined),
      of([BODY]),
      fingerprint(Buffer.alloc(32, 8), BODY).toString('hex'),
    ]
    assert.equal(new Set([...others, of(BODY)]).size, others.length + 1)
  })

  test('the fingerprint of a request without a body is that of null, and 32 bytes long', () => {
    assert.equal(of(undefined), of(null))
    assert.equal(fingerprint(SECRET, null).length, 32)
  })
})
