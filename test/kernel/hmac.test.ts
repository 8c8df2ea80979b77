import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hmac, hmacBytes, subkey } from '../../src/kernel/hmac.ts'
import { anyCharacter } from '../harness/any-character.ts'

const nodeHmac = (key: Buffer, parts: readonly (string | Buffer)[]) => {
  const made = createHmac('sha256', key)
  for (const part of parts) made.update(part)
  return made.digest()
}

const part = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
)

test('equals the HMAC of Node for any key and message', () => {
  const key = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(key, fc.array(part, { maxLength: 5 }), (secret, message) => {
      const expected = nodeHmac(secret, message)
      assert.equal(hmac(secret, message, 'hex'), expected.toString('hex'))
      assert.equal(hmac(secret, message, 'base64'), expected.toString('base64'))
      assert.deepEqual(hmacBytes(secret, message), expected)
    }),
    { numRuns: 500 },
  )
})

test('passes the test vectors of RFC 4231', () => {
  const cases: [Buffer, string, string][] = [
    [
      Buffer.alloc(20, 0x0b),
      'Hi There',
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      Buffer.from('Jefe'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      Buffer.alloc(131, 0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ]
  for (const [key, text, expected] of cases) assert.equal(hmac(key, [text], 'hex'), expected)
})

test('derives a key for each purpose, and each once', () => {
  const key = Buffer.from('a key')
  const made = subkey(key, 'cards')
  assert.deepEqual(made, nodeHmac(key, ['cards']))
  assert.equal(subkey(key, 'cards'), made)
  assert.notDeepEqual(subkey(key, 'orders'), made)
  assert.notDeepEqual(subkey(Buffer.from('another'), 'cards'), made)
  assert.equal(hmac(key, ['x'], 'hex'), nodeHmac(key, ['x']).toString('hex'))
})
