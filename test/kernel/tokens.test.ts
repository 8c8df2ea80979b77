import assert from 'node:assert/strict'
import { hkdfSync, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  decryptText,
  deriveKey,
  digestEquals,
  encryptText,
  randomBase62,
  sha256,
  sign,
  verify,
} from '../../src/kernel/tokens.ts'

const key = deriveKey('a secret of the installation', 'test')
const other = deriveKey('a secret of the installation', 'other')
const bytes = fc.uint8Array({ maxLength: 80 }).map((array) => Buffer.from(array))

describe('randomBase62', () => {
  test('has a fixed length for a number of bytes, enough to hold them', () => {
    for (const [count, length] of [
      [1, 2],
      [6, 9],
      [16, 22],
      [32, 43],
    ] as const) {
      for (let n = 0; n < 200; n++) {
        assert.match(randomBase62(count), new RegExp(`^[0-9A-Za-z]{${length}}$`))
      }
    }
  })

  test('never gives the same text twice', () => {
    assert.equal(new Set(Array.from({ length: 1_000 }, () => randomBase62(16))).size, 1_000)
  })

  test('uses every letter equally often', () => {
    const counts = new Map<string, number>()
    const total = 62 * 2_000
    for (const letter of randomBase62(total).slice(0, total)) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1)
    }
    assert.equal(counts.size, 62)
    // Seven standard deviations; `byte % 62` alone would use eight letters 2,400 times and more.
    for (const count of counts.values()) assert.ok(Math.abs(count - 2_000) < 315, `${count}`)
  })
})

test('sha256 is the digest of the UTF-8', () => {
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  assert.equal(sha256('abc').toString('hex'), digest)
  assert.equal(sha256('é').compare(sha256('e\u0301')) === 0, false)
})

test('digestEquals compares digests, and treats unequal lengths as different', () => {
  assert.equal(digestEquals(sha256('a'), sha256('a')), true)
  assert.equal(digestEquals(sha256('a'), sha256('b')), false)
  assert.equal(digestEquals(sha256('a'), sha256('a').subarray(1)), false)
  assert.equal(digestEquals(Buffer.alloc(0), sha256('a')), false)
})

describe('deriveKey', () => {
  test('gives 32 bytes of HKDF-SHA256, always the same', () => {
    const expected = Buffer.from(hkdfSync('sha256', 's', Buffer.alloc(0), 'preview', 32))
    assert.deepEqual(deriveKey('s', 'preview'), expected)
    assert.equal(expected.length, 32)
  })

  test('gives another key for another purpose or secret', () => {
    const keys = [deriveKey('s', 'a'), deriveKey('s', 'b'), deriveKey('t', 'a')]
    assert.equal(new Set(keys.map((each) => each.toString('hex'))).size, 3)
  })

  test('refuses an empty secret or purpose', () => {
    assert.throws(() => deriveKey('', 'a'))
    assert.throws(() => deriveKey('s', ''))
  })
})

describe('encryptText and decryptText', () => {
  test('answer the text that was encrypted', () => {
    fc.assert(
      fc.property(bytes, fc.string(), (plaintext, context) => {
        assert.deepEqual(decryptText(key, encryptText(key, plaintext, context), context), plaintext)
      }),
    )
    assert.equal(decryptText(key, encryptText(key, 'naïve 😀', 'c'), 'c').toString(), 'naïve 😀')
  })

  test('encrypt one text differently each time, and never show it', () => {
    const text = 'whsec_0123456789'
    assert.notDeepEqual(encryptText(key, text, 'c'), encryptText(key, text, 'c'))
    assert.equal(encryptText(key, text, 'c').includes(text), false)
  })

  test('refuse a text with any bit of any byte changed', () => {
    fc.assert(
      fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (plaintext, where, mask) => {
        const encrypted = encryptText(key, plaintext, 'c')
        const at = where % encrypted.length
        encrypted[at] = (encrypted[at] ?? 0) ^ mask
        assert.throws(() => decryptText(key, encrypted, 'c'))
      }),
      { numRuns: 500 },
    )
  })

  test('refuse a text that is cut off or longer at either end', () => {
    const encrypted = encryptText(key, 'plaintext', 'c')
    for (let length = 0; length < encrypted.length; length++) {
      assert.throws(() => decryptText(key, encrypted.subarray(0, length), 'c'))
      assert.throws(() => decryptText(key, encrypted.subarray(encrypted.length - length), 'c'))
    }
    assert.throws(() => decryptText(key, Buffer.concat([encrypted, Buffer.of(0)]), 'c'))
  })

  test('refuse another key and another context', () => {
    const encrypted = encryptText(key, 'plaintext', 'row 1')
    assert.throws(() => decryptText(other, encrypted, 'row 1'))
    assert.throws(() => decryptText(key, encrypted, 'row 2'))
    assert.throws(() => decryptText(key, encrypted, ''))
  })
})

describe('sign and verify', () => {
  test('answer the payload that was signed, in letters that are safe in a URL', () => {
    fc.assert(
      fc.property(bytes, (payload) => {
        const token = sign(key, payload)
        assert.match(token, /^[\w-]+$/)
        assert.deepEqual(verify(key, token), payload)
      }),
    )
  })

  const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
  const STRANGE = [...'+/=.% \n\0', 'é', '\ud800', '😀']

  test('refuse every change of one character', () => {
    // Three lengths, because the number of stray bits of the last letter repeats every three bytes.
    for (const length of [9, 10, 11]) {
      const token = sign(key, randomBytes(length))
      for (let at = 0; at < token.length; at++) {
        for (const letter of [...LETTERS, ...STRANGE, '']) {
          if (letter === token[at]) continue
          assert.equal(verify(key, token.slice(0, at) + letter + token.slice(at + 1)), null)
        }
      }
    }
  })

  test('refuse every added character', () => {
    fc.assert(
      fc.property(
        bytes,
        fc.nat(),
        fc.constantFrom(...LETTERS, ...STRANGE),
        (payload, where, letter) => {
          const token = sign(key, payload)
          const at = where % (token.length + 1)
          const longer = token.slice(0, at) + letter + token.slice(at)
          assert.equal(verify(key, longer), null)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('refuse another key, any other text and the standard alphabet', () => {
    const token = sign(key, Buffer.from([0xfb, 0xff, 0xfe]))
    assert.equal(verify(other, token), null)
    assert.equal(verify(key, Buffer.from(token, 'base64url').toString('base64')), null)
    assert.equal(verify(key, ''), null)
    fc.assert(fc.property(fc.string(), (text) => verify(key, text) === null))
  })
})
