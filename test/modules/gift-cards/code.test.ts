import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { deriveKey } from '../../../src/kernel/tokens.ts'
import {
  codeKeys,
  hashCode,
  makeCode,
  openCode,
  readCode,
  sealCode,
} from '../../../src/modules/gift-cards/code.ts'

const LETTERS = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ']

test('a code is four groups of four, of letters that nobody mistakes for another', () => {
  const codes = Array.from({ length: 500 }, makeCode)
  for (const code of codes)
    assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
  assert.equal(new Set(codes).size, 500)
  const used = new Set(codes.join('').replaceAll('-', ''))
  assert.equal(used.size, 32, 'every letter of the alphabet is used')
})

test('a code is read however it was written down', () => {
  for (let n = 0; n < 50; n++) {
    const code = makeCode()
    const spellings = [
      code.toLowerCase(),
      code.replaceAll('-', ''),
      ` ${code.replaceAll('-', ' ')}\n`,
      code.replaceAll('0', 'o').replaceAll('1', 'l'),
      code.replaceAll('0', 'O').replaceAll('1', 'I'),
    ]
    for (const each of [code, ...spellings]) assert.equal(readCode(each), code)
  }
})

test('one wrong letter is always found', () => {
  const slip = fc.record({
    at: fc.integer({ min: 0, max: 15 }),
    by: fc.constantFrom(...LETTERS),
  })
  fc.assert(
    fc.property(slip, ({ at, by }) => {
      const letters = [...makeCode().replaceAll('-', '')]
      const same = letters[at] === by
      letters[at] = by
      assert.equal(readCode(letters.join('')) !== null, same)
    }),
    { numRuns: 500 },
  )
})

test('what cannot be a code is none', () => {
  for (const text of ['', 'ABCD', 'UUUU-UUUU-UUUU-UUUU', '🎁'.repeat(8), 'A'.repeat(1e6)]) {
    assert.equal(readCode(text), null)
  }
})

test("a code's hash is the store's own, and the sealed code opens only beside it", () => {
  const keys = codeKeys((purpose) => deriveKey('a secret for tests', purpose))
  const code = makeCode()
  const hash = hashCode(keys, 'acme', code)
  assert.notDeepEqual(hash, hashCode(keys, 'globex', code))
  assert.notDeepEqual(keys.lookup, keys.seal)
  const sealed = sealCode(keys, 'acme', code)
  assert.equal(openCode(keys, 'acme', hash, sealed), code)
  assert.ok(!sealed.includes(code))
  const other = hashCode(keys, 'acme', makeCode())
  assert.throws(() => openCode(keys, 'acme', other, sealed))
  assert.throws(() => openCode(keys, 'globex', hash, sealed))
})
