import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { addressReader } from '../../src/http/caller-address.ts'

const readFrom = (peer: string, forwarded: string) =>
  addressReader(['10.0.0.0/8', '::1'])({
    socket: { remoteAddress: peer },
    headers: { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage)

describe('the address of a shopper', () => {
  test('is the last address that a trusted proxy vouches for, with its port or without', () => {
    const written = ['192.0.2.7', '192.0.2.7:4711', '6.6.6.6, 192.0.2.7:4711', '::ffff:192.0.2.7']
    for (const forwarded of written) assert.equal(readFrom('10.0.0.1', forwarded), '192.0.2.7')
    assert.equal(readFrom('::1', '192.0.2.7:4711, 10.0.0.9:80'), '192.0.2.7')
    assert.equal(readFrom('::1', '[2001:db8::1]:4711'), '2001:db8::1')
  })

  test('is the peer when the peer is not a trusted proxy, or names no address', () => {
    assert.equal(readFrom('192.0.2.1', '198.51.100.7'), '192.0.2.1')
    for (const none of ['', 'unknown', '192.0.2.7:', '192.0.2:80', '[192.0.2.7']) {
      assert.equal(readFrom('10.0.0.1', none), '10.0.0.1')
    }
  })
})
