import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { deriveKey } from '../../../src/kernel/tokens.ts'
import {
  codeKeys,
  decryptCode,
  encryptCode,
  generateCode,
  hashCode,
  parseCode,
} from '../../../src/modules/gift-cards/card-code.ts'

const LETTERS = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ']

test('a code has four groups of four letters that cannot be mistaken for each other', () => {
  const codes = Array.from({ length: 500 }, generateCode)
  for (const code of codes)
    assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
  assert.equal(new Set(codes).size, 500)
  const used = new Set(codes.join('').replaceAll('-', ''))
  assert.equal(used.size, 32, 'every letter of the alphabet is used')
})

test('a code is accepted in every spelling', () => {
  for (let n = 0; n < 50; n++) {
    const code = generateCode()
    const spellings = [
      code.toLowerCase(),
      code.replaceAll('-', ''),
      ` ${code.replaceAll('-', ' ')}\n`,
      code.replaceAll('0', 'o').replaceAll('1', 'l'),
      code.replaceAll('0', 'O').replaceAll('1', 'I'),
    ]
    for (const each of [code, ...spellings]) assert.equal(parseCode(each), code)
  }
})

test('a code with one wrong letter is refused', () => {
  const mistake = fc.record({
    at: fc.integer({ min: 0, max: 15 }),
    by: fc.constantFrom(...LETTERS),
  })
  fc.assert(
    fc.property(mistake, ({ at, by }) => {
      const letters = [...generateCode().replaceAll('-', '')]
      const same = letters[at] === by
      letters[at] = by
      assert.equal(parseCode(letters.join('')) !== null, same)
    }),
    { numRuns: 500 },
  )
})

test('a text that cannot be a code is refused', () => {
  for (const text of ['', 'ABCD', 'UUUU-UUUU-UUUU-UUUU', '🎁'.repeat(8), 'A'.repeat(1e6)]) {
    assert.equal(parseCode(text), null)
  }
})

test("a code's hash differs between stores, and an encrypted code decrypts only with its own hash", () => {
  const keys = codeKeys((purpose) => deriveKey('a secret for tests', purpose))
  const code = generateCode()
  const hash = hashCode(keys, 'acme', code)
  assert.notDeepEqual(hash, hashCode(keys, 'globex', code))
  assert.notDeepEqual(keys.lookup, keys.encryption)
  const encrypted = encryptCode(keys, 'acme', code)
  assert.equal(decryptCode(keys, 'acme', hash, encrypted), code)
  assert.ok(!encrypted.includes(code))
  const other = hashCode(keys, 'acme', generateCode())
  assert.throws(() => decryptCode(keys, 'acme', other, encrypted))
  assert.throws(() => decryptCode(keys, 'globex', hash, encrypted))
})
