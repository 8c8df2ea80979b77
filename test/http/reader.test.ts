import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { readerNames } from '../../src/http/reader.ts'

const TOKEN = 'the storefront token'
const nameOf = readerNames(['10.0.0.1'], (token) => token === TOKEN)

/** The reader of a request from this peer. */
const readerOf = (headers: Record<string, string>, remoteAddress = '203.0.113.7') =>
  nameOf({ headers, socket: { remoteAddress } } as unknown as IncomingMessage)

describe('the reader of a public route', () => {
  test('is the address of the caller, even if a caller without the token names a shopper', () => {
    const named = { 'x-fairdock-shopper': '198.51.100.1' }
    for (const headers of [
      {},
      named,
      { ...named, 'x-storefront-token': '' },
      { ...named, 'x-storefront-token': `${TOKEN} ` },
      { ...named, 'x-storefront-token': 'fdst_of-a-store' },
      { ...named, 'x-forwarded-for': '198.51.100.2' },
    ]) {
      assert.deepEqual(readerOf(headers), { name: '203.0.113.7', waitingMax: 20 })
    }
    const proxied = { 'x-forwarded-for': '198.51.100.2' }
    assert.equal(readerOf(proxied, '10.0.0.1').name, '198.51.100.2')
  })

  test('is the shopper whom the storefront names; all addresses of an IPv6 network are one reader', () => {
    const read = (shopper: string) =>
      readerOf({ 'x-storefront-token': TOKEN, 'x-fairdock-shopper': shopper })
    assert.deepEqual(read('198.51.100.1'), { name: '198.51.100.1', waitingMax: 20 })
    assert.deepEqual(read('2001:db8::1'), read('2001:db8::2'))
    for (const odd of ['', 'x', '198.51.100.1, 198.51.100.2', '9'.repeat(9_000)]) {
      assert.deepEqual(read(odd), { name: 'unknown', waitingMax: 20 }, 'all of these are one')
    }
    const silent = readerOf({ 'x-storefront-token': TOKEN })
    assert.deepEqual(silent, { name: 'storefront', waitingMax: 500 })
  })
})
